//! Tensor-core arithmetic: number formats, accumulation, operand layouts, tensor copies.

pub mod accumulate;
pub mod format;
