//! The names that a mistyped one may have meant.

/// The (at most three) candidates nearest to `wanted`, nearest first; only those that are near at all.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = last(wanted);
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let name = last(candidate);
            let distance = distance(wanted, name);
            let part = name.contains(wanted) || wanted.contains(name);
            (part || distance <= wanted.len().max(6) / 3).then_some((distance, candidate))
        })
        .collect();
    near.sort();
    near.dedup();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or_default()
}

/// Edits (of one byte) from one name to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_names_come_first_and_far_ones_not_at_all() {
        let names = ["a::linear_swapAB_kernel", "a::linear_kernel", "b::softmax"];
        assert_eq!(nearest("linear_kernal", names), ["a::linear_kernel"]);
        assert_eq!(nearest("x::linear_swap_kernel", names)[0], "a::linear_swapAB_kernel");
        assert!(nearest("gelu", names).is_empty());
    }
}
