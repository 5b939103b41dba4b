//! Statements.

use tree_sitter::Node;

use super::interpreter::{Interpreter, short};
use super::leaves::compact;
use super::line::Pieces;
use super::poison;
use super::scope::{State, Variable};
use crate::read::cxx::arithmetic;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{children, fields};
use crate::read::cxx::evaluate::{Outcome, initializer};
use crate::read::cxx::problem::{Problem, Problems, Unknown};
use crate::read::cxx::value::Value;

/// Statements run at most, over all rounds of all loops.
const MOST_STEPS: usize = 20_000;

/// Deepest nesting of statements.
const DEEPEST: usize = 128;

/// Where control goes after a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// To the next statement.
    Next,
    /// Out of the loop or switch.
    Break,
    /// To the next round.
    Continue,
    /// Out of the function.
    Return,
}

impl Interpreter<'_> {
    /// Runs the statements of a block in a scope of their own.
    pub fn block(&mut self, node: Node<'_>, depth: usize) -> Flow {
        self.scopes.enter();
        let flow = self.statements(&children(node), depth);
        self.scopes.leave();
        flow
    }

    fn statements(&mut self, nodes: &[Node<'_>], depth: usize) -> Flow {
        for node in nodes {
            let flow = self.statement(*node, depth + 1);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn refuse(&mut self, node: Node<'_>, what: &str) -> Flow {
        self.note(vec![Problem::Unsupported { what: what.to_owned(), at: self.document.spot(node) }]);
        Flow::Next
    }

    /// Runs one statement.
    pub fn statement(&mut self, node: Node<'_>, depth: usize) -> Flow {
        self.steps += 1;
        if self.steps == MOST_STEPS {
            self.refuse(node, "a loop this long");
        }
        if self.steps >= MOST_STEPS || depth > DEEPEST {
            return Flow::Return;
        }
        match node.kind() {
            "compound_statement" => self.block(node, depth),
            "declaration" => self.declaration(node),
            "expression_statement" => {
                if let Some(inner) = children(node).first() {
                    self.expression(*inner);
                }
                Flow::Next
            }
            "if_statement" => self.branch(node, depth),
            "while_statement" | "do_statement" | "for_statement" => self.counted_loop(node, depth),
            "switch_statement" => self.switch(node, depth),
            "return_statement" => {
                if self.speculative == 0
                    && let Some(value) = children(node).first()
                {
                    self.returned = Some(self.document.spot(*value));
                    self.result = self.returned_text(*value);
                }
                Flow::Return
            }
            "break_statement" => Flow::Break,
            "continue_statement" => Flow::Continue,
            "static_assert_declaration" => {
                if let Some(condition) = node.child_by_field_name("condition") {
                    self.assertion(condition);
                }
                Flow::Next
            }
            "goto_statement" => {
                self.refuse(node, "`goto`");
                Flow::Return
            }
            "else_clause" | "case_statement" | "labeled_statement" => self.statements(&children(node), depth),
            "alias_declaration"
            | "type_definition"
            | "using_declaration"
            | "namespace_alias_definition"
            | "preproc_include"
            | "preproc_def"
            | "preproc_call"
            | "type_identifier" => Flow::Next,
            _ => self.opaque(node),
        }
    }

    /// The text that a `return` gives, when the site prints by returning its text.
    fn returned_text(&mut self, value: Node<'_>) -> Option<Pieces> {
        let printed = poison::prints(self.document, value);
        match self.text_pieces(value) {
            Ok(pieces) if printed || self.is_text_value(value) => Some(pieces),
            Err(problems) if printed => {
                self.note(problems);
                None
            }
            _ => None,
        }
    }

    fn is_text_value(&mut self, value: Node<'_>) -> bool {
        matches!(self.value(value).map(|v| v.value), Ok(Value::Text(_)))
            || Callee::of(self.document, value).is_some_and(|c| {
                c.last() == "str" && c.receiver.is_some_and(|r| self.holds_text(&self.document.squeezed(r)))
            })
    }

    /// A statement that is not followed: fine unless it emits; what it may change becomes unknown.
    pub fn opaque(&mut self, node: Node<'_>) -> Flow {
        if poison::emits(self.document, node) || poison::returns(node) {
            let text = short(&self.document.squeezed(node));
            self.refuse(node, &format!("`{text}`, which emits or returns,"));
        }
        poison::assigned_within(self, node, None);
        Flow::Next
    }

    fn declaration(&mut self, node: Node<'_>) -> Flow {
        let text = self.document.squeezed(node);
        let head = text.split(['=', '{', '(']).next().unwrap_or_default();
        let constant = head.split_whitespace().any(|word| matches!(word, "const" | "constexpr"));
        let declared = node.child_by_field_name("type").map(|t| self.document.squeezed(t)).unwrap_or_default();
        let declared = if declared == "auto" { String::new() } else { declared };
        for declarator in fields(node, "declarator") {
            let value = initializer(declarator).filter(|_| declarator.kind() == "init_declarator");
            let inner = declarator.child_by_field_name("declarator").filter(|_| value.is_some()).unwrap_or(declarator);
            let (name, indirect) = declared_name(self, inner);
            let target = if indirect { "" } else { declared.as_str() };
            let state = match value {
                Some(value) => self.assigned(&name, target, value),
                None => State::Unset,
            };
            let text = value.and_then(|value| self.text_of(&state, value));
            if let Some(value) = value {
                self.aliased(node, declarator, value);
            }
            self.scopes.declare(&name, Variable { declared: target.to_owned(), constant, state, text });
        }
        Flow::Next
    }

    fn expression(&mut self, node: Node<'_>) {
        match node.kind() {
            "assignment_expression" => self.assignment(node),
            "update_expression" => self.update(node),
            "comma_expression" => {
                for part in children(node) {
                    self.expression(part);
                }
            }
            "call_expression" if self.emitted(node) => {}
            "binary_expression" if self.streamed(node) => {}
            _ => {
                if node.kind() == "call_expression" {
                    self.called(node);
                }
                self.opaque(node);
            }
        }
    }

    /// A call whose result nobody takes may change its object and its arguments.
    fn called(&mut self, node: Node<'_>) {
        let Some(callee) = Callee::of(self.document, node) else { return };
        let objects = callee.receiver.into_iter().chain(callee.arguments.iter().copied());
        for object in objects.filter(|object| object.kind() == "identifier") {
            let name = self.document.squeezed(object);
            if !self.constants.contains(&name) {
                self.leaves.may_change(&name, &self.document.spot(node));
            }
        }
    }

    fn assignment(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
            return;
        };
        let name = self.document.squeezed(left);
        let operator = node.child_by_field_name("operator").map(|o| self.document.squeezed(o)).unwrap_or_default();
        let Some(declared) = self.scopes.get(&name).map(|v| v.declared.clone()) else {
            return self.outside_assigned(node, left, right, &operator);
        };
        let mut text = None;
        let state = if operator == "=" {
            let state = self.assigned(&name, &declared, right);
            text = self.text_of(&state, right);
            state
        } else if operator == "+=" && self.holds_text(&name) {
            match self.text_pieces(right) {
                Ok(pieces) => return self.append(&name, pieces),
                Err(problems) => self.assigned_outcome(&name, &declared, Err(problems), node),
            }
        } else {
            let outcome = self.combined(node, left, right, operator.trim_end_matches('='));
            self.assigned_outcome(&name, &declared, outcome, node)
        };
        self.set(&name, state);
        if let Some(variable) = self.scopes.get_mut(&name) {
            variable.text = text;
        }
    }

    /// The origins of a text that was just assigned.
    fn text_of(&mut self, state: &State, value: Node<'_>) -> Option<Pieces> {
        match state {
            State::Bound(evaluated) if matches!(evaluated.value, Value::Text(_)) => self.text_pieces(value).ok(),
            _ => None,
        }
    }

    fn holds_text(&self, name: &str) -> bool {
        self.scopes.get(name).is_some_and(|variable| variable.text.is_some())
    }

    fn update(&mut self, node: Node<'_>) {
        let Some(argument) = node.child_by_field_name("argument") else { return };
        let name = self.document.squeezed(argument);
        let known = self.scopes.get(&name).map(|v| v.declared.clone());
        let outside = known.is_none();
        let declared = known.or_else(|| self.parameters.get(&name).cloned()).unwrap_or_default();
        let operator = if self.document.text(node).contains("++") { "+" } else { "-" };
        let outcome = self.value(argument).and_then(|old| {
            let new = arithmetic::binary(operator, &old.value, &Value::int(1));
            new.map(|new| old.with(new)).map_err(|_| self.undefined(node, "a step of such a value"))
        });
        if outside {
            return self.keep_outside(&name, &declared, outcome);
        }
        let state = self.assigned_outcome(&name, &declared, outcome, node);
        self.set(&name, state);
    }

    /// An assignment to a parameter, a member or an element: what was given is its value on entry.
    fn outside_assigned(&mut self, node: Node<'_>, left: Node<'_>, right: Node<'_>, operator: &str) {
        let name = compact(&self.document.squeezed(left));
        self.leaves.may_change(&name, &self.document.spot(node));
        let outcome = if operator == "=" {
            self.value(right)
        } else {
            self.combined(node, left, right, operator.trim_end_matches('='))
        };
        let declared = self.parameters.get(&name).cloned().unwrap_or_default();
        self.keep_outside(&name, &declared, outcome);
    }

    fn keep_outside(&mut self, name: &str, declared: &str, outcome: Outcome) {
        let state = match outcome {
            Ok(value) => {
                let converted = value.value.clone().converted_to(declared);
                State::Bound(value.with(converted))
            }
            Err(problems) => State::Poisoned(problems),
        };
        self.scopes.declare_outside(name, declared, state);
    }

    /// A pointer or a reference through which a value may change: the value is not known from here on.
    fn aliased(&mut self, declaration: Node<'_>, declarator: Node<'_>, value: Node<'_>) {
        let text = self.document.squeezed(declaration);
        if text.starts_with("const ") || text.split(['=', '{', '(']).next().is_some_and(|head| head.contains(" const"))
        {
            return;
        }
        let target = match value.kind() {
            "pointer_expression" if self.document.text(value).starts_with('&') => value.child_by_field_name("argument"),
            "identifier" | "field_expression" | "subscript_expression"
                if declarator.child_by_field_name("declarator").is_some_and(|d| d.kind() == "reference_declarator") =>
            {
                Some(value)
            }
            _ => None,
        };
        if let Some(target) = target {
            let name = compact(&self.document.squeezed(target));
            let what = format!("`{name}`, which `{}` can change,", short(&text));
            let problem = Problem::Unsupported { what, at: self.document.spot(declaration) };
            match self.scopes.get_mut(&name) {
                Some(variable) => variable.state = State::Poisoned(vec![problem]),
                None => self.scopes.declare_outside(&name, "", State::Poisoned(vec![problem])),
            }
        }
    }

    fn combined(&mut self, node: Node<'_>, left: Node<'_>, right: Node<'_>, operator: &str) -> Outcome {
        let left = self.value(left)?;
        let right = self.value(right)?;
        match arithmetic::binary(operator, &left.value, &right.value) {
            Ok(value) => Ok(left.joined(&right).with(value)),
            Err(_) => Err(self.undefined(node, &format!("`{operator}=` on such operands"))),
        }
    }

    fn undefined(&self, node: Node<'_>, what: &str) -> Problems {
        vec![Problem::Undefined { what: what.to_owned(), at: self.document.spot(node) }]
    }

    /// Sets an existing local.
    pub fn set(&mut self, name: &str, state: State) {
        if let Some(variable) = self.scopes.get_mut(name) {
            variable.state = state;
        }
    }

    /// The truth of a condition.
    pub fn truth(&mut self, node: Node<'_>) -> Result<bool, Problems> {
        let node = node.child_by_field_name("value").filter(|_| node.kind() == "condition_clause").unwrap_or(node);
        let value = self.value(node)?;
        value.value.as_bool().ok_or_else(|| {
            let name = self.document.squeezed(node);
            vec![Problem::Unknown(Unknown { name, used: self.document.spot(node), assigned: None })]
        })
    }

    fn branch(&mut self, node: Node<'_>, depth: usize) -> Flow {
        let Some(condition) = node.child_by_field_name("condition") else { return Flow::Next };
        let (yes, no) = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative"));
        self.scopes.enter();
        if let Some(first) = condition.child_by_field_name("initializer").and_then(|i| children(i).first().copied()) {
            self.statement(first, depth);
        }
        let flow = match self.truth(condition) {
            Ok(true) => yes.map_or(Flow::Next, |branch| self.scoped(branch, depth)),
            Ok(false) => no.map_or(Flow::Next, |branch| self.scoped(branch, depth)),
            Err(problems) => {
                self.both(node, &problems, [yes, no], depth);
                Flow::Next
            }
        };
        self.scopes.leave();
        flow
    }

    fn scoped(&mut self, node: Node<'_>, depth: usize) -> Flow {
        self.scopes.enter();
        let flow = self.statement(node, depth + 1);
        self.scopes.leave();
        flow
    }

    /// Neither branch can be chosen: what they emit is a problem, what they assign becomes unknown.
    fn both(&mut self, node: Node<'_>, problems: &Problems, branches: [Option<Node<'_>>; 2], depth: usize) {
        if poison::emits(self.document, node) || poison::returns(node) {
            self.note(problems.clone());
            let kept = (self.scopes.clone(), self.emitters.clone());
            self.speculative += 1;
            for branch in branches.into_iter().flatten() {
                self.scoped(branch, depth);
                self.scopes = kept.0.clone();
                self.emitters = kept.1.clone();
            }
            self.speculative -= 1;
        }
        let settable = problems.iter().all(|problem| self.settable(problem));
        poison::assigned_within(self, node, settable.then_some(problems));
    }

    fn counted_loop(&mut self, node: Node<'_>, depth: usize) -> Flow {
        let part = |field| node.child_by_field_name(field);
        let (condition, body) = (part("condition"), part("body"));
        let Some(body) = body else { return Flow::Next };
        self.scopes.enter();
        if let Some(first) = part("initializer") {
            match first.kind() {
                "declaration" => {
                    self.declaration(first);
                }
                _ => self.expression(first),
            }
        }
        let mut first_round = node.kind() == "do_statement";
        let flow = loop {
            let go = match condition {
                _ if std::mem::take(&mut first_round) => Ok(true),
                Some(condition) => self.truth(condition),
                None => Ok(true),
            };
            match go {
                Ok(false) => break Flow::Next,
                Ok(true) => match self.scoped(body, depth) {
                    Flow::Return => break Flow::Return,
                    Flow::Break => break Flow::Next,
                    Flow::Next | Flow::Continue => {}
                },
                Err(problems) => {
                    if poison::emits(self.document, body) {
                        self.note(problems);
                    }
                    poison::assigned_within(self, node, None);
                    break Flow::Next;
                }
            }
            if let Some(update) = part("update") {
                self.expression(update);
            }
        };
        self.scopes.leave();
        flow
    }

    fn switch(&mut self, node: Node<'_>, depth: usize) -> Flow {
        let (Some(condition), Some(body)) = (node.child_by_field_name("condition"), node.child_by_field_name("body"))
        else {
            return Flow::Next;
        };
        let condition = condition.child_by_field_name("value").unwrap_or(condition);
        let value = match self.value(condition) {
            Ok(value) => value,
            Err(problems) => {
                if poison::emits(self.document, body) {
                    self.note(problems);
                }
                poison::assigned_within(self, body, None);
                return Flow::Next;
            }
        };
        let cases = children(body);
        let mut chosen = None;
        for (index, case) in cases.iter().enumerate() {
            match case.child_by_field_name("value") {
                Some(label) => match self.value(label) {
                    Ok(label) if arithmetic::binary("==", &label.value, &value.value) == Ok(Value::Bool(true)) => {
                        chosen = Some((index, true));
                        break;
                    }
                    Ok(_) => {}
                    Err(problems) => self.note(problems),
                },
                None => chosen = chosen.or(Some((index, false))),
            }
        }
        let Some((index, _)) = chosen else { return Flow::Next };
        self.scopes.enter();
        let mut flow = Flow::Next;
        for case in &cases[index..] {
            let label = case.child_by_field_name("value");
            let inner: Vec<_> = children(*case).into_iter().filter(|c| Some(*c) != label).collect();
            flow = self.statements(&inner, depth);
            if flow != Flow::Next {
                break;
            }
        }
        self.scopes.leave();
        if flow == Flow::Break { Flow::Next } else { flow }
    }
}

/// The name that a declarator declares, and whether it is a pointer, a reference or an array.
fn declared_name(interpreter: &Interpreter<'_>, node: Node<'_>) -> (String, bool) {
    let mut node = node;
    let mut indirect = false;
    while node.kind() != "identifier" {
        indirect = true;
        match node.child_by_field_name("declarator").or_else(|| children(node).first().copied()) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    (interpreter.document.squeezed(node), indirect)
}
