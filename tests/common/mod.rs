//! What tests share. A test that needs nvcc begins with `let Some(toolchain) = common::toolchain() else { return };`.

#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use krepro::sys::Machine;
use krepro::toolchain::{self, Toolchain};

/// The nvcc that krepro would use (`$NVCC`, PATH, krepro's cache …) with its host compiler.
///
/// Where there is none, the reason is printed and the test is to be skipped; with `KREPRO_REQUIRE_NVCC` set, as in
/// `.ci/run`, it fails instead.
#[allow(dead_code, reason = "not every test file needs nvcc")]
pub fn toolchain() -> Option<Toolchain> {
    match toolchain::find(&Machine, None, None) {
        Ok(found) => Some(found),
        Err(diagnostics) => {
            let why: Vec<String> = diagnostics.iter().map(|d| d.message.clone()).collect();
            let why = why.join("; ");
            assert!(std::env::var_os("KREPRO_REQUIRE_NVCC").is_none(), "nvcc is required here: {why}");
            eprintln!("SKIPPED: needs nvcc: {why}");
            None
        }
    }
}

/// The CUTLASS include folder of krepro's cache; else the reason is printed and the test is to be skipped.
#[allow(dead_code, reason = "not every test file needs CUTLASS")]
pub fn cutlass() -> Option<camino::Utf8PathBuf> {
    let found = toolchain::install::cutlass(&Machine);
    if found.is_none() {
        eprintln!("SKIPPED: needs CUTLASS headers: `krepro toolchain install --cutlass` puts them into krepro's cache");
    }
    found
}
