//! How often each k is summed, read out of the two cover probes.

use crate::model::{Fill, Role};

use super::evidence::Evidence;
use super::inputs::fill_of;
use super::kind::Kind;
use super::maps::hot_column;

/// Counts of runs of k, as one operand shows them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coverage {
    /// k of a group.
    pub(super) width: usize,
    /// Count of each group; the same at every output.
    pub(super) counts: Vec<f64>,
}

/// k from .0 to .1 is summed .2 times.
pub(super) type Run = (usize, usize, f64);

/// What the cover probe of a, or of b, shows; none where outputs disagree.
pub(super) fn coverage(evidence: &Evidence<'_>, is_a: bool) -> Option<Coverage> {
    let t = evidence.target;
    let (kind, role) = if is_a { (Kind::CoverA, Role::A) } else { (Kind::CoverB, Role::B) };
    let shown = evidence.of(kind).next().filter(|_| t.is_plain())?;
    let Fill::Blocks { width } = fill_of(&shown.rung.probe, role) else { return None };
    let groups = t.k.div_ceil(width as usize);
    let mut counts: Vec<Option<f64>> = vec![None; groups];
    let (output, expected) = (evidence.output(shown), evidence.expected(shown));
    for (at, (x, e)) in output.iter().zip(&expected).enumerate() {
        let group = if is_a { at / t.n() } else { at % t.n() } % groups;
        let found = x / e;
        match counts[group] {
            None => counts[group] = Some(found),
            Some(old) if old == found => {}
            _ => return None,
        }
    }
    let counts: Option<Vec<f64>> = counts.into_iter().collect();
    Some(Coverage { width: width as usize, counts: counts? })
}

/// How often each k is summed, as the probes say that look at one k at a time; none where they do not look at all, or disagree.
pub(super) fn counts_of_k(evidence: &Evidence<'_>) -> Option<Vec<usize>> {
    let t = evidence.target;
    let seen = |kind: Kind, hot: Role, of_rows: bool| -> Option<Vec<usize>> {
        let mut counts = vec![None; t.k];
        for shown in evidence.of(kind) {
            for (at, count) in evidence.output(shown).into_iter().enumerate() {
                let row = if of_rows { at / t.n() } else { at % t.n() };
                let whole = ((0.0..64.0).contains(&count) && count.fract() == 0.0).then_some(count as usize)?;
                let place = &mut counts[hot_column(shown, hot, t.k, row)];
                if place.is_some_and(|other| other != whole) {
                    return None;
                }
                *place = Some(whole);
            }
        }
        counts.into_iter().collect()
    };
    // One operand constant, the other one-hot: its rows are the rows of the output, or the columns.
    seen(Kind::CountB, Role::A, true).or_else(|| seen(Kind::CountA, Role::B, false))
}

/// Runs of k that are not summed once.
pub(super) fn runs_of_k(counts: &[usize]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (k, count) in counts.iter().enumerate().filter(|(_, count)| **count != 1) {
        match runs.last_mut() {
            Some(last) if last.1 == k && last.2 == *count as f64 => last.1 = k + 1,
            _ => runs.push((k, k + 1, *count as f64)),
        }
    }
    runs
}

impl Coverage {
    /// Runs of equal counts, those of one left out. A group at the edge of a run that is summed in part counts as the part that is.
    pub(super) fn runs(&self, k: usize) -> Option<Vec<Run>> {
        let mut runs: Vec<Run> = Vec::new();
        let end = |group: usize| ((group + 1) * self.width).min(k);
        for (group, count) in self.counts.iter().copied().enumerate() {
            let (from, to) = (group * self.width, end(group));
            let near = |at: usize| self.counts.get(at).copied().filter(|c| c.fract() == 0.0);
            if count.fract() == 0.0 {
                runs.push((from, to, count));
                continue;
            }
            let (before, after) = (near(group.wrapping_sub(1)).unwrap_or(1.0), near(group + 1).unwrap_or(0.0));
            // count · width = before · x + after · (width - x)
            let x = (count - after) / (before - after) * (to - from) as f64;
            if !x.is_finite() || x.fract() != 0.0 || x <= 0.0 || x >= (to - from) as f64 {
                return None;
            }
            runs.push((from, from + x as usize, before));
            runs.push((from + x as usize, to, after));
        }
        if runs.iter().any(|run| !(0.0..64.0).contains(&run.2)) {
            return None;
        }
        let mut joined: Vec<Run> = Vec::new();
        for run in runs {
            match joined.last_mut() {
                Some(last) if last.2 == run.2 => last.1 = run.1,
                _ => joined.push(run),
            }
        }
        joined.retain(|run| run.2 != 1.0);
        Some(joined)
    }
}

#[cfg(test)]
mod tests {
    use super::Coverage;

    #[test]
    fn runs_are_joined_and_cut_within_a_group() {
        let of = |counts: &[f64]| Coverage { width: 8, counts: counts.to_vec() }.runs(40);
        assert_eq!(of(&[1.0, 1.0, 1.0, 1.0, 1.0]), Some(vec![]));
        assert_eq!(of(&[1.0, 2.0, 2.0, 1.0, 0.0]), Some(vec![(8, 24, 2.0), (32, 40, 0.0)]));
        assert_eq!(of(&[1.0, 1.0, 1.0, 0.5, 0.0]), Some(vec![(28, 40, 0.0)]));
        assert_eq!(of(&[1.0, 1.0, 1.0, 1.0, 0.25]), Some(vec![(34, 40, 0.0)]));
        assert_eq!(of(&[1.0, 1.3, 1.0, 1.0, 1.0]), None);
    }
}
