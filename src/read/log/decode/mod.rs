//! From the text of a command to its words: one file for each way of quoting.

mod list;
mod literal;
mod shell;

pub use list::list;
pub use literal::{Escapes, literal};
pub use shell::{Stop, shell};

use super::word::Word;

/// The words of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decoded {
    /// In order, the program first.
    pub words: Vec<Word>,
    /// Offset just after the command.
    pub end: usize,
    /// Whether the text ended inside a quote or a list.
    pub cut: bool,
}
