//! What a piece of code may change beside giving a value.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::declarator::{Form, declarator, is_view};
use super::poison::{EMIT_NAMES, emits, is_emission};
use super::pure::{PURE_METHODS, TRANSPARENT, casts, changing, classes, is_conversion, is_pure, refers};
use super::refer;
use super::text::is_format;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, any, children, fields};
use crate::read::cxx::functions::Function;

/// How something is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How<'t> {
    /// Assigned from this.
    Assigned(Node<'t>),
    /// Stepped, or assigned in a way that names no value.
    Stepped,
    /// Handed to a call by its address.
    Addressed,
    /// Handed to a call that may take a reference.
    Called,
    /// Reachable by another name from here on: a lambda, a reference, a pointer.
    Aliased,
    /// The same if it is an array: a pointer is made from its name.
    Decayed,
}

/// One thing that may be changed.
#[derive(Debug)]
pub struct Change<'t> {
    /// The local, member or element.
    pub target: Node<'t>,
    /// What changes it.
    pub by: Node<'t>,
    /// How.
    pub how: How<'t>,
}

/// What a site says of functions and emitters.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// For each function of the text, by its unqualified name: which parameters it may change.
    functions: BTreeMap<String, Vec<Vec<bool>>>,
    /// Those that give a reference, a pointer or a view.
    referring: BTreeSet<String>,
    /// What emits somewhere in the function, as it is written.
    emitters: BTreeSet<String>,
    /// Classes of the text, each with whether it holds references or pointers.
    classes: OnceCell<BTreeMap<String, bool>>,
}

