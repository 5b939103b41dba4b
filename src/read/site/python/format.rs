//! `text.format(…)` and `text % …`.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::machine::{Machine, Miss, Outcome, printed};
use super::operate;
use super::value::{Object, Py, Traced};
use crate::read::cxx::document::children;
use crate::read::site::format::{self, Part};
use crate::read::site::line::Pieces;

impl Machine<'_> {
    /// `text.format(positional, name=value)`.
    pub fn braces(&mut self, node: Node<'_>, text: &Pieces, arguments: Node<'_>) -> Outcome {
        let parts = format::parse(&text.text()).map_err(|what| self.refused(node, &what))?;
        let (positional, named) = self.split(arguments)?;
        let (mut out, mut leaves, mut problems) = (Pieces::default(), BTreeSet::new(), vec![]);
        let mut next = 0;
        for part in parts {
            let field = match part {
                Part::Literal(range) => {
                    out.0.extend(text.slice(range).0);
                    continue;
                }
                Part::Field(field) => field,
            };
            let (name, conversion) = match field.name.split_once('!') {
                Some((name, conversion)) => (name.to_owned(), format!("!{conversion}")),
                None => (field.name.clone(), String::new()),
            };
            let index = if name.is_empty() { Some(next) } else { name.parse::<usize>().ok() };
            next += usize::from(name.is_empty());
            let found = match index {
                Some(index) => positional.get(index).copied(),
                None => named.iter().find(|(known, _)| *known == name).map(|(_, node)| *node),
            };
            let Some(argument) = found else {
                let what = format!("the placeholder `{{{}}}` without an argument of that name", field.name);
                problems.extend(self.refused(node, &what).problems);
                continue;
            };
            if field.spec.contains('{') {
                problems.extend(self.refused(node, "a placeholder within a placeholder").problems);
                continue;
            }
            let printed = self.value(argument).and_then(|value| {
                leaves.extend(value.leaves.iter().cloned());
                self.shown(argument, &value, &conversion, &field.spec)
            });
            match printed {
                Ok(pieces) => out.0.extend(pieces.0),
                Err(miss) => problems.extend(miss.problems),
            }
        }
        printed(out, leaves, problems)
    }

    /// The positional and the named arguments of a call.
    #[expect(clippy::type_complexity, reason = "two lists, taken apart at once")]
    pub fn split<'t>(&self, arguments: Node<'t>) -> Result<(Vec<Node<'t>>, Vec<(String, Node<'t>)>), Miss> {
        let (mut positional, mut named) = (vec![], vec![]);
        for argument in children(arguments) {
            match argument.kind() {
                "list_splat" | "dictionary_splat" => return Err(self.refused(argument, "`*` or `**` in a call")),
                "keyword_argument" => {
                    let (name, value) = (argument.child_by_field_name("name"), argument.child_by_field_name("value"));
                    if let (Some(name), Some(value)) = (name, value) {
                        named.push((self.script.text(name), value));
                    }
                }
                _ => positional.push(argument),
            }
        }
        Ok((positional, named))
    }

    /// `text % value`, `text % (a, b)`, `text % {"name": value}`.
    pub fn percent(&mut self, node: Node<'_>, text: &Pieces, right: Node<'_>) -> Outcome {
        let whole = text.text();
        let single = !matches!(right.kind(), "tuple" | "dictionary");
        let listed: Vec<Node<'_>> = match right.kind() {
            "tuple" => children(right),
            "dictionary" => vec![],
            _ => vec![right],
        };
        let (mut out, mut leaves, mut problems) = (Pieces::default(), BTreeSet::new(), vec![]);
        let (mut from, mut next) = (0, 0);
        while let Some(at) = whole[from..].find('%').map(|at| from + at) {
            out.0.extend(text.slice(from..at).0);
            let Some(field) = Conversion::parse(&whole[at + 1..]) else {
                return Err(self.refused(node, "a conversion in this text"));
            };
            from = at + 1 + field.length;
            if field.kind == '%' {
                out.0.extend(text.slice(from - 1..from).0);
                continue;
            }
            let printed = match &field.name {
                Some(name) => self.mapped(right, name),
                None => match listed.get(next) {
                    Some(argument) => {
                        next += 1;
                        self.value(*argument).map(|value| (*argument, value))
                    }
                    None => Err(self.refused(node, "a conversion without a value")),
                },
            };
            let printed = printed.and_then(|(argument, value)| {
                leaves.extend(value.leaves.iter().cloned());
                if single && matches!(value.value, Py::Tuple(_) | Py::Object(_)) {
                    return Err(self.refused(argument, "`%` on a list"));
                }
                let value =
                    field.value(value).ok_or_else(|| self.refused(argument, "this conversion of such a value"))?;
                self.shown(argument, &value, field.conversion(), &field.specification())
            });
            match printed {
                Ok(pieces) => out.0.extend(pieces.0),
                Err(miss) => problems.extend(miss.problems),
            }
        }
        out.0.extend(text.slice(from..whole.len()).0);
        if next < listed.len() {
            problems.extend(self.refused(node, "`%` with more values than conversions").problems);
        }
        printed(out, leaves, problems)
    }

    /// The value under a name in the dictionary at the right of `%`.
    fn mapped<'t>(&mut self, right: Node<'t>, name: &str) -> Result<(Node<'t>, Traced), Miss> {
        for pair in children(right) {
            let (Some(key), Some(value)) = (pair.child_by_field_name("key"), pair.child_by_field_name("value")) else {
                continue;
            };
            if self.value(key)?.value.printed().as_deref() == Some(name) {
                return Ok((value, self.value(value)?));
            }
        }
        if let Ok(Traced { value: Py::Object(at), .. }) = self.value(right)
            && let Object::Dict(list) = &self.state.heap[at]
        {
            let text = Py::Text(Pieces(vec![(name.to_owned(), super::super::emission::SegmentOrigin::Indent)]));
            let found = list.iter().find(|(key, _)| operate::equal(&key.value, &text) == Some(true));
            if let Some((_, value)) = found {
                return Ok((right, value.clone()));
            }
        }
        Err(self.refused(right, &format!("`%({name})` of this value")))
    }
}

