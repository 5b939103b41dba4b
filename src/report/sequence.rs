//! The launches before the kernel, one line for each tensor that they write.

use crate::model::{RungResult, RungStatus, Sequence};

use super::table::table;

/// Nothing where there are none.
pub(super) fn sequence(sequence: &Sequence, kernel: &[RungResult]) -> String {
    if sequence.alone.is_empty() {
        return String::new();
    }
    let mut rows: Vec<Vec<String>> = vec![];
    let mut told: Vec<(&str, &str)> = vec![];
    for result in &sequence.alone {
        let key = (result.name.as_str(), result.writes.as_str());
        if told.contains(&key) {
            continue;
        }
        told.push(key);
        let all: Vec<_> = sequence.alone.iter().filter(|r| (r.name.as_str(), r.writes.as_str()) == key).collect();
        let passed = all.iter().filter(|result| !result.failed()).count();
        let sum =
            |count: fn(&&&crate::model::PrologueResult) -> u64| all.iter().map(|r| count(&r)).sum::<u64>().to_string();
        let (wrong, elements) = (sum(|r| r.wrong), sum(|r| r.elements));
        rows.push(vec![key.0.to_owned(), key.1.to_owned(), format!("{passed}/{}", all.len()), wrong, elements]);
    }
    for (name, rungs) in [("the kernel alone", kernel), ("all together", &sequence.together)] {
        let ran: Vec<&RungResult> =
            rungs.iter().filter(|rung| rung.status != RungStatus::Skip && rung.family() != "probe").collect();
        let passed = ran.iter().filter(|rung| !rung.failed()).count();
        let metrics = || ran.iter().filter_map(|rung| rung.metrics.as_ref());
        let (wrong, elements): (u64, u64) = (metrics().map(|m| m.wrong).sum(), metrics().map(|m| m.elements).sum());
        let counts = [format!("{passed}/{}", ran.len()), wrong.to_string(), elements.to_string()];
        rows.push([name.to_owned(), "out".to_owned()].into_iter().chain(counts).collect());
    }
    format!("\nSequence\n{}", table(&["launch", "writes", "rungs passed", "wrong", "of"], &rows))
}
