//! The state of one evaluation of a Python site.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::tree::{Function, Script};
use super::value::{Object, Py, Traced, given};
use crate::diag::Diagnostics;
use crate::read::cxx::document::children;
use crate::read::cxx::problem::{Problem, Problems, Unknown};
use crate::read::site::emission::SegmentOrigin;
use crate::read::site::leaves::{Leaves, compact};
use crate::read::site::line::Pieces;
use crate::source::Spot;

/// Why an expression has no value; `path` is how a leaf of the object would be named from the entry of the site.
#[derive(Debug, Clone)]
pub struct Miss {
    /// All reasons.
    pub problems: Problems,
    /// For an object that came from outside: its name there.
    pub path: Option<String>,
}

/// A value, or why there is none.
pub type Outcome = Result<Traced, Miss>;

/// A text that is put together, unless a part of it has problems.
pub fn printed(text: Pieces, leaves: BTreeSet<String>, problems: Problems) -> Outcome {
    if problems.is_empty() { Ok(Traced { value: Py::Text(text), leaves }) } else { Err(Miss { problems, path: None }) }
}

impl From<Problem> for Miss {
    fn from(problem: Problem) -> Self {
        Miss { problems: vec![problem], path: None }
    }
}

/// What a name holds.
#[derive(Debug, Clone)]
pub enum Slot {
    /// A parameter of the site: what was given on entry.
    Entry,
    /// A value.
    Bound(Traced),
    /// Something that has no value here.
    Lost(Miss),
}

/// The names of one call.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// The names.
    pub names: BTreeMap<String, Slot>,
    /// Parameters of the site that were assigned.
    pub reassigned: BTreeSet<String>,
    /// The classes around the function.
    pub class: String,
}

/// What branches may change, and what is restored after a branch that was only looked at.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Names of the module and of the calls, the innermost last.
    pub frames: Vec<Frame>,
    /// Lists and dictionaries.
    pub heap: Vec<Object>,
    /// Members and elements of outside objects that the site assigned.
    pub members: BTreeMap<String, Slot>,
    /// Outside objects that something may have changed, and how.
    pub touched: BTreeMap<String, Spot>,
    /// What the names within a leaf's expression held when it was used first.
    pub seen: BTreeMap<String, String>,
    /// Texts that were written: to what, and the text.
    pub written: Vec<(String, Pieces)>,
    /// Texts that a block without a function makes: under which name, and the text.
    pub formed: Vec<(String, Pieces)>,
    /// What the function returned.
    pub result: Option<(Outcome, Spot)>,
}

/// One evaluation.
pub struct Machine<'d> {
    /// The site.
    pub script: &'d Script,
    /// Its functions.
    pub functions: &'d [Function<'d>],
    /// What was given.
    pub leaves: Leaves,
    /// What branches may change.
    pub state: State,
    /// Why the text is incomplete.
    pub problems: Problems,
    /// Errors that are no missing leaves.
    pub errors: Diagnostics,
    /// Where names got a value that the site computes itself.
    pub computed: BTreeMap<String, Spot>,
    /// Assertions that hold.
    pub assertions: usize,
    /// Above 0 while both branches of an unknown condition are walked.
    pub speculative: usize,
    /// Whether code outside the chosen function was used.
    pub strayed: bool,
    /// Statements run so far.
    pub steps: usize,
    /// Nesting of expressions.
    pub depth: usize,
}

