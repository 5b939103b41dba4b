//! Every rule against cases that it must catch and legal neighbours that it must let pass. A file in `tests/checks/` is one
//! rule (its name, up to a `-word`, is the code); each case changes a few values of `base.toml`.

mod cases;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cases::{Repeat, run, run_built, words};
use krepro::model::{Finding, Findings, Weight};
use serde::Deserialize;
use toml::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    bad: Vec<Bad>,
    #[serde(default)]
    good: Vec<Good>,
    #[serde(default)]
    skipped: Vec<Skipped>,
}

/// The rule speaks, with this weight and these words, and places its first value at `at`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bad {
    about: String,
    #[serde(default)]
    set: BTreeMap<String, Value>,
    repeat: Option<Repeat>,
    /// Statements of the built kernel's PTX: the rules that are asked after a build.
    ptx: Option<String>,
    weight: Weight,
    says: Vec<String>,
    at: Option<String>,
}

/// The rule says nothing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Good {
    about: String,
    #[serde(default)]
    set: BTreeMap<String, Value>,
    repeat: Option<Repeat>,
    ptx: Option<String>,
}

/// The rule is skipped, and names the fact that is missing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Skipped {
    about: String,
    #[serde(default)]
    set: BTreeMap<String, Value>,
    ptx: Option<String>,
    says: Vec<String>,
}

/// Before the build, or after it where the case has PTX.
fn findings_of(set: &BTreeMap<String, Value>, repeat: Option<&Repeat>, ptx: Option<&String>) -> Findings {
    let Some(statements) = ptx else { return run(set, repeat) };
    let lines: Vec<String> =
        statements.lines().enumerate().map(|(n, line)| format!("\t.loc 1 {} 3\n\t{line}", n + 1)).collect();
    let text = format!(".visible .entry krepro_kernel()\n{{\n{}\n}}\n\t.file 1 \"linear.cuh\"\n", lines.join("\n"));
    run_built(set, &text)
}

#[test]
fn the_base_has_no_findings_and_nothing_is_skipped() {
    let all = run(&BTreeMap::new(), None);
    assert_eq!(all, Findings::default());
}

#[test]
fn every_rule_catches_its_bad_cases_and_lets_the_legal_neighbours_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/checks");
    let mut failures = Vec::new();
    let mut cases = 0;
    for entry in fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().and_then(|s| s.to_str()).expect("a name").to_owned();
        let Some(rest) = stem.strip_prefix("K-") else { continue };
        let code = format!("K-{}", rest.split('-').next().unwrap_or_default());
        let file: File =
            toml::from_str(&fs::read_to_string(&path).expect("reads")).unwrap_or_else(|e| panic!("{stem}: {e}"));
        assert!(!file.bad.is_empty() && !file.good.is_empty(), "{stem} needs a bad and a good case");
        for case in file.bad {
            cases += 1;
            let all = findings_of(&case.set, case.repeat.as_ref(), case.ptx.as_ref());
            let fits = |f: &&Finding| {
                f.code == code && f.weight == case.weight && case.says.iter().all(|say| words(f).contains(say.as_str()))
            };
            match all.findings.iter().find(fits) {
                None => failures.push(format!("{stem}: {}: no such finding in\n{all:#?}", case.about)),
                Some(found) => {
                    let at = found.at.as_ref().map(ToString::to_string);
                    if case.at.is_some() && case.at != at {
                        failures.push(format!("{stem}: {}: placed at {at:?}", case.about));
                    }
                    if found.consequence.is_empty() || found.help.is_empty() {
                        failures.push(format!("{stem}: {}: no consequence or no help", case.about));
                    }
                }
            }
        }
        for case in file.good {
            cases += 1;
            let all = findings_of(&case.set, case.repeat.as_ref(), case.ptx.as_ref());
            if let Some(found) = all.findings.iter().find(|f| f.code == code) {
                failures.push(format!("{stem}: {}: a legal case is caught: {}", case.about, found.message));
            }
        }
        for case in file.skipped {
            cases += 1;
            let all = findings_of(&case.set, None, case.ptx.as_ref());
            let fits =
                |(c, fact): &&(String, String)| *c == code && case.says.iter().all(|say| fact.contains(say.as_str()));
            if !all.skipped.iter().any(|s| fits(&s)) {
                failures.push(format!("{stem}: {}: not skipped: {:?}", case.about, all.skipped));
            }
        }
    }
    assert!(cases > 0);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// `krepro explain CODE` knows every code that a check can give.
#[test]
fn every_code_of_a_check_is_explained_at_length() {
    let codes = krepro::explain::Codes::builtin().expect("the texts");
    let pattern = regex::Regex::new(r#""(K-S\d+[a-z]?)""#).expect("a pattern");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/check");
    let mut seen = 0;
    for entry in fs::read_dir(folder).expect("the folder") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("reads");
        for found in pattern.captures_iter(&text) {
            seen += 1;
            assert!(codes.find(&found[1]).is_some(), "{} has no text", &found[1]);
        }
    }
    assert!(seen > 40);
    for code in codes.all() {
        assert!(code.text.len() > 50 && !code.title.is_empty() && !code.source.is_empty(), "{}", code.code);
    }
}

fn is_rule(code: &str) -> bool {
    code.strip_prefix("K-S").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Every rule before the build has a file of cases; K-S43 is asked after it and tested beside its code.
#[test]
fn every_rule_has_a_file_of_cases() {
    let codes = krepro::explain::Codes::builtin().expect("the texts");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/checks");
    let without: Vec<_> = codes
        .all()
        .iter()
        .filter(|code| {
            is_rule(&code.code) && code.code != "K-S43" && !folder.join(format!("{}.toml", code.code)).exists()
        })
        .map(|code| code.code.as_str())
        .collect();
    assert!(without.is_empty(), "no cases for {without:?}");
}

/// Diagnostics of the other stages are explained too; a code that is new has to be told.
#[test]
fn every_code_of_a_diagnostic_is_explained() {
    let codes = krepro::explain::Codes::builtin().expect("the texts");
    let pattern = regex::Regex::new(r#"(?:error|warning|note)\(\s*"(K-[A-Z]+[A-Z-]*)""#).expect("a pattern");
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut missing = std::collections::BTreeSet::new();
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("reads");
            for found in pattern.captures_iter(&text) {
                seen += 1;
                if codes.find(&found[1]).is_none() {
                    missing.insert(found[1].to_owned());
                }
            }
        }
    }
    assert!(seen > 50);
    assert!(missing.is_empty(), "no text in build-flags/diagnostics.toml for {missing:?}");
}
