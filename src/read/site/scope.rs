//! The locals of a site.

use std::collections::HashMap;

use super::change::root;
use super::declarator::Form;
use super::leaves::is_part;
use super::line::Pieces;
use super::spread::overlaps;
use crate::read::cxx::problem::Problems;
use crate::read::cxx::value::Evaluated;
use crate::source::Spot;

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
    /// The type of its elements, where it has some.
    pub element: String,
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
    /// What it is besides a value.
    pub form: Form,
    /// Whether what it refers to cannot be changed through it.
    pub guarded: bool,
    /// What it refers or points to.
    pub refers: Vec<Referent>,
    /// What may have changed what it refers to, outside the site.
    pub stale: Option<Spot>,
}

/// A place that a reference or a pointer reaches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Referent {
    /// The scope of the place's root; 0 for what comes from outside.
    pub scope: usize,
    /// The place.
    pub place: String,
    /// Whether it is this place for sure, and of the same type.
    pub exact: bool,
}

impl Variable {
    /// A local that can change.
    pub fn local(declared: &str, state: State) -> Self {
        Variable {
            declared: declared.to_owned(),
            element: String::new(),
            constant: false,
            outside: false,
            loose: false,
            state,
            text: None,
            form: Form::Value,
            guarded: false,
            refers: vec![],
            stale: None,
        }
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
            scope.insert(name.to_owned(), Variable::local("", State::Unset));
        }
    }

    /// Keeps what the site assigned to a parameter, a member or an element.
    pub fn declare_outside(&mut self, name: &str, declared: &str, state: State) {
        let scope = self.home(name);
        self.declare_part(scope, name, declared, state);
    }

    /// The same, where the scope of the name's root is known.
    pub fn declare_part(&mut self, scope: usize, name: &str, declared: &str, state: State) {
        if let Some(scope) = self.0.get_mut(scope) {
            scope.insert(name.to_owned(), Variable { outside: true, ..Variable::local(declared, state) });
        }
    }

    /// The innermost scope that holds the root of a place; 0 where none does.
    pub fn home(&self, place: &str) -> usize {
        self.0.iter().rposition(|scope| scope.contains_key(root(place))).unwrap_or(0)
    }

    /// The members and elements of an object of a scope that something is kept of.
    pub fn parts(&self, scope: usize, object: &str) -> Vec<String> {
        let all = self.0.get(scope).into_iter().flat_map(HashMap::keys);
        let mut out: Vec<_> = all.filter(|name| is_part(name, object)).cloned().collect();
        out.sort();
        out
    }

    /// The scope and the name of everything that reaches a place, each with how.
    pub fn referring(&self, scope: usize, place: &str) -> Vec<(usize, String, Referent)> {
        let mut out = vec![];
        for (index, names) in self.0.iter().enumerate() {
            for (name, variable) in names {
                let mut hit = variable.refers.iter().filter(|to| to.scope == scope && overlaps(&to.place, place));
                out.extend(hit.next().map(|to| (index, name.clone(), to.clone())));
            }
        }
        out.sort();
        out
    }

    /// The local, member or element that a place means.
    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.at(self.home(name), name)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Variable> {
        let scope = self.home(name);
        self.at_mut(scope, name)
    }

    /// What a scope holds under a name.
    pub fn at(&self, scope: usize, name: &str) -> Option<&Variable> {
        self.0.get(scope)?.get(name)
    }

    /// The same, to change it.
    pub fn at_mut(&mut self, scope: usize, name: &str) -> Option<&mut Variable> {
        self.0.get_mut(scope)?.get_mut(name)
    }
}
