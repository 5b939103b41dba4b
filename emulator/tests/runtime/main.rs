//! Executables run on the CPU backend, from start to outcome. Those that need nvcc skip themselves without `$NVCC`.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod intrinsics;
mod launches;
mod no_toolkit;
mod refusals;
mod shim;
mod support;
