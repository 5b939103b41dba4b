//! The state of one evaluation, and how it answers for names and calls.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tree_sitter::Node;

use super::{Unit, encode};
use crate::read::constant::element_size;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, children, squeeze};
use crate::read::cxx::evaluate::{Names, Outcome, all, evaluate, tuple, unsupported};
use crate::read::cxx::functions::Function;
use crate::read::cxx::integer::IntegerType;
use crate::read::cxx::problem::{Problem, Problems, Unknown};
use crate::read::cxx::value::{Evaluated, Value};
use crate::read::prints::PrintedMap;
use crate::read::site::leaf_value;

/// Calls within calls.
const DEEPEST_CALL: usize = 24;

/// What a local holds.
#[derive(Debug, Clone)]
pub(super) enum Slot {
    /// A value, with the type that assignments convert to.
    Value(Evaluated, String),
    /// An object of the caller, by its expression there.
    Object(String),
    /// Nothing, and why.
    Unknown(Problems),
}

/// One evaluation.
pub(super) struct Machine<'d> {
    units: &'d [Unit<'d>],
    leaves: BTreeMap<String, String>,
    /// The locals of the running function, innermost scope last.
    pub scopes: Vec<HashMap<String, Slot>>,
    /// Parameters of the entry, whose members are leaves.
    pub problems: Problems,
    /// Descriptors that were encoded.
    pub encoded: Vec<PrintedMap>,
    /// What the running function returns.
    pub returned: Option<Outcome>,
    /// Statements so far.
    pub steps: usize,
    calls: usize,
    depth: usize,
}

impl<'d> Machine<'d> {
    pub(super) fn new(units: &'d [Unit<'d>], leaves: &BTreeMap<String, String>) -> Self {
        Machine {
            units,
            leaves: leaves.iter().map(|(name, value)| (squeeze(name), value.clone())).collect(),
            scopes: vec![HashMap::new()],
            problems: vec![],
            encoded: vec![],
            returned: None,
            steps: 0,
            calls: 0,
            depth: 0,
        }
    }

    /// Runs the entry: its parameters are leaves, or objects whose members are.
    pub(super) fn enter(&mut self, document: &'d Document, function: &Function<'d>) {
        for (name, declared, default) in parameters(document, function) {
            let slot = match (self.leaf(&name), default) {
                (Some(value), _) => Slot::Value(value, declared),
                (None, Some(default)) => match evaluate(document, default, self) {
                    Ok(value) => Slot::Value(value, declared),
                    Err(problems) => Slot::Unknown(problems),
                },
                (None, None) => Slot::Object(name.clone()),
            };
            self.declare(&name, slot);
        }
        if let Some(body) = function.body {
            self.block(document, body);
        }
    }

    pub(super) fn leaf(&self, text: &str) -> Option<Evaluated> {
        let value = leaf_value(self.leaves.get(&squeeze(text))?);
        Some(Evaluated { value, leaves: BTreeSet::from([text.to_owned()]) })
    }

    pub(super) fn declare(&mut self, name: &str, slot: Slot) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), slot);
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Slot> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Slot> {
        self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name))
    }

    pub(super) fn note(&mut self, problems: Problems) {
        for problem in problems {
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
    }

    /// A path as the entry's caller would write it: a parameter's name becomes the object behind it.
    fn path(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let tail = &rest[at..];
            let end = tail.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(tail.len());
            let member = rest[..at].ends_with(['.', '>', ':']) || rest[..at].ends_with(|c: char| c.is_ascii_digit());
            out.push_str(&rest[..at]);
            match self.get(&tail[..end]) {
                Some(Slot::Object(object)) if !member => out.push_str(object),
                _ => out.push_str(&tail[..end]),
            }
            rest = &tail[end..];
        }
        out + rest
    }

    fn unknown(&self, document: &Document, node: Node<'_>, name: String) -> Outcome {
        Err(vec![Problem::Unknown(Unknown { name, used: document.spot(node), assigned: None, changed: false })])
    }

    /// The function of the sources that a call means, by name and number of arguments.
    fn function(&self, callee: &Callee<'_>) -> Option<(&'d Document, &'d Function<'d>)> {
        let count = callee.arguments.len();
        let fits = |unit: &&'d Unit<'d>| {
            let document = unit.document;
            unit.functions
                .iter()
                .find(|f| {
                    let all = children(f.parameters);
                    let needed = all.iter().filter(|p| p.child_by_field_name("default_value").is_none()).count();
                    f.body.is_some() && f.is_named(&callee.path) && (needed..=all.len()).contains(&count)
                })
                .map(|function| (document, function))
        };
        self.units.iter().find_map(|unit| fits(&unit))
    }

    /// Runs a function of the sources; none when the call means none.
    pub(super) fn run(&mut self, document: &Document, node: Node<'_>, callee: &Callee<'_>) -> Option<Outcome> {
        let (home, function) = self.function(callee)?;
        if self.calls >= DEEPEST_CALL {
            return Some(unsupported(document, node, "a call nested this deep"));
        }
        let mut scope = HashMap::new();
        for (name, given) in template_parameters(home, function).iter().zip(&callee.template_arguments) {
            let slot = match evaluate(document, *given, self) {
                Ok(value) => Slot::Value(value, String::new()),
                Err(_) => {
                    let text = Value::Symbol(self.type_of(&document.squeezed(*given)));
                    Slot::Value(text.into(), String::new())
                }
            };
            scope.insert(name.clone(), slot);
        }
        let mut defaults = vec![];
        for (index, (name, declared, default)) in parameters(home, function).into_iter().enumerate() {
            let slot = match (callee.arguments.get(index), default) {
                (Some(argument), _) => match evaluate(document, *argument, self) {
                    Ok(value) => Slot::Value(value, declared),
                    Err(problems) if matches!(argument.kind(), "identifier" | "field_expression") => {
                        let path = self.path(&document.squeezed(*argument));
                        if self.get(&document.squeezed(*argument)).is_some_and(|slot| matches!(slot, Slot::Unknown(_)))
                        {
                            Slot::Unknown(problems)
                        } else {
                            Slot::Object(path)
                        }
                    }
                    Err(problems) => Slot::Unknown(problems),
                },
                (None, Some(default)) => {
                    defaults.push((name.clone(), declared, default));
                    continue;
                }
                (None, None) => continue,
            };
            scope.insert(name, slot);
        }
        let outer = std::mem::replace(&mut self.scopes, vec![scope]);
        let before = self.returned.take();
        self.calls += 1;
        for (name, declared, default) in defaults {
            let slot = match evaluate(home, default, self) {
                Ok(value) => Slot::Value(value, declared),
                Err(problems) => Slot::Unknown(problems),
            };
            self.declare(&name, slot);
        }
        if let Some(body) = function.body {
            self.block(home, body);
        }
        self.calls -= 1;
        self.scopes = outer;
        let out = std::mem::replace(&mut self.returned, before);
        Some(out.unwrap_or_else(|| Ok(Value::Null.into())))
    }

    /// The type behind a name: a template argument, an alias of a source.
    fn type_of(&self, text: &str) -> String {
        if let Some(Slot::Value(Evaluated { value: Value::Symbol(name), .. }, _)) = self.get(text) {
            return name.clone();
        }
        let alias = self.units.iter().find_map(|unit| alias(unit.document, text));
        alias.filter(|name| name != text).unwrap_or_else(|| text.to_owned())
    }

    /// `std::is_same_v<A, B>`, as two type names.
    fn is_same(&self, text: &str) -> Option<bool> {
        let inner = text.split_once("is_same")?.1;
        let inner = inner.strip_prefix("_v").unwrap_or(inner).strip_prefix('<')?;
        let (a, b) = inner.trim_end_matches("::value").strip_suffix('>')?.split_once(',')?;
        let last = |name: &str| {
            let name = self.type_of(name.trim());
            name.rsplit("::").next().unwrap_or_default().to_owned()
        };
        Some(last(a) == last(b))
    }
}

