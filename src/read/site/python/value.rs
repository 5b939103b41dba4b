//! Python values.

use std::collections::BTreeSet;

use crate::read::cxx::problem::Problems;
use crate::read::site::line::Pieces;

/// A value; lists and dictionaries live in the heap, because names share them.
#[derive(Debug, Clone)]
pub enum Py {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
    /// Text with the origin of its parts.
    Text(Pieces),
    /// A tuple.
    Tuple(Vec<Traced>),
    /// A list or a dictionary: its place in the heap.
    Object(usize),
}

/// What the heap holds.
#[derive(Debug, Clone)]
pub enum Object {
    /// A list.
    List(Vec<Traced>),
    /// A dictionary, in order.
    Dict(Vec<(Traced, Traced)>),
    /// What something that is not followed may have changed.
    Lost(Problems),
}

/// A value and the leaves behind it.
#[derive(Debug, Clone)]
pub struct Traced {
    /// The value.
    pub value: Py,
    /// The names of the leaves that it was computed from.
    pub leaves: BTreeSet<String>,
}

impl Traced {
    /// The same leaves with another value.
    pub fn with(self, value: Py) -> Self {
        Traced { value, leaves: self.leaves }
    }

    /// With the leaves of `other` added.
    #[must_use]
    pub fn joined(mut self, other: &Traced) -> Self {
        self.leaves.extend(other.leaves.iter().cloned());
        self
    }
}

impl From<Py> for Traced {
    fn from(value: Py) -> Self {
        Traced { value, leaves: BTreeSet::new() }
    }
}

impl Py {
    /// As an integer: truth values are 0 and 1.
    pub fn int(&self) -> Option<i128> {
        match self {
            Py::Bool(b) => Some(i128::from(*b)),
            Py::Int(i) => Some(*i),
            _ => None,
        }
    }

    /// As a float.
    pub fn float(&self) -> Option<f64> {
        match self {
            Py::Float(f) => Some(*f),
            other => other.int().map(|i| i as f64),
        }
    }

    /// The type's name.
    pub fn kind(&self) -> &'static str {
        match self {
            Py::None => "None",
            Py::Bool(_) => "a bool",
            Py::Int(_) => "an int",
            Py::Float(_) => "a float",
            Py::Text(_) => "text",
            Py::Tuple(_) => "a tuple",
            Py::Object(_) => "a list or a dictionary",
        }
    }

    /// What `str` gives; none for lists and their like.
    pub fn printed(&self) -> Option<String> {
        Some(match self {
            Py::None => "None".to_owned(),
            Py::Bool(b) => if *b { "True" } else { "False" }.to_owned(),
            Py::Int(i) => i.to_string(),
            Py::Float(f) => float(*f),
            Py::Text(pieces) => pieces.text(),
            Py::Tuple(_) | Py::Object(_) => return None,
        })
    }

    /// What `repr` gives; none for lists and their like, and for text with quotes or control characters.
    pub fn quoted(&self) -> Option<String> {
        match self {
            Py::Text(pieces) => {
                let text = pieces.text();
                let plain = text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '\'' | '\\') || c == ' ');
                plain.then(|| format!("'{text}'"))
            }
            other => other.printed(),
        }
    }
}

/// Python's `repr` of a float: the shortest digits that read back, an exponent below 1e-4 and from 1e16 on.
pub fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        let text = value.to_string();
        return if text.contains('.') { text } else { text + ".0" };
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = match exponent.strip_prefix('-') {
                Some(digits) => ('-', digits),
                None => ('+', exponent),
            };
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => text,
    }
}

/// The value that a given text means.
pub fn given(text: &str) -> Option<Py> {
    let text = text.trim();
    Some(match text {
        "True" | "true" => Py::Bool(true),
        "False" | "false" => Py::Bool(false),
        "None" => Py::None,
        _ => return number(text),
    })
}

/// The value of a number; none when it is none, or is too large.
pub fn number(text: &str) -> Option<Py> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let plain = body.replace('_', "").to_ascii_lowercase();
    if !plain.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let radix =
        |prefix: &str, radix| plain.strip_prefix(prefix).and_then(|rest| i128::from_str_radix(rest, radix).ok());
    let decimal = || plain.bytes().all(|b| b.is_ascii_digit()).then(|| plain.parse().ok()).flatten();
    let whole: Option<i128> = radix("0x", 16).or_else(|| radix("0o", 8)).or_else(|| radix("0b", 2)).or_else(decimal);
    match whole {
        Some(value) => Some(Py::Int(if negative { -value } else { value })),
        None if plain.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'+' | b'-')) => {
            plain.parse().ok().map(|value: f64| Py::Float(if negative { -value } else { value }))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Py, float, number};

    #[test]
    fn floats_print_as_python_prints_them() {
        let cases = [(1.0, "1.0"), (0.1, "0.1"), (1e16, "1e+16"), (1.5e-5, "1.5e-05"), (123456.75, "123456.75")];
        for (value, text) in cases {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn numbers_are_read_as_python_reads_them() {
        let whole = |text| number(text).and_then(|v| v.int());
        assert_eq!(
            (whole("-7"), whole("0x10"), whole("1_000"), whole("0b11")),
            (Some(-7), Some(16), Some(1000), Some(3))
        );
        assert!(matches!(number("2.5e1"), Some(Py::Float(25.0))));
        assert!(number("90a").is_none() && number("x").is_none());
    }
}
