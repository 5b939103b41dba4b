//! A change of one place, and everything that reaches it by another name.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::change::{known_part, root};
use super::declarator::{Declarator, Form, is_view};
use super::effect::{Change, How};
use super::interpreter::Interpreter;
use super::leaves::is_part;
use super::refer;
use super::scope::{Referent, State, Variable};
use crate::read::cxx::document::span;
use crate::read::cxx::evaluate::is_conversion;
use crate::read::cxx::problem::{Problem, Unknown};
use crate::read::cxx::value::Value;

/// What changed a place.
#[derive(Clone, Copy)]
pub struct Cause<'t> {
    /// The code.
    pub by: Node<'t>,
    /// Whether it gave the place the value that it has now.
    pub assigned: bool,
    /// Whether it only may have changed something that comes from outside the site.
    pub called: bool,
    /// Whether it may change it again at any time.
    pub aliased: bool,
}

impl<'t> Cause<'t> {
    /// An assignment that is followed.
    pub fn assigned(by: Node<'t>) -> Self {
        Cause { by, assigned: true, called: false, aliased: false }
    }

    /// Code that is not followed.
    pub fn of(change: &Change<'t>) -> Self {
        let called = change.how == How::Called;
        Cause { by: change.by, assigned: false, called, aliased: change.how == How::Aliased }
    }
}

