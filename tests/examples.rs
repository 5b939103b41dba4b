//! Every example's generated file goes through a real nvcc.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod support;

use std::process::Command;

use support::{Sm90, sm90};

/// Where `KREPRO_KEEP` names a folder, the executables of all variants are built and kept there, for a machine with a GPU.
#[test]
fn the_variants_of_the_examples_build() {
    let Some(toolchain) = common::toolchain() else { return };
    let plain = Sm90 { batch: 16, output: 1024, stride: 1024, reduction: 6144, residual: false, defect: 0 };
    let mut cases = vec![("sm90-residual".to_owned(), sm90(Sm90 { residual: true, stride: 1088, ..plain }))];
    let keep = std::env::var_os("KREPRO_KEEP").map(std::path::PathBuf::from);
    if keep.is_some() {
        cases.push(("sm90".to_owned(), sm90(plain)));
        cases.push(("sm90-b1".to_owned(), sm90(Sm90 { batch: 1, ..plain })));
        cases.push(("sm90-b8".to_owned(), sm90(Sm90 { batch: 8, ..plain })));
        cases.push((
            "sm90-ragged".to_owned(),
            sm90(Sm90 { batch: 5, output: 200, stride: 208, reduction: 1000, ..plain }),
        ));
        cases.push(("simt".to_owned(), support::simt(0)));
        for defect in 1..=9 {
            let residual = defect == 5;
            cases.push((format!("sm90-d{defect}"), sm90(Sm90 { defect, residual, ..plain })));
        }
        for defect in 1..=7 {
            cases.push((format!("simt-d{defect}"), support::simt(defect)));
        }
    }
    for (name, reproducer) in cases {
        let folder = tempfile::tempdir().unwrap();
        let built = support::build(&toolchain, folder.path(), reproducer);
        let listed = Command::new(&built).arg("--list").output().unwrap();
        assert!(listed.status.success(), "{name}");
        if let Some(keep) = &keep {
            fs_err::create_dir_all(keep).unwrap();
            fs_err::copy(&built, keep.join(&name)).unwrap();
            fs_err::copy(
                folder.path().join(built.file_name().unwrap()).with_extension("cu"),
                keep.join(format!("{name}.cu")),
            )
            .unwrap();
        }
    }
}
