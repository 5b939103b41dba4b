//! Methods of text, lists and dictionaries.

use tree_sitter::Node;

use super::machine::{Machine, Outcome};
use super::operate;
use super::value::{Object, Py, Traced};
use crate::read::cxx::document::children;
use crate::read::site::line::Pieces;

impl Machine<'_> {
    /// The value of `value.method(…)`.
    pub fn method(&mut self, node: Node<'_>, value: Traced, method: &str, arguments: Node<'_>) -> Outcome {
        let list = if arguments.kind() == "argument_list" { children(arguments) } else { vec![arguments] };
        match &value.value {
            Py::Text(text) if method == "format" => {
                let text = text.clone();
                Ok(self.braces(node, &text, arguments)?.joined(&value))
            }
            Py::Text(text) => {
                let text = text.clone();
                self.of_text(node, value, &text, method, &list)
            }
            Py::Object(at) => {
                let at = *at;
                self.of_object(node, value, at, method, &list)
            }
            other => Err(self.refused(node, &format!("the method `{method}` of {}", other.kind()))),
        }
    }

    fn of_text(
        &mut self,
        node: Node<'_>,
        value: Traced,
        text: &Pieces,
        method: &str,
        arguments: &[Node<'_>],
    ) -> Outcome {
        let given = self.all(arguments)?;
        let from = given.iter().fold(value, |value, given| value.joined(given));
        let whole = text.text();
        let texts: Vec<Option<String>> = given
            .iter()
            .map(|g| match &g.value {
                Py::Text(text) => Some(text.text()),
                _ => None,
            })
            .collect();
        match (method, &given[..], &texts[..]) {
            ("join", [list], _) => {
                let mut out = Pieces::default();
                let mut leaves = from.leaves.clone();
                for (index, element) in self.elements(list, node)?.into_iter().enumerate() {
                    let Py::Text(pieces) = element.value else {
                        return Err(self.refused(node, "`join` of what is no text"));
                    };
                    if index > 0 {
                        out.0.extend(text.0.iter().cloned());
                    }
                    leaves.extend(element.leaves);
                    out.0.extend(pieces.0);
                }
                Ok(Traced { value: Py::Text(out), leaves })
            }
            ("lower", [], _) => self.made(node, whole.to_lowercase(), &from),
            ("upper", [], _) => self.made(node, whole.to_uppercase(), &from),
            ("strip" | "lstrip" | "rstrip", [], _) => {
                let start = if method == "rstrip" { 0 } else { whole.len() - whole.trim_start().len() };
                let end = if method == "lstrip" { whole.len() } else { whole.trim_end().len().max(start) };
                Ok(from.with(Py::Text(text.slice(start..end))))
            }
            ("replace", _, [Some(old), Some(new)]) if !old.is_empty() => {
                if whole.contains(old.as_str()) {
                    self.replaced(node, &from, text, old, new)
                } else {
                    Ok(from.with(Py::Text(text.clone())))
                }
            }
            ("startswith", _, [Some(part)]) => Ok(from.with(Py::Bool(whole.starts_with(part.as_str())))),
            ("endswith", _, [Some(part)]) => Ok(from.with(Py::Bool(whole.ends_with(part.as_str())))),
            _ => Err(self.refused(node, &format!("the text's method `{method}`"))),
        }
    }

    /// `text.replace(old, new)`; what is put in comes from the call.
    fn replaced(&mut self, node: Node<'_>, from: &Traced, text: &Pieces, old: &str, new: &str) -> Outcome {
        let whole = text.text();
        let mut out = Pieces::default();
        let mut at = 0;
        for (found, _) in whole.match_indices(old) {
            out.0.extend(text.slice(at..found).0);
            if let Py::Text(put) = self.made(node, new.to_owned(), from)?.value {
                out.0.extend(put.0);
            }
            at = found + old.len();
        }
        out.0.extend(text.slice(at..whole.len()).0);
        Ok(from.clone().with(Py::Text(out)))
    }

    fn of_object(&mut self, node: Node<'_>, value: Traced, at: usize, method: &str, arguments: &[Node<'_>]) -> Outcome {
        let given = match self.all(arguments) {
            Ok(given) => given,
            Err(miss) => {
                if !matches!(method, "get" | "keys" | "values" | "items") {
                    self.state.heap[at] = Object::Lost(miss.problems.clone());
                }
                return Err(miss);
            }
        };
        let more = match (method, &given[..]) {
            ("extend", [list]) => self.elements(list, node)?,
            _ => vec![],
        };
        let pair = |(key, value): &(Traced, Traced)| Traced::from(Py::Tuple(vec![key.clone(), value.clone()]));
        let out = match (&mut self.state.heap[at], method, &given[..]) {
            (Object::Lost(problems), ..) => {
                let problems = problems.clone();
                return Err(super::machine::Miss { problems, path: None });
            }
            (Object::List(list), "append", [element]) => {
                list.push(element.clone());
                Py::None
            }
            (Object::List(list), "extend", [_]) => {
                list.extend(more);
                Py::None
            }
            (Object::Dict(list), "get", [key, default @ ..]) => {
                let found = list.iter().find(|(known, _)| operate::equal(&known.value, &key.value) == Some(true));
                let found = found.map(|(_, value)| value).or(default.first()).cloned();
                return Ok(found.unwrap_or(Py::None.into()).joined(&value).joined(key));
            }
            (Object::Dict(list), "keys", []) => Py::Tuple(list.iter().map(|(key, _)| key.clone()).collect()),
            (Object::Dict(list), "values", []) => Py::Tuple(list.iter().map(|(_, value)| value.clone()).collect()),
            (Object::Dict(list), "items", []) => Py::Tuple(list.iter().map(pair).collect()),
            (object, ..) => {
                let miss = super::machine::Miss::from(crate::read::cxx::problem::Problem::Unsupported {
                    what: format!("the method `{method}` of a list or a dictionary"),
                    at: self.script.spot(node),
                });
                *object = Object::Lost(miss.problems.clone());
                return Err(miss);
            }
        };
        Ok(value.with(out))
    }
}
