//! Every message that nvcc 13 can be made to print, printed from a minimal source and explained by the right entry.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use krepro::explain::{Catalogue, Explanation, Known, explain};
use krepro::model::Target;
use krepro::source::Place;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ptx {
    message: String,
    target: String,
    build: Option<String>,
    #[serde(default)]
    before: String,
    #[serde(default)]
    directives: String,
    body: String,
    version: Option<String>,
    #[serde(default)]
    arguments: Vec<String>,
    cause: Option<String>,
}

/// Commands in a folder of their own, with these files; the last one's output is explained.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Build {
    message: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    steps: Vec<String>,
    cause: Option<String>,
    /// Words of the first innermost instantiation.
    instantiation: Option<String>,
}

/// Text that needs another toolkit, a library or a GPU to be printed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    message: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    #[serde(default)]
    text: Vec<Text>,
    #[serde(default)]
    ptx: Vec<Ptx>,
    #[serde(default)]
    build: Vec<Build>,
}

fn files() -> Vec<Cases> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages");
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("reads");
        toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    fs::read_dir(folder).expect("the folder").map(read).collect()
}

fn ptx_build(case: Ptx) -> Build {
    let version = case.version.unwrap_or_else(|| "8.8".into());
    let text = format!(
        ".version {version}\n.target {}\n.address_size 64\n{}\n.visible .entry k() {}\n{{\n{}\nret;\n}}\n",
        case.target, case.before, case.directives, case.body
    );
    let mode = if case.arguments.iter().any(|a| a == "-dc") { "" } else { "-cubin" };
    let step = format!(
        "nvcc {mode} -arch={} {} k.ptx -o k.out",
        case.build.as_deref().unwrap_or(&case.target),
        case.arguments.join(" ")
    );
    Build {
        message: case.message,
        files: BTreeMap::from([("k.ptx".to_owned(), text)]),
        steps: vec![step],
        cause: case.cause,
        instantiation: None,
    }
}

fn output(nvcc: &Path, folder: &Path, case: &Build) -> String {
    for (name, text) in &case.files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a source");
    }
    let mut last = String::new();
    for step in &case.steps {
        let mut words = step.split_whitespace();
        let program = words.next().expect("a program");
        let program = if program == "nvcc" { nvcc } else { Path::new(program) };
        let out = Command::new(program).args(words).current_dir(folder).env("LC_ALL", "C").output().expect("runs");
        last = format!("{}{}", String::from_utf8_lossy(&out.stderr), String::from_utf8_lossy(&out.stdout));
    }
    last
}

fn judge(case: &Build, printed: &str, found: &Explanation) -> Result<(), String> {
    let wrong =
        |what: &str| Err(format!("{}: {what}\n--- printed\n{printed}\n--- explained\n{found:#?}", case.message));
    let Some(hit) = found.messages.iter().find(|m| m.message.as_deref() == Some(&case.message)) else {
        return wrong("not explained by this entry");
    };
    if found.first_error().is_some_and(|first| first.message.is_none()) {
        return wrong("the first error is not explained");
    }
    if case.cause.as_ref().is_some_and(|cause| hit.cause.as_deref().is_none_or(|c| !c.contains(cause.as_str()))) {
        return wrong("another cause");
    }
    let first = hit.instantiations.first().map(String::as_str).unwrap_or_default();
    if case.instantiation.as_ref().is_some_and(|words| !first.contains(words.as_str())) {
        return wrong("another innermost instantiation");
    }
    Ok(())
}

#[test]
fn each_message_that_nvcc_prints_is_explained() {
    let Some(toolchain) = common::toolchain() else { return };
    let nvcc = toolchain.nvcc.as_std_path();
    let mut cases = Vec::new();
    for file in files() {
        cases.extend(file.ptx.into_iter().map(ptx_build));
        cases.extend(file.build);
    }
    assert!(!cases.is_empty());
    let catalogue = Catalogue::builtin().expect("the table");
    let scratch = tempfile::tempdir().expect("a folder");
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((index, case)) = {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    cases.get(i).map(|c| (i, c))
                } {
                    let folder = scratch.path().join(index.to_string());
                    fs::create_dir(&folder).expect("a folder");
                    let printed = output(nvcc, &folder, case);
                    let found = explain(&printed, &catalogue, &Known::default());
                    if let Err(failure) = judge(case, &printed, &found) {
                        failures.lock().expect("no panic").push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n\n"));
}

#[test]
fn texts_of_other_toolkits_and_of_runs_are_explained() {
    let catalogue = Catalogue::builtin().expect("the table");
    for case in files().into_iter().flat_map(|file| file.text) {
        let found = explain(&case.text, &catalogue, &Known::default());
        let names: Vec<_> = found.messages.iter().filter_map(|m| m.message.as_deref()).collect();
        assert_eq!(names, [case.message.as_str()], "{}", case.text);
    }
}

#[test]
fn every_entry_of_the_table_has_a_case() {
    let catalogue = Catalogue::builtin().expect("the table");
    let mut known = Vec::new();
    for file in files() {
        known.extend(file.ptx.into_iter().map(|c| c.message));
        known.extend(file.build.into_iter().map(|c| c.message));
        known.extend(file.text.into_iter().map(|c| c.message));
    }
    let without: Vec<_> = catalogue.messages().iter().map(|m| &m.id).filter(|id| !known.contains(id)).collect();
    assert!(without.is_empty(), "no case for {without:?}");
    let unknown: Vec<_> = known.iter().filter(|id| !catalogue.messages().iter().any(|m| m.id == **id)).collect();
    assert!(unknown.is_empty(), "no entry for {unknown:?}");
}

#[test]
fn the_short_form_of_the_architecture_is_seen_through() {
    let catalogue = Catalogue::builtin().expect("the table");
    let at = Place { file: "log".into(), line: 1, column: 1 };
    let targets = [Target::parse("sm_90a", &at).expect("a target")];
    let text = "ptxas x.ptx, line 9; error   : Instruction 'wgmma.fence' not supported on .target 'sm_90'\n\
                ptxas fatal   : Ptx assembly aborted due to errors";
    let known = Known { targets: &targets, written: &[] };
    let found = explain(text, &catalogue, &known);
    let first = found.first_error().expect("an error");
    assert!(first.cause.as_deref().expect("a cause").contains("-arch=sm_90a, which also builds plain sm_90"));
    assert_eq!(first.remedy, ["-gencode=arch=compute_90a,code=sm_90a instead of -arch=sm_90a"]);
}

#[test]
fn the_first_error_comes_first_and_its_like_are_counted() {
    let catalogue = Catalogue::builtin().expect("the table");
    let text = "k.cu(3): warning #20013-D: calling a constexpr __host__ function(\"f\") from a __global__ function(\"k\") is \
                not allowed.\n\
                k.cu(9): error: identifier \"$\" is undefined\n\
                k.cu(9): error: expected an expression\n\
                k.cu(11): error: identifier \"$\" is undefined\n\
                k.cu(4): warning #177-D: variable \"x\" was declared but never referenced\n";
    let found = explain(text, &catalogue, &Known::default());
    let names: Vec<_> = found.messages.iter().map(|m| (m.message.as_deref(), m.count)).collect();
    assert_eq!(names, [(Some("front-placeholder"), 2), (None, 1), (Some("front-relaxed-constexpr"), 1)]);
    assert_eq!(found.others, 1);
    assert_eq!(found.messages[0].at.as_deref(), Some("k.cu:9"));
}
