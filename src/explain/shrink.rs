//! `[with …]` lists cut to what the user wrote.

/// Keeps of the list those parameters whose value stands in `written` (the template arguments of the user's
/// instantiation); with nothing written, those whose value is short and no template itself.
pub fn shrink(text: &str, written: &[&str]) -> String {
    let Some(start) = text.find("[with ") else { return text.to_owned() };
    let Some(length) = closing(&text[start + 1..]) else { return text.to_owned() };
    let inside = &text[start + 6..start + 1 + length];
    let all = split(inside);
    let normal = |value: &str| value.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let known: Vec<String> = written.iter().map(|value| normal(value)).collect();
    let kept: Vec<&str> = all
        .iter()
        .copied()
        .filter(|pair| {
            let value = normal(pair.split_once('=').map_or("", |(_, value)| value));
            if known.is_empty() {
                value.len() <= 40 && !value.contains('<')
            } else {
                // An integral argument may come with its type, `(int)8`.
                let bare = value.rsplit(')').next().unwrap_or_default();
                known.iter().any(|k| *k == value || k == bare)
            }
        })
        .collect();
    let left = all.len() - kept.len();
    let mut list = kept.join(", ");
    if left > 0 {
        list.push_str(if list.is_empty() { "" } else { ", " });
        list.push_str(&format!("… {left} more"));
    }
    format!("{}[with {list}]{}", &text[..start], shrink(&text[start + 2 + length..], written))
}

/// Offset of the bracket that closes the one before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    for (index, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index);
        }
    }
    None
}

/// At commas outside all brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0_i64, 0);
    let mut out = Vec::new();
    for (index, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ',' | ';' if depth <= 0 => {
                out.push(text[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    out.push(text[start..].trim());
    out.retain(|pair| !pair.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::shrink;

    const LINE: &str = r#"instantiation of "void f<T,N,S>(T *) [with T=float, N=12, S=cute::tuple<cute::C<64>, cute::C<8>>]" at line 3"#;

    #[test]
    fn what_the_user_wrote_stays() {
        let short = shrink(LINE, &["12", "Tile"]);
        assert_eq!(short, r#"instantiation of "void f<T,N,S>(T *) [with N=12, … 2 more]" at line 3"#);
    }

    #[test]
    fn without_an_instantiation_short_values_stay() {
        assert!(shrink(LINE, &[]).contains("[with T=float, N=12, … 1 more]"));
    }

    #[test]
    fn text_without_a_list_or_with_a_broken_one_is_left_alone() {
        assert_eq!(shrink("plain", &[]), "plain");
        assert_eq!(shrink("f [with A=b", &[]), "f [with A=b");
    }
}
