//! The option grammar against the nvcc of this machine.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod common;

use std::collections::BTreeMap;

use krepro::read::log::{OptionTable, Takes};
use krepro::sys::{Machine, Request, System};

/// An option as `nvcc --help` shows it: its spellings, and the form of its value.
fn documented(help: &str) -> BTreeMap<String, (Option<String>, String)> {
    let mut out = BTreeMap::new();
    for line in help.lines().filter(|line| line.starts_with("--") && line.trim_end().len() > 3) {
        let Some((long, rest)) = line.split_once(char::is_whitespace) else { continue };
        let rest = rest.trim();
        let (value, short) = match rest.rsplit_once('(') {
            Some((value, short)) => (value.trim(), short.trim_end_matches(')').trim()),
            None => ("", rest),
        };
        if short.starts_with('-') {
            let value = (!value.is_empty()).then(|| value.to_owned());
            out.insert(long.to_owned(), (value, short.to_owned()));
        }
    }
    out
}

#[test]
fn every_documented_option_is_in_the_grammar_with_its_arity() {
    let Some(toolchain) = common::toolchain() else { return };
    let help = Machine.run(&Request::new(toolchain.nvcc.as_str()).arguments(["--help"])).unwrap().all_text();
    let documented = documented(&help);
    assert!(documented.len() > 100, "nvcc --help shows only {} options", documented.len());
    let table = OptionTable::nvcc();
    let known_version = help.contains("release 13.0") || toolchain.version.to_string().starts_with("13.0");
    let mut wrong = vec![];
    let mut new = vec![];
    for (long, (value, short)) in &documented {
        let Some(spec) = table.find(long) else {
            new.push(long.clone());
            continue;
        };
        if table.find(short) != Some(spec) {
            wrong.push(format!("{long}: the grammar has not its short form {short}"));
        }
        // --help does not show that these two take a value; they do.
        let silent = matches!(long.as_str(), "--dependency-output" | "--qpp-config");
        let takes = match value {
            None if silent => Takes::One,
            None => Takes::Nothing,
            Some(value) if value.ends_with(",...") => Takes::List,
            Some(_) => Takes::One,
        };
        if spec.takes != takes {
            wrong.push(format!("{long}: takes {:?}, and --help shows {value:?}", spec.takes));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let shown: Vec<&str> = documented.keys().map(String::as_str).collect();
    let hidden: Vec<&str> = table
        .options()
        .iter()
        .filter(|spec| !spec.hidden && !spec.names.iter().any(|name| shown.contains(&name.as_str())))
        .map(|spec| spec.names[0].as_str())
        .collect();
    if known_version {
        assert!(new.is_empty() && hidden.is_empty(), "not in the grammar: {new:?}; not shown by nvcc: {hidden:?}");
    } else {
        eprintln!("this nvcc is not 13.0; not in the grammar: {new:?}; not shown by nvcc: {hidden:?}");
    }
}

/// nvcc itself reads every form that the grammar says it reads, and refuses what the grammar refuses.
#[test]
fn nvcc_reads_the_forms_of_the_grammar() {
    let Some(toolchain) = common::toolchain() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = camino::Utf8Path::from_path(folder.path()).unwrap();
    Machine.write(&folder.join("k.cu"), b"__global__ void k() {}\n").unwrap();
    let run = |options: &[&str]| {
        let mut arguments = vec!["--dryrun", "-c", "k.cu"];
        arguments.extend(options);
        Machine.run(&Request::new(toolchain.nvcc.as_str()).arguments(arguments).folder(folder)).unwrap()
    };
    let accepted: [&[&str]; 12] = [
        &["-I", "inc"],
        &["-Iinc"],
        &["-I=inc"],
        &["--include-path=inc"],
        &["-O3"],
        &["-lcuda"],
        &["-m64"],
        &["-t4"],
        &["-std", "c++17"],
        &["--std=c++17"],
        &["-Xcudafe", "--diag_suppress=177"],
        &["-gencode", "code=sm_90a,arch=compute_90a"],
    ];
    for options in accepted {
        assert!(run(options).success(), "{options:?}: {}", run(options).all_text());
    }
    for options in [["-march=native"], ["--gencode=arch=compute_90,code=sm_90"], ["--gpu-arch=sm_90"], ["-stdc++17"]] {
        assert!(!run(&options).success(), "{options:?} is taken");
    }
}