/// `%(name)04d`.
struct Conversion {
    name: Option<String>,
    flags: String,
    kind: char,
    /// Bytes after the `%`.
    length: usize,
}

impl Conversion {
    fn parse(text: &str) -> Option<Self> {
        let name = text.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(name, _)| name.to_owned());
        let at = name.as_ref().map_or(0, |name| name.len() + 2);
        let rest = &text[at..];
        let flags = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-')).len();
        let kind = rest[flags..].chars().next().filter(char::is_ascii)?;
        let length = at + flags + 1;
        Some(Conversion { name, flags: rest[..flags].to_owned(), kind, length })
    }

    fn conversion(&self) -> &'static str {
        if self.kind == 'r' { "!r" } else { "" }
    }

    /// The value as the conversion takes it: `%d` makes an integer of a truth value, `%s` text of everything.
    fn value(&self, value: Traced) -> Option<Traced> {
        match (self.kind, &value.value) {
            ('s', Py::Text(_)) | ('r', _) => Some(value),
            ('s', other) if !self.flags.is_empty() => {
                let text = Pieces(vec![(other.printed()?, super::super::emission::SegmentOrigin::Indent)]);
                Some(value.with(Py::Text(text)))
            }
            ('s', _) => Some(value),
            ('d' | 'i' | 'u' | 'x' | 'X' | 'o', other) => {
                let whole = Py::Int(other.int()?);
                Some(value.with(whole))
            }
            ('f' | 'F', other) => {
                let real = Py::Float(other.float()?);
                Some(value.with(real))
            }
            _ => None,
        }
    }

    fn specification(&self) -> String {
        let kind = match self.kind {
            'i' | 'u' => "d".to_owned(),
            's' | 'r' => String::new(),
            kind => kind.to_string(),
        };
        match (self.flags.strip_prefix('-'), self.kind) {
            (Some(width), _) => format!("<{width}{kind}"),
            (None, 's' | 'r') if !self.flags.is_empty() => format!(">{}", self.flags),
            (None, _) => format!("{}{kind}", self.flags),
        }
    }
}
