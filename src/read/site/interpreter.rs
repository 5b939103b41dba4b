//! The interpreter's state, and how it answers for names.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tree_sitter::Node;

use super::deduce::aliases;
use super::effect::Surroundings;
use super::leaves::{Leaves, compact};
use super::line::{Emitter, Pieces};
use super::scope::{Scopes, State, Variable};
use super::text::is_format;
use crate::diag::Diagnostics;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, children};
use crate::read::cxx::evaluate::{Names, Outcome, evaluate, unsupported};
use crate::read::cxx::integer::IntegerType;
use crate::read::cxx::problem::{Problem, Problems, Unknown};
use crate::read::cxx::typing;
use crate::read::cxx::value::{Evaluated, Value};
use crate::source::Spot;

/// The state of one evaluation of a site.
pub struct Interpreter<'d> {
    /// The site.
    pub document: &'d Document,
    /// Which of its functions change their arguments, and what emits.
    pub surroundings: Rc<Surroundings>,
    /// The locals.
    pub scopes: Scopes,
    /// What another name reaches: it may change at any time.
    pub loose: Vec<String>,
    /// The function's parameters with their types.
    pub parameters: BTreeMap<String, String>,
    /// Those that are `const`: no call changes them.
    pub constants: BTreeSet<String>,
    /// Names of the text for arithmetic types.
    pub aliases: BTreeMap<String, String>,
    /// What was given.
    pub leaves: Leaves,
    /// The emitters, by the name of their variable, in the order of first use.
    pub emitters: Vec<(String, Emitter)>,
    /// Why the emission is incomplete.
    pub problems: Problems,
    /// Errors that are no missing leaves.
    pub errors: Diagnostics,
    /// Where locals got a value that the site computes itself.
    pub computed: BTreeMap<String, Spot>,
    /// What the site returns.
    pub returned: Option<Spot>,
    /// The text that it returns, when it prints by returning.
    pub result: Option<Pieces>,
    /// Assertions that hold.
    pub assertions: usize,
    /// Above 0 while both branches of an unknown condition are walked.
    pub speculative: usize,
    /// Statements run so far.
    pub steps: usize,
    depth: usize,
}

impl<'d> Interpreter<'d> {
    /// A fresh state.
    pub fn new(document: &'d Document, leaves: Leaves) -> Self {
        Interpreter {
            document,
            surroundings: Rc::default(),
            scopes: Scopes::default(),
            loose: vec![],
            parameters: BTreeMap::new(),
            aliases: aliases(document),
            constants: BTreeSet::new(),
            leaves,
            emitters: vec![],
            problems: vec![],
            errors: Diagnostics::new(),
            computed: BTreeMap::new(),
            returned: None,
            result: None,
            assertions: 0,
            speculative: 0,
            steps: 0,
            depth: 0,
        }
    }

    /// The value of an expression.
    pub fn value(&mut self, node: Node<'_>) -> Outcome {
        evaluate(self.document, node, self)
    }

