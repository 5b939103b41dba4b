//! Every example's generated file goes through a real nvcc.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod support;

use std::process::Command;

use krepro::model::Reproducer;
use support::{Sm90, simt, simt_of, sm90};

const PLAIN: Sm90 = Sm90 { batch: 16, output: 1024, stride: 1024, reduction: 6144, residual: false, defect: 0 };

#[test]
fn nvcc_builds_the_hopper_example() {
    let Some(toolchain) = common::toolchain() else { return };
    let folder = tempfile::tempdir().unwrap();
    let built = support::build(&toolchain, folder.path(), sm90(Sm90 { residual: true, stride: 1088, ..PLAIN }));
    let listed = Command::new(&built).arg("--list").output().unwrap();
    assert!(String::from_utf8(listed.stdout).unwrap().lines().any(|rung| rung == "epilogue"));
    let run = Command::new(&built).arg("--json").env("CUDA_VISIBLE_DEVICES", "").output().unwrap();
    assert_eq!(run.status.code(), Some(125), "{}", String::from_utf8_lossy(&run.stdout));
}

fn variants() -> Vec<(String, Reproducer)> {
    let mut list = vec![
        ("sm90".to_owned(), sm90(PLAIN)),
        ("sm90-residual".to_owned(), sm90(Sm90 { residual: true, stride: 1088, ..PLAIN })),
        ("sm90-b1".to_owned(), sm90(Sm90 { batch: 1, ..PLAIN })),
        ("sm90-b8".to_owned(), sm90(Sm90 { batch: 8, ..PLAIN })),
        ("sm90-ragged".to_owned(), sm90(Sm90 { batch: 5, output: 200, stride: 208, reduction: 1000, ..PLAIN })),
        ("simt".to_owned(), simt(0)),
        ("simt-large".to_owned(), simt_of([128, 7168, 6144], 0)),
    ];
    list.extend(
        (1..=9).map(|defect| (format!("sm90-d{defect}"), sm90(Sm90 { defect, residual: defect == 5, ..PLAIN }))),
    );
    list.extend((1..=7).map(|defect| (format!("simt-d{defect}"), simt(defect))));
    list
}

#[test]
#[ignore = "writes every variant into $KREPRO_KEEP, to be built and run where there is a GPU"]
fn write_the_variants() {
    let keep = std::path::PathBuf::from(std::env::var_os("KREPRO_KEEP").unwrap());
    for (name, reproducer) in variants() {
        fs_err::create_dir_all(keep.join(&name)).unwrap();
        support::write(&keep.join(&name), reproducer);
    }
}
