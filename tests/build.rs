//! The build, through the real nvcc: once, not again, again after a change, and its failures.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
#[path = "common/example.rs"]
mod example;

use camino::{Utf8Path, Utf8PathBuf};
use example::{krepro, reproducer};
use krepro::build::{Built, Job, NotBuilt, build, kernels};
use krepro::model::{BuildLine, CompileCommand};
use krepro::sys::{Ending, Machine, Request, System};
use krepro::toolchain::Toolchain;

const PROGRAM: &str = "#include \"size.h\"\n#include <cstdio>\n\
    __global__ void kernel(int *out) { *out = SIZE; }\n\
    int main() { kernel<<<1, 1>>>(nullptr); std::printf(\"%d\\n\", SIZE); return cudaGetLastError() == cudaSuccess; }\n";

/// A folder whose name has what shells and linkers stumble over.
fn folder(temporary: &tempfile::TempDir) -> Utf8PathBuf {
    let folder = Utf8Path::from_path(temporary.path()).unwrap().join("a b,c");
    Machine.write(&folder.join("x.cu"), PROGRAM.as_bytes()).unwrap();
    Machine.write(&folder.join("size.h"), b"#define SIZE 7\n").unwrap();
    folder
}

fn line(arguments: &[&str]) -> BuildLine {
    let at = "log:1:1";
    let arguments: Vec<_> = arguments.iter().map(|text| serde_json::json!({ "text": text, "at": at })).collect();
    let command: CompileCommand = serde_json::from_value(serde_json::json!({
        "compiler": "nvcc", "arguments": arguments, "changes": [], "sources": [], "at": at, "warnings": [],
    }))
    .unwrap();
    BuildLine::new(&command, None)
}

fn run(toolchain: &Toolchain, folder: &Utf8Path, line: &BuildLine) -> Result<Built, NotBuilt> {
    build(&Machine, toolchain, &Job { folder, name: "x", line, launcher: None, halves: None, cache: None }, &mut |_| {})
}

#[test]
fn an_executable_is_built_once_starts_and_is_built_again_when_a_header_changes() {
    let Some(toolchain) = common::toolchain() else { return };
    let temporary = tempfile::tempdir().unwrap();
    let folder = folder(&temporary);
    let line = line(&["-arch=sm_90a", "-I..", "-DTEXT=\"a b\""]);
    let first = run(&toolchain, &folder, &line).unwrap();
    assert!(first.compiled);
    let output = |built: &Built| Machine.run(&Request::new(built.executable.as_str())).unwrap();
    let finished = output(&first);
    assert_eq!(finished.text(), "7\n", "{}", finished.all_text());
    assert!(!run(&toolchain, &folder, &line).unwrap().compiled);

    Machine.write(&folder.join("size.h"), b"#define SIZE 8\n").unwrap();
    let third = run(&toolchain, &folder, &line).unwrap();
    assert!(third.compiled);
    assert_eq!(output(&third).text(), "8\n");
}

#[test]
fn a_failed_build_names_the_first_error_and_leaves_nothing_to_run() {
    let Some(toolchain) = common::toolchain() else { return };
    let temporary = tempfile::tempdir().unwrap();
    let folder = folder(&temporary);
    let line = line(&["-arch=sm_90a", "-I.."]);
    let built = run(&toolchain, &folder, &line).unwrap();
    Machine.write(&folder.join("size.h"), b"static_assert(1 > 2, \"not so\");\n#define SIZE 7\n").unwrap();
    let Err(NotBuilt::Refused { output, .. }) = run(&toolchain, &folder, &line) else { panic!("it was built") };
    let error = krepro::build::output::first_error(&output).unwrap();
    assert!(error.message.contains("not so"), "{error:?}");
    assert!(error.file.unwrap().ends_with("size.h"));
    assert_eq!(error.line, Some(1));
    assert!(!Machine.is_file(&built.executable));
}

#[test]
fn the_driver_library_is_linked_without_a_driver_and_never_found_at_run_time() {
    let Some(toolchain) = common::toolchain() else { return };
    let temporary = tempfile::tempdir().unwrap();
    let folder = folder(&temporary);
    let program = "#include <cuda.h>\nint main() { return cuInit(0); }\n";
    Machine.write(&folder.join("x.cu"), program.as_bytes()).unwrap();
    let built = run(&toolchain, &folder, &line(&["-arch=sm_90a", "-lcuda"])).unwrap();
    let finished = Machine.run(&Request::new(built.executable.as_str())).unwrap();
    // With a driver 0, or the error of a driver without a device; without one the loader refuses, and the stub's 34 never shows.
    assert!(matches!(finished.ending, Ending::Code(0 | 100 | 127 | 227 | 237)), "{finished:?}");
}

