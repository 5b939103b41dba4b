//! Text expressions, with the origin of every part: literals, concatenations, `fmt::format`, string streams.

use tree_sitter::Node;

use super::emission::SegmentOrigin;
use super::format::{self, Field, Part};
use super::interpreter::Interpreter;
use super::line::Pieces;
use super::scope::{State, Variable};
use super::spread::Cause;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{children, span};
use crate::read::cxx::literal;
use crate::read::cxx::problem::{Problem, Problems};
use crate::read::cxx::value::{Evaluated, Value};
use crate::source::Spot;

impl Interpreter<'_> {
    /// The text of an expression with the origin of its parts.
    pub fn text_pieces(&mut self, node: Node<'_>) -> Result<Pieces, Problems> {
        match node.kind() {
            "concatenated_string" => self.joined(&children(node)),
            "string_literal" | "raw_string_literal" => self.literal(node),
            "parenthesized_expression" => match children(node)[..] {
                [inner] => self.text_pieces(inner),
                _ => self.single(node),
            },
            "identifier" => {
                let name = self.document.squeezed(node);
                match self.scopes.get(&name).and_then(|v| v.text.clone()) {
                    Some(pieces) => Ok(pieces),
                    None => self.single(node),
                }
            }
            "conditional_expression" => match node.child_by_field_name("condition").map(|c| self.truth(c)) {
                Some(Ok(holds)) => match node.child_by_field_name(if holds { "consequence" } else { "alternative" }) {
                    Some(branch) if self.is_text(branch) => self.single_as(node, branch),
                    _ => self.single(node),
                },
                _ => self.single(node),
            },
            "binary_expression" if self.is_text(node) => {
                let parts: Vec<_> =
                    ["left", "right"].iter().filter_map(|field| node.child_by_field_name(field)).collect();
                self.joined(&parts)
            }
            "call_expression" => match Callee::of(self.document, node) {
                Some(callee) if is_format(&callee) => self.formatted(node, &callee),
                Some(callee) if matches!(callee.last(), "str" | "move" | "string" | "c_str") => {
                    let inner = callee.receiver.or(callee.arguments.first().copied());
                    match inner {
                        Some(inner) if callee.arguments.len() <= 1 => self.text_pieces(inner),
                        _ => self.single(node),
                    }
                }
                _ => self.single(node),
            },
            _ => self.single(node),
        }
    }

    fn joined(&mut self, nodes: &[Node<'_>]) -> Result<Pieces, Problems> {
        let (mut out, mut problems) = (Pieces::default(), vec![]);
        for node in nodes {
            match self.text_pieces(*node) {
                Ok(more) => out.0.extend(more.0),
                Err(more) => problems.extend(more),
            }
        }
        if problems.is_empty() { Ok(out) } else { Err(problems) }
    }

    /// An expression that is one piece.
    fn single(&mut self, node: Node<'_>) -> Result<Pieces, Problems> {
        Ok(Pieces(vec![self.printed(node)?]))
    }

    /// A chosen branch: its text, its origin the whole expression.
    fn single_as(&mut self, node: Node<'_>, branch: Node<'_>) -> Result<Pieces, Problems> {
        match self.text_pieces(branch)? {
            pieces if pieces.0.len() > 1 => Ok(pieces),
            _ => self.single(node),
        }
    }

    /// Whether an expression's value is text.
    fn is_text(&mut self, node: Node<'_>) -> bool {
        matches!(self.value(node), Ok(Evaluated { value: Value::Text(_), .. }) | Err(_))
    }

    /// The runs of a string literal.
    fn literal(&mut self, node: Node<'_>) -> Result<Pieces, Problems> {
        let text = self.document.text(node).into_owned();
        let Some(decoded) = literal::string(&text) else { return self.single(node) };
        let start = span(node).start;
        let raw = text[..text.find('"').unwrap_or_default()].ends_with('R');
        let mut out = Pieces::default();
        for (index, (at, from, length)) in decoded.runs.iter().enumerate() {
            let escape = !raw && text.as_bytes().get(*from) == Some(&b'\\');
            let next = decoded.runs.get(index + 1).map_or(text.len() - 1, |next| next.1);
            let spot =
                Spot::new(&self.document.source, start + from..start + if escape { next } else { from + length });
            out.0.push((decoded.text[*at..at + length].to_owned(), SegmentOrigin::Literal { at: spot }));
        }
        Ok(out)
    }

    /// The text of `fmt::format("…", arguments)`.
    pub fn formatted(&mut self, node: Node<'_>, callee: &Callee<'_>) -> Result<Pieces, Problems> {
        let Some((format, arguments)) = callee.arguments.split_first() else { return self.single(node) };
        let pieces = self.text_pieces(*format)?;
        let wrong = |this: &Self, what: String| vec![Problem::Undefined { what, at: this.document.spot(node) }];
        let parts = format::parse(&pieces.text()).map_err(|what| wrong(self, what))?;
        let mut out = Pieces::default();
        let (mut next, mut problems) = (0, vec![]);
        for part in parts {
            let Field { name, spec } = match part {
                Part::Literal(range) => {
                    out.0.extend(pieces.slice(range).0);
                    continue;
                }
                Part::Field(field) => field,
            };
            let index = if name.is_empty() { Some(next) } else { name.parse().ok() };
            next += 1;
            let named = arguments.iter().find_map(|argument| self.named_argument(*argument, &name));
            let found = named.or_else(|| index.and_then(|i: usize| arguments.get(i).copied()));
            let Some(argument) = found else {
                let what = format!("placeholder {next} `{{{name}}}` has no argument; {} are given", arguments.len());
                return Err(wrong(self, what));
            };
            match self.field(argument, &spec) {
                Ok(piece) => out.0.push(piece),
                Err(more) => problems.extend(more),
            }
        }
        if problems.is_empty() { Ok(out) } else { Err(problems) }
    }

    /// The value of `fmt::arg("name", value)`, when it has this name.
    fn named_argument<'t>(&self, node: Node<'t>, name: &str) -> Option<Node<'t>> {
        let callee = Callee::of(self.document, node).filter(|c| matches!(c.path.as_str(), "fmt::arg" | "arg"))?;
        let [key, value] = callee.arguments[..] else { return None };
        (literal::string(&self.document.text(key))?.text == name).then_some(value)
    }

    /// One argument as `fmt` prints it.
    fn field(&mut self, node: Node<'_>, spec: &str) -> Result<(String, SegmentOrigin), Problems> {
        let plain = self.printed(node)?;
        let value = self.value(node)?;
        match format::print(&value.value, spec) {
            Some(text) => Ok((text, plain.1)),
            None => {
                let what = format!("the format `{{:{spec}}}` of such a value");
                Err(vec![Problem::Unsupported { what, at: self.document.spot(node) }])
            }
        }
    }

    /// `stream << a << b`: true when the leftmost operand is a stream.
    pub fn streamed(&mut self, node: Node<'_>) -> bool {
        let mut operands = vec![];
        let mut leftmost = node;
        while leftmost.kind() == "binary_expression"
            && leftmost.child_by_field_name("operator").is_some_and(|o| self.document.text(o) == "<<")
        {
            operands.extend(leftmost.child_by_field_name("right"));
            match leftmost.child_by_field_name("left") {
                Some(left) => leftmost = left,
                None => return false,
            }
        }
        let name = self.document.squeezed(leftmost);
        let declared =
            self.scopes.get(&name).map(|v| v.declared.clone()).or_else(|| self.parameters.get(&name).cloned());
        if operands.is_empty() || !declared.is_some_and(|of| of.ends_with("stream")) {
            return false;
        }
        operands.reverse();
        for operand in operands {
            self.touch(operand, None);
            match self.inserted(operand) {
                Ok(pieces) => self.append(&name, pieces, node),
                Err(problems) => self.note(problems),
            }
        }
        true
    }

    /// An operand as a stream prints it.
    fn inserted(&mut self, node: Node<'_>) -> Result<Pieces, Problems> {
        let text = self.document.squeezed(node);
        if matches!(text.as_str(), "std::endl" | "endl") {
            let at = self.document.spot(node);
            let origin = SegmentOrigin::Value { at, expr: text, leaves: vec![] };
            return Ok(Pieces(vec![("\n".to_owned(), origin)]));
        }
        match self.value(node) {
            Ok(Evaluated { value: Value::Bool(b), .. }) => {
                let (_, origin) = self.printed(node)?;
                Ok(Pieces(vec![(u8::from(b).to_string(), origin)]))
            }
            Ok(Evaluated { value: Value::Float { value, .. }, .. }) => match format::general(value) {
                Some(text) => Ok(Pieces(vec![(text, self.printed(node)?.1)])),
                None => Err(vec![Problem::Unsupported {
                    what: "a number this large or small in a stream".to_owned(),
                    at: self.document.spot(node),
                }]),
            },
            Ok(_) => self.text_pieces(node),
            Err(problems) => Err(problems),
        }
    }

    /// Adds text to a local; `by` is the code that does.
    pub fn append(&mut self, name: &str, pieces: Pieces, by: Node<'_>) {
        if self.scopes.get(name).is_none() {
            self.scopes.declare_outermost(name);
        }
        let whole = |variable: &&mut Variable| !variable.loose && !matches!(variable.state, State::Poisoned(_));
        if let Some(variable) = self.scopes.get_mut(name).filter(whole) {
            let mut text = variable.text.take().unwrap_or_default();
            text.0.extend(pieces.0);
            variable.state = State::Bound(evaluated(&text));
            variable.text = Some(text);
        }
        self.spread(name, Cause::assigned(by));
    }

    /// The value of text.
    pub fn as_value(&mut self, pieces: &Pieces) -> Evaluated {
        evaluated(pieces)
    }
}

fn evaluated(pieces: &Pieces) -> Evaluated {
    let mut out = Evaluated::from(Value::Text(pieces.text()));
    for (_, origin) in &pieces.0 {
        if let SegmentOrigin::Value { leaves, .. } = origin {
            out.leaves.extend(leaves.iter().cloned());
        }
    }
    out
}

/// Whether a call is `fmt::format` or `std::format`.
pub fn is_format(callee: &Callee<'_>) -> bool {
    callee.receiver.is_none() && matches!(callee.path.as_str(), "fmt::format" | "std::format" | "format")
}
