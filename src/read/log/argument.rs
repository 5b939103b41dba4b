//! A decoded command line, argument by argument, as nvcc reads it.

use super::table::{OptionSpec, OptionTable, Spelling, Takes};
use super::word::Word;

/// One option with its value, an input, or something nvcc does not know.
#[derive(Debug, Clone)]
pub struct Argument {
    /// What it is.
    pub kind: ArgumentKind,
    /// The spelling of the option, without its value; the whole text otherwise.
    pub flag: String,
    /// The value, when it takes one.
    pub value: Option<String>,
    /// The words it was made of: one, or two for a separate value.
    pub words: Vec<Word>,
}

/// What an argument is.
#[derive(Debug, Clone)]
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

    /// The value, or the empty text.
    pub fn value_or_empty(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }

    /// `flag=value`, however it was written; a joined option (`-O3`, `-lcuda`) stays as it was.
    pub fn written(&self) -> String {
        match (&self.value, self.words.as_slice()) {
            (Some(value), [_, _]) if !self.joins() => format!("{}={value}", self.flag),
            (Some(value), [_, _]) => format!("{}{value}", self.flag),
            (_, [word, ..]) => word.text.clone(),
            _ => self.flag.clone(),
        }
    }

    fn joins(&self) -> bool {
        self.spec().is_some_and(|spec| spec.joined.as_deref() == Some(self.flag.as_str()))
    }

    /// The words as text.
    pub fn texts(&self) -> Vec<String> {
        self.words.iter().map(|word| word.text.clone()).collect()
    }
}

/// Reads the words after another CUDA compiler, where some options that nvcc does not know take a value.
pub fn parse_foreign(words: &[Word], table: &'static OptionTable) -> Vec<Argument> {
    let mut out: Vec<Argument> = vec![];
    for argument in parse(words, table) {
        match out.last_mut() {
            Some(last) if last.words.len() == 1 && table.foreign_value(&last.flag) => {
                last.value = Some(argument.texts().join(" "));
                last.words.extend(argument.words);
            }
            _ => out.push(argument),
        }
    }
    out
}

/// Reads the words after the compiler.
pub fn parse(words: &[Word], table: &'static OptionTable) -> Vec<Argument> {
    let mut out = Vec::with_capacity(words.len());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let one = |kind, flag: &str, value: Option<&str>| Argument {
            kind,
            flag: flag.to_owned(),
            value: value.map(str::to_owned),
            words: vec![word.clone()],
        };
        out.push(match table.spelling(&word.text) {
            Spelling::Input => one(ArgumentKind::Input, &word.text, None),
            Spelling::Unknown => one(ArgumentKind::Unknown, &word.text, None),
            Spelling::Equals(spec, name, value) | Spelling::Joined(spec, name, value) => {
                one(ArgumentKind::Option(spec), name, Some(value))
            }
            Spelling::Bare(spec) if spec.takes == Takes::Nothing => one(ArgumentKind::Option(spec), &word.text, None),
            Spelling::Bare(spec) => match rest.next() {
                Some(value) => Argument {
                    kind: ArgumentKind::Option(spec),
                    flag: word.text.clone(),
                    value: Some(value.text.clone()),
                    words: vec![word.clone(), value.clone()],
                },
                None => one(ArgumentKind::NoValue(spec), &word.text, None),
            },
        });
    }
    out
}
