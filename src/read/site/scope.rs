//! The locals of a site.

use std::collections::HashMap;

use super::leaves::is_part;
use super::line::Pieces;
use crate::read::cxx::problem::Problems;
use crate::read::cxx::value::Evaluated;

/// What a local holds.
#[derive(Debug, Clone)]
pub enum State {
    /// A value.
    Bound(Evaluated),
    /// Something that cannot be known, and why.
    Poisoned(Problems),
    /// Nothing yet.
    Unset,
}

/// A local.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its declared type without qualifiers; empty for `auto`.
    pub declared: String,
    /// Whether nothing can change it.
    pub constant: bool,
    /// Whether it is no local but a parameter, a member or an element that the site assigned to.
    pub outside: bool,
    /// Whether something else may change it at any time.
    pub loose: bool,
    /// What it holds.
    pub state: State,
    /// For text, where its parts come from.
    pub text: Option<Pieces>,
}

impl Variable {
    fn outside(declared: &str, state: State) -> Self {
        let declared = declared.to_owned();
        Variable { declared, constant: false, outside: true, loose: false, state, text: None }
    }
}

/// Nested scopes.
#[derive(Debug, Clone, Default)]
pub struct Scopes(Vec<HashMap<String, Variable>>);

impl Scopes {
    /// Opens a scope.
    pub fn enter(&mut self) {
        self.0.push(HashMap::new());
    }

    /// Closes the innermost scope.
    pub fn leave(&mut self) {
        self.0.pop();
    }

    /// Declares a local in the innermost scope.
    pub fn declare(&mut self, name: &str, variable: Variable) {
        if let Some(scope) = self.0.last_mut() {
            scope.insert(name.to_owned(), variable);
        }
    }

    /// Declares an empty local in the outermost scope.
    pub fn declare_outermost(&mut self, name: &str) {
        if let Some(scope) = self.0.first_mut() {
            scope.insert(name.to_owned(), Variable { outside: false, ..Variable::outside("", State::Unset) });
        }
    }

    /// Keeps what the site assigned to a parameter, a member or an element.
    pub fn declare_outside(&mut self, name: &str, declared: &str, state: State) {
        if let Some(scope) = self.0.first_mut() {
            scope.insert(name.to_owned(), Variable::outside(declared, state));
        }
    }

    /// The members and elements of an object that something is kept of.
    pub fn parts(&self, object: &str) -> Vec<String> {
        let mut out: Vec<_> =
            self.0.iter().flat_map(HashMap::keys).filter(|name| is_part(name, object)).cloned().collect();
        out.sort();
        out
    }

    /// The innermost local of this name.
    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.0.iter().rev().find_map(|scope| scope.get(name))
    }

    /// The innermost local of this name.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Variable> {
        self.0.iter_mut().rev().find_map(|scope| scope.get_mut(name))
    }
}
