//! What a piece of code may change beside giving a value.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::poison::{EMIT_NAMES, emits, is_emission};
use super::text::is_format;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, any, children};
use crate::read::cxx::functions::Function;
use crate::read::cxx::integer::IntegerType;

/// Functions that change none of their arguments.
const PURE: &[&str] = &[
    "abs",
    "align",
    "align_up",
    "assert",
    "cdiv",
    "ceil",
    "ceil_div",
    "clamp",
    "dim3",
    "div_ceil",
    "div_up",
    "exp",
    "exp2",
    "fabs",
    "floor",
    "fprintf",
    "gcd",
    "lcm",
    "log",
    "log2",
    "make_pair",
    "make_tuple",
    "max",
    "min",
    "next_power_of_2",
    "pow",
    "printf",
    "puts",
    "round",
    "round_up",
    "sizeof",
    "sqrt",
    "static_assert",
    "string",
    "strlen",
    "to_string",
];

/// Methods that change neither their object nor their arguments.
const PURE_METHODS: &[&str] = &[
    "at",
    "back",
    "c_str",
    "compare",
    "contains",
    "count",
    "dim",
    "empty",
    "extent",
    "find",
    "front",
    "get",
    "length",
    "rank",
    "shape",
    "size",
    "str",
    "stride",
    "strides",
    "substr",
    "to_string",
    "value",
];

/// Functions whose argument is what they are given.
const TRANSPARENT: &[&str] = &["addressof", "forward", "move", "ref"];

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
    /// What emits somewhere in the function, as it is written.
    emitters: BTreeSet<String>,
    /// Classes of the text that hold neither references nor pointers.
    plain: OnceCell<BTreeSet<String>>,
}

impl Surroundings {
    /// Of one function's body, `all` being the functions of the text.
    pub fn of(document: &Document, all: &[Function<'_>], body: Node<'_>) -> Self {
        let mut out = Surroundings::default();
        for function in all {
            let last = function.name.rsplit("::").next().unwrap_or_default().to_owned();
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
        is_conversion(declared)
            || matches!(declared, "" | "dim3")
            || declared.starts_with("std::")
            || declared.ends_with("_t")
            || self.plain.get_or_init(|| plain(document)).contains(declared)
    }

    /// Everything that may be changed within `node`, in order; what may emit out of sight goes to `hidden`.
    pub fn changes<'t>(&self, document: &Document, node: Node<'t>, hidden: &mut Vec<Node<'t>>) -> Vec<Change<'t>> {
        let mut out = vec![];
        let mut open = vec![(node, None)];
        while let Some((node, lambda)) = open.pop() {
            let within: Option<Node<'t>> = lambda;
            let from = out.len();
            match node.kind() {
                "assignment_expression" => {
                    let right = node.child_by_field_name("right").unwrap_or(node);
                    let plain = node.child_by_field_name("operator").is_some_and(|o| document.text(o) == "=");
                    let how = if plain { How::Assigned(right) } else { How::Stepped };
                    targets(node.child_by_field_name("left"), node, how, &mut out);
                }
                "update_expression" => targets(node.child_by_field_name("argument"), node, How::Stepped, &mut out),
                "pointer_expression" if document.text(node).starts_with('&') => {
                    let how = if is_argument(node) { How::Addressed } else { How::Aliased };
                    targets(node.child_by_field_name("argument"), node, how, &mut out);
                }
                "call_expression" => self.call(document, node, hidden, &mut out),
                "binary_expression" if extracts(document, node) => {
                    targets(node.child_by_field_name("right"), node, How::Stepped, &mut out);
                }
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
                    }
                    continue;
                }
                _ => {}
            }
            if let Some(lambda) = within {
                for change in &mut out[from..] {
                    (change.by, change.how) = (lambda, How::Aliased);
                }
            }
            let mut inner = children(node);
            inner.reverse();
            open.extend(inner.into_iter().map(|child| (child, within)));
        }
        out
    }

    fn call<'t>(&self, document: &Document, node: Node<'t>, hidden: &mut Vec<Node<'t>>, out: &mut Vec<Change<'t>>) {
        let Some(callee) = Callee::of(document, node) else { return };
        let last = callee.last();
        if TRANSPARENT.contains(&last) && callee.receiver.is_none() || is_emission(&callee) || is_format(&callee) {
            return;
        }
        let is_emitter = |part: Node<'t>| self.emitters.contains(&document.squeezed(behind(document, part)));
        let own = callee.receiver.is_some_and(is_emitter);
        let known = EMIT_NAMES.contains(&last) || matches!(last, "inc_indent" | "dec_indent" | "reserve");
        let pure = match callee.receiver {
            Some(_) => PURE_METHODS.contains(&last) && (last != "str" || callee.arguments.is_empty()),
            None => PURE.contains(&last) || is_conversion(last) || casts(document, &callee),
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
        for (index, argument) in callee.arguments.iter().enumerate() {
            if argument.kind() == "pointer_expression" {
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

/// The classes of a text that hold neither references nor pointers.
fn plain(document: &Document) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    any(document.root(), |node| {
        if matches!(node.kind(), "struct_specifier" | "class_specifier")
            && let (Some(name), Some(body)) = (node.child_by_field_name("name"), node.child_by_field_name("body"))
            && !document.squeezed(body).contains(['&', '*'])
        {
            out.insert(document.squeezed(name));
        }
        false
    });
    out
}

/// Whether a call is a cast, but not to a reference.
fn casts(document: &Document, callee: &Callee<'_>) -> bool {
    let refers = callee.template_arguments.iter().any(|of| document.text(*of).contains('&'));
    callee.last().ends_with("_cast") && !refers
}

/// Whether this is the name of an arithmetic type.
fn is_conversion(name: &str) -> bool {
    IntegerType::of(name).is_some() || matches!(name, "bool" | "float" | "double")
}

/// For each parameter, whether it is a reference or a pointer to something that is not `const`.
fn changing(document: &Document, function: &Function<'_>) -> Vec<bool> {
    let one = |node: Node<'_>| {
        let text = document.squeezed(node);
        let constant = text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "const");
        text.contains(['&', '*']) && !constant
    };
    children(function.parameters).into_iter().map(one).collect()
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
        };
        (found.iter().map(|c| format!("{}:{}", document.squeezed(c.target), word(c.how))).collect(), hidden.len())
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
