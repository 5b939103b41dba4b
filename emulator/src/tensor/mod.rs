//! Tensor-core arithmetic: number formats, accumulation, operand layouts, tensor copies.

pub mod accumulate;
pub mod format;
pub mod fragment;
pub mod instruction;
pub mod operand;
pub mod scaled;
pub mod swizzle;
pub mod tile_copy;
