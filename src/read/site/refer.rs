//! What an expression may refer or point to.

use tree_sitter::Node;

use super::declarator::is_view;
use super::effect::Surroundings;
use super::pure::{TRANSPARENT, is_pure};
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, children};

/// Methods that give a value of their own.
const VALUES: &[&str] =
    &["compare", "contains", "count", "empty", "length", "numel", "rank", "size", "str", "substr", "to_string"];

/// Methods and functions that give a pointer, an iterator or a view.
const HANDLES: &[&str] = &[
    "addressof",
    "as_const",
    "begin",
    "c_str",
    "cbegin",
    "cend",
    "cref",
    "crbegin",
    "data",
    "end",
    "find",
    "forward_as_tuple",
    "lower_bound",
    "make_span",
    "rbegin",
    "ref",
    "rend",
    "span",
    "string_view",
    "tie",
    "upper_bound",
];

/// Functions that give back one of their arguments.
const CHOOSING: &[&str] = &["as_const", "clamp", "exchange", "get", "max", "min"];

/// The places that a reference bound to this expression may be another name of.
pub fn referents<'t>(surroundings: &Surroundings, document: &Document, node: Node<'t>, out: &mut Vec<Node<'t>>) {
    let mut again = |inner: Option<Node<'t>>| {
        if let Some(inner) = inner {
            referents(surroundings, document, inner, out);
        }
    };
    let part = |field| node.child_by_field_name(field);
    match node.kind() {
        // In `int &r(n)` the grammar takes `n` for a type.
        "identifier" | "type_identifier" | "field_expression" | "subscript_expression" | "pointer_expression" => {
            out.push(node);
        }
        "parenthesized_expression" | "comma_expression" | "initializer_list" => again(children(node).last().copied()),
        "conditional_expression" => {
            again(part("consequence"));
            again(part("alternative"));
        }
        "assignment_expression" => again(part("left")),
        "update_expression" if document.text(node).starts_with(['+', '-']) => again(part("argument")),
        "cast_expression" if part("type").is_some_and(|of| document.text(of).contains('&')) => again(part("value")),
        "call_expression" => {
            let Some(callee) = Callee::of(document, node) else { return };
            let last = callee.last();
            let refers = callee.template_arguments.iter().any(|of| document.text(*of).contains('&'));
            match callee.receiver {
                Some(receiver) if !VALUES.contains(&last) => again(Some(receiver)),
                Some(_) => {}
                None if last.ends_with("_cast") && !refers => {}
                None if TRANSPARENT.contains(&last) || CHOOSING.contains(&last) || surroundings.may_refer(last) => {
                    for argument in &callee.arguments {
                        again(Some(*argument));
                    }
                }
                None if is_pure(last) => {}
                None if !surroundings.knows(last) => {
                    for argument in &callee.arguments {
                        again(Some(*argument));
                    }
                }
                None => {}
            }
        }
        _ => {}
    }
}

/// The places that a pointer, an iterator or a view made by this expression may reach.
pub fn pointees<'t>(surroundings: &Surroundings, document: &Document, node: Node<'t>, out: &mut Vec<Node<'t>>) {
    let mut again = |inner: Option<Node<'t>>| {
        if let Some(inner) = inner {
            pointees(surroundings, document, inner, out);
        }
    };
    let part = |field| node.child_by_field_name(field);
    match node.kind() {
        "identifier" | "type_identifier" | "field_expression" | "subscript_expression" => out.push(node),
        "parenthesized_expression" | "comma_expression" => again(children(node).last().copied()),
        "conditional_expression" => {
            again(part("consequence"));
            again(part("alternative"));
        }
        "pointer_expression" if document.text(node).starts_with('&') => {
            let mut found = vec![];
            part("argument").into_iter().for_each(|inner| referents(surroundings, document, inner, &mut found));
            out.extend(found.into_iter().map(whole));
        }
        "pointer_expression" => out.push(node),
        "binary_expression" => {
            again(part("left"));
            again(part("right"));
        }
        "cast_expression" => again(part("value")),
        "initializer_list" => {
            for element in children(node) {
                again(Some(element));
            }
        }
        "compound_literal_expression" => again(part("value")),
        "call_expression" => {
            let Some(callee) = Callee::of(document, node) else { return };
            match callee.receiver {
                Some(receiver) if !VALUES.contains(&callee.last()) => out.push(receiver),
                Some(_) => {}
                None if is_pure(callee.last()) && !CHOOSING.contains(&callee.last()) => {}
                None => {
                    for argument in &callee.arguments {
                        again(Some(*argument));
                    }
                }
            }
        }
        _ => {}
    }
}

/// Whether an expression makes a pointer, an iterator or a view of an object.
pub fn is_view_of(document: &Document, node: Node<'_>) -> bool {
    match node.kind() {
        "compound_literal_expression" => {
            node.child_by_field_name("type").is_some_and(|of| is_view(&document.squeezed(of)))
        }
        "call_expression" => Callee::of(document, node).is_some_and(|callee| HANDLES.contains(&callee.last())),
        "binary_expression" | "parenthesized_expression" => children(node).iter().any(|n| is_view_of(document, *n)),
        _ => false,
    }
}

/// The array, where a place is an element of one: a pointer to an element reaches the others.
fn whole(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    while let Some(array) = node.child_by_field_name("argument").filter(|_| node.kind() == "subscript_expression") {
        node = array;
    }
    node
}

/// Whether an expression makes a pointer, an iterator or a view; `is_handle` tells it of names.
pub fn makes_handle(
    surroundings: &Surroundings,
    document: &Document,
    node: Node<'_>,
    is_handle: &dyn Fn(Node<'_>) -> bool,
) -> bool {
    let again = |inner: Option<Node<'_>>| inner.is_some_and(|n| makes_handle(surroundings, document, n, is_handle));
    let part = |field| node.child_by_field_name(field);
    match node.kind() {
        "identifier" | "field_expression" | "subscript_expression" => is_handle(node),
        "pointer_expression" => document.text(node).starts_with('&'),
        "parenthesized_expression" | "comma_expression" => again(children(node).last().copied()),
        "conditional_expression" => again(part("consequence")) || again(part("alternative")),
        "binary_expression" => again(part("left")) || again(part("right")),
        "cast_expression" => part("type").is_some_and(|of| document.text(of).contains('*')),
        "compound_literal_expression" => part("type").is_some_and(|of| {
            let of = document.squeezed(of);
            is_view(&of) || surroundings.keeps(document, &of)
        }),
        "call_expression" => Callee::of(document, node).is_some_and(|callee| {
            let points = callee.template_arguments.iter().any(|of| document.text(*of).contains('*'));
            let last = callee.last();
            HANDLES.contains(&last)
                || last.ends_with("_cast") && points
                || callee.receiver.is_none() && (surroundings.may_refer(last) || surroundings.keeps(document, last))
        }),
        _ => false,
    }
}
