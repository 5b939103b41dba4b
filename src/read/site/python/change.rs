//! What a statement that is not followed may change.

use tree_sitter::Node;

use super::machine::{Machine, Miss, Slot};
use super::value::{Object, Py, Traced};
use crate::read::cxx::document::{any, children};
use crate::read::cxx::problem::{Problem, Problems, Unknown};

impl Machine<'_> {
    /// Whether what a statement does shows in the text beyond the names it assigns: it returns, jumps or writes.
    pub fn matters(&self, node: Node<'_>) -> bool {
        any(node, |inner| match inner.kind() {
            "return_statement" | "break_statement" | "continue_statement" | "yield" => true,
            "global_statement" | "nonlocal_statement" => true,
            "call" => inner.child_by_field_name("function").is_some_and(|function| {
                let name = self.script.squeezed(function);
                name == "print" || name.ends_with(".write") || name.ends_with(".writelines")
            }),
            _ => false,
        })
    }

    /// Whether a text is formatted or written within.
    pub fn formats(&self, node: Node<'_>) -> bool {
        any(node, |inner| match inner.kind() {
            "interpolation" => true,
            "call" => inner.child_by_field_name("function").is_some_and(|function| {
                let name = self.script.squeezed(function);
                name == "print" || [".format", ".write", ".writelines", ".join"].iter().any(|end| name.ends_with(end))
            }),
            "binary_operator" => inner
                .child_by_field_name("left")
                .filter(|_| inner.child_by_field_name("operator").is_some_and(|o| o.kind() == "%"))
                .is_some_and(|left| matches!(left.kind(), "string" | "concatenated_string")),
            _ => false,
        })
    }

    /// Makes everything that may be changed within `node` unknown, or the leaf given for it; `why` replaces the reason.
    pub fn touch_within(&mut self, node: Node<'_>, why: Option<&Problems>) {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            match node.kind() {
                "assignment" | "augmented_assignment" | "named_expression" | "for_statement" | "for_in_clause" => {
                    let target = node.child_by_field_name("left").or_else(|| node.child_by_field_name("name"));
                    let value = node.child_by_field_name("right").unwrap_or(node);
                    if let Some(target) = target {
                        self.target_lost(target, value, why);
                    }
                }
                "as_pattern_target" | "delete_statement" => self.target_lost(node, node, why),
                "function_definition" | "class_definition" | "import_from_statement" => {
                    if let Some(name) = node.child_by_field_name("name") {
                        self.target_lost(name, node, why);
                    }
                }
                "call" => self.call_changes(node, true),
                _ => {}
            }
            let mut inner = children(node);
            inner.reverse();
            open.extend(inner);
        }
    }

    /// Makes every target of a `:=` within a statement unknown: whether and when it is reached is not followed.
    pub fn assigned_in_expressions(&mut self, statement: Node<'_>) {
        let mut open = vec![statement];
        while let Some(node) = open.pop() {
            if node.kind() == "named_expression"
                && let Some(target) = node.child_by_field_name("name")
            {
                self.target_lost(target, node, None);
            }
            open.extend(children(node));
        }
    }

    /// An import under the name of a built-in function hides it.
    pub fn imported(&mut self, statement: Node<'_>) {
        for name in children(statement).into_iter().skip(usize::from(statement.kind() == "import_from_statement")) {
            let bound = self.script.text(name.child_by_field_name("alias").unwrap_or(name));
            if super::call::BUILT_IN.contains(&bound.as_str()) {
                let miss = self.refused(name, &format!("`{bound}`, which is imported here,"));
                self.frame().names.insert(bound, Slot::Lost(miss));
            }
        }
    }

    fn target_lost(&mut self, target: Node<'_>, value: Node<'_>, why: Option<&Problems>) {
        match target.kind() {
            "identifier" => {
                let name = self.script.text(target);
                let spot = self.script.spot(value);
                let expr = self.script.squeezed(value);
                let entry = matches!(self.slot(&name), Some(Slot::Entry));
                let problems = match why {
                    Some(problems) => problems.clone(),
                    None if entry => vec![Problem::Unsupported {
                        what: format!("`{name}`, which is given on entry and may change here,"),
                        at: spot,
                    }],
                    None => vec![Problem::Unknown(Unknown {
                        name: name.clone(),
                        used: spot.clone(),
                        assigned: Some((expr, spot)),
                        changed: false,
                    })],
                };
                self.assign_lost(&name, problems, value);
            }
            "attribute" | "subscript" => {
                let why = why.cloned().unwrap_or_else(|| self.refused(target, "what is assigned here").problems);
                self.store(target, Err(Miss { problems: why, path: None }));
            }
            _ => {
                for part in children(target) {
                    self.target_lost(part, value, why);
                }
            }
        }
    }

    /// What a call may change: the object of a method, arguments that are lists, dictionaries or outside objects.
    pub fn call_changes(&mut self, node: Node<'_>, method: bool) {
        let Some(function) = node.child_by_field_name("function") else { return };
        let name = self.script.squeezed(function);
        let harmless = ["print", "len", "str", "int", "range", "min", "max", "isinstance", "open", "enumerate", "zip"];
        let quiet = ["logging.", "logger.", "log.", "warnings.", "self.logger.", "os.", "math."];
        if harmless.contains(&name.as_str()) || quiet.iter().any(|start| name.starts_with(start)) {
            return;
        }
        if let Some(object) = function.child_by_field_name("object").filter(|_| method) {
            let writes = name.ends_with(".write") || name.ends_with(".format") || name.ends_with(".join");
            if !writes {
                self.object_changes(object, node);
            }
        }
        for argument in node.child_by_field_name("arguments").map(children).unwrap_or_default() {
            self.object_changes(
                argument
                    .child_by_field_name("value")
                    .filter(|_| argument.kind() == "keyword_argument")
                    .unwrap_or(argument),
                node,
            );
        }
    }

    fn object_changes(&mut self, node: Node<'_>, call: Node<'_>) {
        if !matches!(node.kind(), "identifier" | "attribute" | "subscript" | "list_splat" | "dictionary_splat") {
            return;
        }
        let node = if node.kind().ends_with("splat") { children(node).first().copied().unwrap_or(node) } else { node };
        match self.value(node) {
            Ok(Traced { value: Py::Object(at), .. }) => {
                self.state.heap[at] = Object::Lost(self.refused(call, "a list or a dictionary after this").problems);
            }
            Ok(_) => {}
            Err(miss) => {
                let local = format!("{}#{}", self.state.frames.len(), self.script.squeezed(node));
                let spot = self.script.spot(call);
                self.touch(miss.path.as_deref().unwrap_or(&local), spot);
            }
        }
    }

    /// Assigns to a member or an element.
    pub fn store(&mut self, target: Node<'_>, outcome: Result<Traced, Miss>) {
        let object = target.child_by_field_name("object").or_else(|| target.child_by_field_name("value"));
        let Some(object) = object else { return };
        let index = target.child_by_field_name("subscript");
        let key = match (target.child_by_field_name("attribute"), index) {
            (Some(name), _) => Some(format!(".{}", self.script.text(name))),
            (None, Some(index)) => self.value(index).ok().and_then(|index| super::expression::key(&index.value)),
            (None, None) => None,
        };
        match self.value(object) {
            Ok(Traced { value: Py::Object(at), .. }) => {
                let index = index.map(|index| self.value(index));
                let lost = self.refused(target, "a list or a dictionary after this").problems;
                self.element_stored(at, index, outcome, lost);
            }
            Ok(_) => {}
            Err(miss) => {
                let local = format!("{}#{}", self.state.frames.len(), self.script.squeezed(object));
                let path = miss.path.unwrap_or(local);
                match key {
                    Some(key) => {
                        let path = format!("{path}{key}");
                        self.state.members.retain(|member, _| !super::machine::within(member, &path));
                        self.state.members.insert(
                            path,
                            outcome.map_or_else(|miss| Slot::Lost(Miss { path: None, ..miss }), Slot::Bound),
                        );
                    }
                    None => {
                        let spot = self.script.spot(target);
                        self.touch(&path, spot);
                    }
                }
            }
        }
    }

    fn element_stored(
        &mut self,
        at: usize,
        index: Option<super::machine::Outcome>,
        outcome: super::machine::Outcome,
        lost: Problems,
    ) {
        let known = match (index, outcome) {
            (Some(Ok(index)), Ok(value)) => Some((index, value)),
            _ => None,
        };
        match (&mut self.state.heap[at], known) {
            (Object::Dict(list), Some((index, value))) => {
                match list.iter_mut().find(|(known, _)| super::operate::equal(&known.value, &index.value) == Some(true))
                {
                    Some((_, old)) => *old = value,
                    None => list.push((index, value)),
                }
            }
            (Object::List(list), Some((index, value))) => {
                let length = list.len() as i128;
                let place = index.value.int().map(|i| if i < 0 { i + length } else { i });
                match place.and_then(|i| usize::try_from(i).ok()).and_then(|i| list.get_mut(i)) {
                    Some(old) => *old = value,
                    None => self.state.heap[at] = Object::Lost(lost),
                }
            }
            (object, _) => *object = Object::Lost(lost),
        }
    }
}
