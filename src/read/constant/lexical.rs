//! Declarations that are visible from within a function or class body.

use tree_sitter::Node;

use crate::read::cxx::document::{Document, children, fields};

/// What a visible declaration gives a name.
#[derive(Debug, Clone, Copy)]
pub enum Found<'t> {
    /// A value: the declarator.
    Value(Node<'t>),
    /// A type: the `alias_declaration` or `type_definition`.
    Alias(Node<'t>),
    /// A declaration without a value.
    Unset(Node<'t>),
}

/// Searches the blocks and class bodies around `node`, innermost first, for a declaration of `name`.
pub fn find<'t>(document: &Document, node: Node<'t>, name: &str) -> Option<Found<'t>> {
    let mut inner = node;
    while let Some(outer) = inner.parent() {
        let before = |child: &Node<'t>| child.end_byte() <= inner.start_byte();
        let found = match outer.kind() {
            "compound_statement" | "for_statement" | "case_statement" | "if_statement" => {
                children(outer).into_iter().filter(before).rev().find_map(|child| declares(document, child, name))
            }
            "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif" => {
                children(outer).into_iter().filter(before).rev().find_map(|child| declares(document, child, name))
            }
            "field_declaration_list" => member(document, outer, name),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        inner = outer;
    }
    None
}

/// A member of a class body.
pub fn member<'t>(document: &Document, body: Node<'t>, name: &str) -> Option<Found<'t>> {
    children(body).into_iter().find_map(|child| declares(document, child, name))
}

/// A declaration directly within a block; of several the last one.
pub fn within<'t>(document: &Document, block: Node<'t>, name: &str) -> Option<Found<'t>> {
    children(block).into_iter().rev().find_map(|child| declares(document, child, name))
}

fn declares<'t>(document: &Document, node: Node<'t>, name: &str) -> Option<Found<'t>> {
    let named = |n: Node<'t>| document.stripped[n.byte_range()] == *name.as_bytes();
    match node.kind() {
        "declaration" | "field_declaration" => fields(node, "declarator").into_iter().find_map(|declarator| {
            let value = if node.kind() == "field_declaration" {
                node.child_by_field_name("default_value")
            } else {
                declarator.child_by_field_name("value")
            };
            let mut inner = declarator;
            while !matches!(inner.kind(), "identifier" | "field_identifier") {
                let parts = || {
                    let kinds = |c: &Node<'t>| c.kind().ends_with("identifier") || c.kind().ends_with("_declarator");
                    children(inner).into_iter().find(kinds)
                };
                inner = inner.child_by_field_name("declarator").or_else(parts)?;
            }
            let found = if value.is_some() {
                Found::Value(if node.kind() == "field_declaration" { node } else { declarator })
            } else {
                Found::Unset(declarator)
            };
            named(inner).then_some(found)
        }),
        "alias_declaration" => node.child_by_field_name("name").filter(|n| named(*n)).map(|_| Found::Alias(node)),
        "type_definition" => fields(node, "declarator").into_iter().any(named).then_some(Found::Alias(node)),
        "template_declaration" => children(node).into_iter().find_map(|child| declares(document, child, name)),
        "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif" => within(document, node, name),
        _ => None,
    }
}

/// Where, within a function body, a local that is no constant is assigned again.
pub fn reassigned<'t>(document: &Document, body: Node<'t>, name: &str) -> Option<Node<'t>> {
    let mut open = vec![body];
    while let Some(node) = open.pop() {
        let target = match node.kind() {
            "assignment_expression" => node.child_by_field_name("left"),
            "update_expression" => node.child_by_field_name("argument"),
            "pointer_expression" if document.text(node).starts_with('&') => node.child_by_field_name("argument"),
            _ => None,
        };
        if target.is_some_and(|t| document.stripped[t.byte_range()] == *name.as_bytes()) {
            return Some(node);
        }
        open.extend(children(node));
    }
    None
}
