//! The results of a sweep as text, CSV and JUnit, and where it turns from passing to failing.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::journal::{Record, Verdict};

/// Where an axis turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The leaf.
    pub leaf: String,
    /// The passing case with the largest value: the value, and the case.
    pub largest_passing: Option<(i64, String)>,
    /// The failing case with the smallest value.
    pub smallest_failing: Option<(i64, String)>,
}

impl Verdict {
    /// For tables.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "FAIL",
            Verdict::Hang => "HANG",
            Verdict::Draft => "draft",
            Verdict::Refused => "refused",
            Verdict::NoBuild => "no build",
            Verdict::NotRun => "not run",
        }
    }
}

/// For every leaf with integer values that the cases do not agree on.
pub fn edges(records: &[Record]) -> Vec<Edge> {
    let mut axes: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for (name, value) in records.iter().flat_map(|record| &record.leaves) {
        if let Ok(value) = value.parse() {
            axes.entry(name).or_default().insert(value);
        }
    }
    let of = |leaf: &str, wanted: fn(Verdict) -> bool| -> Vec<(i64, String)> {
        let wanted = records.iter().filter(|record| wanted(record.verdict));
        wanted.filter_map(|record| Some((record.leaves.get(leaf)?.parse().ok()?, record.case.clone()))).collect()
    };
    axes.iter()
        .filter(|(_, values)| values.len() > 1)
        .map(|(leaf, _)| Edge {
            leaf: (*leaf).to_owned(),
            largest_passing: of(leaf, |v| v == Verdict::Pass).into_iter().max_by_key(|(value, _)| *value),
            smallest_failing: of(leaf, |v| matches!(v, Verdict::Fail | Verdict::Hang))
                .into_iter()
                .min_by_key(|(value, _)| *value),
        })
        .collect()
}

/// A table with one line a case.
pub fn text(records: &[Record]) -> String {
    let width = records.iter().map(|r| r.case.chars().count()).max().unwrap_or(4).max(4);
    let mut out =
        format!("{:<width$}  {:<8}  {:>9}  {:>8}  {:>8}  why\n", "case", "answer", "registers", "build s", "run s");
    for r in records {
        let registers = r.registers.map_or_else(|| "-".to_owned(), |count| count.to_string());
        let (build, run) = (seconds(r.build_milliseconds), seconds(r.run_milliseconds));
        out.push_str(&format!(
            "{:<width$}  {:<8}  {registers:>9}  {build:>8}  {run:>8}  {}\n",
            r.case,
            r.verdict.word(),
            r.why
        ));
    }
    out
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{}", milliseconds / 1000, milliseconds % 1000 / 100)
}

/// One line a case, leaves first.
pub fn csv(records: &[Record]) -> String {
    let leaves: BTreeSet<&String> = records.iter().flat_map(|r| r.leaves.keys()).collect();
    let mut header: Vec<&str> = leaves.iter().map(|leaf| leaf.as_str()).collect();
    header.extend(["verdict", "registers", "spill_bytes", "build_ms", "run_ms", "why"]);
    let mut out = header.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(",") + "\n";
    for r in records {
        let mut fields: Vec<String> =
            leaves.iter().map(|leaf| r.leaves.get(*leaf).cloned().unwrap_or_default()).collect();
        let number = |value: Option<u64>| value.map_or_else(String::new, |v| v.to_string());
        fields.push(r.verdict.word().to_owned());
        fields.extend([number(r.registers.map(u64::from)), number(r.spills)]);
        fields.extend([r.build_milliseconds.to_string(), r.run_milliseconds.to_string(), r.why.clone()]);
        out += &(fields.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(",") + "\n");
    }
    out
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// A JUnit file: a failing or hanging case is a failure, one that was not decided is skipped, one that does not compile an
/// error.
pub fn junit(suite: &str, records: &[Record]) -> String {
    let count = |wanted: fn(Verdict) -> bool| records.iter().filter(|r| wanted(r.verdict)).count();
    let failures = count(|v| matches!(v, Verdict::Fail | Verdict::Hang));
    let errors = count(|v| matches!(v, Verdict::NoBuild | Verdict::Refused));
    let skipped = count(|v| matches!(v, Verdict::Draft | Verdict::NotRun));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" \
         skipped=\"{skipped}\">\n",
        escaped(suite),
        records.len()
    );
    for r in records {
        let element = match r.verdict {
            Verdict::Pass => None,
            Verdict::Fail | Verdict::Hang => Some("failure"),
            Verdict::NoBuild | Verdict::Refused => Some("error"),
            Verdict::Draft | Verdict::NotRun => Some("skipped"),
        };
        let inner = element
            .map_or_else(String::new, |tag| format!("<{tag} message=\"{}: {}\"/>", r.verdict.word(), escaped(&r.why)));
        let time = format!("{}.{:03}", r.run_milliseconds / 1000, r.run_milliseconds % 1000);
        out += &format!("  <testcase name=\"{}\" time=\"{time}\">{inner}</testcase>\n", escaped(&r.case));
    }
    out + "</testsuite>\n"
}

fn escaped(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control() || *c == ' ').collect::<String>();
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::journal::{Record, Verdict};
    use super::{Edge, csv, edges, junit, text};

    fn record(case: &str, verdict: Verdict) -> Record {
        let leaves =
            case.split(' ').filter_map(|p| p.split_once('=')).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        Record {
            case: case.into(),
            leaves,
            hash: String::new(),
            verdict,
            why: "a, \"b\" <c>".into(),
            registers: Some(168),
            spills: Some(0),
            build_milliseconds: 1234,
            run_milliseconds: 50,
        }
    }

    fn three() -> Vec<Record> {
        vec![record("b=1 n=64", Verdict::Pass), record("b=8 n=64", Verdict::Pass), record("b=16 n=64", Verdict::Fail)]
    }

    #[test]
    fn the_edge_of_each_axis_is_named() {
        let expected = Edge {
            leaf: "b".into(),
            largest_passing: Some((8, "b=8 n=64".into())),
            smallest_failing: Some((16, "b=16 n=64".into())),
        };
        assert_eq!(edges(&three()), [expected]);
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let lines = csv(&three());
        assert_eq!(lines.lines().next().unwrap(), "b,n,verdict,registers,spill_bytes,build_ms,run_ms,why");
        assert_eq!(lines.lines().nth(1).unwrap(), "1,64,pass,168,0,1234,50,\"a, \"\"b\"\" <c>\"");
        let xml = junit("s", &three());
        assert!(xml.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{xml}");
        assert!(xml.contains("<failure message=\"FAIL: a, &quot;b&quot; &lt;c&gt;\"/>"), "{xml}");
        assert!(
            text(&three()).contains("b=16 n=64  FAIL            168       1.2       0.0  a,"),
            "{}",
            text(&three())
        );
    }
}
