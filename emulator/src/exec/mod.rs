//! Running kernels.
pub mod alu;
pub mod registers;
