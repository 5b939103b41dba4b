//! A reproducer as a package of somebody else's build system; text in, text out.

mod cargo;
mod cmake;
mod emit;

use crate::model::BuildLine;

pub use cargo::cargo;
pub use cmake::cmake;
pub use emit::{Step, ninja, shell_lines};

/// What is packed.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'s> {
    /// Stem of the `.cu`.
    pub name: &'s str,
    /// The arguments of its build.
    pub line: &'s BuildLine,
}

/// A file's path in the package, and its text.
pub type File = (String, String);
