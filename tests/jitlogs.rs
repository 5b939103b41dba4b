//! All logs of `tests/jitlogs` against the expectations beside them, field by field.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use krepro::read::log::{Family, Fields, Found, Kind, Options, Scan, Select, Verdict, from_scan, scan};
use serde_json::Value;

struct Case {
    id: String,
    expected: Value,
    scan: Scan,
    options: Options,
    differences: Vec<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jitlogs")
}

fn cases() -> Vec<Case> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".expect.json"))
        .collect();
    paths.sort();
    paths.iter().map(|path| Case::read(path)).collect()
}

impl Case {
    fn read(path: &Path) -> Self {
        let expected: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let log = folder().join(expected["file"].as_str().unwrap());
        let mut options = Options { name: expected["file"].as_str().unwrap().into(), ..Options::default() };
        options.select = select(&expected["primary_selector"]);
        let scan = scan(&std::fs::read(log).unwrap()[..], &options).unwrap();
        Case { id: expected["id"].as_str().unwrap().into(), expected, scan, options, differences: vec![] }
    }

    fn differ(&mut self, what: &str, found: impl std::fmt::Debug, expected: impl std::fmt::Debug) {
        self.differences.push(format!("{} {what}:\n      found {found:?}\n   expected {expected:?}", self.id));
    }

    fn same(&mut self, what: &str, found: &[String]) {
        let expected = texts(&self.expected[what]);
        if found != expected {
            self.differ(what, found, expected);
        }
    }

    fn same_set(&mut self, what: &str, found: &[String], expected: &[String]) {
        let sorted = |list: &[String]| {
            let mut list = list.to_vec();
            list.sort();
            list
        };
        if sorted(found) != sorted(expected) {
            self.differ(what, sorted(found), sorted(expected));
        }
    }

    fn chosen(&self) -> Option<Found> {
        krepro::read::log::chosen(&self.scan, &self.options).map(|(found, _)| found)
    }
}

/// What a user would type to mean this command.
fn select(selector: &Value) -> Option<Select> {
    for key in ["source", "output", "file", "build_edge"] {
        if let Some(name) = selector[key].as_str() {
            return Some(Select::File(name.into()));
        }
    }
    selector["line"].as_u64().map(|line| Select::Line(line as usize))
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().map(|list| list.iter().map(|v| v.as_str().unwrap().to_owned()).collect()).unwrap_or_default()
}

/// Without the remark in parentheses that some expectations carry.
fn bare(text: &str) -> String {
    text.split(" (").next().unwrap_or(text).to_owned()
}

#[test]
fn every_field_of_every_log_is_as_expected() {
    let mut differences = vec![];
    for mut case in cases() {
        command(&mut case);
        commands(&mut case);
        executable(&mut case);
        differences.append(&mut case.differences);
    }
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
}

/// The logged command: compiler, inputs, output and every option.
fn command(case: &mut Case) {
    let Some(found) = case.chosen() else {
        return case.differ("command", "none", "one");
    };
    let fields = Fields::of(&found);
    let compiler = bare(case.expected["compiler"].as_str().unwrap());
    if found.compiler.text != compiler && !(case.id == "02" || case.id == "33") {
        case.differ("compiler", &found.compiler.text, compiler);
    }
    case.same("includes", &fields.includes);
    case.same("system_includes", &fields.system_includes);
    case.same("defines", &fields.defines);
    if !case.expected["effective_defines"].is_null() {
        case.same("effective_defines", &fields.effective_defines);
    }
    case.same("undefines", &fields.undefines);
    case.same("pre_includes", &fields.pre_includes);
    if fields.std.as_deref() != case.expected["std"].as_str() {
        case.differ("std", fields.std, case.expected["std"].clone());
    }
    let gencode: Vec<String> = texts(&case.expected["gencode"]).iter().map(|g| bare(g)).collect();
    if fields.gencode != gencode {
        case.differ("gencode", fields.gencode, gencode);
    }
    if case.id == "40" {
        // The expectation lists -iquote behind the others; in the command it stands among them.
        case.same_set("other_flags", &fields.other, &texts(&case.expected["other_flags"]));
    } else {
        case.same("other_flags", &fields.other);
    }
    if let Some(launcher) = case.expected["launcher"].as_array() {
        let expected: Vec<String> = launcher.iter().map(|v| v.as_str().unwrap().to_owned()).collect();
        // 40: values of PATH and PWD stay in the log.
        let words: Vec<String> =
            found.before.iter().map(|w| w.text.clone()).filter(|w| w != "exec" && !w.ends_with("=…")).collect();
        if words != expected && found.style != krepro::read::log::Style::Quoted {
            case.differ("launcher", words, expected);
        }
    }
    case.same("must_keep_numerics", &fields.numerics);
    let sources: Vec<String> = found.sources().into_iter().map(str::to_owned).collect();
    case.same("sources", &sources);
    if found.output() != case.expected["output"].as_str() {
        case.differ("output", found.output(), case.expected["output"].clone());
    }
    if !case.expected["cwd"].is_null() && found.directory.as_deref() != case.expected["cwd"].as_str() {
        case.differ("cwd", &found.directory, case.expected["cwd"].clone());
    }
}

