//! Tensor-core arithmetic.

pub mod accumulate;