    /// Keeps problems for the report.
    pub fn note(&mut self, problems: Problems) {
        for problem in problems {
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
    }

    /// The emitter behind a variable.
    pub fn emitter(&mut self, name: &str) -> &mut Emitter {
        let index = self.emitters.iter().position(|(n, _)| n == name).unwrap_or_else(|| {
            self.emitters.push((name.to_owned(), Emitter::default()));
            self.emitters.len() - 1
        });
        &mut self.emitters[index].1
    }

    /// The state of a local that is assigned from `node`: its value, the leaf given for it, or why there is neither.
    pub fn assigned(&mut self, name: &str, declared: &str, node: Node<'_>) -> State {
        let outcome = self.value(node);
        self.assigned_outcome(name, declared, outcome, node)
    }

    /// The same, from an outcome; `node` is where it was computed.
    pub fn assigned_outcome(&mut self, name: &str, declared: &str, outcome: Outcome, node: Node<'_>) -> State {
        let at = self.document.spot(node);
        match outcome {
            Ok(value) => {
                self.computed.insert(name.to_owned(), at);
                let converted = value.value.clone().converted_to(declared);
                State::Bound(value.with(converted))
            }
            Err(problems) => {
                let expr = self.document.squeezed(node);
                if let Some(leaf) = self.leaves.take(name, declared, Some(expr.clone()), &at) {
                    return State::Bound(leaf);
                }
                if problems.iter().all(|problem| self.settable(problem)) {
                    return State::Poisoned(problems);
                }
                let assigned = Some((expr, at.clone()));
                State::Poisoned(vec![Problem::Unknown(Unknown {
                    name: name.to_owned(),
                    used: at,
                    assigned,
                    changed: false,
                })])
            }
        }
    }

    /// Whether a problem names something that can be given as it stands.
    pub fn settable(&self, problem: &Problem) -> bool {
        match problem {
            Problem::Unknown(unknown) => unknown.assigned.is_some() || self.parameter_type(&unknown.name).is_some(),
            Problem::Unsupported { .. } => false,
            Problem::Undefined { .. } => true,
        }
    }

    /// The type of a parameter, of its element, or of its size, when it is a plain one.
    fn parameter_type(&self, text: &str) -> Option<String> {
        let root = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
        let declared = self.parameters.get(root)?;
        let rest = &text[root.len()..];
        let plain = |t: &str| {
            matches!(t, "bool" | "float" | "double" | "std::string" | "string") || IntegerType::of(t).is_some()
        };
        let element = declared
            .strip_prefix("std::vector<")
            .or_else(|| declared.strip_prefix("vector<"))
            .and_then(|t| t.strip_suffix('>'))
            .map(str::trim);
        match (rest, element) {
            ("", None) if plain(declared) => Some(declared.clone()),
            (".size()", Some(_)) => Some("size_t".to_owned()),
            (index, Some(element)) if index.starts_with('[') && plain(element) => Some(element.to_owned()),
            _ => None,
        }
    }

    fn unknown(&self, node: Node<'_>, name: String) -> Outcome {
        Err(vec![Problem::Unknown(Unknown { name, used: self.document.spot(node), assigned: None, changed: false })])
    }

    fn local(&mut self, node: Node<'_>, name: &str, (state, stale): (State, Option<Spot>)) -> Outcome {
        match state {
            State::Bound(value) => {
                if let Some(by) = stale {
                    self.leaves.grown_stale(&value.leaves, &by);
                }
                Ok(value)
            }
            State::Unset => self.unknown(node, name.to_owned()),
            State::Poisoned(problems) => Err(problems
                .into_iter()
                .map(|problem| match problem {
                    Problem::Unknown(unknown) => {
                        Problem::Unknown(Unknown { used: self.document.spot(node), ..unknown })
                    }
                    other => other,
                })
                .collect()),
        }
    }

    /// A name as it is looked up: indices that are known are numbers, unless it was given as it is written.
    fn named(&mut self, node: Node<'_>) -> String {
        let written = compact(&self.document.squeezed(node));
        if !matches!(node.kind(), "field_expression" | "subscript_expression") || !written.contains('[') {
            return written;
        }
        let place = self.place(node);
        let as_written = self.leaves.has(&written) && !self.leaves.has(&place) && self.scopes.get(&place).is_none();
        if as_written { written } else { place }
    }

    /// An element of a local array.
    fn element(&mut self, node: Node<'_>) -> Option<Outcome> {
        let array = node.child_by_field_name("argument")?;
        let name = self.document.squeezed(array);
        let State::Bound(Evaluated { value: Value::Tuple(values), leaves }) = self.scopes.get(&name)?.state.clone()
        else {
            return None;
        };
        let index = children(node.child_by_field_name("indices")?).first().copied()?;
        let index = match self.value(index) {
            Ok(index) => index,
            Err(problems) => return Some(Err(problems)),
        };
        let at = usize::try_from(index.value.as_integer()?.value).ok()?;
        match values.get(at) {
            Some(value) => Some(Ok(Evaluated { value: value.clone(), leaves }.joined(&index))),
            None => {
                let what = format!("element {at} of `{name}`, which holds {}", values.len());
                Some(Err(vec![Problem::Undefined { what, at: self.document.spot(node) }]))
            }
        }
    }
}

impl Names for Interpreter<'_> {
    fn name(&mut self, document: &Document, node: Node<'_>) -> Outcome {
        let text = self.named(node);
        match node.kind() {
            "identifier" => {
                if let Some(local) = self.scopes.get(&text).map(|v| (v.state.clone(), v.stale.clone())) {
                    return self.local(node, &text, local);
                }
            }
            "field_expression" | "pointer_expression" if self.scopes.get(&text).is_some() => {
                if let Some(local) = self.scopes.get(&text).map(|v| (v.state.clone(), v.stale.clone())) {
                    return self.local(node, &text, local);
                }
            }
            "subscript_expression" => {
                if let Some(local) = self.scopes.get(&text).map(|v| (v.state.clone(), v.stale.clone())) {
                    return self.local(node, &text, local);
                }
                if let Some(outcome) = self.element(node) {
                    return outcome;
                }
            }
            "field_expression" | "call_expression" | "pointer_expression" | "qualified_identifier" => {}
            kind => return unsupported(document, node, &format!("`{}` ({kind})", short(&text))),
        }
        let declared = self.parameter_type(&text).unwrap_or_default();
        if let Some(value) = self.leaves.take(&text, &declared, None, &document.spot(node)) {
            return Ok(value);
        }
        if node.kind() == "qualified_identifier" {
            return Ok(Value::Symbol(text).into());
        }
        self.unknown(node, text)
    }

