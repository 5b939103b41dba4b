//! The results of a sweep: one JSON line a case, appended as they come, so that a sweep that was killed goes on.

use std::collections::BTreeMap;
use std::io;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::Leaves;
use crate::sys::System;

/// What became of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No rung failed, or a claim is refuted.
    Pass,
    /// A rung failed, or the kernel crashed.
    Fail,
    /// A launch did not end.
    Hang,
    /// The evidence does not decide.
    Draft,
    /// A check refuses it: it cannot be built or launched.
    Refused,
    /// It does not compile.
    NoBuild,
    /// There was nothing to run it on; a later sweep tries again.
    NotRun,
}

/// One line of the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the case.
    pub case: String,
    /// Its leaves.
    pub leaves: Leaves,
    /// Hash of what was built for it; another one makes the result stale.
    pub hash: String,
    /// What became of it.
    pub verdict: Verdict,
    /// The answer's headline, or why there is none.
    pub why: String,
    /// Registers of a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registers: Option<u32>,
    /// Bytes of registers stored to local memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spills: Option<u64>,
    /// Build of its translation unit.
    pub build_milliseconds: u64,
    /// Its run.
    pub run_milliseconds: u64,
}

/// Reads what is there by case name, the last line of a case winning, and mends a last line that was cut.
///
/// # Errors
/// File errors.
pub fn open(system: &dyn System, path: &Utf8Path) -> io::Result<BTreeMap<String, Record>> {
    if !system.is_file(path) {
        return Ok(BTreeMap::new());
    }
    let bytes = system.read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    if whole.len() != text.len() {
        system.write(path, whole.as_bytes())?;
    }
    let records = whole.lines().filter_map(|line| serde_json::from_str::<Record>(line).ok());
    Ok(records.map(|record| (record.case.clone(), record)).collect())
}

/// Appends one; it is on the disk when this returns.
///
/// # Errors
/// File errors.
pub fn append(system: &dyn System, path: &Utf8Path, record: &Record) -> io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    system.append(path, &line)
}

#[cfg(test)]
mod tests {
    use super::{Record, Verdict, append, open};
    use crate::sys::{Fake, System};

    pub(crate) fn record(case: &str, verdict: Verdict) -> Record {
        let leaves =
            case.split(' ').filter_map(|p| p.split_once('=')).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        Record {
            case: case.into(),
            leaves,
            hash: "h".into(),
            verdict,
            why: "because".into(),
            registers: None,
            spills: None,
            build_milliseconds: 1,
            run_milliseconds: 2,
        }
    }

    #[test]
    fn a_line_that_was_cut_is_forgotten_and_the_next_one_is_whole() {
        let system = Fake::new();
        let path = "/s/results.jsonl".into();
        assert!(open(&system, path).unwrap().is_empty());
        append(&system, path, &record("b=1", Verdict::Pass)).unwrap();
        append(&system, path, &record("b=2", Verdict::Fail)).unwrap();
        system.append(path, b"{\"case\":\"b=3\",\"lea").unwrap();
        let found = open(&system, path).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["b=1", "b=2"]);
        append(&system, path, &record("b=3", Verdict::Hang)).unwrap();
        append(&system, path, &record("b=1", Verdict::Draft)).unwrap();
        let found = open(&system, path).unwrap();
        assert_eq!((found["b=3"].verdict, found["b=1"].verdict), (Verdict::Hang, Verdict::Draft));
    }
}