impl Surroundings {
    /// Of one function's body, `all` being the functions of the text.
    pub fn of(document: &Document, all: &[Function<'_>], body: Node<'_>) -> Self {
        let mut out = Surroundings::default();
        for function in all {
            let last = function.name.rsplit("::").next().unwrap_or_default().to_owned();
            if refers(document, function) {
                out.referring.insert(last.clone());
            }
            out.functions.entry(last).or_default().push(changing(document, function));
        }
        any(body, |node| {
            out.emitters.extend(emitter(document, node));
            false
        });
        out
    }

    /// Whether an object of this type keeps no reference to what it is made from.
    pub fn is_plain(&self, document: &Document, declared: &str) -> bool {
        let holds = |text: &str| text.contains(['&', '*']) || text.contains("reference_wrapper");
        is_conversion(declared)
            || matches!(declared, "" | "dim3")
            || declared.starts_with("std::") && !holds(declared) && !is_view(declared)
            || declared.ends_with("_t")
            || self.classes(document).get(declared) == Some(&false)
    }

    /// Whether this is a class of the text that holds references or pointers.
    pub fn keeps(&self, document: &Document, name: &str) -> bool {
        self.classes(document).get(name) == Some(&true)
    }

    fn classes(&self, document: &Document) -> &BTreeMap<String, bool> {
        self.classes.get_or_init(|| classes(document))
    }

    /// Whether the text holds a function of this name.
    pub fn knows(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }

    /// Whether the text holds a function of this name that gives a reference, a pointer or a view.
    pub fn may_refer(&self, name: &str) -> bool {
        self.referring.contains(name)
    }

    /// Everything that may be changed within `node`, in order; what may emit out of sight goes to `hidden`.
    pub fn changes<'t>(&self, document: &Document, node: Node<'t>, hidden: &mut Vec<Node<'t>>) -> Vec<Change<'t>> {
        let mut out = vec![];
        let mut open = vec![(node, None)];
        let mut loops = vec![];
        while let Some((node, lambda)) = open.pop() {
            let within: Option<Node<'t>> = lambda;
            let from = out.len();
            match node.kind() {
                "assignment_expression" => {
                    let right = node.child_by_field_name("right").unwrap_or(node);
                    let plain = node.child_by_field_name("operator").is_some_and(|o| document.text(o) == "=");
                    if names_array(document, node) {
                        targets(Some(right), node, How::Aliased, &mut out);
                    }
                    let how = if plain { How::Assigned(right) } else { How::Stepped };
                    targets(node.child_by_field_name("left"), node, how, &mut out);
                    out.extend(decayed(self, document, node, right));
                }
                "update_expression" => targets(node.child_by_field_name("argument"), node, How::Stepped, &mut out),
                "pointer_expression" if document.text(node).starts_with('&') => {
                    let how = if is_argument(node) { How::Addressed } else { How::Aliased };
                    targets(node.child_by_field_name("argument"), node, how, &mut out);
                }
                "call_expression" => self.call(document, node, hidden, &mut out),
                "compound_literal_expression" => self.kept(document, node, &mut out),
                "binary_expression" if extracts(document, node) => {
                    targets(node.child_by_field_name("right"), node, How::Stepped, &mut out);
                }
                "declaration" => self.declared(document, node, &mut out),
                "for_range_loop" => loops.push(node),
                "lambda_expression" if within.is_none() => {
                    let captures = node.child_by_field_name("captures").map(|c| document.text(c).into_owned());
                    if emits(document, node) {
                        hidden.push(node);
                    }
                    if !captures.is_some_and(|c| c.contains('&') || c.contains("this")) {
                        continue;
                    }
                    if let Some(body) = node.child_by_field_name("body") {
                        open.push((body, Some(node)));
                        given(document, node, body, &mut out);
                    }
                    open.extend(node.child_by_field_name("captures").map(|captures| (captures, None)));
                    continue;
                }
                _ => {}
            }
            if let Some(lambda) = within {
                for change in out[from..].iter_mut().filter(|change| change.how != How::Decayed) {
                    (change.by, change.how) = (lambda, How::Aliased);
                }
            }
            let mut inner = children(node);
            inner.reverse();
            open.extend(inner.into_iter().map(|child| (child, within)));
        }
        // The elements of an outer loop may be what an inner one goes over.
        for node in loops.into_iter().rev() {
            self.repeated(document, node, &mut out);
        }
        out
    }

    /// What the references and pointers of a declaration may change from here on; addresses are found by themselves.
    fn declared<'t>(&self, document: &Document, node: Node<'t>, out: &mut Vec<Change<'t>>) {
        let of = node.child_by_field_name("type").map(|of| document.squeezed(of)).unwrap_or_default();
        for one in fields(node, "declarator") {
            let one = declarator(document, node, one);
            let mut found = vec![];
            let from = one.value.into_iter().chain(one.arguments.iter().copied());
            let how = match one.form {
                _ if one.guarded => continue,
                Form::Reference => How::Aliased,
                Form::Value if is_view(&of) && !of.contains("string_view") => How::Aliased,
                Form::Value if of != "auto" => continue,
                _ => How::Decayed,
            };
            for node in from {
                match one.form {
                    Form::Reference => refer::referents(self, document, node, &mut found),
                    _ => refer::pointees(self, document, node, &mut found),
                }
            }
            out.extend(found.into_iter().map(|target| Change { target, by: node, how }));
        }
    }