    fn call(&mut self, document: &Document, node: Node<'_>, callee: &Callee<'_>) -> Option<Outcome> {
        let text = compact(&document.squeezed(node));
        let declared = self.parameter_type(&text).unwrap_or_default();
        if let Some(value) = self.leaves.take(&text, &declared, None, &document.spot(node)) {
            return Some(Ok(value));
        }
        if is_format(callee) {
            return Some(self.formatted(node, callee).map(|pieces| self.as_value(&pieces)));
        }
        if callee.last() == "str" && callee.arguments.is_empty() {
            let name = document.squeezed(callee.receiver?);
            let pieces = self.scopes.get(&name)?.text.clone()?;
            return Some(Ok(self.as_value(&pieces)));
        }
        None
    }

    fn size_of(&mut self, document: &Document, node: Node<'_>) -> Outcome {
        let text = document.squeezed(node);
        let text = text.trim_start_matches('(').trim_end_matches(')').trim();
        let bytes = match text {
            "char" | "bool" => Some(1),
            "float" => Some(4),
            "double" => Some(8),
            other if other.ends_with('*') => Some(8),
            other => IntegerType::of(other).map(|(_, bits, _)| u64::from(bits / 8)),
        };
        match bytes {
            Some(bytes) => Ok(Value::size(bytes).into()),
            None => unsupported(document, node, &format!("sizeof({})", short(text))),
        }
    }

    fn type_named(&self, name: &str) -> String {
        self.spelled(name)
    }

    fn sample(&mut self, document: &Document, node: Node<'_>) -> Option<Value> {
        let text = compact(&document.squeezed(node));
        if let Some(variable) = self.scopes.get(&text) {
            return match &variable.state {
                _ if !variable.declared.is_empty() => typing::of_type(&variable.declared),
                // An `int` may be a guess from the digits that were given.
                State::Bound(bound) if bound.leaves.is_empty() => Some(bound.value.clone()),
                State::Bound(Evaluated { value: Value::Integer(value), .. }) if value.of != IntegerType::Int => {
                    Some(Value::Integer(*value))
                }
                State::Bound(Evaluated { value: Value::Float { value, single }, .. }) => {
                    Some(Value::Float { value: *value, single: *single })
                }
                _ => None,
            };
        }
        let array = node.child_by_field_name("argument").map(|array| document.squeezed(array));
        let array = array.and_then(|array| self.scopes.get(&array));
        if let Some(Variable { state: State::Bound(Evaluated { value: Value::Tuple(values), .. }), .. }) = array {
            return values.first().cloned();
        }
        let size = text.strip_suffix(".size()").and_then(|object| self.scopes.get(object));
        if size.is_some_and(|variable| variable.declared.starts_with("std::")) {
            return Some(Value::size(1));
        }
        typing::of_type(&self.parameter_type(&text)?)
    }

    fn depth(&mut self) -> &mut usize {
        &mut self.depth
    }
}

/// At most 40 characters of a text.
pub fn short(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