impl Machine<'_> {
    /// An error of one construct.
    pub fn refused(&self, node: Node<'_>, what: &str) -> Miss {
        Problem::Unsupported { what: what.to_owned(), at: self.script.spot(node) }.into()
    }

    /// Keeps problems for the report.
    pub fn note(&mut self, problems: Problems) {
        for problem in problems {
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
    }

    /// The names of the innermost call.
    pub fn frame(&mut self) -> &mut Frame {
        if self.state.frames.is_empty() {
            self.state.frames.push(Frame::default());
        }
        let last = self.state.frames.len() - 1;
        &mut self.state.frames[last]
    }

    /// What a name holds: in the innermost call, else in the module.
    pub fn slot(&self, name: &str) -> Option<&Slot> {
        let local = self.state.frames.last().and_then(|frame| frame.names.get(name));
        local.or_else(|| self.state.frames.first().and_then(|frame| frame.names.get(name)))
    }

    /// A leaf's value, where one was given under `name`, and nothing in `node` changed since it was used first.
    pub fn leaf(&mut self, name: &str, node: Node<'_>, expr: Option<String>) -> Option<Outcome> {
        if !self.leaves.has(name) {
            return None;
        }
        let now = self.snapshot(node);
        let spot = self.script.spot(node);
        let known = self.state.seen.entry(compact(name)).or_insert_with(|| now.clone());
        if *known != now {
            let what = format!("`{name}`, whose parts changed since it was used first,");
            return Some(Err(Problem::Unsupported { what, at: spot }.into()));
        }
        let (name, text) = self.leaves.text(name, expr.clone(), &spot)?;
        let value = given(&text).unwrap_or_else(|| {
            let expr = expr.unwrap_or_else(|| self.script.squeezed(node));
            let origin = SegmentOrigin::Value { at: spot, expr, leaves: vec![name.clone()] };
            Py::Text(Pieces(vec![(unquoted(&text), origin)]))
        });
        Some(Ok(Traced { value, leaves: BTreeSet::from([name]) }))
    }

    /// What the names in an expression hold, in words.
    fn snapshot(&self, node: Node<'_>) -> String {
        let mut out = String::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if node.kind() == "identifier" {
                let name = self.script.text(node);
                match self.slot(&name) {
                    Some(Slot::Bound(Traced { value: Py::Object(at), .. })) => {
                        out += &format!("{name}={:?};", self.state.heap.get(*at));
                    }
                    Some(Slot::Bound(traced)) => out += &format!("{name}={:?};", traced.value.quoted()),
                    Some(Slot::Lost(miss)) if miss.path.is_none() => {
                        let at = miss.problems.first().map(|p| p.spot().place().to_string());
                        out += &format!("{name}={at:?};");
                    }
                    _ => {}
                }
            }
            match node.kind() {
                "attribute" => open.extend(node.child_by_field_name("object")),
                "keyword_argument" => open.extend(node.child_by_field_name("value")),
                _ => open.extend(children(node)),
            }
        }
        out
    }

    /// Why a leaf of an outside object cannot be told any more: something may have changed the object.
    pub fn changed(&self, path: &str, node: Node<'_>) -> Option<Miss> {
        let at = self.state.touched.iter().find(|(root, _)| within(path, root))?;
        let by = crate::read::site::interpreter::short(&at.1.text());
        Some(self.refused(node, &format!("`{path}` after `{by}`, which may change it,")))
    }

    /// Marks an outside object as changed by something that is not followed.
    pub fn touch(&mut self, path: &str, at: Spot) {
        let what = format!("`{path}`, which this may change,");
        for (name, slot) in &mut self.state.members {
            if within(name, path) {
                *slot = Slot::Lost(Problem::Unsupported { what: what.clone(), at: at.clone() }.into());
            }
        }
        self.state.touched.entry(path.to_owned()).or_insert(at);
    }

    /// Gives a name a value in the innermost call.
    pub fn assign(&mut self, name: &str, outcome: Outcome, node: Node<'_>) {
        let spot = self.script.spot(node);
        let local = format!("{}#{name}", self.state.frames.len());
        self.state.members.retain(|member, _| !within(member, &local));
        let entry = matches!(self.frame().names.get(name), Some(Slot::Entry)) || self.frame().reassigned.contains(name);
        if entry {
            self.frame().reassigned.insert(name.to_owned());
        }
        let slot = match outcome {
            Ok(value) => {
                self.computed.insert(name.to_owned(), spot);
                Slot::Bound(value)
            }
            Err(miss) if miss.path.is_some() && !self.leaves.has(name) => Slot::Lost(miss),
            Err(miss) if entry => Slot::Lost(Miss { path: miss.path, problems: miss.problems }),
            Err(miss) => self.claimed(name, miss, node),
        };
        self.frame().names.insert(name.to_owned(), slot);
    }

    /// The leaf given for a local that has no value of its own, or why it has none.
    fn claimed(&mut self, name: &str, miss: Miss, node: Node<'_>) -> Slot {
        let spot = self.script.spot(node);
        let expr = self.script.squeezed(node);
        if self.leaves.has(name) {
            let key = format!("{} assigned", compact(name));
            let now = format!("{}: {}", spot.place(), self.snapshot(node));
            if *self.state.seen.entry(key).or_insert_with(|| now.clone()) == now
                && let Some((name, text)) = self.leaves.text(name, Some(expr.clone()), &spot)
            {
                let origin = SegmentOrigin::Value { at: spot, expr, leaves: vec![name.clone()] };
                let value = given(&text).unwrap_or_else(|| Py::Text(Pieces(vec![(unquoted(&text), origin)])));
                return Slot::Bound(Traced { value, leaves: BTreeSet::from([name]) });
            }
        }
        let outside = miss.problems.iter().all(|p| matches!(p, Problem::Unknown(_)));
        if outside {
            return Slot::Lost(miss);
        }
        let assigned = Some((expr, spot.clone()));
        let unknown = Problem::Unknown(Unknown { name: name.to_owned(), used: spot, assigned, changed: false });
        let problems = if self.leaves.has(name) { miss.problems } else { vec![unknown] };
        Slot::Lost(Miss { problems, path: None })
    }

    /// Puts a list or a dictionary on the heap.
    pub fn allocate(&mut self, object: Object) -> Py {
        self.state.heap.push(object);
        Py::Object(self.state.heap.len() - 1)
    }

    /// The elements of a list, a tuple or a dictionary's keys.
    pub fn elements(&self, value: &Traced, node: Node<'_>) -> Result<Vec<Traced>, Miss> {
        match &value.value {
            Py::Tuple(list) => Ok(list.clone()),
            Py::Object(at) => match &self.state.heap[*at] {
                Object::List(list) => Ok(list.clone()),
                Object::Dict(list) => Ok(list.iter().map(|(key, _)| key.clone()).collect()),
                Object::Lost(problems) => Err(Miss { problems: problems.clone(), path: None }),
            },
            other => Err(self.refused(node, &format!("going through {}", other.kind()))),
        }
    }
}

/// Whether a path is `root` or a member or an element of it.
pub fn within(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '(']))
}

/// Given text without quotes around it.
fn unquoted(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.to_owned();
        }
    }
    text.to_owned()
}
