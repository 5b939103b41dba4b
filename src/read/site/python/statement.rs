//! Python statements.

use tree_sitter::Node;

use super::machine::{Machine, Miss, Outcome, Slot};
use super::value::{Object, Py, Traced};
use crate::diag::Diagnostic;
use crate::read::cxx::document::children;
use crate::read::cxx::problem::{Problem, Problems};
use crate::read::site::emission::SegmentOrigin;
use crate::read::site::line::Pieces;
use crate::read::site::statement::Flow;

/// Statements run at most, over all rounds of all loops.
const MOST_STEPS: usize = 20_000;

/// Deepest nesting of statements.
const DEEPEST: usize = 100;

impl Machine<'_> {
    /// Runs the statements of a block.
    pub fn block(&mut self, node: Node<'_>, depth: usize) -> Flow {
        for statement in children(node) {
            let flow = self.statement(statement, depth + 1);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn statement(&mut self, node: Node<'_>, depth: usize) -> Flow {
        self.steps += 1;
        if self.steps == MOST_STEPS || depth == DEEPEST {
            let miss = self.refused(node, "a loop this long or a nesting this deep");
            self.note(miss.problems);
        }
        if self.steps >= MOST_STEPS || depth >= DEEPEST {
            return Flow::Return;
        }
        let walrus = crate::read::cxx::document::any(node, |n| n.kind() == "named_expression");
        if walrus {
            self.assigned_in_expressions(node);
        }
        let flow = self.statement_of_kind(node, depth);
        if walrus {
            self.assigned_in_expressions(node);
        }
        flow
    }

    fn statement_of_kind(&mut self, node: Node<'_>, depth: usize) -> Flow {
        match node.kind() {
            "expression_statement" => {
                for inner in children(node) {
                    self.expression_statement(inner);
                }
                Flow::Next
            }
            "return_statement" => {
                if self.speculative == 0 {
                    let value = children(node).first().copied();
                    let outcome = value.map_or(Ok(Py::None.into()), |value| self.value(value));
                    self.state.result = Some((outcome, self.script.spot(value.unwrap_or(node))));
                } else if let Some(value) = children(node).first()
                    && let Err(miss) = self.value(*value)
                {
                    self.note(miss.problems);
                }
                Flow::Return
            }
            "if_statement" => self.branch(node, depth),
            "for_statement" => self.for_loop(node, depth),
            "while_statement" => self.while_loop(node, depth),
            "break_statement" => Flow::Break,
            "continue_statement" => Flow::Continue,
            "assert_statement" => {
                self.assertion(node);
                Flow::Next
            }
            "raise_statement" => {
                if self.speculative == 0 {
                    let error = Diagnostic::error("K-SITE-ASSERT", "the site refuses these values: it raises")
                        .at(self.script.spot(node), "raised here");
                    self.errors.push(error);
                }
                Flow::Return
            }
            "with_statement" => {
                for item in children(node).into_iter().filter(|n| n.kind() == "with_clause") {
                    self.touch_within(item, None);
                }
                node.child_by_field_name("body").map_or(Flow::Next, |body| self.block(body, depth))
            }
            "import_statement" | "import_from_statement" => {
                self.imported(node);
                Flow::Next
            }
            "pass_statement" | "future_import_statement" | "comment" => Flow::Next,
            "function_definition" | "class_definition" | "decorated_definition" => {
                self.defined_within(node);
                Flow::Next
            }
            _ => {
                self.opaque(node);
                Flow::Next
            }
        }
    }

    /// A function within a function: calling it is not followed.
    fn defined_within(&mut self, node: Node<'_>) {
        let inner = node.child_by_field_name("definition").unwrap_or(node);
        if self.state.frames.len() > 1
            && let Some(name) = inner.child_by_field_name("name")
        {
            let name = self.script.text(name);
            let miss = self.refused(inner, &format!("`{name}`, a function within a function,"));
            self.frame().names.insert(name, Slot::Lost(miss));
        }
    }

    /// A statement that is not followed.
    fn opaque(&mut self, node: Node<'_>) {
        let what = format!("this {}", node.kind().replace('_', " "));
        let miss = self.refused(node, &what);
        if self.matters(node) || node.is_error() {
            self.note(miss.problems.clone());
        }
        self.touch_within(node, Some(&miss.problems));
    }

    fn expression_statement(&mut self, node: Node<'_>) {
        let part = |field| node.child_by_field_name(field);
        match (node.kind(), part("left"), part("right")) {
            ("assignment", Some(left), Some(right)) => {
                let outcome = self.assigned_value(right);
                if self.state.frames.len() == 1 && self.formats(right) && left.kind() == "identifier" {
                    self.form(&self.script.text(left), &outcome);
                }
                self.unpack(left, outcome, right);
            }
            ("assignment", ..) => {}
            ("augmented_assignment", Some(left), Some(right)) => {
                let operator = part("operator").map(|o| self.script.text(o)).unwrap_or_default();
                self.augmented(node, left, operator.trim_end_matches('='), right);
            }
            ("call", ..) if self.writes(node) => {}
            ("call", ..) => match self.value(node) {
                Ok(value) => self.form(&self.script.squeezed(node), &Ok(value)),
                Err(miss) => {
                    let outside = miss.problems.iter().all(|p| matches!(p, Problem::Unknown(_)));
                    if !outside && self.matters(node) {
                        self.note(miss.problems);
                    }
                    self.call_changes(node, true);
                }
            },
            ("string" | "concatenated_string", ..) if !self.formats(node) => {}
            ("string" | "concatenated_string" | "binary_operator", ..) => {
                let outcome = self.value(node);
                self.form(&self.script.squeezed(node), &outcome);
            }
            ("yield", ..) => {
                let miss = self.refused(node, "`yield`");
                self.note(miss.problems);
            }
            _ => self.touch_within(node, None),
        }
    }

    /// The value at the right of `=`; `a = b = value` assigns both.
    fn assigned_value(&mut self, node: Node<'_>) -> Outcome {
        if node.kind() == "assignment"
            && let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        {
            let outcome = self.assigned_value(right);
            self.unpack(left, outcome.clone(), right);
            return outcome;
        }
        let outcome = self.value(node);
        if crate::read::cxx::document::any(node, |n| n.kind() == "named_expression") {
            self.touch_within(node, None);
        }
        outcome
    }

    /// Keeps a text that a block without a function makes.
    fn form(&mut self, name: &str, outcome: &Outcome) {
        let at_top = self.state.frames.len() == 1;
        match outcome {
            Ok(Traced { value: Py::Text(text), .. }) if at_top => {
                self.state.formed.retain(|(known, _)| known != name);
                self.state.formed.push((name.to_owned(), text.clone()));
            }
            Err(miss) if at_top => self.note(miss.problems.clone()),
            _ => {}
        }
    }

    /// Assigns a value to a target; several targets take a list apart.
    pub fn unpack(&mut self, target: Node<'_>, outcome: Outcome, value: Node<'_>) {
        match target.kind() {
            "identifier" => {
                let name = self.script.text(target);
                self.assign(&name, outcome, value);
            }
            "attribute" | "subscript" => self.store(target, outcome),
            "pattern_list" | "tuple_pattern" | "list_pattern" | "parenthesized_expression" => {
                let targets = children(target);
                let elements = outcome.and_then(|value| Ok((self.elements(&value, target)?, value)));
                match elements {
                    Ok((list, whole)) if list.len() == targets.len() => {
                        for (target, element) in targets.into_iter().zip(list) {
                            self.unpack(target, Ok(element.joined(&whole)), value);
                        }
                    }
                    Ok(_) => {
                        let miss = self.refused(target, "taking apart a list of another length");
                        self.touch_targets(target, &miss, value);
                    }
                    Err(miss) => self.touch_targets(target, &Miss { path: None, ..miss }, value),
                }
            }
            _ => {
                let miss = self.refused(target, "this target");
                self.touch_targets(target, &miss, value);
            }
        }
    }

    fn touch_targets(&mut self, target: Node<'_>, miss: &Miss, value: Node<'_>) {
        for part in children(target) {
            match part.kind() {
                "identifier" => {
                    let name = self.script.text(part);
                    self.assign(&name, Err(miss.clone()), value);
                }
                "attribute" | "subscript" => self.store(part, Err(miss.clone())),
                _ => self.touch_targets(part, miss, value),
            }
        }
    }

    /// A name that something unknown may have changed.
    pub fn assign_lost(&mut self, name: &str, problems: Problems, node: Node<'_>) {
        self.assign(name, Err(Miss { problems, path: None }), node);
    }

    fn augmented(&mut self, node: Node<'_>, left: Node<'_>, operator: &str, right: Node<'_>) {
        let old = self.value(left);
        if operator == "+"
            && let Ok(Traced { value: Py::Object(at), .. }) = &old
        {
            let at = *at;
            let more = self.value(right).and_then(|value| self.elements(&value, right));
            match (more, &mut self.state.heap[at]) {
                (Ok(more), Object::List(list)) => list.extend(more),
                (Ok(_), _) => {}
                (Err(miss), object) => *object = Object::Lost(miss.problems),
            }
            return;
        }
        drop(old);
        let outcome = self.binary(node, left, operator, right);
        if self.state.frames.len() == 1
            && left.kind() == "identifier"
            && matches!(&outcome, Ok(Traced { value: Py::Text(_), .. }))
        {
            self.form(&self.script.text(left), &outcome);
        }
        self.unpack(left, outcome, node);
    }

    /// `print(…)`, `file.write(…)`: true when the call is one of them.
    fn writes(&mut self, node: Node<'_>) -> bool {
        let (Some(function), Some(arguments)) =
            (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
        else {
            return false;
        };
        let name = self.script.squeezed(function);
        let print = name == "print" && self.slot("print").is_none();
        let method = function.child_by_field_name("attribute").map(|a| self.script.text(a)).unwrap_or_default();
        if !print && (method != "write" || children(arguments).len() != 1) {
            return false;
        }
        let (positional, named) = match self.split(arguments) {
            Ok(split) => split,
            Err(miss) => {
                self.note(miss.problems);
                return true;
            }
        };
        let mut to =
            function.child_by_field_name("object").map_or_else(|| "print".to_owned(), |o| self.script.squeezed(o));
        let (mut between, mut end) = (" ".to_owned(), if print { "\n" } else { "" }.to_owned());
        for (name, value) in named {
            match (name.as_str(), self.value(value)) {
                ("file", _) => to = self.script.squeezed(value),
                ("flush", _) => {}
                ("end", Ok(value)) => end = value.value.printed().unwrap_or_default(),
                ("sep", Ok(value)) => between = value.value.printed().unwrap_or_default(),
                _ => {
                    let miss = self.refused(value, &format!("`{name}` of this call"));
                    self.note(miss.problems);
                }
            }
        }
        let mut out = Pieces::default();
        for (index, argument) in positional.iter().enumerate() {
            let at = self.script.spot(*argument);
            let origin = SegmentOrigin::Value { at, expr: self.script.squeezed(*argument), leaves: vec![] };
            if index > 0 {
                out.0.push((between.clone(), origin));
            }
            let printed = self.value(*argument).and_then(|value| match value.value {
                Py::Text(text) => Ok(text),
                _ if print => self.shown(*argument, &value, "", ""),
                _ => Err(self.refused(*argument, "writing what is no text")),
            });
            match printed {
                Ok(pieces) => out.0.extend(pieces.0),
                Err(miss) => self.note(miss.problems),
            }
        }
        if !end.is_empty() {
            let at = self.script.spot(node);
            out.0.push((end, SegmentOrigin::Value { at, expr: "print".to_owned(), leaves: vec![] }));
        }
        self.state.written.push((to, out));
        true
    }

    /// Everything written to one object.
    pub fn written_to(&self, name: &str) -> Option<Pieces> {
        let parts: Vec<_> = self.state.written.iter().filter(|(to, _)| to == name).collect();
        (!parts.is_empty()).then(|| Pieces(parts.into_iter().flat_map(|(_, text)| text.0.clone()).collect()))
    }

    fn assertion(&mut self, node: Node<'_>) {
        let Some(condition) = children(node).first().copied() else { return };
        match self.value(condition).and_then(|value| self.truth_of(&value, condition)) {
            Ok(true) => self.assertions += 1,
            Ok(false) if self.speculative == 0 => {
                let text = self.script.squeezed(condition);
                let message = format!("the site refuses these values: assert {text}");
                self.errors.push(Diagnostic::error("K-SITE-ASSERT", message).at(self.script.spot(condition), "false"));
            }
            _ => {}
        }
    }

    fn branch(&mut self, node: Node<'_>, depth: usize) -> Flow {
        let mut cursor = node.walk();
        let mut arms = vec![(node.child_by_field_name("condition"), node.child_by_field_name("consequence"))];
        for other in node.children_by_field_name("alternative", &mut cursor) {
            let body = other.child_by_field_name("consequence").or_else(|| other.child_by_field_name("body"));
            arms.push((other.child_by_field_name("condition"), body));
        }
        for (index, (condition, body)) in arms.iter().enumerate() {
            let truth = match condition {
                Some(condition) => self.value(*condition).and_then(|value| self.truth_of(&value, *condition)),
                None => Ok(true),
            };
            match (truth, body) {
                (Ok(true), Some(body)) => return self.block(*body, depth + 1),
                (Ok(_), _) => {}
                (Err(miss), _) => {
                    let bodies: Vec<_> = arms[index..].iter().filter_map(|(_, body)| *body).collect();
                    self.any_of(&miss.problems, &bodies, depth);
                    return Flow::Next;
                }
            }
        }
        Flow::Next
    }

    /// None of the bodies can be chosen: what they return or write is a problem, what they assign becomes unknown.
    fn any_of(&mut self, problems: &Problems, bodies: &[Node<'_>], depth: usize) {
        if bodies.iter().any(|body| self.matters(*body)) {
            self.note(problems.clone());
            self.speculative += 1;
            for body in bodies {
                let kept = self.state.clone();
                self.block(*body, depth + 1);
                self.state = kept;
            }
            self.speculative -= 1;
        }
        let known = problems.iter().all(|problem| matches!(problem, Problem::Unknown(_)));
        for body in bodies {
            self.touch_within(*body, known.then_some(problems));
        }
    }

    fn for_loop(&mut self, node: Node<'_>, depth: usize) -> Flow {
        let part = |field| node.child_by_field_name(field);
        let (Some(left), Some(right), Some(body)) = (part("left"), part("right"), part("body")) else {
            self.opaque(node);
            return Flow::Next;
        };
        let elements = self.value(right).and_then(|value| self.elements(&value, right));
        let elements = match elements {
            Ok(elements) => elements,
            Err(miss) => {
                if self.matters(body) {
                    self.note(miss.problems.clone());
                }
                self.touch_within(node, None);
                return Flow::Next;
            }
        };
        for element in elements {
            self.unpack(left, Ok(element), left);
            match self.block(body, depth + 1) {
                Flow::Return => return Flow::Return,
                Flow::Break => return Flow::Next,
                Flow::Next | Flow::Continue => {}
            }
        }
        part("alternative").and_then(|e| e.child_by_field_name("body")).map_or(Flow::Next, |e| self.block(e, depth + 1))
    }

    fn while_loop(&mut self, node: Node<'_>, depth: usize) -> Flow {
        let (Some(condition), Some(body)) = (node.child_by_field_name("condition"), node.child_by_field_name("body"))
        else {
            self.opaque(node);
            return Flow::Next;
        };
        loop {
            match self.value(condition).and_then(|value| self.truth_of(&value, condition)) {
                Ok(false) => break,
                Ok(true) => match self.block(body, depth + 1) {
                    Flow::Return => return Flow::Return,
                    Flow::Break => return Flow::Next,
                    Flow::Next | Flow::Continue => {}
                },
                Err(miss) => {
                    if self.matters(body) {
                        self.note(miss.problems.clone());
                    }
                    self.touch_within(node, Some(&miss.problems));
                    return Flow::Next;
                }
            }
            self.steps += 1;
            if self.steps >= MOST_STEPS {
                let miss = self.refused(node, "a loop this long");
                self.note(miss.problems);
                return Flow::Return;
            }
        }
        let other = node.child_by_field_name("alternative").and_then(|e| e.child_by_field_name("body"));
        other.map_or(Flow::Next, |body| self.block(body, depth + 1))
    }
}
