//! What is no longer known after code that is not followed.

use std::rc::Rc;

use tree_sitter::Node;

use super::declarator::Form;
use super::effect::{Change, How};
use super::interpreter::{Interpreter, short};
use super::leaves::{compact, is_part};
use super::scope::State;
use super::spread::Cause;
use crate::read::cxx::document::children;
use crate::read::cxx::problem::{Problem, Problems, Unknown};
use crate::read::cxx::value::Value;
use crate::source::Spot;

impl Interpreter<'_> {
    /// Takes back what is known of everything that `node` may change; `why` replaces the reason. What may emit within a
    /// call or a lambda is a problem.
    pub fn touch(&mut self, node: Node<'_>, why: Option<&Problems>) {
        self.touch_but(node, why, |_| false);
    }

    /// The same, but for the changes that `harmless` holds for.
    pub fn touch_but(&mut self, node: Node<'_>, why: Option<&Problems>, harmless: impl Fn(&Change<'_>) -> bool) {
        let mut hidden = vec![];
        let surroundings = Rc::clone(&self.surroundings);
        let changes = surroundings.changes(self.document, node, &mut hidden);
        for change in changes.iter().filter(|change| !harmless(change)) {
            self.changed(change, why);
        }
        for node in hidden {
            let what = format!("`{}`, which may emit out of sight,", short(&self.document.squeezed(node)));
            self.note(vec![Problem::Unsupported { what, at: self.document.spot(node) }]);
        }
    }

    /// Takes back what is known of one thing.
    pub fn changed(&mut self, change: &Change<'_>, why: Option<&Problems>) {
        let name = self.place(change.target);
        let root = root(&name).to_owned();
        let aliased = match change.how {
            How::Decayed if self.scopes.get(&name).is_none_or(|variable| variable.form != Form::Array) => return,
            how => matches!(how, How::Aliased | How::Decayed),
        };
        let (from, changed) = match change.how {
            How::Assigned(right) => (right, false),
            _ => (change.by, true),
        };
        let (expr, at) = (self.document.squeezed(from), self.document.spot(from));
        let handed = matches!(change.how, How::Called | How::Addressed);
        let constant = self.scopes.get(&root).is_some_and(|variable| variable.constant);
        if constant || handed && self.constants.contains(&root) {
            return;
        }
        if aliased {
            self.loose.push(name.clone());
        }
        let unknown = |name: &str| {
            let assigned = Some((expr.clone(), at.clone()));
            vec![Problem::Unknown(Unknown { name: name.to_owned(), used: at.clone(), assigned, changed })]
        };
        match self.scopes.get(&name) {
            Some(variable) if !variable.outside => {
                let declared = variable.declared.clone();
                let lost = variable.text.is_some() || !matches!(variable.state, State::Poisoned(_)) || why.is_some();
                if lost || !changed {
                    let leaf = self.leaves.take(&name, &declared, Some(expr.clone()), &at);
                    let state = leaf.map(State::Bound);
                    self.set(&name, state.unwrap_or_else(|| State::Poisoned(why.cloned().unwrap_or(unknown(&name)))));
                }
                if let Some(variable) = self.scopes.get_mut(&name) {
                    variable.text = None;
                    variable.loose |= aliased;
                }
            }
            _ if self.is_local_array(&root) && name != root => {
                self.set(&root, State::Poisoned(why.cloned().unwrap_or(unknown(&root))));
                if let Some(variable) = self.scopes.get_mut(&root) {
                    variable.text = None;
                }
                if aliased {
                    self.loose.push(root.clone());
                }
            }
            known => {
                // What was given is the value on entry: it answers nothing here.
                let known = known.is_some();
                if known || !matches!(change.how, How::Called) {
                    self.scopes.declare_outside(&name, "", State::Poisoned(self.lost(&name, &at, why)));
                }
            }
        }
        self.lose_parts(&name, change.by, &at);
        self.leaves.may_change(known_part(&name), &at, change.how == How::Called);
        self.spread(&name, Cause { aliased, ..Cause::of(change) });
    }

    /// Takes back what is known of the members and elements of an object.
    pub fn lose_parts(&mut self, object: &str, by: Node<'_>, at: &Spot) {
        self.lose_parts_of(self.scopes.home(object), object, by, at);
    }

    /// The same, where the object is one of this scope.
    pub fn lose_parts_of(&mut self, scope: usize, object: &str, by: Node<'_>, at: &Spot) {
        let local = self.scopes.at(scope, root(object)).is_some_and(|variable| !variable.outside);
        for part in self.scopes.parts(scope, object) {
            let expr = self.document.squeezed(by);
            let leaf = if local { self.leaves.take(&part, "", Some(expr.clone()), at) } else { None };
            let problems = if local {
                let assigned = Some((expr, at.clone()));
                vec![Problem::Unknown(Unknown { name: part.clone(), used: at.clone(), assigned, changed: true })]
            } else {
                self.lost(&part, at, None)
            };
            self.scopes.declare_part(scope, &part, "", leaf.map_or(State::Poisoned(problems), State::Bound));
        }
    }

    /// Why what comes from outside is no longer known.
    pub fn lost(&self, name: &str, at: &Spot, why: Option<&Problems>) -> Problems {
        let what = format!("`{name}`, which is given on entry and may change here,");
        why.cloned().unwrap_or_else(|| vec![Problem::Unsupported { what, at: at.clone() }])
    }

    /// Whether a local holds several values, or text.
    pub fn is_local_array(&self, name: &str) -> bool {
        self.scopes.get(name).is_some_and(|variable| {
            !variable.outside
                && matches!(&variable.state, State::Bound(value) if matches!(value.value, Value::Tuple(_) | Value::Text(_)))
        })
    }

    /// Whether something else may change this at any time.
    pub fn is_loose(&self, name: &str) -> bool {
        self.loose.iter().any(|loose| loose == name || is_part(name, loose))
    }

    /// A place as text, with the indices of its elements as numbers where they are known.
    pub fn place(&mut self, node: Node<'_>) -> String {
        let mut steps = vec![];
        let mut node = node;
        loop {
            let inner = node.child_by_field_name("argument");
            match (node.kind(), inner) {
                ("subscript_expression", Some(inner)) => {
                    let index = node.child_by_field_name("indices").map(children).unwrap_or_default();
                    let number = match index[..] {
                        [one] if one.kind() != "number_literal" => self.value(one).ok(),
                        _ => None,
                    };
                    let number = number.and_then(|value| value.value.as_integer()).map(|index| index.value.to_string());
                    let text = self.document.squeezed(node);
                    let written = text[self.document.squeezed(inner).len().min(text.len())..].to_owned();
                    steps.push(number.map_or(written, |number| format!("[{number}]")));
                    node = inner;
                }
                ("field_expression", Some(inner)) => {
                    let text = self.document.squeezed(node);
                    steps.push(text[self.document.squeezed(inner).len().min(text.len())..].to_owned());
                    node = inner;
                }
                _ => break,
            }
        }
        let head = compact(&self.document.squeezed(node));
        steps.iter().rev().fold(head, |text, step| text + &compact(step))
    }
}

/// The place, or what it is an element of, where its index is not known.
pub fn known_part(name: &str) -> &str {
    let known = |index: &str| {
        let first = index.chars().next();
        first.is_some_and(|c| c.is_ascii_digit() || matches!(c, '"' | '\'')) || index.contains("::")
    };
    let brackets = name.match_indices('[').map(|(at, _)| at);
    let unknown = brackets.into_iter().find(|at| !known(&name[at + 1..]));
    unknown.map_or(name, |at| &name[..at])
}

/// The name that a place begins with.
pub fn root(name: &str) -> &str {
    name.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default()
}
