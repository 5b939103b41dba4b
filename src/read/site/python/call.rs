//! Calls: what is built in, functions of the same file.

use tree_sitter::Node;

use super::machine::{Frame, Machine, Miss, Outcome, Slot};
use super::operate;
use super::tree::Function;
use super::value::{Object, Py, Traced};
use crate::read::cxx::document::children;
use crate::read::cxx::problem::{Problem, Unknown};
use crate::read::site::emission::SegmentOrigin;
use crate::read::site::line::Pieces;

/// Deepest calls of the file's functions.
const DEEPEST: usize = 24;

/// Methods that make text of text.
const TEXT_METHODS: &[&str] = &["lower", "upper", "strip", "lstrip", "rstrip", "replace", "join"];

/// Elements of a `range` at most.
const LONGEST: i128 = 4096;

/// Built-in functions that are evaluated.
pub const BUILT_IN: &[&str] = &[
    "min",
    "max",
    "int",
    "len",
    "str",
    "repr",
    "bool",
    "float",
    "abs",
    "range",
    "sum",
    "any",
    "all",
    "list",
    "tuple",
    "enumerate",
    "zip",
    "reversed",
    "hex",
    "bin",
    "pow",
    "divmod",
];
/// Decorators that leave a function's value as it is.
const TRANSPARENT: &[&str] = &["cache", "lru_cache", "staticmethod", "no_grad", "inference_mode"];

impl<'d> Machine<'d> {
    /// The value of a call.
    pub fn call(&mut self, node: Node<'_>) -> Outcome {
        let (Some(function), Some(arguments)) =
            (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
        else {
            return Err(self.refused(node, "this call"));
        };
        let name = self.script.squeezed(function);
        if let Some(followed) = self.defined(function) {
            return self.followed(node, followed, arguments);
        }
        if let ("identifier", Some(Slot::Lost(miss))) = (function.kind(), self.slot(&name))
            && miss.problems.iter().any(|problem| matches!(problem, Problem::Unsupported { .. }))
        {
            return Err(miss.clone());
        }
        if function.kind() == "identifier" && self.slot(&name).is_none() {
            if arguments.kind() != "argument_list" {
                return self.built_in(node, &name, &[arguments], 1);
            }
            let positional: Vec<_> =
                children(arguments).into_iter().filter(|a| a.kind() != "keyword_argument").collect();
            return self.built_in(node, &name, &positional, children(arguments).len());
        }
        if let (Some(object), Some(method)) =
            (function.child_by_field_name("object"), function.child_by_field_name("attribute"))
        {
            let method = self.script.text(method);
            if self.script.text(object) == "math" && self.slot("math").is_none() {
                return self.mathematics(node, &method, &children(arguments));
            }
            if method == "getvalue"
                && let Some(text) = self.written_to(&self.script.squeezed(object))
            {
                return Ok(Py::Text(text).into());
            }
            match self.value(object) {
                Ok(value) => return self.method(node, value, &method, arguments),
                Err(miss)
                    if method == "format" || object.kind() == "call" && TEXT_METHODS.contains(&method.as_str()) =>
                {
                    return Err(miss);
                }
                Err(_) => {}
            }
        }
        Err(self.foreign(node))
    }

    /// A call of something that is not in the file.
    fn foreign(&self, node: Node<'_>) -> Miss {
        let name = self.script.squeezed(node);
        Problem::Unknown(Unknown { name, used: self.script.spot(node), assigned: None, changed: false }).into()
    }

    /// The function of this file that a call's function names: `f`, `self.f`, `Class.f`.
    fn defined(&self, function: Node<'_>) -> Option<&'d Function<'d>> {
        let functions: &'d [Function<'d>] = self.functions;
        let text = self.script.squeezed(function);
        let class = self.state.frames.last().map(|frame| frame.class.clone()).unwrap_or_default();
        let wanted = match text.split_once('.') {
            None if self.slot(&text).is_none() => text,
            Some(("self" | "cls", name)) if !class.is_empty() => format!("{class}{name}"),
            Some((class, name)) if self.slot(class).is_none() => format!("{class}::{name}"),
            _ => return None,
        };
        functions.iter().rev().find(|f| f.name == wanted)
    }

