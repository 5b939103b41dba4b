//! The build, through the real nvcc: once, not again, again after a change, and its failures.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use camino::{Utf8Path, Utf8PathBuf};
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
    build(&Machine, toolchain, &Job { folder, name: "x", line, launcher: None }, &mut |_| {})
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
