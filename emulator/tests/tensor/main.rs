//! Tensor-core instructions one by one, as PTX texts that need no nvcc: results against formulas of the test's own.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
mod copies;
mod lab;
mod layout;
mod mma;
mod pair;
mod stale_rows;
mod tcgen05;
mod wgmma;
mod wmma;