    /// What a range `for` changes through the name of its elements, given all that is changed within.
    fn repeated<'t>(&self, document: &Document, node: Node<'t>, out: &mut Vec<Change<'t>>) {
        let (Some(over), Some(how)) = (node.child_by_field_name("right"), changes_elements(document, node, out)) else {
            return;
        };
        let mut found = vec![];
        refer::referents(self, document, over, &mut found);
        out.extend(found.into_iter().map(|target| Change { target, by: node, how }));
    }

    /// What `TYPE{…}` may keep references to.
    fn kept<'t>(&self, document: &Document, node: Node<'t>, out: &mut Vec<Change<'t>>) {
        let of = node.child_by_field_name("type").map(|of| document.squeezed(of)).unwrap_or_default();
        let refers = is_view(&of) || of.starts_with("std::") && !self.is_plain(document, &of);
        if !self.keeps(document, &of) && !refers || of.contains("string_view") {
            return;
        }
        for argument in node.child_by_field_name("value").map(children).unwrap_or_default() {
            if matches!(argument.kind(), "identifier" | "field_expression" | "subscript_expression") {
                out.push(Change { target: argument, by: node, how: How::Aliased });
            }
        }
    }

    fn call<'t>(&self, document: &Document, node: Node<'t>, hidden: &mut Vec<Node<'t>>, out: &mut Vec<Change<'t>>) {
        let Some(callee) = Callee::of(document, node) else { return };
        let last = callee.last();
        if matches!(last, "ref" | "addressof") && callee.receiver.is_none() && !is_argument(node) {
            callee.arguments.iter().for_each(|argument| targets(Some(*argument), node, How::Aliased, out));
        }
        if TRANSPARENT.contains(&last) && callee.receiver.is_none() || is_emission(&callee) || is_format(&callee) {
            return;
        }
        let is_emitter = |part: Node<'t>| self.emitters.contains(&document.squeezed(behind(document, part)));
        let own = callee.receiver.is_some_and(is_emitter);
        let known = EMIT_NAMES.contains(&last) || matches!(last, "inc_indent" | "dec_indent" | "reserve");
        let pure = match callee.receiver {
            Some(_) => PURE_METHODS.contains(&last) && (last != "str" || callee.arguments.is_empty()),
            None => is_pure(last) || casts(document, &callee),
        };
        if own && !known && !pure || callee.arguments.iter().any(|argument| is_emitter(*argument)) {
            hidden.push(node);
        }
        if pure || own {
            return;
        }
        if let Some(receiver) = callee.receiver {
            targets(Some(receiver), node, How::Called, out);
        }
        let assigned = node.parent().is_some_and(|parent| parent.kind() == "assignment_expression");
        let bound = matches!(last, "tie" | "forward_as_tuple") && !assigned;
        let keeps = callee.receiver.is_none() && (self.keeps(document, last) || bound);
        for (index, argument) in callee.arguments.iter().enumerate() {
            if argument.kind() == "pointer_expression" {
                continue;
            }
            if keeps {
                targets(Some(behind(document, *argument)), node, How::Aliased, out);
                continue;
            }
            if callee.receiver.is_some() || self.may_change(last, callee.arguments.len(), index) {
                targets(Some(behind(document, *argument)), node, How::Called, out);
            }
        }
    }

    /// Whether a call of this name may change its argument; a function that the text does not hold may.
    fn may_change(&self, name: &str, count: usize, index: usize) -> bool {
        let Some(all) = self.functions.get(name) else { return true };
        let mut fitting = all.iter().filter(|parameters| parameters.len() >= count).peekable();
        fitting.peek().is_none() || fitting.any(|parameters| parameters[index])
    }
}

/// The emitter that a node emits through, as it is written.
fn emitter(document: &Document, node: Node<'_>) -> Option<String> {
    match node.kind() {
        "call_expression" => {
            let callee = Callee::of(document, node).filter(is_emission)?;
            callee.receiver.map(|receiver| document.squeezed(receiver))
        }
        "binary_expression" => {
            let right = node.child_by_field_name("right")?;
            let inserts = node.child_by_field_name("operator").is_some_and(|o| document.text(o) == "<<");
            if !inserts || !right.kind().ends_with("string_literal") {
                return None;
            }
            let mut left = node.child_by_field_name("left")?;
            while left.kind() == "binary_expression" {
                left = left.child_by_field_name("left")?;
            }
            Some(document.squeezed(left))
        }
        _ => None,
    }
}

/// `in >> x` as a statement, or from something that is called a stream.
fn extracts(document: &Document, node: Node<'_>) -> bool {
    let is = |node: Node<'_>| {
        node.kind() == "binary_expression"
            && node.child_by_field_name("operator").is_some_and(|o| document.text(o) == ">>")
    };
    let mut leftmost = node;
    while is(leftmost) {
        match leftmost.child_by_field_name("left") {
            Some(left) => leftmost = left,
            None => break,
        }
    }
    let mut outermost = node;
    while let Some(parent) = outermost.parent().filter(|parent| is(*parent)) {
        outermost = parent;
    }
    let name = document.text(leftmost);
    let stream = matches!(&*name, "in" | "is" | "ss" | "cin" | "std::cin") || name.ends_with("stream");
    is(node) && (stream || outermost.parent().is_some_and(|parent| parent.kind() == "expression_statement"))
}

