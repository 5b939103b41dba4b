//! Expressions of Python and Rust within format strings: leaves by their text, and what C++ spells the same way.

use std::sync::Arc;

use super::emission::SegmentOrigin;
use super::interpreter::Interpreter;
use super::leaves::{Leaves, compact};
use super::line::Pieces;
use crate::diag::{Diagnostic, Diagnostics};
use crate::read::cxx::document::{Document, Grammar, children};
use crate::read::cxx::literal;
use crate::read::cxx::mask::MaskOptions;
use crate::read::cxx::problem::{Problem, Unknown};
use crate::read::cxx::value::{Evaluated, Value};
use crate::source::{Source, Spot};

/// The expressions of one site.
pub struct Expressions {
    /// The site.
    pub source: Arc<Source>,
    /// What was given.
    pub leaves: Leaves,
    /// Names without a value.
    pub unknown: Vec<Unknown>,
    /// What is not evaluated.
    pub errors: Diagnostics,
}

/// A value and where it comes from.
pub type Printed = Option<(Value, SegmentOrigin)>;

impl Expressions {
    /// Over a site.
    pub fn new(source: &Arc<Source>, leaves: Leaves) -> Self {
        Expressions { source: Arc::clone(source), leaves, unknown: vec![], errors: Diagnostics::new() }
    }

    /// Notes a construct that is not evaluated, in a text.
    pub fn refuse(&mut self, at: &Pieces, what: &str) {
        let spot = self.place(at);
        self.errors.push(Diagnostic::error("K-SITE-CONSTRUCT", format!("{what} is not evaluated")).at(spot, "here"));
    }

    fn place(&self, at: &Pieces) -> Spot {
        let first = at.0.iter().find_map(|(_, origin)| match origin {
            SegmentOrigin::Literal { at } | SegmentOrigin::Value { at, .. } => Some(at.clone()),
            SegmentOrigin::Indent => None,
        });
        first.unwrap_or_else(|| Spot::new(&self.source, 0..0))
    }

    /// The value of a leaf that stands in a format text.
    pub fn leaf(&mut self, name: &str, within: &Pieces) -> Printed {
        let spot = self.place(within);
        self.printed(name, spot)
    }

    fn printed(&mut self, text: &str, at: Spot) -> Printed {
        match self.value(text, &at) {
            Some(Evaluated { value, leaves }) => {
                let leaves = leaves.into_iter().collect();
                Some((value, SegmentOrigin::Value { at, expr: text.trim().to_owned(), leaves }))
            }
            None => None,
        }
    }

    fn value(&mut self, text: &str, at: &Spot) -> Option<Evaluated> {
        let text = text.trim();
        if let Some(value) = self.leaves.take(text, "", None, at) {
            let value = match &value.value {
                Value::Symbol(name) if name == "True" => value.with(Value::Bool(true)),
                Value::Symbol(name) if name == "False" => value.with(Value::Bool(false)),
                _ => value,
            };
            return Some(value);
        }
        if let Some((yes, rest)) = split_word(text, "if")
            && let Some((condition, no)) = split_word(rest, "else")
        {
            let condition = self.value(condition, at)?;
            let branch = if condition.value.as_bool()? { yes } else { no };
            return Some(self.value(branch, at)?.joined(&condition));
        }
        for (word, decisive) in [("or", true), ("and", false)] {
            if let Some((left, right)) = split_word(text, word) {
                let (left, right) = (self.value(left, at), self.value(right, at));
                let left = left?;
                return if left.value.as_bool()? == decisive { Some(left) } else { Some(right?.joined(&left)) };
            }
        }
        if let Some(inner) = text.strip_prefix("not ") {
            let value = self.value(inner, at)?;
            let negated = Value::Bool(!value.value.as_bool()?);
            return Some(value.with(negated));
        }
        if let Some(inner) = text.strip_suffix(".lower()") {
            let value = self.value(inner, at)?;
            let lower = value.value.to_string().to_lowercase();
            return Some(value.with(Value::Text(lower)));
        }
        if let Some(inner) = text.strip_prefix("str(").and_then(|rest| rest.strip_suffix(')')) {
            return self.value(inner, at);
        }
        if text.len() >= 2 && text.starts_with('\'') && text.ends_with('\'') && !text[1..text.len() - 1].contains('\'')
        {
            return Some(Value::Text(text[1..text.len() - 1].to_owned()).into());
        }
        match text {
            "True" => return Some(Value::Bool(true).into()),
            "False" => return Some(Value::Bool(false).into()),
            "None" => return Some(Value::Null.into()),
            _ => {}
        }
        if let Some(decoded) = literal::string(text).filter(|_| text.starts_with('"')) {
            return Some(Value::Text(decoded.text).into());
        }
        self.arithmetic(text, at)
    }

    /// Arithmetic and comparisons, which C++ spells the same way; `//` on integers divides.
    fn arithmetic(&mut self, text: &str, at: &Spot) -> Option<Evaluated> {
        let plain = text.replace("//", "/");
        let source = Source::new(self.source.name(), format!("int krepro_value = {plain};"));
        let document = Document::parse(&source, Grammar::Cpp, &MaskOptions::default());
        let value = children(document.root())
            .first()
            .and_then(|d| d.child_by_field_name("declarator"))
            .and_then(|d| d.child_by_field_name("value"))
            .filter(|_| !document.root().has_error());
        let Some(node) = value else {
            self.unknown(text, at);
            return None;
        };
        let mut interpreter = Interpreter::new(&document, Leaves::new(&self.leaves.all()));
        match interpreter.value(node) {
            Ok(value) => {
                for name in &value.leaves {
                    self.leaves.take(name, "", None, at);
                }
                Some(value)
            }
            Err(problems) => {
                for problem in problems {
                    match problem {
                        Problem::Unknown(unknown) => self.unknown(&unknown.name, at),
                        other => {
                            let error = Diagnostic::error("K-SITE-CONSTRUCT", format!("`{text}`: {}", other.phrase()));
                            self.errors.push(
                                error
                                    .at(at.clone(), "here")
                                    .help(format!("give its value: {}", super::report::set(&compact(text)))),
                            );
                        }
                    }
                }
                None
            }
        }
    }

    fn unknown(&mut self, name: &str, at: &Spot) {
        if !self.unknown.iter().any(|known| known.name == name) {
            self.unknown.push(Unknown { name: name.to_owned(), used: at.clone(), assigned: None, changed: false });
        }
    }
}

/// Cuts at the first `word` outside brackets and quotes.
fn split_word<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let mut parts = top_level(text, b' ').into_iter().filter(|(from, until)| &text[*from..*until] == word);
    let (from, until) = parts.next().filter(|(from, _)| *from > 0)?;
    Some((&text[..from], &text[until..]))
}

/// The ranges between separators outside brackets and quotes.
fn top_level(text: &str, separator: u8) -> Vec<(usize, usize)> {
    let (mut depth, mut quote, mut from) = (0usize, None, 0);
    let mut out = vec![];
    for (index, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(mark), b) if b == mark => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            (None, b) if b == separator && depth == 0 => {
                out.push((from, index));
                from = index + 1;
            }
            _ => {}
        }
    }
    out.push((from, text.len()));
    out
}
