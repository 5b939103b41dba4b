//! What is known of functions and classes: which change nothing, which give what they were given.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::declarator::{is_guarded, is_view};
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, children};
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
pub const PURE_METHODS: &[&str] = &[
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
pub const TRANSPARENT: &[&str] = &["addressof", "forward", "move", "ref"];

/// Whether a function of this name changes none of its arguments.
pub fn is_pure(name: &str) -> bool {
    PURE.contains(&name) || is_conversion(name)
}

/// Whether a call is a cast, but not to a reference.
pub fn casts(document: &Document, callee: &Callee<'_>) -> bool {
    let refers = callee.template_arguments.iter().any(|of| document.text(*of).contains('&'));
    callee.last().ends_with("_cast") && !refers
}

/// Whether this is the name of an arithmetic type.
pub fn is_conversion(name: &str) -> bool {
    IntegerType::of(name).is_some() || matches!(name, "bool" | "float" | "double")
}

/// Shows every node of a text that may declare a type or hold one that does.
pub fn declarations<'d>(document: &'d Document, mut show: impl FnMut(Node<'d>)) {
    let mut open = vec![document.root()];
    while let Some(node) = open.pop() {
        show(node);
        let plain =
            ["expression_statement", "return_statement", "call_expression", "binary_expression", "initializer_list"];
        if !plain.contains(&node.kind()) && !node.kind().ends_with("_literal") {
            open.extend(children(node));
        }
    }
}

/// The classes of a text, each with whether it holds references or pointers.
pub fn classes(document: &Document) -> BTreeMap<String, bool> {
    let mut out = BTreeMap::new();
    declarations(document, |node| {
        if matches!(node.kind(), "struct_specifier" | "class_specifier")
            && let (Some(name), Some(body)) = (node.child_by_field_name("name"), node.child_by_field_name("body"))
        {
            *out.entry(document.squeezed(name)).or_default() |= document.squeezed(body).contains(['&', '*']);
        }
    });
    out
}

/// Whether what a function gives may be something that it was given: it is a reference, a pointer or a view.
pub fn refers(document: &Document, function: &Function<'_>) -> bool {
    let head = &document.stripped[function.outer.start_byte()..function.name_node.start_byte()];
    let head = String::from_utf8_lossy(head).into_owned();
    let end = function.body.map_or(function.outer.end_byte(), |body| body.start_byte());
    let tail = String::from_utf8_lossy(&document.stripped[function.parameters.end_byte()..end]).into_owned();
    let tail = tail.split_once("->").map(|(_, of)| of.to_owned()).unwrap_or_default();
    [head, tail]
        .iter()
        .any(|text| text.contains(['&', '*']) || text.contains("decltype") || text.split_whitespace().any(is_view))
}
/// For each parameter, whether it is a reference or a pointer to something that is not `const`.
pub fn changing(document: &Document, function: &Function<'_>) -> Vec<bool> {
    let one = |node: Node<'_>| {
        let text = document.squeezed(node);
        let of = node.child_by_field_name("type").map(|of| document.squeezed(of)).unwrap_or_default();
        (text.contains(['&', '*', '[']) || is_view(&of)) && !is_guarded(&text)
    };
    children(function.parameters).into_iter().map(one).collect()
}
