//! A sweep over a bundled example, through the real nvcc: batched, resumable, nothing compiled twice.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use camino::{Utf8Path, Utf8PathBuf};
use krepro::sys::{Finished, Machine, Request, System};
use serde_json::Value;

fn krepro(arguments: &[&str]) -> Finished {
    let request = Request::new(env!("CARGO_BIN_EXE_krepro")).arguments(arguments.iter().copied());
    Machine.run(&request).unwrap()
}

/// A reproducer of `examples/simt_linear`, compiled without optimisation of the host half, which is most of the time.
fn reproducer(folder: &Utf8Path) -> Utf8PathBuf {
    let example = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/simt_linear");
    let log = folder.join("jit.log");
    let line =
        format!("nvcc -std=c++17 -DNDEBUG -I{example} -gencode arch=compute_90a,code=sm_90a -shared -o x.so x.cu\n");
    Machine.write(&log, line.as_bytes()).unwrap();
    let out = folder.join("repro");
    let finished = krepro(&[
        "new",
        "--kernel",
        &format!("{example}/simt_linear.cuh:linear_kernel"),
        "--site",
        &format!("{example}/site.cc:emit_simt_linear"),
        "--scaffold",
        &format!("{example}/scaffold.toml"),
        "--set=shape.batch=16",
        "--set=shape.out_features=64",
        "--set=shape.in_features=512",
        "--set=defect=0",
        "--log",
        log.as_str(),
        "-o",
        out.as_str(),
    ]);
    assert!(finished.success(), "{}", finished.all_text());
    out
}

fn sweep(folder: &Utf8Path, vary: &str) -> Value {
    let finished = krepro(&["sweep", folder.as_str(), "--vary", vary, "--build-only", "--jobs", "1", "--json"]);
    assert!(finished.success(), "{}", finished.all_text());
    serde_json::from_slice(&finished.output).unwrap()
}

#[test]
fn cases_are_built_together_and_the_second_sweep_starts_no_compiler() {
    if common::toolchain().is_none() {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let folder = reproducer(Utf8Path::from_path(temporary.path()).unwrap());
    let first = sweep(&folder, "shape.batch=1,8,16");
    assert_eq!(first["units"], serde_json::json!({ "built": 1, "compiled": 1 }));
    let cases = first["cases"].as_array().unwrap();
    let names: Vec<&str> = cases.iter().map(|case| case["case"].as_str().unwrap()).collect();
    assert_eq!(names, ["shape.batch=1", "shape.batch=8", "shape.batch=16"]);
    assert!(cases.iter().all(|case| case["registers"].as_u64().unwrap() > 0), "{first}");

    let second = sweep(&folder, "shape.batch=1,8,16");
    assert_eq!(second["units"], serde_json::json!({ "built": 1, "compiled": 0 }));

    // The executable of the batch knows its cases, and nothing else.
    let units = folder.join("sweep/units");
    let unit = units.join(&Machine.list(&units)[0]).join("build/sweep");
    let listed = Machine.run(&Request::new(unit.as_str()).arguments(["--case", "shape.batch=8", "--list"])).unwrap();
    assert!(listed.success() && !listed.output.is_empty(), "{}", listed.all_text());
    let unknown = Machine.run(&Request::new(unit.as_str()).arguments(["--case", "shape.batch=9"])).unwrap();
    assert_eq!(unknown.ending, krepro::sys::Ending::Code(2));
}
