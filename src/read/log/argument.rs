//! A decoded command line, argument by argument, as nvcc reads it.

use super::table::{OptionSpec, OptionTable, Spelling, Takes};
use super::word::Word;

/// One option with its value, an input, or something nvcc does not know.
#[derive(Debug, Clone)]
pub struct Argument {
    /// What it is.
    pub kind: ArgumentKind,
    word: Word,
    /// A value that stands as a word of its own.
    separate: Option<Word>,
    /// Bytes of the first word that are the spelling of the option.
    flag: usize,
    /// Where the value begins in the first word, when it stands there.
    value: Option<usize>,
}

/// What an argument is.
#[derive(Debug, Clone, Copy)]
pub enum ArgumentKind {
    /// An option of the table.
    Option(&'static OptionSpec),
    /// A file.
    Input,
    /// Begins with a dash and is no option of nvcc (a host option, or a newer nvcc's).
    Unknown,
    /// The last one, and its value is not there.
    NoValue(&'static OptionSpec),
}

impl Argument {
    /// The option's specification.
    pub fn spec(&self) -> Option<&'static OptionSpec> {
        match self.kind {
            ArgumentKind::Option(spec) | ArgumentKind::NoValue(spec) => Some(spec),
            ArgumentKind::Input | ArgumentKind::Unknown => None,
        }
    }

    /// Whether it is the option of which `name` is a spelling.
    pub fn is(&self, name: &str) -> bool {
        self.spec().is_some_and(|spec| spec.names.iter().any(|n| n == name))
    }

    /// The spelling of the option, without its value; the whole text otherwise.
    pub fn flag(&self) -> &str {
        &self.word.text[..self.flag]
    }

    /// The value, when it takes one.
    pub fn value(&self) -> Option<&str> {
        match &self.separate {
            Some(word) => Some(&word.text),
            None => self.value.map(|from| &self.word.text[from..]),
        }
    }

    /// The value, or the empty text.
    pub fn value_or_empty(&self) -> &str {
        self.value().unwrap_or_default()
    }

    /// The first of its words.
    pub fn first(&self) -> &Word {
        &self.word
    }

    /// The words it was made of: one, or two for a separate value.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        std::iter::once(&self.word).chain(&self.separate)
    }

    /// The file, when it is one.
    pub fn input(&self) -> Option<&str> {
        match self.kind {
            ArgumentKind::Input if !self.word.text.starts_with('-') => Some(&self.word.text),
            _ => None,
        }
    }

    /// `flag=value`, however it was written; a joined option (`-O3`, `-lcuda`) stays as it was.
    pub fn written(&self) -> String {
        match &self.separate {
            Some(value) if self.joins() => format!("{}{}", self.flag(), value.text),
            Some(value) => format!("{}={}", self.flag(), value.text),
            None => self.word.text.clone(),
        }
    }

    fn joins(&self) -> bool {
        self.spec().is_some_and(|spec| spec.joined.as_deref() == Some(self.flag()))
    }

    /// The words as text.
    pub fn texts(&self) -> Vec<String> {
        self.words().map(|word| word.text.clone()).collect()
    }
}

/// Reads the words after another CUDA compiler, where some options that nvcc does not know take a value.
pub fn parse_foreign(words: Vec<Word>, table: &'static OptionTable) -> Vec<Argument> {
    read(words, table, |text| table.foreign_value(text))
}

/// Reads the words after the compiler.
pub fn parse(words: Vec<Word>, table: &'static OptionTable) -> Vec<Argument> {
    read(words, table, |_| false)
}

fn read(words: Vec<Word>, table: &'static OptionTable, foreign: impl Fn(&str) -> bool) -> Vec<Argument> {
    let mut out = Vec::with_capacity(words.len());
    let mut rest = words.into_iter();
    while let Some(word) = rest.next() {
        let (kind, flag, value, separate) = match table.spelling(&word.text) {
            _ if foreign(&word.text) => (ArgumentKind::Unknown, word.text.len(), None, rest.next()),
            Spelling::Input => (ArgumentKind::Input, word.text.len(), None, None),
            Spelling::Equals(spec, name, _) => (ArgumentKind::Option(spec), name.len(), Some(name.len() + 1), None),
            Spelling::Joined(spec, name, _) => (ArgumentKind::Option(spec), name.len(), Some(name.len()), None),
            Spelling::Bare(spec) if spec.takes != Takes::Nothing => match rest.next() {
                Some(value) => (ArgumentKind::Option(spec), word.text.len(), None, Some(value)),
                None => (ArgumentKind::NoValue(spec), word.text.len(), None, None),
            },
            Spelling::Bare(spec) => (ArgumentKind::Option(spec), word.text.len(), None, None),
            Spelling::Unknown => (ArgumentKind::Unknown, word.text.len(), None, None),
        };
        out.push(Argument { kind, word, separate, flag, value });
    }
    out
}
