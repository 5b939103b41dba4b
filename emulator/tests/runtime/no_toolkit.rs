//! A program built by the host compiler alone runs against both runtime libraries: no nvcc, no CUDA headers, no GPU.

use crate::support::{output_of, request};
use krepro_emulator::arch::Arch;
use krepro_emulator::gpu::SimulatedGpu;
use krepro_emulator::runtime::{End, RunError, run, shim};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the program against a runtime library of the shim.
fn program(folder: &Path, library: &str, properties: &str) -> PathBuf {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let shim = shim::build(Path::new("cc"), &cache).unwrap();
    let made = folder.join(library);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/no_toolkit.c");
    let mut command = Command::new("cc");
    command.args(["-std=gnu11", &format!("-DPROPERTIES={properties}"), "-o"]).arg(&made).arg(&source);
    command.arg("-L").arg(&shim).args([&format!("-l:{library}"), "-lcuda", "-l:libkrepro-core.so"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    made
}

#[test]
fn ptx_text_runs_under_both_runtime_libraries() {
    let folder = tempfile::tempdir().unwrap();
    for (library, properties, told) in [
        (
            "libcudart.so.13",
            "cudaGetDeviceProperties",
            "runtime 13000, driver 13000, properties of 1008 bytes, CUDA_ERROR_ILLEGAL_ADDRESS\n\
             type 2, 88 bytes, bias of 4 bytes\n",
        ),
        (
            "libcudart.so.12",
            "cudaGetDeviceProperties_v2",
            "runtime 12090, driver 13000, properties of 1032 bytes, CUDA_ERROR_ILLEGAL_ADDRESS\n\
             type 2, 24 bytes, bias of 4 bytes\n",
        ),
    ] {
        let executable = program(folder.path(), library, properties);
        let mut request = request(&executable, &[]);
        assert!(matches!(run(&request), Err(RunError::NoDeviceCode { .. })));
        request.gpu = SimulatedGpu::for_arch(Arch::parse("sm_90a").unwrap());
        let outcome = run(&request).unwrap();
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), told, "{}", output_of(&outcome));
        assert_eq!(outcome.end, End::Exited(0));
        assert_eq!(outcome.launches.len(), 1);
    }
}
