//! From the text of a command to its words: one file for each way of quoting.

mod list;
mod literal;
mod nul;
mod shell;
mod windows;

pub use list::{list, quoted};
pub use literal::{Escapes, literal};
pub use nul::nul;
pub use shell::{Stop, shell};
pub use windows::windows;

use super::word::Word;

/// A command of more words than this is cut there.
pub const MOST_WORDS: usize = 1 << 15;

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