/// What stands behind `&x`, `std::move(x)`, `(x)`.
fn behind<'t>(document: &Document, node: Node<'t>) -> Node<'t> {
    let mut node = node;
    loop {
        let inner = match node.kind() {
            "parenthesized_expression" => children(node).first().copied(),
            "pointer_expression" if document.text(node).starts_with('&') => node.child_by_field_name("argument"),
            "call_expression" => Callee::of(document, node)
                .filter(|callee| TRANSPARENT.contains(&callee.last()) && callee.receiver.is_none())
                .and_then(|callee| callee.arguments.first().copied()),
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => return node,
        }
    }
}

/// Whether an address is taken for a call only.
fn is_argument(node: Node<'_>) -> bool {
    let mut parent = node.parent();
    while let Some(outer) = parent.filter(|p| p.kind() == "parenthesized_expression") {
        parent = outer.parent();
    }
    let list = parent.filter(|p| p.kind() == "argument_list");
    list.and_then(|list| list.parent()).is_some_and(|call| call.kind() == "call_expression")
}

/// Whether this is `int (&r)[2] = t`, which the grammar takes for an assignment to an element of what a call gives.
pub fn names_array(document: &Document, assignment: Node<'_>) -> bool {
    let left = assignment.child_by_field_name("left").filter(|left| left.kind() == "subscript_expression");
    let call = left.and_then(|left| left.child_by_field_name("argument"));
    let callee = call.and_then(|call| call.child_by_field_name("function"));
    callee.is_some_and(|callee| {
        let of = document.text(callee);
        is_conversion(&of) || of == "auto"
    })
}

/// What a lambda gives by reference.
fn given<'t>(document: &Document, lambda: Node<'t>, body: Node<'t>, out: &mut Vec<Change<'t>>) {
    let head = String::from_utf8_lossy(&document.stripped[lambda.start_byte()..body.start_byte()]).into_owned();
    if !head.split_once("->").is_some_and(|(_, of)| of.contains(['&', '*']) || of.contains("decltype")) {
        return;
    }
    let mut open = vec![body];
    while let Some(node) = open.pop() {
        if node.kind() == "return_statement" {
            targets(children(node).first().copied(), lambda, How::Aliased, out);
        }
        open.extend(children(node));
    }
}

/// Arrays that an assignment may take the address of.
pub fn decayed<'t>(
    surroundings: &Surroundings,
    document: &Document,
    by: Node<'t>,
    value: Node<'t>,
) -> impl Iterator<Item = Change<'t>> {
    let mut found = vec![];
    refer::pointees(surroundings, document, value, &mut found);
    let names = found.into_iter().filter(|target| target.kind() == "identifier");
    names.map(move |target| Change { target, by, how: How::Decayed })
}

/// How the body of a range `for` changes what the loop goes over through the name of its elements, if it does; `changes`
/// are those of the body and maybe of more.
pub fn changes_elements<'t>(document: &Document, node: Node<'_>, changes: &[Change<'_>]) -> Option<How<'t>> {
    let (one, body) = (node.child_by_field_name("declarator")?, node.child_by_field_name("body")?.byte_range());
    let one = declarator(document, node, one);
    let names: Vec<String> = one.names.iter().map(|name| document.squeezed(*name)).collect();
    let through = |change: &&Change<'_>| {
        if !body.contains(&change.target.start_byte()) {
            return false;
        }
        let text = document.squeezed(change.target);
        let rest = names.iter().find_map(|name| text.strip_prefix(name.as_str()));
        rest.is_some_and(|rest| match (one.form, one.guarded) {
            (Form::Reference, false) => !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'),
            _ => rest.starts_with("->"),
        })
    };
    let word = |change: &Change<'_>| match change.how {
        How::Aliased | How::Decayed => How::Aliased,
        How::Called | How::Addressed => How::Called,
        How::Assigned(_) | How::Stepped => How::Stepped,
    };
    let all: Vec<How<'t>> = changes.iter().filter(through).map(word).collect();
    [How::Aliased, How::Stepped, How::Called].into_iter().find(|how| all.contains(how))
}

