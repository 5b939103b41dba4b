//! Code-generation sites under `tests/sites/`, each with its expectations in lines that begin with `//@` or `#@`:
//! `case WHAT`, `function NAME`, `set NAME=VALUE`, `select LINE`, then `line TEXT` for every emitted line, `kernel NAME`,
//! `template A | B`, `bytes BARRIER = N by OBJECT`, `value EXPR = N`, or `error PART`. `header FILE` is for all cases.
#![allow(clippy::unwrap_used)]

mod site_ideas;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use krepro::diag::{Diagnostics, draw};
use krepro::model::Instantiation;
use krepro::read::constant::{Scope, expected_bytes};
use krepro::read::instantiation::{Select, check_arity, parse, parse_text};
use krepro::read::signature::{SignatureOptions, find};
use krepro::read::site::{Emission, read};
use krepro::source::Source;

#[derive(Default)]
struct Case {
    what: String,
    function: Option<String>,
    leaves: BTreeMap<String, String>,
    line: Option<usize>,
    expected: Vec<(String, String)>,
}

fn drawn(errors: &Diagnostics) -> String {
    errors.iter().map(|d| draw(d, false) + "\n").collect()
}

/// The cases of a fixture, its header, and its text without the expectations.
fn cases(text: &str) -> (Vec<Case>, Option<String>, String) {
    let (mut cases, mut header, mut rest) = (vec![], None, String::new());
    for line in text.lines() {
        let Some(directive) = line.strip_prefix("//@ ").or_else(|| line.strip_prefix("#@ ")) else {
            rest += line;
            rest.push('\n');
            continue;
        };
        let (key, value) = directive.split_once(' ').unwrap_or((directive, ""));
        let last: Option<&mut Case> = cases.last_mut();
        match key {
            "header" => header = Some(value.to_owned()),
            "case" => cases.push(Case { what: value.to_owned(), ..Case::default() }),
            "function" => last.unwrap().function = Some(value.to_owned()),
            "select" => last.unwrap().line = Some(value.parse().unwrap()),
            "set" => {
                let (name, value) = value.split_once('=').unwrap();
                last.unwrap().leaves.insert(name.to_owned(), value.to_owned());
            }
            _ => last.unwrap().expected.push((key.to_owned(), value.to_owned())),
        }
    }
    (cases, header, rest)
}

/// Everything that the readers make of a case, or their errors.
fn run(
    site: &Arc<Source>,
    header: Option<&Arc<Source>>,
    case: &Case,
) -> Result<(Emission, Option<Instantiation>, Option<Scope>), Diagnostics> {
    let emission = read(site, case.function.as_deref(), &case.leaves)?;
    let wanted = case.expected.iter().any(|(key, _)| matches!(key.as_str(), "kernel" | "template" | "error"));
    if header.is_none() && !wanted {
        return Ok((emission, None, None));
    }
    let select = Select { line: case.line, ..Select::default() };
    let found = match case.line {
        Some(_) => parse_text(&Source::new(site.name(), emission.text()), &select)?,
        None => parse(&emission, &select)?,
    };
    let Some(header) = header else { return Ok((emission, Some(found), None)) };
    let options = SignatureOptions::default();
    let signature = find(header, &found.kernel.value, &options)?;
    let arity = check_arity(&signature, &found, &[header.clone(), site.clone()]);
    if arity.has_errors() {
        return Err(arity);
    }
    let scope = Scope::new(std::slice::from_ref(header), &signature, &found, &options);
    Ok((emission, Some(found), Some(scope)))
}

fn check(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let (cases, header, rest) = cases(&text);
    let site = Source::new(name.as_str(), rest);
    let header = header.map(|file| Source::new(file.as_str(), fs::read(path.with_file_name(&file)).unwrap()));
    assert!(!cases.is_empty(), "{name} expects nothing");
    for case in &cases {
        let at = format!("{name}: {}", case.what);
        let of = |key: &str| -> Vec<&str> {
            case.expected.iter().filter(|(k, _)| k == key).map(|(_, value)| value.as_str()).collect()
        };
        match run(&site, header.as_ref(), case) {
            Err(errors) => {
                let errors = drawn(&errors);
                assert!(!of("error").is_empty(), "{at}\n{errors}");
                for part in of("error") {
                    assert!(errors.contains(part), "{at}: no `{part}` in\n{errors}");
                }
            }
            Ok((emission, found, scope)) => {
                assert!(of("error").is_empty(), "{at}: no error\n{}", emission.text());
                let lines: Vec<&str> = emission.lines.iter().map(|line| line.text.as_str()).collect();
                if !of("line").is_empty() {
                    assert_eq!(lines, of("line"), "{at}");
                }
                for line in &emission.lines {
                    let covered: usize = line.segments.iter().map(|segment| segment.range.len()).sum();
                    assert_eq!(covered, line.text.len(), "{at}: every byte has an origin");
                }
                for kernel in of("kernel") {
                    assert_eq!(found.as_ref().unwrap().kernel.value, kernel, "{at}");
                }
                for arguments in of("template") {
                    let given = &found.as_ref().unwrap().template_arguments;
                    let given: Vec<&str> = given.iter().map(|piece| piece.value.as_str()).collect();
                    assert_eq!(given.join(" | "), arguments, "{at}");
                }
                for value in of("value") {
                    let (expr, value) = value.rsplit_once(" = ").unwrap();
                    let got = scope.as_ref().unwrap().integer(expr, &BTreeMap::new());
                    assert_eq!(got, Ok(value.parse().unwrap()), "{at}: {expr}");
                }
                let awaited: Vec<String> = scope
                    .map(|scope| expected_bytes(&scope, &[]))
                    .unwrap_or_default()
                    .into_iter()
                    .map(|e| {
                        let objects: Vec<_> = e.copies.into_iter().map(|copy| copy.object).collect();
                        format!("{} = {} by {}", e.barrier, e.value.unwrap(), objects.join(", "))
                    })
                    .collect();
                if !of("bytes").is_empty() {
                    assert_eq!(awaited, of("bytes"), "{at}");
                }
            }
        }
    }
}

#[test]
fn every_site_does_what_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sites");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e != "cuh") {
            check(&path);
            count += 1;
        }
    }
    assert!(count >= 10, "{count} sites");
}