    /// Runs a function of the file.
    fn followed(&mut self, node: Node<'_>, function: &Function<'_>, arguments: Node<'_>) -> Outcome {
        self.strayed = true;
        let named = function.name.rsplit("::").next().unwrap_or_default().to_owned();
        if self.state.frames.len() > DEEPEST || function.decorated && !function.class.is_empty() {
            return Err(self.refused(node, &format!("this call of `{named}`")));
        }
        let opaque = function.decorators(self.script).into_iter().find(|name| !TRANSPARENT.contains(&name.as_str()));
        if let Some(decorator) = opaque {
            return Err(self.refused(node, &format!("this call of `{named}`, which `@{decorator}` decorates,")));
        }
        if crate::read::cxx::document::any(function.body, |n| matches!(n.kind(), "yield"))
            || self.script.text(function.node).starts_with("async")
        {
            return Err(self.refused(node, &format!("`{named}`, which yields,")));
        }
        let (positional, keywords) = self.split(arguments)?;
        let mut parameters = function.parameters(self.script).into_iter();
        let mut frame = Frame { class: function.class.clone(), ..Frame::default() };
        if !function.class.is_empty()
            && let Some((own, ..)) = parameters.next()
        {
            let own_slot = self.slot("self").cloned().filter(|slot| !matches!(slot, Slot::Entry));
            let outside = Problem::Unknown(Unknown {
                name: "self".to_owned(),
                used: self.script.spot(node),
                assigned: None,
                changed: false,
            });
            let outside = Slot::Lost(Miss { problems: vec![outside], path: Some("self".to_owned()) });
            frame.names.insert(own, own_slot.unwrap_or(outside));
        }
        let mut given = positional.into_iter();
        let mut used = 0;
        for (name, kind, default) in parameters {
            if matches!(
                kind,
                "list_splat_pattern" | "dictionary_splat_pattern" | "keyword_separator" | "positional_separator"
            ) {
                if kind.ends_with("separator") {
                    continue;
                }
                return Err(self.refused(node, &format!("this call of `{named}`, which takes `*` arguments,")));
            }
            let keyword = keywords.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            used += usize::from(keyword.is_some());
            let passed = keyword.or_else(|| given.next());
            let Some(value) = passed.or(default) else {
                return Err(self.refused(node, &format!("this call of `{named}` without `{name}`")));
            };
            // A default is made once, and a list keeps what earlier calls did to it.
            let plain =
                ["integer", "float", "true", "false", "none", "string", "unary_operator", "identifier", "attribute"];
            if passed.is_none() && !plain.contains(&value.kind()) {
                return Err(
                    self.refused(node, &format!("this call of `{named}`, whose default of `{name}` is an object,"))
                );
            }
            let slot = match self.value(value) {
                Ok(value) => Slot::Bound(value),
                Err(miss) => Slot::Lost(miss),
            };
            frame.names.insert(name, slot);
        }
        if given.next().is_some() || used < keywords.len() {
            return Err(self.refused(node, &format!("this call of `{named}` with other arguments than it takes")));
        }
        let kept = (self.state.result.take(), std::mem::take(&mut self.depth));
        self.state.frames.push(frame);
        self.depth = kept.1 + 8;
        self.block(function.body, 0);
        self.state.frames.pop();
        self.depth = kept.1;
        let result = std::mem::replace(&mut self.state.result, kept.0);
        result.map_or(Ok(Py::None.into()), |(outcome, _)| outcome)
    }

