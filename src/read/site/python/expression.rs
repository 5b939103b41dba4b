//! Python expressions.

use tree_sitter::Node;

use super::machine::{Machine, Miss, Outcome, Slot};
use super::operate;
use super::value::{Object, Py, Traced, number};
use crate::read::cxx::document::children;
use crate::read::cxx::problem::{Problem, Unknown};

/// Deepest nesting of expressions and calls.
const DEEPEST: usize = 160;

impl Machine<'_> {
    /// The value of an expression.
    pub fn value(&mut self, node: Node<'_>) -> Outcome {
        self.depth += 1;
        let out = if self.depth > DEEPEST {
            Err(self.refused(node, "an expression nested this deep"))
        } else {
            self.expression(node)
        };
        self.depth -= 1;
        out
    }

    fn expression(&mut self, node: Node<'_>) -> Outcome {
        let part = |field| node.child_by_field_name(field);
        match (node.kind(), &children(node)[..]) {
            ("integer" | "float", _) => match number(&self.script.text(node)) {
                Some(value) => Ok(value.into()),
                None => Err(self.refused(node, "this number")),
            },
            ("true", _) => Ok(Py::Bool(true).into()),
            ("false", _) => Ok(Py::Bool(false).into()),
            ("none", _) => Ok(Py::None.into()),
            ("string" | "concatenated_string", _) => self.literal(node),
            ("identifier", _) => self.name(node),
            ("parenthesized_expression", [inner]) => self.value(*inner),
            ("tuple" | "expression_list", parts) => {
                let all = self.all(parts)?;
                let leaves = all.iter().flat_map(|v| v.leaves.clone()).collect();
                Ok(Traced { value: Py::Tuple(all), leaves })
            }
            ("list", parts) => {
                let all = self.all(parts)?;
                Ok(self.allocate(Object::List(all)).into())
            }
            ("dictionary", parts) => self.dictionary(parts),
            ("list_comprehension" | "generator_expression", parts) => self.comprehension(node, parts),
            _ => {
                let text = self.script.squeezed(node);
                if node.kind() != "attribute"
                    && node.kind() != "subscript"
                    && let Some(outcome) = self.whole_leaf(&text, node)
                {
                    return outcome;
                }
                match node.kind() {
                    "attribute" => self.attribute(node),
                    "subscript" => self.subscript(node),
                    "call" => self.call(node),
                    "conditional_expression" => self.conditional(node),
                    "binary_operator" => {
                        let (Some(left), Some(right), Some(operator)) = (part("left"), part("right"), part("operator"))
                        else {
                            return Err(self.refused(node, "this operator"));
                        };
                        let operator = self.script.text(operator);
                        self.binary(node, left, &operator, right)
                    }
                    "unary_operator" => self.unary(node),
                    "not_operator" => {
                        let Some(argument) = part("argument") else { return Err(self.refused(node, "this operator")) };
                        let value = self.value(argument)?;
                        let truth = self.truth_of(&value, argument)?;
                        Ok(value.with(Py::Bool(!truth)))
                    }
                    "boolean_operator" => self.boolean(node),
                    "comparison_operator" => self.comparison(node),
                    kind => {
                        let text = crate::read::site::interpreter::short(&text);
                        Err(self.refused(node, &format!("`{text}` ({})", kind.replace('_', " "))))
                    }
                }
            }
        }
    }

    /// The leaf given for a whole expression.
    fn whole_leaf(&mut self, text: &str, node: Node<'_>) -> Option<Outcome> {
        if !self.leaves.has(text) {
            return None;
        }
        match self.reassigned_within(node) {
            Some(miss) => Some(Err(miss)),
            None => self.leaf(text, node, None),
        }
    }

    /// Why a leaf named by this text is not what was given on entry: a parameter or an object in it changed.
    fn reassigned_within(&mut self, node: Node<'_>) -> Option<Miss> {
        let mut open = vec![node];
        while let Some(inner) = open.pop() {
            if inner.kind() == "identifier" {
                let name = self.script.text(inner);
                if self.frame().reassigned.contains(&name) {
                    return Some(self.refused(node, &format!("an expression with `{name}`, which was assigned,")));
                }
                let path = match self.slot(&name) {
                    Some(Slot::Lost(miss)) => miss.path.clone(),
                    Some(Slot::Bound(_)) => None,
                    _ => Some(name),
                };
                if let Some(path) = path {
                    if let Some(miss) = self.changed(&path, node) {
                        return Some(miss);
                    }
                    let assigned = |member: &&String| super::machine::within(member, &path);
                    if node.kind() == "call"
                        && let Some(member) = self.state.members.keys().find(assigned)
                    {
                        return Some(self.refused(node, &format!("this call after `{member}` was assigned")));
                    }
                }
            }
            open.extend(children(inner));
        }
        None
    }

    /// Values of all nodes, or the problems of all.
    pub fn all(&mut self, nodes: &[Node<'_>]) -> Result<Vec<Traced>, Miss> {
        let (mut values, mut problems) = (vec![], vec![]);
        for node in nodes {
            if node.kind() == "list_splat" {
                return Err(self.refused(*node, "`*` in a list"));
            }
            match self.value(*node) {
                Ok(value) => values.push(value),
                Err(miss) => problems.extend(miss.problems),
            }
        }
        if problems.is_empty() { Ok(values) } else { Err(Miss { problems, path: None }) }
    }

    fn dictionary(&mut self, parts: &[Node<'_>]) -> Outcome {
        let mut out = vec![];
        for part in parts {
            let (Some(key), Some(value)) = (part.child_by_field_name("key"), part.child_by_field_name("value")) else {
                return Err(self.refused(*part, "`**` in a dictionary"));
            };
            let (key, value) = (self.value(key)?, self.value(value)?);
            out.retain(|(known, _): &(Traced, Traced)| operate::equal(&known.value, &key.value) != Some(true));
            out.push((key, value));
        }
        Ok(self.allocate(Object::Dict(out)).into())
    }

    /// `[body for name in list if condition]`, with one `for`.
    fn comprehension(&mut self, node: Node<'_>, parts: &[Node<'_>]) -> Outcome {
        let ([body, source, conditions @ ..], true) =
            (parts, parts.iter().filter(|p| p.kind() == "for_in_clause").count() == 1)
        else {
            return Err(self.refused(node, "a comprehension with more than one `for`"));
        };
        let (Some(left), Some(right)) = (source.child_by_field_name("left"), source.child_by_field_name("right"))
        else {
            return Err(self.refused(node, "this comprehension"));
        };
        let over = self.value(right)?;
        let kept = self.frame().clone();
        let mut out = vec![];
        for element in self.elements(&over, right)? {
            self.unpack(left, Ok(element), left);
            let mut keep = true;
            for condition in conditions {
                let inner = children(*condition).first().copied().unwrap_or(*condition);
                match self.value(inner).and_then(|value| self.truth_of(&value, inner)) {
                    Ok(truth) => keep &= truth,
                    Err(miss) => {
                        *self.frame() = kept;
                        return Err(miss);
                    }
                }
            }
            if keep {
                match self.value(*body) {
                    Ok(value) => out.push(value.joined(&over)),
                    Err(miss) => {
                        *self.frame() = kept;
                        return Err(miss);
                    }
                }
            }
        }
        *self.frame() = kept;
        Ok(self.allocate(Object::List(out)).into())
    }

    fn unknown(&self, node: Node<'_>, name: &str, path: Option<String>) -> Miss {
        let used = self.script.spot(node);
        let unknown = Problem::Unknown(Unknown { name: name.to_owned(), used, assigned: None, changed: false });
        Miss { problems: vec![unknown], path }
    }

    fn name(&mut self, node: Node<'_>) -> Outcome {
        let name = self.script.text(node);
        match self.slot(&name) {
            Some(Slot::Bound(value)) => Ok(value.clone()),
            Some(Slot::Lost(miss)) => {
                let mut miss = miss.clone();
                for problem in &mut miss.problems {
                    if let Problem::Unknown(unknown) = problem {
                        unknown.used = self.script.spot(node);
                    }
                }
                Err(miss)
            }
            Some(Slot::Entry) | None => {
                if let Some(outcome) = self.leaf(&name, node, None) {
                    return outcome;
                }
                Err(self.unknown(node, &name, Some(name.clone())))
            }
        }
    }

    /// A member or an element of an outside object: what the site assigned to it, or its leaf.
    fn outside(&mut self, node: Node<'_>, object: Miss, base: Node<'_>, rest: &str) -> Outcome {
        let raw = self.script.squeezed(node);
        let path = object.path.as_ref().map(|path| format!("{path}{rest}"));
        let key =
            path.clone().unwrap_or_else(|| format!("{}#{}{rest}", self.state.frames.len(), self.script.squeezed(base)));
        match self.state.members.get(&key) {
            Some(Slot::Bound(value)) => return Ok(value.clone()),
            Some(Slot::Lost(miss)) => return Err(miss.clone()),
            Some(Slot::Entry) | None => {}
        }
        for name in path.iter().flat_map(|path| [path.clone(), path.replace('"', "'")]) {
            if self.leaves.has(&name)
                && let Some(outcome) =
                    self.changed(&name, node).map_or_else(|| self.leaf(&name, node, None), |m| Some(Err(m)))
            {
                return outcome;
            }
        }
        if let Some(outcome) = self.whole_leaf(&raw, node) {
            return outcome;
        }
        if path.is_none() && !object.problems.iter().all(|p| matches!(p, Problem::Unknown(_))) {
            return Err(object);
        }
        if let Some(miss) = path.as_deref().and_then(|path| self.changed(path, node)) {
            return Err(miss);
        }
        Err(self.unknown(node, path.as_deref().unwrap_or(&raw), path.clone()))
    }

    fn attribute(&mut self, node: Node<'_>) -> Outcome {
        let (Some(object), Some(name)) = (node.child_by_field_name("object"), node.child_by_field_name("attribute"))
        else {
            return Err(self.refused(node, "this member"));
        };
        let name = self.script.text(name);
        match self.value(object) {
            Err(miss) => self.outside(node, miss, object, &format!(".{name}")),
            Ok(value) => {
                let text = self.script.squeezed(node);
                if let Some(outcome) = self.whole_leaf(&text, node) {
                    return outcome;
                }
                Err(self.refused(node, &format!("the member `{name}` of {}", value.value.kind())))
            }
        }
    }

    fn subscript(&mut self, node: Node<'_>) -> Outcome {
        let mut cursor = node.walk();
        let indices: Vec<_> = node.children_by_field_name("subscript", &mut cursor).collect();
        let (Some(object), [index]) = (node.child_by_field_name("value"), &indices[..]) else {
            return Err(self.refused(node, "this subscript"));
        };
        if index.kind() == "slice" {
            let text = self.script.squeezed(node);
            return self.whole_leaf(&text, node).unwrap_or_else(|| Err(self.refused(node, "a slice")));
        }
        let object_value = self.value(object);
        let index_value = self.value(*index);
        match (object_value, index_value) {
            (Err(miss), index_value) => {
                let rest = index_value.map(|index| key(&index.value)).unwrap_or_default();
                let rest = rest.unwrap_or_else(|| format!("[{}]", self.script.squeezed(*index)));
                self.outside(node, miss, object, &rest)
            }
            (Ok(value), Ok(index_value)) => self.element(node, value, &index_value),
            (Ok(_), Err(miss)) => {
                let text = self.script.squeezed(node);
                self.whole_leaf(&text, node).unwrap_or(Err(miss))
            }
        }
    }

    fn element(&mut self, node: Node<'_>, value: Traced, index: &Traced) -> Outcome {
        let missing = |machine: &Self| {
            Miss::from(Problem::Undefined {
                what: "the list or the dictionary has no such element".to_owned(),
                at: machine.script.spot(node),
            })
        };
        if let Py::Object(at) = value.value
            && let Object::Dict(list) = &self.state.heap[at]
        {
            let found = list.iter().find(|(key, _)| operate::equal(&key.value, &index.value) == Some(true));
            return found.map(|(_, found)| found.clone().joined(&value).joined(index)).ok_or_else(|| missing(self));
        }
        let list = self.elements(&value, node)?;
        let Some(at) = index.value.int() else { return Err(self.refused(node, "an index that is no number")) };
        let at = if at < 0 { at + list.len() as i128 } else { at };
        let found = usize::try_from(at).ok().and_then(|at| list.get(at).cloned());
        found.map(|found| found.joined(&value).joined(index)).ok_or_else(|| missing(self))
    }

    fn conditional(&mut self, node: Node<'_>) -> Outcome {
        let [yes, condition, no] = children(node)[..] else { return Err(self.refused(node, "this conditional")) };
        let value = self.value(condition)?;
        let truth = self.truth_of(&value, condition)?;
        Ok(self.value(if truth { yes } else { no })?.joined(&value))
    }

    /// Whether a value counts as true.
    pub fn truth_of(&self, value: &Traced, node: Node<'_>) -> Result<bool, Miss> {
        Ok(match &value.value {
            Py::None => false,
            Py::Text(pieces) => !pieces.text().is_empty(),
            Py::Float(f) => *f != 0.0,
            Py::Bool(_) | Py::Int(_) => value.value.int() != Some(0),
            Py::Tuple(_) | Py::Object(_) => !self.elements(value, node)?.is_empty(),
        })
    }

    /// `left operator right`, with both sides' problems.
    pub fn binary(&mut self, node: Node<'_>, left: Node<'_>, operator: &str, right: Node<'_>) -> Outcome {
        let first = self.value(left);
        if operator == "%"
            && let Ok(Traced { value: Py::Text(text), .. }) = &first
        {
            let text = text.clone();
            return self.percent(node, &text, right);
        }
        let (first, second) = both(first, self.value(right))?;
        self.operated(node, operator, first, &second)
    }

    /// The result of an operator on values.
    pub fn operated(&mut self, node: Node<'_>, operator: &str, left: Traced, right: &Traced) -> Outcome {
        if let (Py::Object(_), Py::Object(_), "+") = (&left.value, &right.value, operator) {
            let mut all = self.elements(&left, node)?;
            all.extend(self.elements(right, node)?);
            return Ok(left.joined(right).with(self.allocate(Object::List(all))));
        }
        match operate::binary(operator, &left.value, &right.value) {
            Ok(value) => Ok(left.joined(right).with(value)),
            Err(what) if what.ends_with("by zero") => {
                Err(Problem::Undefined { what, at: self.script.spot(node) }.into())
            }
            Err(what) => Err(self.refused(node, &what)),
        }
    }

    fn unary(&mut self, node: Node<'_>) -> Outcome {
        let (Some(operator), Some(argument)) =
            (node.child_by_field_name("operator"), node.child_by_field_name("argument"))
        else {
            return Err(self.refused(node, "this operator"));
        };
        let value = self.value(argument)?;
        let operator = self.script.text(operator);
        let out = match (operator.as_str(), &value.value) {
            ("-", Py::Float(f)) => Py::Float(-f),
            ("+", Py::Float(f)) => Py::Float(*f),
            (operator, other) => match (operator, other.int()) {
                ("-", Some(i)) => Py::Int(-i),
                ("+", Some(i)) => Py::Int(i),
                ("~", Some(i)) => Py::Int(!i),
                _ => return Err(self.refused(node, &format!("`{operator}` on {}", other.kind()))),
            },
        };
        Ok(value.with(out))
    }

    fn boolean(&mut self, node: Node<'_>) -> Outcome {
        let part = |field| node.child_by_field_name(field);
        let (Some(left), Some(right), Some(operator)) = (part("left"), part("right"), part("operator")) else {
            return Err(self.refused(node, "this operator"));
        };
        let decisive = self.script.text(operator) == "or";
        match self.value(left) {
            Ok(first) if self.truth_of(&first, left)? == decisive => Ok(first),
            Ok(first) => Ok(self.value(right)?.joined(&first)),
            Err(mut miss) => {
                if let Err(more) = self.value(right) {
                    miss.problems.extend(more.problems);
                }
                Err(Miss { path: None, ..miss })
            }
        }
    }

    fn comparison(&mut self, node: Node<'_>) -> Outcome {
        let mut cursor = node.walk();
        let operators: Vec<String> =
            node.children_by_field_name("operators", &mut cursor).map(|o| self.script.squeezed(o)).collect();
        let operands = children(node);
        let values = self.all(&operands)?;
        let mut out = true;
        for (index, operator) in operators.iter().enumerate() {
            let (Some(left), Some(right)) = (values.get(index), values.get(index + 1)) else { break };
            out &= match operator.as_str() {
                "in" | "not in" => self.contains(node, left, right)? == (operator == "in"),
                _ => operate::compare(operator, &left.value, &right.value).map_err(|what| self.refused(node, &what))?,
            };
        }
        let leaves = values.into_iter().flat_map(|value| value.leaves).collect();
        Ok(Traced { value: Py::Bool(out), leaves })
    }

    fn contains(&self, node: Node<'_>, item: &Traced, list: &Traced) -> Result<bool, Miss> {
        if let (Py::Text(item), Py::Text(text)) = (&item.value, &list.value) {
            return Ok(text.text().contains(&item.text()));
        }
        for element in self.elements(list, node)? {
            match operate::equal(&element.value, &item.value) {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => return Err(self.refused(node, "this comparison")),
            }
        }
        Ok(false)
    }
}

/// `[index]` as it stands in the name of a leaf.
pub fn key(index: &Py) -> Option<String> {
    match index {
        Py::Text(pieces) => Some(format!("[\"{}\"]", pieces.text())),
        Py::Int(i) => Some(format!("[{i}]")),
        _ => None,
    }
}

/// Both values, or the problems of both.
pub fn both(left: Outcome, right: Outcome) -> Result<(Traced, Traced), Miss> {
    match (left, right) {
        (Ok(left), Ok(right)) => Ok((left, right)),
        (Err(mut left), Err(right)) => {
            left.problems.extend(right.problems);
            Err(Miss { path: None, ..left })
        }
        (Err(miss), Ok(_)) | (Ok(_), Err(miss)) => Err(Miss { path: None, ..miss }),
    }
}
