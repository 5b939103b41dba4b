//! The toolchain of this machine compiles and links a program.

mod common;

use krepro::sys::{Machine, Request, System};

#[test]
fn the_toolchain_that_was_found_compiles() {
    let Some(toolchain) = common::toolchain() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = camino::Utf8Path::from_path(folder.path()).unwrap();
    let source = folder.join("empty.cu");
    Machine.write(&source, b"__global__ void kernel() {}\n").unwrap();
    let output = folder.join("empty.cubin");
    let arguments = ["-arch=sm_90a", "-cubin", "-o", output.as_str(), source.as_str()];
    let finished = Machine.run(&Request::new(toolchain.nvcc.as_str()).arguments(arguments)).unwrap();
    assert!(finished.success(), "{}", finished.all_text());
    assert_eq!(&Machine.read(&output).unwrap()[..4], b"\x7fELF");
    assert!(toolchain.layout.include.is_some() && toolchain.layout.cudart.is_some(), "{:?}", toolchain.layout);
}
