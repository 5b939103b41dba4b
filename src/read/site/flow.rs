//! Statements that choose and repeat.

use std::rc::Rc;

use tree_sitter::Node;

use super::change::root;
use super::declarator::{self, Form};
use super::effect::{self, How};
use super::interpreter::Interpreter;
use super::poison;
use super::refer;
use super::scope::{State, Variable};
use super::spread::overlaps;
use super::statement::Flow;
use crate::read::cxx::arithmetic;
use crate::read::cxx::document::children;
use crate::read::cxx::problem::Problems;
use crate::read::cxx::value::{Evaluated, Value};

impl Interpreter<'_> {
    /// Runs `if`: the branch that its condition chooses, or neither.
    pub fn branch(&mut self, node: Node<'_>, depth: usize) -> Flow {
        let Some(condition) = node.child_by_field_name("condition") else { return Flow::Next };
        let (yes, no) = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative"));
        self.scopes.enter();
        if let Some(first) = condition.child_by_field_name("initializer").and_then(|i| children(i).first().copied()) {
            self.statement(first, depth);
        }
        let flow = match self.decided(condition) {
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
        self.touch(node, settable.then_some(problems));
    }

    /// Runs `while`, `do` and `for` as long as their condition is known.
    pub fn counted_loop(&mut self, node: Node<'_>, depth: usize) -> Flow {
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
                Some(condition) => self.decided(condition),
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
                    if poison::emits(self.document, body) || poison::returns(body) {
                        self.note(problems);
                    }
                    self.touch(node, None);
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

    /// Runs a `for` over values that are known.
    pub fn range_loop(&mut self, node: Node<'_>, depth: usize) -> Flow {
        let part = |field| node.child_by_field_name(field);
        let (Some(declarator), Some(over), Some(body)) = (part("declarator"), part("right"), part("body")) else {
            return self.opaque(node);
        };
        let one = declarator::declarator(self.document, node, declarator);
        let plain = !one.binds && matches!(one.form, Form::Value | Form::Reference) && self.keeps_still(over, body);
        let values = match self.value(over) {
            Ok(Evaluated { value: Value::Tuple(values), leaves }) if plain => {
                values.into_iter().map(|value| Evaluated { value, leaves: leaves.clone() }).collect::<Vec<_>>()
            }
            _ => return self.opaque(node),
        };
        self.touch(over, None);
        let declared = part("type").map(|of| self.document.squeezed(of)).filter(|of| of != "auto").unwrap_or_default();
        let element = self.scopes.get(&self.document.squeezed(over)).map(|variable| variable.element.clone());
        let declared = if declared.is_empty() { element.unwrap_or_default() } else { declared };
        let declared = self.spelled(&declared);
        let name = self.document.squeezed(one.names[0]);
        let surroundings = Rc::clone(&self.surroundings);
        let changes = surroundings.changes(self.document, body, &mut vec![]);
        if effect::changes_elements(self.document, node, &changes).is_some() {
            let mut found = vec![];
            effect::targets(Some(over), node, How::Aliased, &mut found);
            found.iter().for_each(|change| self.changed(change, None));
        }
        let mut flow = Flow::Next;
        for value in values {
            self.scopes.enter();
            let converted = value.value.clone().converted_to(&declared);
            let state = State::Bound(value.with(converted));
            let constant = one.constant;
            self.scopes.declare(&name, Variable { constant, form: one.form, ..Variable::local(&declared, state) });
            flow = self.scoped(body, depth);
            self.scopes.leave();
            if matches!(flow, Flow::Break | Flow::Return) {
                break;
            }
        }
        if flow == Flow::Return { flow } else { Flow::Next }
    }

    /// Whether the body of a loop changes nothing of what the loop goes over.
    fn keeps_still(&mut self, over: Node<'_>, body: Node<'_>) -> bool {
        let mut found = vec![];
        refer::referents(&self.surroundings, self.document, over, &mut found);
        let places: Vec<String> = found.into_iter().map(|node| self.place(node)).collect();
        let surroundings = Rc::clone(&self.surroundings);
        let changes = surroundings.changes(self.document, body, &mut vec![]);
        !changes.iter().filter(|change| change.how != How::Decayed).any(|change| {
            let changed = self.place(change.target);
            let reached = self.scopes.get(root(&changed)).map(|v| v.refers.clone()).unwrap_or_default();
            let all = reached.iter().map(|to| to.place.as_str()).chain([changed.as_str()]);
            all.into_iter().any(|changed| places.iter().any(|place| overlaps(place, changed)))
        })
    }

    /// Runs `switch` from the case that its value chooses.
    pub fn switch(&mut self, node: Node<'_>, depth: usize) -> Flow {
        let (Some(condition), Some(body)) = (node.child_by_field_name("condition"), node.child_by_field_name("body"))
        else {
            return Flow::Next;
        };
        let condition = condition.child_by_field_name("value").unwrap_or(condition);
        let value = match self.value(condition) {
            Ok(value) => value,
            Err(problems) => {
                if poison::emits(self.document, body) || poison::returns(body) {
                    self.note(problems);
                }
                self.touch(node, None);
                return Flow::Next;
            }
        };
        self.touch(condition, None);
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
