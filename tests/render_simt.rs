//! A reproducer built by hand, rendered, and compiled by a real nvcc where one is found.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod support;

use krepro::model::{Checked, Findings};
use krepro::render::{is_as_rendered, render};
use support::simt;

#[test]
fn the_files_are_deterministic_and_sealed() {
    let make = || render(&Checked::new(simt(0), Findings::default()).unwrap()).unwrap();
    let rendered = make();
    assert_eq!(rendered, make());
    let names: Vec<_> = rendered.files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["simt_linear.cu", "build.sh"]);
    for file in &rendered.files {
        assert_eq!(is_as_rendered(&file.text), Some(true), "{}", file.name);
        assert!(file.text.is_ascii(), "{}", file.name);
    }
}

#[test]
fn nvcc_builds_it_and_the_executable_says_that_there_is_no_gpu() {
    let Some(toolchain) = common::toolchain() else { return };
    let folder = tempfile::tempdir().unwrap();
    let built = support::build(&toolchain, folder.path(), simt(0));
    let listed = std::process::Command::new(&built).arg("--list").output().unwrap();
    assert!(listed.status.success());
    let rungs = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(
        rungs.lines().collect::<Vec<_>>(),
        ["integers.repeat", "ones", "integers", "padding", "one_hot.a", "one_hot.b", "epilogue", "gaussian"]
    );
}

#[test]
fn every_runtime_header_is_inlined_once() {
    let rendered = render(&Checked::new(simt(0), Findings::default()).unwrap()).unwrap();
    for entry in fs_err::read_dir(support::root().join("scaffolds/cuda")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert_eq!(rendered.files[0].text.matches(&format!("\n// scaffolds/cuda/{name}\n")).count(), 1, "{name}");
    }
}