#[test]
fn the_machine_code_of_the_executable_is_that_of_a_cubin_of_the_same_source() {
    let Some(toolchain) = common::toolchain() else { return };
    let temporary = tempfile::tempdir().unwrap();
    let folder = folder(&temporary);
    let built = run(&toolchain, &folder, &line(&["-arch=sm_90a", "-I.."])).unwrap();
    let own = kernels::of(&Machine.read(&built.executable).unwrap());
    let usage = krepro::build::usage::of(&built.output);
    assert_eq!(own.len(), 1, "{own:?}");
    assert_eq!(usage[0].symbol, own[0].symbol);
    assert_eq!(Some(usage[0].registers), own[0].registers);
    assert!(!own[0].text.is_empty());

    let cubin = folder.join("x.cubin");
    let arguments = ["-arch=sm_90a", "-cubin", "-o", cubin.as_str(), "x.cu"];
    let request = Request::new(toolchain.nvcc.as_str()).arguments(arguments).folder(&folder);
    assert!(Machine.run(&request).unwrap().success());
    assert_eq!(kernels::of(&Machine.read(&cubin).unwrap()), own);

    let counts = krepro::build::sass::count(&Machine, &toolchain, &built.executable);
    if counts.is_empty() {
        assert!(!toolchain.nvcc.with_file_name("cuobjdump").is_file(), "cuobjdump told nothing");
    } else {
        assert!(counts[&own[0].symbol].contains_key("EXIT"), "{counts:?}");
    }
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let finished = krepro(&[arguments, &["--json"]].concat());
    assert!(finished.success(), "{}", finished.all_text());
    serde_json::from_slice(&finished.output).unwrap()
}

/// Production as it would be: the kernel alone, into a cubin.
fn cubin(toolchain: &Toolchain, folder: &Utf8Path, name: &str, batch: u32, options: &[&str]) -> Utf8PathBuf {
    let instance = format!("<__nv_bfloat16, {batch}, 64, 64, 16, 2, 0>");
    let source = format!(
        "#include \"simt_linear.cuh\"\nvoid *entry() {{ return reinterpret_cast<void *>(&simt::linear_kernel{instance}); }}\n"
    );
    Machine.write(&folder.join(format!("{name}.cu")), source.as_bytes()).unwrap();
    let out = folder.join(format!("{name}.cubin"));
    let arguments = ["-std=c++17", "-DNDEBUG", "-arch=sm_90a", "-cubin", "-o", out.as_str()];
    let request = Request::new(toolchain.nvcc.as_str()).arguments(arguments).arguments(options.iter().copied());
    let finished = Machine.run(&request.arguments([format!("{name}.cu")]).folder(folder)).unwrap();
    assert!(finished.success(), "{}", finished.all_text());
    out
}

#[test]
fn a_build_is_weighed_against_production_kept_for_other_folders_and_given_to_other_build_systems() {
    let Some(toolchain) = common::toolchain() else { return };
    let temporary = tempfile::tempdir().unwrap();
    let top = Utf8Path::from_path(temporary.path()).unwrap();
    let folder = reproducer(top);
    let built = json(&["build", folder.as_str()]);
    assert_eq!(
        (&built["build"]["compiled"], &built["fidelity"]["level"]),
        (&true.into(), &"partial".into()),
        "{built:#}"
    );

    // The same bytes in another folder.
    let other = top.join("other");
    for name in ["repro.toml", "linear_kernel.cu"] {
        Machine.write(&other.join(name), &Machine.read(&folder.join(name)).unwrap()).unwrap();
    }
    let again = json(&["build", other.as_str()]);
    assert_eq!(again["build"]["compiled"], false, "{again:#}");
    let listed = Machine.run(&Request::new(other.join("build/linear_kernel").as_str()).arguments(["--list"])).unwrap();
    assert!(listed.success(), "{}", listed.all_text());

    // Production's machine code: the same, of another shape, with other flags.
    let fidelity =
        |file: &Utf8Path| json(&["build", folder.as_str(), "--production", file.as_str()])["fidelity"].clone();
    let proven = fidelity(&cubin(&toolchain, top, "same", 16, &[]));
    assert_eq!(proven["level"], "proven", "{proven:#}");
    let absent = fidelity(&cubin(&toolchain, top, "shape", 8, &[]));
    assert_eq!((&absent["level"], &absent["production"]), (&"partial".into(), &serde_json::Value::Null), "{absent:#}");
    let unknown = fidelity(&cubin(&toolchain, top, "flags", 16, &["-maxrregcount=24"]));
    assert_eq!(unknown["level"], "unknown", "{unknown:#}");
    assert!(unknown["production"]["difference"].as_str().unwrap().contains("registers"), "{unknown:#}");

    // A launcher sees nvcc and every word; ninja builds once, and then knows that nothing changed.
    let launcher = top.join("launcher");
    Machine
        .write(&launcher, format!("#!/bin/sh\nbasename \"$1\" >> '{top}/launched'\nexec \"$@\"\n").as_bytes())
        .unwrap();
    Machine.make_program(&launcher).unwrap();
    let emit = |form: &str| {
        let finished = krepro(&["build", folder.as_str(), "--emit", form, "--launcher", launcher.as_str()]);
        assert!(finished.success(), "{}", finished.all_text());
        finished.text()
    };
    assert!(emit("shell").starts_with(&format!("cd {}/build && {launcher} ", Machine.real_path(&folder))));
    if Machine.which("ninja").is_none() {
        skipped("ninja");
        return;
    }
    Machine.remove(&folder.join("build/linear_kernel")).unwrap();
    Machine.write(&top.join("farm/build.ninja"), emit("ninja").as_bytes()).unwrap();
    let ninja = || Machine.run(&Request::new("ninja").folder(top.join("farm"))).unwrap();
    let first = ninja();
    assert!(first.success(), "{}", first.all_text());
    assert!(Machine.is_file(&folder.join("build/linear_kernel")));
    assert_eq!(Machine.read(&top.join("launched")).unwrap(), b"nvcc\n");
    assert!(ninja().text().contains("no work to do"));
    Machine.write(&top.join("simt_linear.cuh"), b"#error changed\n").unwrap();
    assert!(ninja().text().contains("#error"), "a header that changed is seen");
}

