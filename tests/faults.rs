//! Kinds of faults from public reports that a check or the explainer catches: each with other numbers than the report's, and
//! with a legal neighbour that must pass.

mod cases;

use std::collections::BTreeMap;

use cases::{run, run_built, words};
use krepro::explain::{Catalogue, Known, explain};
use serde::Deserialize;
use toml::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    check: Vec<Check>,
    output: Vec<Output>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    fault: u32,
    code: String,
    #[serde(default)]
    set: BTreeMap<String, Value>,
    /// Statements of the built kernel's PTX, for a rule that is asked after the build.
    ptx: Option<String>,
    says: Vec<String>,
    #[serde(default)]
    legal: BTreeMap<String, Value>,
    legal_ptx: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    fault: u32,
    text: String,
    says: Vec<String>,
}

fn file() -> File {
    toml::from_str(include_str!("faults.toml")).expect("faults.toml")
}

#[test]
fn a_check_catches_the_kind_and_lets_the_legal_neighbour_pass() {
    let mut failures = Vec::new();
    for case in file().check {
        let findings = |set: &BTreeMap<String, Value>, ptx: Option<&String>| match ptx {
            Some(statements) => run_built(set, &format!(".visible .entry krepro_kernel()\n{{\n{statements}\n}}\n")),
            None => run(set, None),
        };
        let all = findings(&case.set, case.ptx.as_ref());
        let hit = |f: &&krepro::model::Finding| {
            f.code == case.code && case.says.iter().all(|say| words(f).contains(say.as_str()))
        };
        if !all.findings.iter().any(|f| hit(&f)) {
            failures.push(format!("fault {}: not caught by {}: {all:#?}", case.fault, case.code));
        }
        if let Some(found) =
            findings(&case.legal, case.legal_ptx.as_ref()).findings.iter().find(|f| f.code == case.code)
        {
            failures.push(format!("fault {}: the legal neighbour is caught: {}", case.fault, found.message));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn what_such_a_fault_prints_is_explained() {
    let catalogue = Catalogue::builtin().expect("the table");
    for case in file().output {
        let found = explain(&case.text, &catalogue, &Known::default());
        let first = found.messages.first().unwrap_or_else(|| panic!("fault {}: nothing known", case.fault));
        let all = format!("{} {}", first.cause.as_deref().unwrap_or_default(), first.remedy.join(" "));
        for say in &case.says {
            assert!(all.contains(say.as_str()), "fault {}: `{say}` is not in: {all}", case.fault);
        }
    }
}

/// The table of the documentation says "check" or "explain" of exactly those that are tested here.
#[test]
fn the_table_of_the_documentation_claims_no_more_than_is_tested() {
    let table = include_str!("../docs/public-faults.md");
    let tested: Vec<(u32, &str)> = file()
        .check
        .iter()
        .map(|c| (c.fault, "check"))
        .chain(file().output.iter().map(|o| (o.fault, "explain")))
        .collect();
    let mut rows = 0;
    for row in table.lines().filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit()) {
        rows += 1;
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let number: u32 = cells[0].parse().expect("a number");
        for how in ["check", "explain"] {
            let claimed = cells[2].split(", ").any(|word| word == how);
            assert_eq!(claimed, tested.contains(&(number, how)), "fault {number}: {how}");
        }
    }
    assert_eq!(rows, 59);
}