/// The places that a target names: itself, or every name within, where it is no plain place.
pub fn targets<'t>(target: Option<Node<'t>>, by: Node<'t>, how: How<'t>, out: &mut Vec<Change<'t>>) {
    let Some(target) = target else { return };
    match target.kind() {
        "identifier" | "field_expression" | "subscript_expression" => out.push(Change { target, by, how }),
        _ if matches!(how, How::Called | How::Addressed) => {}
        _ => {
            let mut open = vec![target];
            while let Some(node) = open.pop() {
                match node.kind() {
                    "identifier" | "field_expression" | "subscript_expression" => {
                        out.push(Change { target: node, by, how });
                    }
                    "call_expression" => {
                        let receiver =
                            node.child_by_field_name("function").and_then(|f| f.child_by_field_name("argument"));
                        open.extend(receiver);
                        open.extend(node.child_by_field_name("arguments").map(children).unwrap_or_default());
                    }
                    _ => open.extend(children(node)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{How, Surroundings};
    use crate::read::cxx::document::{Document, Grammar};
    use crate::read::cxx::functions::functions;
    use crate::read::cxx::mask::MaskOptions;
    use crate::source::Source;

    /// `NAME:HOW` for everything that the body of `f` may change, and how many of its parts emit out of sight.
    fn changes(body: &str) -> (Vec<String>, usize) {
        let text = format!("int half(int n) {{}} void grow(int &n, int by) {{}} void f() {{ out.e(\"x\"); {body} }}");
        let document = Document::parse(&Source::new("x", text), Grammar::Cpp, &MaskOptions::default());
        let all = functions(&document);
        let body = all.iter().find(|f| f.name == "f").and_then(|f| f.body).unwrap();
        let mut hidden = vec![];
        let found = Surroundings::of(&document, &all, body).changes(&document, body, &mut hidden);
        let word = |how| match how {
            How::Assigned(_) => "assigned",
            How::Stepped => "stepped",
            How::Addressed => "addressed",
            How::Called => "called",
            How::Aliased => "aliased",
            How::Decayed => unreachable!("left out"),
        };
        let found = found.iter().filter(|c| c.how != How::Decayed);
        (found.map(|c| format!("{}:{}", document.squeezed(c.target), word(c.how))).collect(), hidden.len())
    }

    #[test]
    fn everything_that_changes_is_named() {
        for (body, expected) in [
            ("int a = n++ + (m = 4);", vec!["n:stepped", "m:assigned"]),
            ("if (a[i] += 2) {}", vec!["a[i]:stepped"]),
            ("half(n); grow(n, m); std::min(n, m); static_cast<int>(n); int x = c.size();", vec!["n:called"]),
            ("unheard(n, 3, c.m, g(k));", vec!["n:called", "c.m:called", "k:called"]),
            ("fill(&n); p = &m; take(std::move(t));", vec!["n:addressed", "p:assigned", "m:aliased", "t:called"]),
            ("auto f = [&](int x) { n += x; }; auto g = [=] { m += 1; };", vec!["n:aliased"]),
            ("if (x) { int &r = n; auto const &s = m; }", vec!["n:aliased"]),
            (
                "for (auto &x : v) for (auto &y : x) y = 2; for (auto x : w) x = 3;",
                vec!["y:assigned", "x:stepped", "x:assigned", "v:stepped"],
            ),
            ("for (auto *x : v) x->n = 3;", vec!["x->n:assigned", "v:stepped"]),
            ("in >> n; x = y >> m;", vec!["n:stepped", "x:assigned"]),
            (
                "c.fix(); *p = 3; std::tie(a, b) = g();",
                vec!["c:called", "p:assigned", "a:assigned", "b:assigned", "a:called", "b:called"],
            ),
        ] {
            let (mut found, hidden) = changes(body);
            let mut expected: Vec<_> = expected.iter().map(|s| (*s).to_owned()).collect();
            found.sort();
            found.dedup();
            expected.sort();
            assert_eq!((found, hidden), (expected, 0), "{body}");
        }
    }

    #[test]
    fn what_may_emit_out_of_sight_is_found() {
        for (body, count) in [
            ("append(out, 3);", 1),
            ("append(&out);", 1),
            ("out.raw(\"x\");", 1),
            ("auto line = [&](int n) { out.e(\"$\", n); };", 1),
            ("out.inc_indent(); keep(out.to_string());", 0),
        ] {
            assert_eq!(changes(body).1, count, "{body}");
        }
    }
}
