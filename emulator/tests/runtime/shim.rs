//! The shim compiles with the host compiler and exports what the real libraries do.

use std::path::{Path, PathBuf};
use std::process::Command;

fn exported(library: &Path) -> String {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_shim_builds_once_without_a_warning_and_exports_versioned_names() {
    let cache = tempfile::tempdir().unwrap();
    let folder = krepro_emulator::runtime::shim::build(Path::new("cc"), cache.path()).unwrap();
    let cudart = exported(&folder.join("libcudart.so.13"));
    for name in ["__cudaRegisterFatBinary", "cudaMalloc", "cudaMemcpyAsync_ptsz", "cudaGraphLaunch", "__cudaGetKernel"]
    {
        assert!(cudart.contains(&format!(" {name}@@libcudart.so.13\n")), "{name}");
    }
    assert!(!cudart.contains(" remember"), "nothing else is exported");
    let cuda = exported(&folder.join("libcuda.so.1"));
    for name in ["cuTensorMapEncodeTiled", "cuMemAlloc_v2", "cuGraphLaunch", "cuGetProcAddress_v2"] {
        assert!(cuda.contains(&format!(" T {name}\n")), "{name}");
    }
    assert_eq!(krepro_emulator::runtime::shim::build(Path::new("false"), cache.path()).unwrap(), folder);
    let left: Vec<PathBuf> = std::fs::read_dir(cache.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [folder]);
}

#[test]
fn a_compiler_that_fails_is_quoted() {
    let cache = tempfile::tempdir().unwrap();
    let error = krepro_emulator::runtime::shim::build(Path::new("/nowhere/cc"), cache.path()).unwrap_err();
    assert!(error.to_string().starts_with("the host compiler /nowhere/cc does not start"), "{error}");
    let error = krepro_emulator::runtime::shim::build(Path::new("false"), cache.path()).unwrap_err();
    assert!(error.to_string().starts_with("the host compiler false cannot build libkrepro-core.so"), "{error}");
}
