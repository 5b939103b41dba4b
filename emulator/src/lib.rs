//! Runs an nvcc-built executable without a GPU by interpreting its embedded PTX.

pub mod arch;
pub mod fatbin;
pub mod gpu;
pub mod tensor;
pub mod tensor_map;
