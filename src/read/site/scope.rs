//! The locals of a site.

use std::collections::HashMap;

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
    /// What it holds.
    pub state: State,
    /// For text, where its parts come from.
    pub text: Option<Pieces>,
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
            let variable = Variable { declared: String::new(), constant: false, state: State::Unset, text: None };
            scope.insert(name.to_owned(), variable);
        }
    }

    /// Keeps what the site assigned to a parameter, a member or an element.
    pub fn declare_outside(&mut self, name: &str, declared: &str, state: State) {
        if let Some(scope) = self.0.first_mut() {
            scope.insert(
                name.to_owned(),
                Variable { declared: declared.to_owned(), constant: false, state, text: None },
            );
        }
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