impl Names for Machine<'_> {
    fn name(&mut self, document: &Document, node: Node<'_>) -> Outcome {
        let text = document.squeezed(node);
        if let Some(same) = self.is_same(&text) {
            return Ok(Value::Bool(same).into());
        }
        match node.kind() {
            "identifier" => match self.get(&text) {
                Some(Slot::Value(value, _)) => return Ok(value.clone()),
                Some(Slot::Unknown(problems)) => return Err(problems.clone()),
                Some(Slot::Object(object)) => {
                    let object = object.clone();
                    return self.leaf(&object).map_or_else(|| self.unknown(document, node, object), Ok);
                }
                // No local and no parameter: a constant of some header.
                None => return Ok(self.leaf(&text).unwrap_or_else(|| Value::Symbol(text).into())),
            },
            "qualified_identifier" => return Ok(self.leaf(&text).unwrap_or_else(|| Value::Symbol(text).into())),
            "subscript_expression" => {
                if let Some(outcome) = self.element(document, node) {
                    return outcome;
                }
            }
            "pointer_expression" => {
                // The address of an element is the rest of the array; of an array, all of it.
                let argument = node.child_by_field_name("argument");
                if let Some(argument) = argument.filter(|_| text.starts_with('&')) {
                    return self.address(document, argument);
                }
            }
            "type_identifier" | "primitive_type" | "type_descriptor" => {
                // As a template argument a constant looks like a type.
                return match self.get(&text) {
                    Some(Slot::Value(value, _)) => Ok(value.clone()),
                    Some(Slot::Unknown(problems)) => Err(problems.clone()),
                    _ => Ok(Value::Symbol(self.type_of(&text)).into()),
                };
            }
            _ => {}
        }
        let path = self.path(&text);
        self.leaf(&path).map_or_else(|| self.unknown(document, node, path), Ok)
    }

    fn call(&mut self, document: &Document, node: Node<'_>, callee: &Callee<'_>) -> Option<Outcome> {
        let path = self.path(&document.squeezed(node));
        if let Some(value) = self.leaf(&path) {
            return Some(Ok(value));
        }
        if encode::is_encode(callee) {
            encode::encode(self, document, node, callee);
            return Some(Ok(Value::Symbol("CUDA_SUCCESS".to_owned()).into()));
        }
        match callee.last() {
            "make_pair" | "make_tuple" | "make_array" => {
                return Some(all(document, &callee.arguments, self).map(tuple));
            }
            "reinterpret_cast" => return Some(unsupported(document, node, "an address")),
            "CUtensorMapDataType" => return Some(Ok(Value::Symbol("unknown type".to_owned()).into())),
            _ => {}
        }
        if callee.receiver.is_none() {
            return self.run(document, node, callee);
        }
        None
    }

    fn size_of(&mut self, document: &Document, node: Node<'_>) -> Outcome {
        let text = document.squeezed(node);
        let name = self.type_of(text.trim_start_matches('(').trim_end_matches(')').trim());
        let last = name.rsplit("::").next().unwrap_or_default();
        match element_size(last).or_else(|| IntegerType::of(&name).map(|(_, bits, _)| u64::from(bits / 8))) {
            Some(bytes) => Ok(Value::size(bytes).into()),
            None => unsupported(document, node, &format!("sizeof({name})")),
        }
    }

    fn depth(&mut self) -> &mut usize {
        &mut self.depth
    }
}