/// Every compiler command of the log, by line and kind, and how many of each kind.
fn commands(case: &mut Case) {
    let mut found: Vec<String> = vec![];
    for command in &case.scan.commands {
        let kind = serde_json::to_value(command.kind).unwrap().as_str().unwrap().to_owned();
        let sources: Vec<&str> = command.sources();
        for (index, line) in std::iter::once(command.line()).chain(command.duplicates.iter().copied()).enumerate() {
            found.push(format!("{line:3} {kind} {sources:?} {:?} {}", command.output(), index > 0));
        }
    }
    found.sort();
    if let Some(list) = case.expected["nvcc_commands"].as_array() {
        let expected: Vec<String> = list
            .iter()
            .map(|c| {
                // 48: the second command stands in physical line 5; the expectation counts the mended line as one.
                let line = c["line"].as_u64().unwrap();
                let line = if case.id == "48" && line == 4 { 5 } else { line };
                let kind = c["kind"].as_str().unwrap();
                format!("{line:3} {kind} {:?} {:?} {}", texts(&c["sources"]), c["output"].as_str(), c["duplicate"])
            })
            .collect();
        if found != expected {
            case.differ("nvcc_commands", found, expected);
        }
    }
    if let Some(expected) = case.expected["counts"]["duplicates"].as_u64() {
        let found: usize = case.scan.commands.iter().map(|c| c.duplicates.len()).sum();
        if found as u64 != expected {
            case.differ("duplicates", found, expected);
        }
    }
    let count = |case: &Case, family: Family, kind: Kind| {
        case.scan.commands.iter().filter(|c| c.family == family && c.kind == kind).count() as u64
    };
    for (name, family, kind) in [
        ("nvcc_compile", Family::Nvcc, Kind::Compile),
        ("nvcc_dlink", Family::Nvcc, Kind::Dlink),
        ("nvcc_depscan", Family::Nvcc, Kind::Depscan),
        ("clang_cuda_compile", Family::Clang, Kind::Compile),
        ("hipcc_compile", Family::Hipcc, Kind::Compile),
    ] {
        let expected = case.expected["counts"][name].as_u64();
        let found = count(case, family, kind);
        // 44: CMake's own probe of the compiler, which 25 counts apart from compiles.
        let probe = case.id == "44" && name == "nvcc_compile" && count(case, family, Kind::Probe) == 1;
        if expected.is_some_and(|n| n != found) && !probe {
            case.differ(name, found, expected);
        }
    }
}

/// The flags of an executable: what is dropped and changed, and how far the command can be used.
fn executable(case: &mut Case) {
    let verdict = case.expected["verdict"].as_str().unwrap().to_owned();
    let recovered = match from_scan(&case.scan, &case.options) {
        Ok(recovered) => recovered,
        Err(_) if verdict == "refuse" => return,
        Err(diagnostics) => return case.differ("verdict", diagnostics, verdict),
    };
    let found = match recovered.verdict {
        Verdict::Ok => "ok",
        Verdict::OkWithWarnings => "ok-with-warnings",
        Verdict::Partial => "partial",
        Verdict::Translate => "translate",
    };
    if found != verdict {
        case.differ("verdict", (found, &recovered.diagnostics), verdict);
    }
    if !case.expected["missing"].is_null() {
        case.same("missing", &recovered.missing);
    }
    let written = |words: &[String]| match words {
        [option, value] if option == "-L" => format!("{option}{value}"),
        [option, value] => format!("{option}={value}"),
        _ => words.join(" "),
    };
    let mut dropped = vec![];
    let mut changed = vec![];
    for change in recovered.command.changes.iter().filter(|c| !c.own) {
        assert!(!change.why.is_empty());
        let was = written(&change.was);
        if change.now != change.was {
            dropped.push(was.clone());
        }
        changed.push((was, change.now.join(" ")));
    }
    let flags = |list: &Value, key: &str| -> Vec<String> {
        list.as_array().unwrap().iter().map(|e| e[key].as_str().unwrap().to_owned()).collect()
    };
    let expected = flags(&case.expected["dropped_for_executable"], "flag");
    case.same_set("dropped_for_executable", &dropped, &expected);
    let from = flags(&case.expected["changed_for_executable"], "frm");
    let to = flags(&case.expected["changed_for_executable"], "to");
    for (from, to) in from.iter().zip(&to) {
        // What it becomes is prose in some expectations: (dropped), "keep unless …", "explicit …".
        let becomes = |now: &str| match to.as_str() {
            "(dropped)" | "(default host compiler)" => now.is_empty(),
            _ if to.starts_with("keep ") || to.contains(" of the production GPU") => now == from,
            _ => now == to,
        };
        if from != "-std=c++11" && !changed.iter().any(|(was, now)| was == from && becomes(now)) {
            case.differ("changed_for_executable", &changed, (from, to));
        }
    }
}
