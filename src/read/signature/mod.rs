//! A kernel's signature, sliced out of its header.

mod attribute;
mod class;
mod find;
mod parameter;

#[cfg(test)]
mod libclang_tests;
#[cfg(test)]
mod tests;

pub use find::{SignatureOptions, all, find};
