//! Statements.

use tree_sitter::Node;

use super::change::{self, root};
use super::declarator::{self, Declarator, Form, is_view};
use super::effect::{self, How};
use super::interpreter::{Interpreter, short};
use super::line::Pieces;
use super::poison;
use super::refer;
use super::scope::{State, Variable};
use super::spread::Cause;
use crate::read::cxx::arithmetic;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{children, fields};
use crate::read::cxx::evaluate::{Outcome, is_conversion};
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
        let says = |wanted: &[&str]| head.split_whitespace().any(|word| wanted.contains(&word));
        let kept = says(&["static", "thread_local"]) && !says(&["const", "constexpr"]);
        let declared = node.child_by_field_name("type").map(|t| self.document.squeezed(t)).unwrap_or_default();
        let declared = if declared == "auto" { String::new() } else { self.spelled(&declared) };
        for declarator in fields(node, "declarator") {
            let one = declarator::declarator(self.document, node, declarator);
            let (form, guarded) = self.form(&one, &declared);
            let target = match one.form {
                Form::Value => declared.as_str(),
                Form::Reference if is_conversion(&declared) && !one.binds => declared.as_str(),
                _ => "",
            };
            let deduced = match one.value {
                Some(value) if declared.is_empty() && form == Form::Value && !one.binds => self.deduced(value),
                _ => None,
            };
            let target = deduced.as_deref().unwrap_or(target);
            let values: Vec<_> = one.value.into_iter().chain(one.arguments.iter().copied()).collect();
            for name in &one.names {
                let name = self.document.squeezed(*name);
                let state = match one.value {
                    Some(_) if kept || one.binds => self.asked(&name, target, node),
                    Some(value) => {
                        let mut state = self.assigned(&name, target, value);
                        if let State::Bound(Evaluated { value: Value::Tuple(elements), .. }) = &mut state {
                            for element in elements {
                                let of = element_type(&declared).unwrap_or_default();
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
                let text = match (one.value, &state) {
                    (Some(value), state) => self.text_of(state, value),
                    (None, State::Bound(_)) => Some(Pieces::default()),
                    (None, _) => None,
                };
                let element =
                    element_type(&declared).filter(|_| form != Form::Reference).unwrap_or_default().to_owned();
                let local = Variable::local(target, state);
                let local = Variable { constant: one.constant, text, form, guarded, element, ..local };
                let reached = self.reached(&name, &local, &values);
                self.scopes.declare(&name, local);
                if one.value.is_some() {
                    self.touch_but(declarator, None, |change| guarded && change.by.kind() == "pointer_expression");
                }
                self.aliased(declarator, &one, form, &declared, guarded);
                self.attach(&name, reached);
            }
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
        match self.added(&name, *more) {
            Ok(pieces) => self.append(&name, pieces, node),
            Err(problems) => {
                let state = self.assigned_outcome(&name, "", Err(problems), node);
                self.set(&name, state);
                self.spread(&name, Cause::assigned(node));
            }
        }
        self.touch(*more, None);
        true
    }

    /// The text that is added to a local text: a number would be a character, and a pointer would move.
    fn added(&mut self, name: &str, more: Node<'_>) -> Result<Pieces, Problems> {
        let pointer = self.scopes.get(name).is_some_and(|variable| variable.form == Form::Handle);
        let pieces = self.text_pieces(more)?;
        match self.value(more) {
            Ok(Evaluated { value: Value::Integer(_) | Value::Float { .. } | Value::Bool(_), .. }) => {
                Err(self.undefined(more, "a number that is added to text as a character"))
            }
            Ok(_) if pointer => Err(self.undefined(more, "a step of a pointer into text")),
            _ => Ok(pieces),
        }
    }

    fn assignment(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
            return;
        };
        let name = self.place(left);
        let operator = node.child_by_field_name("operator").map(|o| self.document.squeezed(o)).unwrap_or_default();
        let plain = matches!(left.kind(), "identifier" | "field_expression" | "subscript_expression");
        let whole = name != root(&name) && self.is_local_array(root(&name));
        if !plain || self.is_loose(&name) || whole || effect::names_array(self.document, node) {
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
            match self.added(&name, right) {
                Ok(pieces) => return self.append(&name, pieces, node),
                Err(problems) => self.assigned_outcome(&name, &declared, Err(problems), node),
            }
        } else {
            let outcome = self.combined(node, left, right, operator.trim_end_matches('='), &declared);
            self.assigned_outcome(&name, &declared, outcome, node)
        };
        let handle = self.scopes.get(&name).filter(|v| v.form == Form::Handle && operator == "=").cloned();
        let reached = handle.map(|local| self.reached(&name, &local, &[right]));
        self.set(&name, state);
        if let Some(variable) = self.scopes.get_mut(&name).filter(|variable| !variable.loose) {
            variable.text = text;
        }
        self.spread(&name, Cause::assigned(node));
        self.touch(right, None);
        for change in effect::decayed(&self.surroundings.clone(), self.document, node, right) {
            self.changed(&change, None);
        }
        if let Some(reached) = reached {
            self.attach(&name, reached);
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
            self.keep_outside(&name, &declared, outcome);
            return self.spread(&name, Cause::assigned(node));
        }
        let state = self.assigned_outcome(&name, &declared, outcome, node);
        self.set(&name, state);
        self.spread(&name, Cause::assigned(node));
    }

    /// An assignment to a parameter, a member or an element: what was given is its value on entry.
    fn outside_assigned(&mut self, node: Node<'_>, left: Node<'_>, right: Node<'_>, operator: &str) {
        let name = self.place(left);
        let declared = self.parameters.get(&name).cloned().unwrap_or_default();
        let outcome = if operator == "=" {
            self.value(right)
        } else {
            self.combined(node, left, right, operator.trim_end_matches('='), &declared)
        };
        let at = self.document.spot(node);
        // Any element may be the one that an index which is not known means.
        self.lose_parts(change::known_part(&name), node, &at);
        self.leaves.may_change(change::known_part(&name), &at, false);
        self.keep_outside(&name, &declared, outcome);
        self.spread(&name, Cause::assigned(node));
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

    /// A reference, a pointer, or an object that keeps one, through which a value may change from here on.
    fn aliased(&mut self, declarator: Node<'_>, one: &Declarator<'_>, form: Form, declared: &str, guarded: bool) {
        let by = declarator.parent().unwrap_or(declarator);
        let values: Vec<_> = one.value.into_iter().chain(one.arguments.iter().copied()).collect();
        let mut found = vec![];
        match form {
            _ if guarded => {}
            Form::Reference => {
                values.iter().for_each(|n| refer::referents(&self.surroundings, self.document, *n, &mut found));
            }
            Form::Handle => {
                values.iter().for_each(|n| refer::pointees(&self.surroundings, self.document, *n, &mut found));
                let view = is_view(declared) || values.iter().any(|n| refer::is_view_of(self.document, *n));
                found.retain(|n| {
                    let known = self.scopes.get(&self.document.squeezed(*n));
                    known.is_some_and(|v| v.form == Form::Array || view && v.form == Form::Value)
                });
            }
            Form::Value if !self.surroundings.is_plain(self.document, declared) => {
                // `Guard guard(n)` looks like a function that takes an `n`.
                let list = declarator.child_by_field_name("value");
                let kept = list.filter(|l| matches!(l.kind(), "argument_list" | "initializer_list"));
                let all = kept.map(children).unwrap_or_default().into_iter().chain(one.arguments.iter().copied());
                found.extend(all.filter(|n| matches!(n.kind(), "identifier" | "type_identifier")));
            }
            Form::Value | Form::Array => {}
        }
        for target in found {
            self.changed(&effect::Change { target, by, how: How::Aliased }, None);
        }
    }

    fn combined(&mut self, node: Node<'_>, left: Node<'_>, right: Node<'_>, operator: &str, declared: &str) -> Outcome {
        let left = self.value(left)?;
        let right = self.value(right)?;
        match arithmetic::binary(operator, &left.value, &right.value) {
            Ok(Value::Float { .. }) if declared.is_empty() && left.value.as_integer().is_some() => {
                let what = format!("`{operator}=` with a fraction, on a number whose type is not known");
                Err(vec![Problem::Unsupported { what, at: self.document.spot(node) }])
            }
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

/// The type of the elements of an array of this arithmetic type, of a `std::vector` or a `std::array`.
fn element_type(declared: &str) -> Option<&str> {
    let inner = ["vector<", "array<", "initializer_list<", "span<"].into_iter().find_map(|class| {
        declared.strip_prefix("std::").unwrap_or(declared).strip_prefix(class)?.split([',', '>']).next()
    });
    inner.map(str::trim).or(Some(declared)).filter(|of| is_conversion(of))
}
