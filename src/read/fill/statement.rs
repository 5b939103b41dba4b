//! Statements of fill code.

use tree_sitter::Node;

use super::machine::{Machine, Slot};
use crate::read::cxx::arithmetic;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, children, fields};
use crate::read::cxx::evaluate::{Outcome, evaluate, initializer};
use crate::read::cxx::problem::{Problem, Problems};
use crate::read::cxx::value::{Evaluated, Value};

/// Statements run at most.
const MOST_STEPS: usize = 20_000;

/// Where control goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return,
}

impl Machine<'_> {
    /// Runs a block in a scope of its own.
    pub(super) fn block(&mut self, document: &Document, node: Node<'_>) -> Flow {
        self.scopes.push(Default::default());
        let flow = self.sequence(document, &children(node));
        self.scopes.pop();
        flow
    }

    fn sequence(&mut self, document: &Document, nodes: &[Node<'_>]) -> Flow {
        for node in nodes {
            let flow = self.statement(document, *node);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn statement(&mut self, document: &Document, node: Node<'_>) -> Flow {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            if self.steps == MOST_STEPS + 1 {
                self.refuse(document, node, "code this long");
            }
            return Flow::Return;
        }
        match node.kind() {
            "compound_statement" => self.block(document, node),
            "declaration" => {
                self.declaration(document, node);
                Flow::Next
            }
            "expression_statement" => {
                if let Some(inner) = children(node).first() {
                    self.expression(document, *inner);
                }
                Flow::Next
            }
            "if_statement" => self.branch(document, node),
            "switch_statement" => self.switch(document, node),
            "for_statement" | "while_statement" => self.repeat(document, node),
            "return_statement" => {
                let value = children(node).first().map(|value| evaluate(document, *value, self));
                self.returned = value;
                Flow::Return
            }
            "break_statement" => Flow::Break,
            "continue_statement" => Flow::Continue,
            "else_clause" | "case_statement" => self.sequence(document, &children(node)),
            _ => Flow::Next,
        }
    }

    fn refuse(&mut self, document: &Document, node: Node<'_>, what: &str) {
        self.note(vec![Problem::Unsupported { what: what.to_owned(), at: document.spot(node) }]);
    }

    fn declaration(&mut self, document: &Document, node: Node<'_>) {
        let declared = node.child_by_field_name("type").map(|t| document.squeezed(t)).unwrap_or_default();
        for declarator in fields(node, "declarator") {
            let given = declarator.kind() == "init_declarator";
            let inner = declarator.child_by_field_name("declarator").filter(|_| given).unwrap_or(declarator);
            let raw = fields(declarator, "value").first().copied().filter(|_| given);
            match inner.kind() {
                "structured_binding_declarator" => {
                    let outcome = raw.map(|value| evaluate(document, value, self));
                    self.unpack(document, inner, outcome);
                }
                "array_declarator" => {
                    let name =
                        inner.child_by_field_name("declarator").map(|n| document.squeezed(n)).unwrap_or_default();
                    let outcome = match raw {
                        Some(list) => self.list(document, list, &declared),
                        None => self.empty(document, inner),
                    };
                    self.bind(&name, &declared, outcome);
                }
                _ => {
                    let mut leaf = inner;
                    while leaf.kind() != "identifier" {
                        let next = leaf.child_by_field_name("declarator").or_else(|| children(leaf).first().copied());
                        let Some(next) = next else { break };
                        leaf = next;
                    }
                    let name = document.squeezed(leaf);
                    let plain = if inner.kind() == "identifier" && declared != "auto" { declared.as_str() } else { "" };
                    let outcome = match initializer(declarator).filter(|_| given) {
                        Some(value) => evaluate(document, value, self),
                        None => Ok(Value::Null.into()),
                    };
                    self.bind(&name, plain, outcome);
                }
            }
        }
    }

    fn bind(&mut self, name: &str, declared: &str, outcome: Outcome) {
        let slot = match outcome {
            Ok(value) => {
                let converted = value.value.clone().converted_to(declared);
                Slot::Value(value.with(converted), declared.to_owned())
            }
            Err(problems) => Slot::Unknown(problems),
        };
        self.declare(name, slot);
    }

    /// `{a, b}` as an array; of one element as well.
    fn list(&mut self, document: &Document, list: Node<'_>, declared: &str) -> Outcome {
        if list.kind() != "initializer_list" {
            return evaluate(document, list, self);
        }
        let mut out = Evaluated::from(Value::Null);
        let mut values = vec![];
        for element in children(list) {
            let value = evaluate(document, element, self)?;
            out = out.joined(&value);
            values.push(value.value.converted_to(declared));
        }
        Ok(out.with(Value::Tuple(values)))
    }

    fn empty(&mut self, document: &Document, declarator: Node<'_>) -> Outcome {
        let Some(size) = declarator.child_by_field_name("size") else { return Ok(Value::Tuple(vec![]).into()) };
        let count = evaluate(document, size, self)?.value.as_integer().and_then(|i| usize::try_from(i.value).ok());
        match count.filter(|count| *count <= 64) {
            Some(count) => Ok(Value::Tuple(vec![Value::Null; count]).into()),
            None => Err(vec![Problem::Unsupported { what: "such an array".to_owned(), at: document.spot(declarator) }]),
        }
    }

    /// `auto [a, b] = …`.
    fn unpack(&mut self, document: &Document, names: Node<'_>, outcome: Option<Outcome>) {
        for (index, name) in children(names).iter().enumerate() {
            let slot = match &outcome {
                Some(Ok(Evaluated { value: Value::Tuple(values), leaves })) => match values.get(index) {
                    Some(value) => {
                        Slot::Value(Evaluated { value: value.clone(), leaves: leaves.clone() }, String::new())
                    }
                    None => Slot::Unknown(vec![]),
                },
                Some(Err(problems)) => Slot::Unknown(problems.clone()),
                _ => Slot::Unknown(vec![Problem::Unsupported {
                    what: "this binding".to_owned(),
                    at: document.spot(names),
                }]),
            };
            self.declare(&document.squeezed(*name), slot);
        }
    }

    fn expression(&mut self, document: &Document, node: Node<'_>) {
        match node.kind() {
            "assignment_expression" => self.assignment(document, node),
            "update_expression" => {
                if let Some(target) = node.child_by_field_name("argument") {
                    let step = if document.text(node).contains("++") { "+" } else { "-" };
                    let outcome = evaluate(document, target, self)
                        .and_then(|old| combined(document, node, step, &old, &Value::int(1).into()));
                    self.store(document, target, outcome);
                }
            }
            "call_expression" => self.called(document, node),
            _ => {}
        }
    }

    /// A call as a statement: an assertion, an encoding under a checking macro, a function of the sources.
    fn called(&mut self, document: &Document, node: Node<'_>) {
        let Some(callee) = Callee::of(document, node) else { return };
        let asserts = callee.last().to_ascii_lowercase().contains("assert");
        if let Some(condition) = callee.arguments.first().filter(|_| asserts) {
            if let Ok(value) = evaluate(document, *condition, self)
                && value.value.as_bool() == Some(false)
            {
                let what = format!("the fill code refuses these values: {}", document.squeezed(node));
                self.note(vec![Problem::Undefined { what, at: document.spot(node) }]);
            }
            return;
        }
        let before = self.encoded.len();
        let outcome = evaluate(document, node, self);
        if self.encoded.len() == before && outcome.is_err() {
            for argument in callee.arguments.iter().filter(|argument| argument.kind() == "call_expression") {
                self.called(document, *argument);
            }
        }
    }

    fn assignment(&mut self, document: &Document, node: Node<'_>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
            return;
        };
        let operator = node.child_by_field_name("operator").map(|o| document.squeezed(o)).unwrap_or_default();
        let value = evaluate(document, right, self);
        let outcome = if operator == "=" {
            value
        } else {
            value.and_then(|value| {
                let old = evaluate(document, left, self)?;
                combined(document, node, operator.trim_end_matches('='), &old, &value)
            })
        };
        self.store(document, left, outcome);
    }

    fn store(&mut self, document: &Document, target: Node<'_>, outcome: Outcome) {
        let text = document.squeezed(target);
        if target.kind() == "subscript_expression" {
            let parts = target.child_by_field_name("argument").zip(target.child_by_field_name("indices"));
            let index = parts
                .and_then(|(_, list)| evaluate(document, children(list).first().copied()?, self).ok())
                .and_then(|index| usize::try_from(index.value.as_integer()?.value).ok());
            let name = parts.map(|(array, _)| document.squeezed(array)).unwrap_or_default();
            let Some(slot) = self.get_mut(&name) else { return };
            let (value, leaves) = match outcome {
                Ok(value) => (value.value, value.leaves),
                Err(problems) => {
                    *slot = Slot::Unknown(problems);
                    return;
                }
            };
            if let Slot::Value(Evaluated { value: Value::Tuple(values), leaves: all }, declared) = slot
                && let Some(place) = index.and_then(|index| values.get_mut(index))
            {
                *place = value.converted_to(declared);
                all.extend(leaves);
            }
            return;
        }
        let Some(slot) = self.get_mut(&text) else { return };
        let declared = if let Slot::Value(_, declared) = &slot { declared.clone() } else { String::new() };
        *slot = match outcome {
            Ok(value) => {
                let converted = value.value.clone().converted_to(&declared);
                Slot::Value(value.with(converted), declared)
            }
            Err(problems) => Slot::Unknown(problems),
        };
    }

    fn truth(&mut self, document: &Document, node: Node<'_>) -> Result<bool, Problems> {
        let node = node.child_by_field_name("value").filter(|_| node.kind() == "condition_clause").unwrap_or(node);
        let value = evaluate(document, node, self)?;
        value.value.as_bool().ok_or_else(|| {
            vec![Problem::Unsupported {
                what: "a condition that is no truth value".to_owned(),
                at: document.spot(node),
            }]
        })
    }

    fn branch(&mut self, document: &Document, node: Node<'_>) -> Flow {
        let Some(condition) = node.child_by_field_name("condition") else { return Flow::Next };
        let holds = match self.truth(document, condition) {
            Ok(holds) => holds,
            // A branch that only prints or checks may stay unknown.
            Err(_) if !matters(document, node) => return Flow::Next,
            Err(problems) => {
                self.note(problems);
                return Flow::Return;
            }
        };
        let chosen = node.child_by_field_name(if holds { "consequence" } else { "alternative" });
        let Some(chosen) = chosen else { return Flow::Next };
        self.scopes.push(Default::default());
        let flow = self.statement(document, chosen);
        self.scopes.pop();
        flow
    }

    fn switch(&mut self, document: &Document, node: Node<'_>) -> Flow {
        let parts = node.child_by_field_name("condition").zip(node.child_by_field_name("body"));
        let Some((condition, body)) = parts else { return Flow::Next };
        let condition = condition.child_by_field_name("value").unwrap_or(condition);
        let value = match evaluate(document, condition, self) {
            Ok(value) => value,
            Err(problems) => {
                self.note(problems);
                return Flow::Return;
            }
        };
        let cases = children(body);
        let labelled = |machine: &mut Self, case: &Node<'_>| {
            let label = evaluate(document, case.child_by_field_name("value")?, machine).ok()?;
            Some(arithmetic::binary("==", &label.value, &value.value) == Ok(Value::Bool(true)))
        };
        let chosen = (0..cases.len()).find(|index| labelled(self, &cases[*index]) == Some(true)).or_else(|| {
            cases.iter().position(|c| c.kind() == "case_statement" && c.child_by_field_name("value").is_none())
        });
        let Some(first) = chosen else { return Flow::Next };
        self.scopes.push(Default::default());
        let mut flow = Flow::Next;
        for case in &cases[first..] {
            let label = case.child_by_field_name("value");
            let inner: Vec<_> = children(*case).into_iter().filter(|c| Some(*c) != label).collect();
            flow = self.sequence(document, &inner);
            if flow != Flow::Next {
                break;
            }
        }
        self.scopes.pop();
        if flow == Flow::Break { Flow::Next } else { flow }
    }

    fn repeat(&mut self, document: &Document, node: Node<'_>) -> Flow {
        let part = |field| node.child_by_field_name(field);
        let Some(body) = part("body") else { return Flow::Next };
        self.scopes.push(Default::default());
        match part("initializer") {
            Some(first) if first.kind() == "declaration" => self.declaration(document, first),
            Some(first) => self.expression(document, first),
            None => {}
        }
        let flow = loop {
            match part("condition").map_or(Ok(true), |condition| self.truth(document, condition)) {
                Ok(true) => {}
                Ok(false) => break Flow::Next,
                Err(problems) => {
                    if matters(document, body) {
                        self.note(problems);
                    }
                    break Flow::Next;
                }
            }
            self.scopes.push(Default::default());
            let flow = self.statement(document, body);
            self.scopes.pop();
            match flow {
                Flow::Return => break Flow::Return,
                Flow::Break => break Flow::Next,
                Flow::Next | Flow::Continue => {}
            }
            if let Some(update) = part("update") {
                self.expression(document, update);
            }
        };
        self.scopes.pop();
        flow
    }
}

fn combined(document: &Document, node: Node<'_>, operator: &str, old: &Evaluated, by: &Evaluated) -> Outcome {
    match arithmetic::binary(operator, &old.value, &by.value) {
        Ok(value) => Ok(old.clone().joined(by).with(value)),
        Err(_) => Err(vec![Problem::Unsupported { what: "such an assignment".to_owned(), at: document.spot(node) }]),
    }
}

/// Whether a branch assigns, declares nothing else that is used, returns, or calls code that could encode.
fn matters(document: &Document, node: Node<'_>) -> bool {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        match node.kind() {
            "assignment_expression" | "update_expression" => return true,
            "call_expression" => {
                let quiet = |name: &str| {
                    let name = name.to_ascii_lowercase();
                    name.contains("printf")
                        || name.contains("assert")
                        || name.contains("check")
                        || name.contains("print")
                };
                if Callee::of(document, node).is_some_and(|callee| callee.receiver.is_none() && !quiet(callee.last()))
                    && node.parent().is_some_and(|parent| parent.kind() == "expression_statement")
                {
                    return true;
                }
            }
            _ => {}
        }
        open.extend(children(node));
    }
    false
}