    fn built_in(&mut self, node: Node<'_>, name: &str, positional: &[Node<'_>], given: usize) -> Outcome {
        if !BUILT_IN.contains(&name) {
            return Err(self.foreign(node));
        }
        if positional.len() != given {
            return Err(self.refused(node, &format!("`{name}` with named arguments")));
        }
        let values = self.all(positional)?;
        let leaves: std::collections::BTreeSet<String> = values.iter().flat_map(|v| v.leaves.clone()).collect();
        let whole = |value: &Traced| value.value.int();
        let out = match (name, &values[..]) {
            ("min" | "max", [one]) => {
                let list = self.elements(one, node)?;
                self.extreme(node, name, &list)?
            }
            ("min" | "max", list) => self.extreme(node, name, list)?,
            ("int", [one]) => match &one.value {
                Py::Float(f) if f.abs() < 1e30 => Py::Int(f.trunc() as i128),
                Py::Text(text) => match super::value::number(text.text().trim()) {
                    Some(Py::Int(i)) => Py::Int(i),
                    _ => return Err(self.refused(node, "`int` of such text")),
                },
                other => Py::Int(other.int().ok_or_else(|| self.refused(node, &format!("`int` of {}", other.kind())))?),
            },
            ("float", [one]) => Py::Float(one.value.float().ok_or_else(|| self.refused(node, "`float` of this"))?),
            ("len", [one]) => match &one.value {
                Py::Text(text) => Py::Int(text.text().chars().count() as i128),
                _ => Py::Int(self.elements(one, node)?.len() as i128),
            },
            ("str", [one]) => match &one.value {
                Py::Text(_) => one.value.clone(),
                _ => Py::Text(self.shown(positional[0], one, "", "")?),
            },
            ("repr", [one]) => Py::Text(self.shown(positional[0], one, "!r", "")?),
            ("hex", [one]) => Py::Text(self.shown(positional[0], one, "", "#x")?),
            ("bin", [one]) => Py::Text(self.shown(positional[0], one, "", "#b")?),
            ("bool", [one]) => Py::Bool(self.truth_of(one, node)?),
            ("abs", [one]) => match (&one.value, whole(one)) {
                (Py::Float(f), _) => Py::Float(f.abs()),
                (_, Some(i)) => Py::Int(i.abs()),
                _ => return Err(self.refused(node, "`abs` of this")),
            },
            ("pow", [a, b]) => return self.operated(node, "**", a.clone(), b),
            ("divmod", [a, b]) => {
                let (quotient, rest) =
                    (self.operated(node, "//", a.clone(), b)?, self.operated(node, "%", a.clone(), b)?);
                Py::Tuple(vec![quotient, rest])
            }
            ("range", bounds @ ([_] | [_, _] | [_, _, _])) => {
                let bounds: Option<Vec<i128>> = bounds.iter().map(whole).collect();
                let (from, until, step) = match bounds.as_deref() {
                    Some([until]) => (0, *until, 1),
                    Some([from, until]) => (*from, *until, 1),
                    Some([from, until, step]) if *step != 0 => (*from, *until, *step),
                    _ => return Err(self.refused(node, "a range of such bounds")),
                };
                if (until - from) / step > LONGEST {
                    return Err(self.refused(node, "a range this long"));
                }
                let mut list = vec![];
                let mut at = from;
                while if step > 0 { at < until } else { at > until } {
                    list.push(Traced { value: Py::Int(at), leaves: leaves.clone() });
                    at += step;
                }
                Py::Tuple(list)
            }
            ("sum", [one]) => {
                let mut sum = Traced::from(Py::Int(0));
                for element in self.elements(one, node)? {
                    sum = self.operated(node, "+", sum, &element)?;
                }
                return Ok(sum.joined(one));
            }
            ("any" | "all", [one]) => {
                let mut out = name == "all";
                for element in self.elements(one, node)? {
                    let truth = self.truth_of(&element, node)?;
                    out = if name == "all" { out && truth } else { out || truth };
                }
                Py::Bool(out)
            }
            ("list", []) => self.allocate(Object::List(vec![])),
            ("list", [one]) => {
                let list = self.elements(one, node)?;
                self.allocate(Object::List(list))
            }
            ("tuple", [one]) => Py::Tuple(self.elements(one, node)?),
            ("reversed", [one]) => Py::Tuple(self.elements(one, node)?.into_iter().rev().collect()),
            ("enumerate", [one]) => {
                let pair = |(index, element): (usize, Traced)| {
                    let leaves = element.leaves.clone();
                    Traced { value: Py::Tuple(vec![Py::Int(index as i128).into(), element]), leaves }
                };
                Py::Tuple(self.elements(one, node)?.into_iter().enumerate().map(pair).collect())
            }
            ("zip", [a, b]) => {
                let (a, b) = (self.elements(a, node)?, self.elements(b, node)?);
                let pair = |(a, b): (Traced, Traced)| {
                    Traced::from(Py::Tuple(vec![a.clone(), b.clone()])).joined(&a).joined(&b)
                };
                Py::Tuple(a.into_iter().zip(b).map(pair).collect())
            }
            _ => return Err(self.refused(node, &format!("this call of `{name}`"))),
        };
        Ok(Traced { value: out, leaves })
    }

    fn extreme(&self, node: Node<'_>, name: &str, list: &[Traced]) -> Result<Py, Miss> {
        let Some((first, rest)) = list.split_first() else {
            return Err(self.refused(node, &format!("`{name}` of nothing")));
        };
        let mut best = first;
        for value in rest {
            let operator = if name == "min" { "<" } else { ">" };
            let better = operate::compare(operator, &value.value, &best.value);
            if better.map_err(|what| self.refused(node, &what))? {
                best = value;
            }
        }
        Ok(best.value.clone())
    }

    fn mathematics(&mut self, node: Node<'_>, name: &str, arguments: &[Node<'_>]) -> Outcome {
        let values = self.all(arguments)?;
        let leaves = values.iter().flat_map(|v| v.leaves.clone()).collect();
        let round = |value: &Traced, round: fn(f64) -> f64| match &value.value {
            Py::Float(f) if f.abs() < 1e30 => Some(Py::Int(round(*f) as i128)),
            other => other.int().map(Py::Int),
        };
        let out = match (name, &values[..]) {
            ("ceil", [one]) => round(one, f64::ceil),
            ("floor" | "trunc", [one]) => round(one, if name == "floor" { f64::floor } else { f64::trunc }),
            ("sqrt", [one]) => one.value.float().filter(|f| *f >= 0.0).map(|f| Py::Float(f.sqrt())),
            ("log2", [one]) => one.value.float().filter(|f| *f > 0.0).map(|f| Py::Float(f.log2())),
            ("gcd", [a, b]) => a.value.int().zip(b.value.int()).map(|(a, b)| {
                let (mut a, mut b) = (a.abs(), b.abs());
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                Py::Int(a)
            }),
            ("prod", [one]) => {
                let mut product = Traced::from(Py::Int(1));
                for element in self.elements(one, node)? {
                    product = self.operated(node, "*", product, &element)?;
                }
                Some(product.value)
            }
            _ => return Err(self.foreign(node)),
        };
        let value = out.ok_or_else(|| self.refused(node, &format!("`math.{name}` of such a value")))?;
        Ok(Traced { value, leaves })
    }

    /// Text that an expression makes out of text: its origin is the expression.
    pub fn made(&self, node: Node<'_>, text: String, from: &Traced) -> Outcome {
        let at = self.script.spot(node);
        let leaves = from.leaves.iter().cloned().collect();
        let origin = SegmentOrigin::Value { at, expr: self.script.squeezed(node), leaves };
        Ok(from.clone().with(Py::Text(Pieces(vec![(text, origin)]))))
    }
}