impl Machine<'_> {
    fn element(&mut self, document: &Document, node: Node<'_>) -> Option<Outcome> {
        let array = document.squeezed(node.child_by_field_name("argument")?);
        let (values, leaves) = match self.get(&array)? {
            Slot::Value(Evaluated { value: Value::Tuple(values), leaves }, _) => (values.clone(), leaves.clone()),
            Slot::Unknown(problems) => return Some(Err(problems.clone())),
            _ => return None,
        };
        let index = children(node.child_by_field_name("indices")?).first().copied()?;
        let index = match evaluate(document, index, self) {
            Ok(index) => index,
            Err(problems) => return Some(Err(problems)),
        };
        let at = usize::try_from(index.value.as_integer()?.value).ok()?;
        Some(match values.get(at) {
            Some(value) => Ok(Evaluated { value: value.clone(), leaves }.joined(&index)),
            None => unsupported(document, node, "an element beyond the array"),
        })
    }

    fn address(&mut self, document: &Document, of: Node<'_>) -> Outcome {
        if of.kind() != "subscript_expression" {
            return evaluate(document, of, self);
        }
        let parts = of.child_by_field_name("argument").zip(of.child_by_field_name("indices"));
        let Some((array, index)) = parts.and_then(|(array, list)| Some((array, children(list).first().copied()?)))
        else {
            return unsupported(document, of, "this address");
        };
        let (array, index) = (evaluate(document, array, self)?, evaluate(document, index, self)?);
        encode::advanced(&array, &index).map_or_else(|| unsupported(document, of, "this address"), Ok)
    }
}

/// Names, types and defaults of a function's parameters.
fn parameters<'t>(document: &Document, function: &Function<'t>) -> Vec<(String, String, Option<Node<'t>>)> {
    let one = |node: Node<'t>| {
        let declared = node.child_by_field_name("type").map(|t| document.squeezed(t)).unwrap_or_default();
        let mut declarator = node.child_by_field_name("declarator")?;
        while declarator.kind() != "identifier" {
            declarator =
                declarator.child_by_field_name("declarator").or_else(|| children(declarator).first().copied())?;
        }
        Some((document.squeezed(declarator), declared, node.child_by_field_name("default_value")))
    };
    // An unnamed parameter keeps its place.
    children(function.parameters)
        .into_iter()
        .map(|node| one(node).unwrap_or_else(|| (String::new(), String::new(), None)))
        .collect()
}

fn template_parameters(document: &Document, function: &Function<'_>) -> Vec<String> {
    let list = function.template_parameters.map(children).unwrap_or_default();
    list.into_iter()
        .map(|node| {
            let text = document.squeezed(node);
            let head = text.split('=').next().unwrap_or_default().trim_end();
            head.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default().to_owned()
        })
        .collect()
}

/// What `using NAME = TYPE;` anywhere in the text says.
fn alias(document: &Document, name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(&document.stripped);
    let at = text.find(&format!("using {name} ="))?;
    let rest = &text[at..];
    let (_, value) = rest[..rest.find(';')?].split_once('=')?;
    Some(squeeze(value.trim()))
}
