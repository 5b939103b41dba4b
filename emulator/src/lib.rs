//! Runs an nvcc-built executable without a GPU by interpreting its embedded PTX.

// Shifts and masks mixed with arithmetic are the daily bread here; shape names spell operand classes.
#![allow(clippy::precedence, clippy::upper_case_acronyms)]

pub mod arch;
pub mod exec;
pub mod fatbin;
pub mod gpu;
pub mod memory;
pub mod ptx;
pub mod runtime;
pub mod tensor;
pub mod tensor_map;
