//! Statements.

use tree_sitter::Node;

use super::change::{self, root};
use super::effect::{self, How};
use super::interpreter::{Interpreter, short};
use super::line::Pieces;
use super::poison;
use super::scope::{State, Variable};
use crate::read::cxx::arithmetic;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{children, fields};
use crate::read::cxx::evaluate::{Outcome, initializer};
use crate::read::cxx::problem::{Problem, Problems, Unknown};
use crate::read::cxx::value::{Evaluated, Value};

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

    /// Runs statements in the scope that there is.
    pub fn statements(&mut self, nodes: &[Node<'_>], depth: usize) -> Flow {
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
        if node.has_error() && node.kind() != "compound_statement" && !is_control(node) {
            return self.unreadable(node);
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
            "for_range_loop" => self.range_loop(node, depth),
            "switch_statement" => self.switch(node, depth),
            "return_statement" => {
                if self.speculative == 0
                    && let Some(value) = children(node).first()
                {
                    self.returned = Some(self.document.spot(*value));
                    self.result = self.returned_text(*value);
                    self.touch(*value, None);
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
        let printed = poison::prints(self.document, value) || self.names_text(value);
        match self.text_pieces(value) {
            Ok(pieces) if printed || self.is_text_value(value) => Some(pieces),
            Err(problems) if printed => {
                self.note(problems);
                None
            }
            _ => None,
        }
    }

    /// Whether an expression is a local that texts are put together in, or its `str()`.
    fn names_text(&self, value: Node<'_>) -> bool {
        let callee = Callee::of(self.document, value);
        let named = callee.and_then(|callee| callee.receiver.or(callee.arguments.first().copied())).unwrap_or(value);
        let local = self.scopes.get(&self.document.squeezed(named));
        local.is_some_and(|v| v.declared.ends_with("stream") || matches!(&*v.declared, "std::string" | "string"))
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
        self.touch(node, None);
        Flow::Next
    }

    /// A statement that the parser stumbles in: fine unless it emits; every local that it names becomes unknown.
    fn unreadable(&mut self, node: Node<'_>) -> Flow {
        if poison::emits(self.document, node) || poison::returns(node) {
            let text = short(&self.document.squeezed(node));
            self.refuse(node, &format!("`{text}`, in which the parser stumbles,"));
        }
        let mut open = vec![node];
        while let Some(target) = open.pop() {
            if target.kind() == "identifier" && self.scopes.get(&self.document.squeezed(target)).is_some() {
                self.changed(&effect::Change { target, by: node, how: How::Stepped }, None);
            }
            open.extend(children(target));
        }
        Flow::Next
    }

    /// Declares locals.
    pub fn declaration(&mut self, node: Node<'_>) -> Flow {
        let text = self.document.squeezed(node);
        let head = text.split(['=', '{', '(', '[']).next().unwrap_or_default();
        let says = |text: &str, wanted: &[&str]| text.split_whitespace().any(|word| wanted.contains(&word));
        let constant = says(head, &["const", "constexpr"]);
        // What it points to or refers to.
        let guarded = says(head.split(['*', '&']).next().unwrap_or_default(), &["const", "constexpr"]);
        let kept = says(head, &["static", "thread_local"]) && !constant;
        let declared = node.child_by_field_name("type").map(|t| self.document.squeezed(t)).unwrap_or_default();
        let declared = if declared == "auto" { String::new() } else { declared };
        for declarator in fields(node, "declarator") {
            let value = initializer(declarator).filter(|_| declarator.kind() == "init_declarator");
            let inner = declarator.child_by_field_name("declarator").filter(|_| value.is_some()).unwrap_or(declarator);
            let (names, indirect) = declared_names(self, inner);
            let target = if indirect { "" } else { declared.as_str() };
            let several = names.len() > 1;
            for name in names {
                let state = match value {
                    Some(_) if kept || several => self.asked(&name, target, node),
                    Some(value) => {
                        let mut state = self.assigned(&name, target, value);
                        if let State::Bound(Evaluated { value: Value::Tuple(elements), .. }) = &mut state {
                            let of = element_type(&declared);
                            for element in elements {
                                *element = std::mem::replace(element, Value::Null).converted_to(of);
                            }
                        }
                        state
                    }
                    None if matches!(target, "std::string" | "string") => {
                        State::Bound(Value::Text(String::new()).into())
                    }
                    None => State::Unset,
                };
                let text = match (value, &state) {
                    (Some(value), state) => self.text_of(state, value),
                    (None, State::Bound(_)) => Some(Pieces::default()),
                    (None, _) => None,
                };
                let target = target.to_owned();
                let variable = Variable { declared: target, constant, outside: false, loose: false, state, text };
                self.scopes.declare(&name, variable);
            }
            if value.is_some() {
                self.touch_but(declarator, None, |change| guarded && change.by.kind() == "pointer_expression");
            }
            self.aliased(declarator, &declared, guarded);
        }
        Flow::Next
    }

    /// The state of a local whose value no expression gives: the leaf given for it, or a question.
    fn asked(&mut self, name: &str, declared: &str, node: Node<'_>) -> State {
        let (expr, at) = (self.document.squeezed(node), self.document.spot(node));
        match self.leaves.take(name, declared, Some(expr.clone()), &at) {
            Some(leaf) => State::Bound(leaf),
            None => {
                let assigned = Some((expr, at.clone()));
                let unknown = Unknown { name: name.to_owned(), used: at, assigned, changed: false };
                State::Poisoned(vec![Problem::Unknown(unknown)])
            }
        }
    }

    /// Runs an expression that stands as a statement.
    pub fn expression(&mut self, node: Node<'_>) {
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
            "call_expression" if self.appended(node) => {}
            _ => {
                self.opaque(node);
            }
        }
    }

    /// `text.append(more)` and `text.push_back(c)` of a local text.
    fn appended(&mut self, node: Node<'_>) -> bool {
        let Some(callee) = Callee::of(self.document, node) else { return false };
        let (Some(receiver), [more]) = (callee.receiver, &callee.arguments[..]) else { return false };
        let name = self.document.squeezed(receiver);
        if !matches!(callee.last(), "append" | "push_back") || !self.holds_text(&name) {
            return false;
        }
        match self.text_pieces(*more) {
            Ok(pieces) => self.append(&name, pieces),
            Err(problems) => {
                let state = self.assigned_outcome(&name, "", Err(problems), node);
                self.set(&name, state);
            }
        }
        self.touch(*more, None);
        true
    }

    fn assignment(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
            return;
        };
        let name = self.place(left);
        let operator = node.child_by_field_name("operator").map(|o| self.document.squeezed(o)).unwrap_or_default();
        let plain = matches!(left.kind(), "identifier" | "field_expression" | "subscript_expression");
        if !plain || self.is_loose(&name) || name != root(&name) && self.is_local_array(root(&name)) {
            return self.touch(node, None);
        }
        let known = self.scopes.get(&name).filter(|variable| !variable.outside);
        let Some(declared) = known.map(|v| v.declared.clone()) else {
            return self.outside_assigned(node, left, right, &operator);
        };
        self.lose_parts(&name, right, &self.document.spot(right));
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
        if let Some(variable) = self.scopes.get_mut(&name).filter(|variable| !variable.loose) {
            variable.text = text;
        }
        self.touch(right, None);
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
        let name = self.place(argument);
        let plain = matches!(argument.kind(), "identifier" | "field_expression" | "subscript_expression");
        if !plain || self.is_loose(&name) || name != root(&name) && self.is_local_array(root(&name)) {
            return self.touch(node, None);
        }
        let known = self.scopes.get(&name).map(|v| v.declared.clone());
        let outside = self.scopes.get(&name).is_none_or(|variable| variable.outside);
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
        let name = self.place(left);
        let outcome = if operator == "=" {
            self.value(right)
        } else {
            self.combined(node, left, right, operator.trim_end_matches('='))
        };
        let declared = self.parameters.get(&name).cloned().unwrap_or_default();
        let at = self.document.spot(node);
        // Any element may be the one that an index which is not known means.
        self.lose_parts(change::known_part(&name), node, &at);
        self.leaves.may_change(change::known_part(&name), &at, false);
        self.keep_outside(&name, &declared, outcome);
        self.touch(right, None);
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

    /// A reference, or an object that keeps one, through which a value may change from here on.
    fn aliased(&mut self, declarator: Node<'_>, declared: &str, guarded: bool) {
        let by = declarator.parent().unwrap_or(declarator);
        let inner = declarator.child_by_field_name("declarator");
        let kind = inner.map(|inner| inner.kind()).unwrap_or_default();
        let mut found = vec![];
        if kind == "reference_declarator" && !guarded {
            effect::targets(initializer(declarator), by, How::Aliased, &mut found);
        } else if kind == "identifier" && !self.surroundings.is_plain(self.document, declared) {
            // `Guard guard(n)` looks like a function that takes an `n`.
            let list = declarator.child_by_field_name("parameters").or(declarator.child_by_field_name("value"));
            let kept = list.filter(|l| matches!(l.kind(), "argument_list" | "initializer_list" | "parameter_list"));
            for argument in kept.map(children).unwrap_or_default() {
                let target = argument.child_by_field_name("type").unwrap_or(argument);
                if matches!(target.kind(), "identifier" | "type_identifier") {
                    found.push(effect::Change { target, by, how: How::Aliased });
                }
            }
        }
        for change in found {
            self.changed(&change, None);
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

    /// Sets an existing local; what something else may change at any time keeps its state.
    pub fn set(&mut self, name: &str, state: State) {
        if let Some(variable) = self.scopes.get_mut(name).filter(|variable| !variable.loose) {
            variable.state = state;
        }
    }

    /// The truth of a condition that is evaluated once; what it changes beside is taken back.
    pub fn decided(&mut self, node: Node<'_>) -> Result<bool, Problems> {
        let truth = self.truth(node);
        self.touch(node, None);
        truth
    }

    /// The truth of a condition.
    pub fn truth(&mut self, node: Node<'_>) -> Result<bool, Problems> {
        if node.has_error() {
            let what =
                format!("the condition `{}`, in which the parser stumbles,", short(&self.document.squeezed(node)));
            return Err(vec![Problem::Unsupported { what, at: self.document.spot(node) }]);
        }
        let node = node.child_by_field_name("value").filter(|_| node.kind() == "condition_clause").unwrap_or(node);
        let value = self.value(node)?;
        value.value.as_bool().ok_or_else(|| {
            let name = self.document.squeezed(node);
            vec![Problem::Unknown(Unknown { name, used: self.document.spot(node), assigned: None, changed: false })]
        })
    }
}

/// Whether a statement holds others.
fn is_control(node: Node<'_>) -> bool {
    let kinds = ["if", "while", "do", "for", "switch", "else", "case", "labeled"];
    kinds.iter().any(|kind| node.kind().strip_prefix(kind).is_some_and(|rest| rest.starts_with('_')))
}

/// The type of the elements of an array of this type, of a `std::vector` or a `std::array`.
fn element_type(declared: &str) -> &str {
    let inner = ["vector<", "array<", "initializer_list<"].into_iter().find_map(|class| {
        declared.strip_prefix("std::").unwrap_or(declared).strip_prefix(class)?.split([',', '>']).next()
    });
    inner.unwrap_or(declared).trim()
}

/// The names that a declarator declares, and whether it is a pointer, a reference, an array or a structured binding.
fn declared_names(interpreter: &Interpreter<'_>, node: Node<'_>) -> (Vec<String>, bool) {
    let mut node = node;
    let mut indirect = false;
    while node.kind() != "identifier" {
        indirect = true;
        if node.kind() == "structured_binding_declarator" {
            return (children(node).into_iter().map(|name| interpreter.document.squeezed(name)).collect(), true);
        }
        match node.child_by_field_name("declarator").or_else(|| children(node).first().copied()) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    (vec![interpreter.document.squeezed(node)], indirect)
}
