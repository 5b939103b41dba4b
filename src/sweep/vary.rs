//! The cases of a sweep: what is varied, and over what.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Diagnostics};

/// Values of the leaves that differ from case to case, by name.
pub type Leaves = BTreeMap<String, String>;

/// More cases than this are taken for a mistake in a range.
const MOST: usize = 100_000;

/// Every combination of `NAME=LIST` options, the last one varying fastest. A list is `A,B,C`; an entry may be a range
/// `LOW..HIGH` (both included) or `LOW..HIGH:STEP`, of integers.
///
/// # Errors
/// Entries that are no list, a name given twice, too many cases.
pub fn product(options: &[String]) -> Result<Vec<Leaves>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut cases = vec![Leaves::new()];
    for option in options {
        let values =
            option.split_once('=').filter(|(name, _)| !name.is_empty()).map(|(name, list)| (name, values(list)));
        let Some((name, Some(values))) = values else {
            problems.push(
                Diagnostic::error("K-OPTION", format!("`--vary {option}` is no list of values"))
                    .help("write --vary NAME=1,4,8 or --vary NAME=1..16 or --vary NAME=0..256:64"),
            );
            continue;
        };
        if cases[0].contains_key(name) {
            problems.push(Diagnostic::error("K-OPTION", format!("--vary {name} is given twice")));
            continue;
        }
        if cases.len().saturating_mul(values.len()) > MOST {
            problems.push(Diagnostic::error("K-OPTION", format!("--vary {option} makes more than {MOST} cases")));
            continue;
        }
        let with = |case: &Leaves, value: &String| {
            let mut case = case.clone();
            case.insert(name.to_owned(), value.clone());
            case
        };
        cases =
            cases.iter().flat_map(|case| values.iter().map(|value| with(case, value)).collect::<Vec<_>>()).collect();
    }
    if problems.is_empty() { Ok(cases) } else { Err(problems) }
}

/// The values of a list; `None` when it is none.
fn values(list: &str) -> Option<Vec<String>> {
    let mut out: Vec<String> = vec![];
    for entry in list.split(',').map(str::trim) {
        match entry.split_once("..") {
            None if entry.is_empty() => return None,
            None => out.push(entry.to_owned()),
            Some((low, tail)) => {
                let (high, step) = tail.split_once(':').unwrap_or((tail, "1"));
                let (low, high, step): (i64, i64, usize) = (low.parse().ok()?, high.parse().ok()?, step.parse().ok()?);
                if step == 0 || high < low {
                    return None;
                }
                out.extend((low..=high).step_by(step).take(MOST + 1).map(|value| value.to_string()));
            }
        }
    }
    Some(out)
}

/// Cases of a file: JSON (a list of objects) or CSV (names in the first line).
///
/// # Errors
/// What is wrong, with the line or the entry.
pub fn file(name: &str, text: &str) -> Result<Vec<Leaves>, Diagnostics> {
    let wrong = |what: String| Diagnostics::from(Diagnostic::error("K-CASES", format!("{name}: {what}")));
    if text.trim_start().starts_with('[') {
        let list: Vec<BTreeMap<String, serde_json::Value>> =
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let plain = |value: serde_json::Value| match value {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        return Ok(list
            .into_iter()
            .map(|case| case.into_iter().map(|(name, value)| (name, plain(value))).collect())
            .collect());
    }
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let names: Vec<&str> = lines.next().map(|(_, line)| line.split(',').map(str::trim).collect()).unwrap_or_default();
    let mut cases = vec![];
    for (number, line) in lines {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != names.len() {
            return Err(wrong(format!(
                "line {} has {} fields, the first line {}",
                number + 1,
                fields.len(),
                names.len()
            )));
        }
        cases.push(names.iter().zip(fields).map(|(name, value)| ((*name).to_owned(), value.to_owned())).collect());
    }
    if cases.is_empty() { Err(wrong("no case".to_owned())) } else { Ok(cases) }
}

/// `batch_size=4 output_size=1024`, the name of a case.
pub fn name(leaves: &Leaves) -> String {
    leaves.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{file, name, product};

    fn names(options: &[&str]) -> Vec<String> {
        let options: Vec<String> = options.iter().map(|o| (*o).to_owned()).collect();
        product(&options).unwrap().iter().map(name).collect()
    }

    #[test]
    fn lists_and_ranges_are_combined() {
        assert_eq!(
            names(&["b=1,4", "n=64..192:64"]),
            ["b=1 n=64", "b=1 n=128", "b=1 n=192", "b=4 n=64", "b=4 n=128", "b=4 n=192"]
        );
        assert_eq!(names(&["x=true,false"]), ["x=true", "x=false"]);
    }

    #[test]
    fn what_is_no_list_is_told_all_at_once() {
        let options = ["b".to_owned(), "n=4..1".to_owned(), "m=1..9:0".to_owned(), "k=1..9999999".to_owned()];
        assert_eq!(product(&options).unwrap_err().iter().count(), 4);
    }

    #[test]
    fn files_in_both_forms_are_read() {
        assert_eq!(
            file("c", "a,b\n1,2\n\n3,4\n").unwrap().iter().map(name).collect::<Vec<_>>(),
            ["a=1 b=2", "a=3 b=4"]
        );
        assert_eq!(file("c", "[{\"a\":1,\"b\":\"x\"}]").unwrap().iter().map(name).collect::<Vec<_>>(), ["a=1 b=x"]);
        assert!(file("c", "a,b\n1\n").is_err());
        assert!(file("c", "").is_err());
    }
}
