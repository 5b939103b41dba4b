//! Python's string literals and f-strings.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::machine::{Machine, Miss, Outcome, printed};
use super::spec;
use super::value::{Py, Traced};
use crate::read::cxx::document::{children, span};
use crate::read::site::emission::SegmentOrigin;
use crate::read::site::line::Pieces;
use crate::source::Spot;

impl Machine<'_> {
    /// The text of a literal, of adjacent ones joined.
    pub fn literal(&mut self, node: Node<'_>) -> Outcome {
        let (mut out, mut leaves, mut problems) = (Pieces::default(), BTreeSet::new(), vec![]);
        let parts = if node.kind() == "concatenated_string" { children(node) } else { vec![node] };
        for part in parts {
            match self.one(part, &mut leaves) {
                Ok(pieces) => out.0.extend(pieces.0),
                Err(miss) => problems.extend(miss.problems),
            }
        }
        printed(out, leaves, problems)
    }

    fn one(&mut self, node: Node<'_>, leaves: &mut BTreeSet<String>) -> Result<Pieces, Miss> {
        let parts = children(node);
        let prefix = parts.first().map(|start| self.script.text(*start).to_ascii_lowercase()).unwrap_or_default();
        let prefix = prefix.trim_end_matches(['"', '\'']);
        if prefix.contains('b') {
            return Err(self.refused(node, "a bytes literal"));
        }
        let (mut out, mut problems) = (Pieces::default(), vec![]);
        for part in parts {
            match part.kind() {
                "string_content" => self.content(part, prefix.contains('r'), prefix.contains('f'), &mut out)?,
                "interpolation" => match self.interpolated(part, leaves) {
                    Ok(pieces) => out.0.extend(pieces.0),
                    Err(miss) => problems.extend(miss.problems),
                },
                _ => {}
            }
        }
        if problems.is_empty() { Ok(out) } else { Err(Miss { problems, path: None }) }
    }

    /// Text between the quotes and the braces; escapes become what they stand for.
    fn content(&self, node: Node<'_>, raw: bool, formatted: bool, out: &mut Pieces) -> Result<(), Miss> {
        let text = self.script.text(node);
        let start = span(node).start;
        let piece = |from: usize, until: usize| SegmentOrigin::Literal {
            at: Spot::new(&self.script.source, start + from..start + until),
        };
        let (mut from, mut at) = (0, 0);
        while let Some(c) = text[at..].chars().next() {
            let (with, length) = match c {
                '\\' if !raw => escape(&text[at..]).ok_or_else(|| self.refused(node, "an escape in this text"))?,
                '\r' if text[at..].starts_with("\r\n") => ("\n".to_owned(), 2),
                '{' | '}' if formatted && text[at + 1..].starts_with(c) => (c.to_string(), 2),
                _ => {
                    at += c.len_utf8();
                    continue;
                }
            };
            out.0.push((text[from..at].to_owned(), piece(from, at)));
            out.0.push((with, piece(at, at + length)));
            at += length;
            from = at;
        }
        out.0.push((text[from..].to_owned(), piece(from, text.len())));
        out.0.retain(|(text, _)| !text.is_empty());
        Ok(())
    }

    /// `{expression!conversion:specification}`.
    fn interpolated(&mut self, node: Node<'_>, leaves: &mut BTreeSet<String>) -> Result<Pieces, Miss> {
        let Some(expression) = node.child_by_field_name("expression") else {
            return Err(self.refused(node, "this placeholder"));
        };
        let mut cursor = node.walk();
        if node.children(&mut cursor).any(|child| child.kind() == "=") {
            return Err(self.refused(node, "`{…=}`"));
        }
        let value = self.value(expression);
        let conversion = node.child_by_field_name("type_conversion").map(|c| self.script.text(c)).unwrap_or_default();
        let mut specification = String::new();
        if let Some(format) = node.child_by_field_name("format_specifier") {
            specification = self.script.text(format)[1..].to_owned();
            for inner in children(format) {
                let Some(expression) = inner.child_by_field_name("expression") else {
                    return Err(self.refused(format, "this format"));
                };
                let value = self.value(expression)?;
                leaves.extend(value.leaves.iter().cloned());
                let text = value.value.printed().ok_or_else(|| self.refused(inner, "this width"))?;
                specification = specification.replacen(&self.script.text(inner), &text, 1);
            }
        }
        let value = value?;
        leaves.extend(value.leaves.iter().cloned());
        self.shown(expression, &value, &conversion, &specification)
    }

    /// A value as a placeholder prints it.
    pub fn shown(&self, node: Node<'_>, value: &Traced, conversion: &str, format: &str) -> Result<Pieces, Miss> {
        if let (Py::Text(pieces), "" | "!s", "" | "s") = (&value.value, conversion, format)
            && pieces.0.len() > 1
        {
            return Ok(pieces.clone());
        }
        let converted = match conversion {
            "" => spec::print(&value.value, format),
            "!s" => value.value.printed().and_then(|text| spec::print(&plain(text), format)),
            "!r" => value.value.quoted().and_then(|text| spec::print(&plain(text), format)),
            _ => None,
        };
        let Some(text) = converted else {
            let what = format!("the format `{{{conversion}:{format}}}` of {}", value.value.kind());
            return Err(self.refused(node, &what));
        };
        let at = self.script.spot(node);
        let leaves = value.leaves.iter().cloned().collect();
        Ok(Pieces(vec![(text, SegmentOrigin::Value { at, expr: self.script.squeezed(node), leaves })]))
    }
}

/// Text without an origin, for what is printed at once.
fn plain(text: String) -> Py {
    Py::Text(Pieces(vec![(text, SegmentOrigin::Indent)]))
}

/// What an escape stands for, and its length; an unknown one stands for itself.
fn escape(text: &str) -> Option<(String, usize)> {
    let c = text[1..].chars().next()?;
    let hex = |digits: usize| {
        let code = u32::from_str_radix(text.get(2..2 + digits)?, 16).ok()?;
        Some((char::from_u32(code)?.to_string(), 2 + digits))
    };
    Some(match c {
        'n' => ("\n".to_owned(), 2),
        't' => ("\t".to_owned(), 2),
        'r' => ("\r".to_owned(), 2),
        'a' => ("\x07".to_owned(), 2),
        'b' => ("\x08".to_owned(), 2),
        'f' => ("\x0c".to_owned(), 2),
        'v' => ("\x0b".to_owned(), 2),
        '\n' => (String::new(), 2),
        '\r' if text[1..].starts_with("\r\n") => (String::new(), 3),
        '\\' | '"' | '\'' => (c.to_string(), 2),
        'x' => return hex(2),
        'u' => return hex(4),
        'U' => return hex(8),
        'N' => return None,
        '0'..='7' => {
            let digits = text[1..].bytes().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
            let code = u32::from_str_radix(&text[1..1 + digits], 8).ok()?;
            (char::from_u32(code)?.to_string(), 1 + digits)
        }
        other => (format!("\\{other}"), 1 + other.len_utf8()),
    })
}