impl Interpreter<'_> {
    /// After a change of `place`: what reaches it, and what it reaches itself, may have another value.
    pub fn spread(&mut self, place: &str, cause: Cause<'_>) {
        let home = self.scopes.home(place);
        let mut seen = BTreeSet::from([(home, place.to_owned()), (home, root(place).to_owned())]);
        let mut open = vec![(home, place.to_owned())];
        while let Some((scope, place)) = open.pop() {
            for (scope, name, to) in self.scopes.referring(scope, &place) {
                if seen.insert((scope, name.clone())) {
                    let part = if to.exact { place.strip_prefix(to.place.as_str()).unwrap_or_default() } else { "" };
                    let part = format!("{name}{part}");
                    self.affected(scope, &part, &to, &place, cause);
                    open.push((scope, part));
                }
            }
            let base = root(&place).to_owned();
            let Some(variable) = self.scopes.at(scope, &base) else { continue };
            let reseated = variable.form == Form::Handle && place == base && cause.assigned;
            if variable.guarded || reseated {
                continue;
            }
            for to in variable.refers.clone() {
                if seen.insert((to.scope, to.place.clone())) {
                    let cause = Cause { assigned: false, ..cause };
                    self.affected(to.scope, &to.place.clone(), &to, "", cause);
                    open.push((to.scope, to.place));
                }
            }
        }
    }

    /// Takes back what is known of a place of a scope, or gives it the value that `changed` has now.
    fn affected(&mut self, scope: usize, place: &str, to: &Referent, changed: &str, cause: Cause<'_>) {
        let (expr, at) = (self.document.squeezed(cause.by), self.document.spot(cause.by));
        self.lose_parts_of(scope, place, cause.by, &at);
        self.leaves.may_change(known_part(place), &at, true);
        if cause.aliased {
            self.loose.push(place.to_owned());
        }
        let now = self.scopes.at(to.scope, changed).filter(|_| cause.assigned && to.exact && to.place == changed);
        let now = now.map(|variable| (variable.state.clone(), variable.text.clone()));
        let outside = to.scope == 0 && self.scopes.at(0, &to.place).is_none();
        // An element of what is kept as a whole is a change of all of it.
        let place = if self.scopes.at(scope, place).is_some() { place } else { root(place) };
        let Some(variable) = self.scopes.at_mut(scope, place) else { return };
        variable.loose |= cause.aliased;
        if variable.constant && variable.form == Form::Value {
            return;
        }
        let from_leaves = matches!(&variable.state, State::Bound(value) if !value.leaves.is_empty());
        match now {
            Some((state, text)) if !variable.loose => (variable.state, variable.text) = (state, text),
            _ if cause.called && outside && from_leaves => {
                variable.stale.get_or_insert(at);
            }
            _ if scope == 0 && variable.outside => {
                let state = State::Poisoned(self.lost(place, &at, None));
                self.scopes.declare_part(scope, place, "", state);
            }
            _ => {
                let declared = variable.declared.clone();
                let leaf = self.leaves.take(place, &declared, Some(expr.clone()), &at).map(State::Bound);
                let assigned = Some((expr, at.clone()));
                let unknown = Unknown { name: place.to_owned(), used: at, assigned, changed: true };
                let state = leaf.unwrap_or_else(|| State::Poisoned(vec![Problem::Unknown(unknown)]));
                if let Some(variable) = self.scopes.at_mut(scope, place) {
                    (variable.state, variable.text) = (state, None);
                }
            }
        }
    }

    /// Whether a name is that of an array, of a pointer or of a view.
    fn is_handle(&self, node: Node<'_>) -> bool {
        let name = self.document.squeezed(node);
        let known = self.scopes.get(&name).is_some_and(|v| matches!(v.form, Form::Array | Form::Handle));
        known || self.parameters.get(&name).is_some_and(|of| is_view(of))
    }

    /// What a local is, `auto` and classes of the standard library looked through.
    pub fn form(&self, one: &Declarator<'_>, declared: &str) -> (Form, bool) {
        let surroundings = &self.surroundings;
        let is_handle = |node: Node<'_>| self.is_handle(node);
        let makes = |node: Node<'_>| {
            refer::makes_handle(surroundings, self.document, node, &is_handle) || self.points(one, node)
        };
        match one.form {
            Form::Value if is_view(declared) => {
                (Form::Handle, declared.contains("string_view") || declared.contains("<const "))
            }
            Form::Value if declared.is_empty() && one.value.is_some_and(makes) => (Form::Handle, false),
            form => (form, one.guarded),
        }
    }

    /// Whether the site uses the local as a pointer.
    fn points(&self, one: &Declarator<'_>, value: Node<'_>) -> bool {
        let [name] = one.names[..] else { return false };
        let plain =
            matches!(value.kind(), "identifier" | "field_expression" | "subscript_expression" | "call_expression");
        if !plain {
            return false;
        }
        let name = self.document.squeezed(name);
        let mut around = value;
        while let Some(parent) = around.parent() {
            around = parent;
            if around.kind() == "compound_statement" {
                break;
            }
        }
        let text = String::from_utf8_lossy(&self.document.stripped[span(around).range()]).into_owned();
        let word = |at: usize| text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '>');
        text.match_indices(&name).any(|(at, _)| !word(at) && text[at + name.len()..].trim_start().starts_with("->"))
    }

    /// What a local of this form reaches when it is made from `values`, and whether something else may change that at any
    /// time.
    pub fn reached(&mut self, name: &str, local: &Variable, values: &[Node<'_>]) -> (Vec<Referent>, bool) {
        let mut found = vec![];
        for value in values {
            match local.form {
                Form::Reference => refer::referents(&self.surroundings, self.document, *value, &mut found),
                Form::Handle => refer::pointees(&self.surroundings, self.document, *value, &mut found),
                Form::Value | Form::Array => {}
            }
        }
        let one = values.len() == 1 && found.len() == 1 && found.first() == values.first();
        let (mut refers, mut loose): (Vec<Referent>, bool) = (vec![], false);
        for node in found {
            let place = self.place(node);
            let scope = self.scopes.home(&place);
            let known = self.scopes.at(scope, &place);
            let of = known.map(|v| v.declared.clone()).or_else(|| self.parameters.get(&place).cloned());
            let of = of.unwrap_or_default();
            let copy = local.form == Form::Reference && local.guarded && one && is_other_type(&local.declared, &of);
            if copy || place == name {
                continue;
            }
            loose |= known.is_some() && self.is_loose(&place);
            if let Some(handle) = known.filter(|v| local.form == Form::Handle && v.form == Form::Handle) {
                refers.extend(handle.refers.iter().map(|to| Referent { exact: false, ..to.clone() }));
            }
            if local.form != Form::Handle || !known.is_some_and(|v| is_number(v) || !v.refers.is_empty()) {
                let same = local.declared.is_empty() || local.declared == of;
                let exact = local.form == Form::Reference && one && same && known_part(&place) == place;
                refers.push(Referent { scope, place, exact });
            }
        }
        (refers, loose)
    }

    /// Keeps what a local reaches.
    pub fn attach(&mut self, name: &str, (refers, loose): (Vec<Referent>, bool)) {
        if loose {
            self.loose.push(name.to_owned());
        }
        if let Some(variable) = self.scopes.get_mut(name) {
            variable.refers = refers;
            variable.loose |= loose;
        }
    }
}

/// Whether a reference of one type to an object of another is one to a copy.
fn is_other_type(declared: &str, of: &str) -> bool {
    is_conversion(declared) && is_conversion(of) && declared != of
}

/// Whether a local is a number: nothing is reached through it.
fn is_number(variable: &Variable) -> bool {
    let number =
        |value: &Value| matches!(value, Value::Integer(_) | Value::Bool(_) | Value::Float { .. } | Value::Char(_));
    variable.form == Form::Value
        && (is_conversion(&variable.declared) || matches!(&variable.state, State::Bound(v) if number(&v.value)))
}

/// Whether a change of one place may be one of the other: it is the same, a part of it, or it is a part of this.
pub fn overlaps(a: &str, b: &str) -> bool {
    let within = |part: &str, of: &str| part == of || is_part(part, of);
    within(a, known_part(b)) || within(b, known_part(a))
}
