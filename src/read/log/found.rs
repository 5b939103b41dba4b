//! One compiler command that was seen in a log.

use std::sync::Arc;

use super::anchor::Family;
use super::argument::Argument;
use super::kind::{InputKind, Kind, input_kind};
use super::locate::Style;
use super::word::{Position, Word};
use crate::source::{Place, Source, Spot};

/// One compiler command that was seen in a log.
#[derive(Debug, Clone)]
pub struct Found {
    /// Which compiler.
    pub family: Family,
    /// What it does.
    pub kind: Kind,
    /// How it was written.
    pub style: Style,
    /// The compiler.
    pub compiler: Word,
    /// Launchers and assignments before it.
    pub before: Vec<Word>,
    /// What follows it.
    pub arguments: Vec<Argument>,
    /// Whether its text is cut.
    pub cut: bool,
    /// Where breaks inside its words were closed.
    pub mended: Vec<Position>,
    /// How many of its arguments come from `NVCC_PREPEND_FLAGS` and `NVCC_APPEND_FLAGS`.
    pub from_environment: usize,
    /// Response files whose text is not there.
    pub absent_responses: Vec<String>,
    /// The folder it ran in, where the log says so.
    pub directory: Option<String>,
    /// Lines (from 1) of its repetitions.
    pub duplicates: Vec<usize>,
    /// The physical lines it was read from.
    pub excerpt: Arc<Source>,
    /// Offset of the excerpt in the log.
    pub excerpt_offset: u64,
}

impl Found {
    /// The compiled files: all that are not linked.
    pub fn sources(&self) -> Vec<&str> {
        let language = self.language_given();
        self.inputs().filter(|name| input_kind(name, language) != InputKind::Object).collect()
    }

    /// The files that nvcc compiles, by their names.
    pub fn compiled(&self) -> Vec<&str> {
        let language = self.language_given();
        self.inputs().filter(|name| input_kind(name, language) == InputKind::Source).collect()
    }

    /// Whether `-x` names the language of the inputs.
    pub fn language_given(&self) -> bool {
        self.arguments.iter().any(|a| a.is("-x"))
    }

    /// All files.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().filter_map(Argument::input)
    }

    /// The file that is made.
    pub fn output(&self) -> Option<&str> {
        self.arguments.iter().rev().find(|a| a.is("-o")).and_then(Argument::value)
    }

    /// Where it begins.
    pub fn at(&self) -> Position {
        self.compiler.at
    }

    /// The line it begins in.
    pub fn line(&self) -> usize {
        self.compiler.at.line
    }

    /// A position in the log, as a place.
    pub fn place(&self, at: Position) -> Place {
        Place { file: self.excerpt.name().to_owned(), line: at.line, column: at.column }
    }

    /// `length` bytes at a position in the log, for a diagnostic.
    pub fn spot(&self, at: Position, length: usize) -> Spot {
        let last = self.excerpt.bytes().len();
        let start = usize::try_from(at.offset.saturating_sub(self.excerpt_offset)).unwrap_or(last).min(last);
        Spot::new(&self.excerpt, start..(start + length).min(last))
    }

    /// The words of an argument, for a diagnostic.
    pub fn spot_of(&self, argument: &Argument) -> Spot {
        self.spot(argument.first().at, argument.first().text.len())
    }

    /// Compiler and arguments as they were decoded.
    pub fn argv(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.compiler.text.as_str())
            .chain(self.arguments.iter().flat_map(|a| a.words().map(|w| w.text.as_str())))
    }
}