#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn skipped(what: &str) {
    eprintln!("SKIPPED in part: needs {what}");
}

#[test]
fn the_exported_package_builds_in_a_fresh_folder_and_its_test_says_what_it_did() {
    let Some(toolchain) = common::toolchain() else { return };
    let temporary = tempfile::tempdir().unwrap();
    let top = Utf8Path::from_path(temporary.path()).unwrap();
    let folder = reproducer(top);
    let package = top.join("package");
    let finished = krepro(&["export", folder.as_str(), "--cargo", package.as_str()]);
    assert!(finished.success(), "{}", finished.all_text());
    let test = |krepro: &str| {
        let request = Request::new(env!("CARGO"))
            .arguments(["test", "--offline", "--quiet"])
            .folder(&package)
            .variable("NVCC", toolchain.nvcc.as_str())
            .variable("KREPRO", krepro);
        Machine.run(&request).unwrap()
    };
    let without = test("/no/krepro");
    assert!(without.success(), "{}", without.all_text());
    let on_gpu = !without.all_text().contains("no fit GPU");
    assert!(on_gpu || without.all_text().contains("SKIPPED: no fit GPU, and no krepro"), "{}", without.all_text());
    let with = test(env!("CARGO_BIN_EXE_krepro"));
    assert!(with.success(), "{}", with.all_text());
    assert!(on_gpu || with.all_text().contains("right on the CPU backend of krepro (emulated)"), "{}", with.all_text());
}

#[test]
fn two_halves_are_the_same_kernel_and_run() {
    let Some(toolchain) = common::toolchain() else { return };
    let temporary = tempfile::tempdir().unwrap();
    let top = Utf8Path::from_path(temporary.path()).unwrap();
    let folder = reproducer(top);
    let production = cubin(&toolchain, top, "same", 16, &[]);
    let built = json(&["build", folder.as_str(), "--halves", "--production", production.as_str()]);
    let command = built["build"]["command"].as_array().unwrap();
    assert!(command.iter().any(|word| word == "-DKREPRO_DEVICE_HALF"), "it was built whole: {built:#}");
    assert_eq!(
        (&built["build"]["compiled"], &built["fidelity"]["level"]),
        (&true.into(), &"proven".into()),
        "{built:#}"
    );
    assert!(built["fidelity"]["usage"]["registers"].as_u64().unwrap() > 0, "{built:#}");
    assert_eq!(json(&["build", folder.as_str(), "--halves"])["build"]["compiled"], false);
    let ran = krepro(&["run", folder.as_str(), "--halves", "--backend", "cpu", "--rung", "integers"]);
    assert!(ran.success(), "{}", ran.all_text());

    let vary = ["sweep", folder.as_str(), "--vary", "shape.batch=1,8", "--halves", "--backend", "cpu", "--jobs", "1"];
    let swept = json(&vary);
    let verdicts: Vec<&str> =
        swept["cases"].as_array().unwrap().iter().map(|c| c["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["pass", "pass"], "{swept:#}");
    let unit = folder.join("sweep/units");
    let unit = unit.join(&Machine.list(&unit)[0]).join("build");
    assert!(Machine.is_file(&unit.join("sweep.fatbin")), "it was built whole");
}
