//! What shows that a statement matters to the text.

use tree_sitter::Node;

use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, any};

/// Methods and functions that emit a line.
pub const EMIT_NAMES: &[&str] = &["e", "e_front", "emit"];

/// Whether a call emits: a method of an emitter, or the function `emit`, with text first.
pub fn is_emission(callee: &Callee<'_>) -> bool {
    EMIT_NAMES.contains(&callee.last())
        && (callee.receiver.is_some() || callee.path == "emit")
        && !callee.arguments.is_empty()
}

/// Whether something within emits: a call of an emitter, a format call, an insertion into a stream.
pub fn emits(document: &Document, node: Node<'_>) -> bool {
    any(node, |inner| match inner.kind() {
        "call_expression" => {
            Callee::of(document, inner).is_some_and(|callee| is_emission(&callee) || super::text::is_format(&callee))
        }
        "binary_expression" => {
            inner.child_by_field_name("operator").is_some_and(|o| document.text(o) == "<<")
                && inner.child_by_field_name("right").is_some_and(|r| r.kind().ends_with("string_literal"))
        }
        _ => false,
    })
}

/// Whether an expression is text that is put together: a format call, a literal.
pub fn prints(document: &Document, node: Node<'_>) -> bool {
    any(node, |inner| match inner.kind() {
        "call_expression" => Callee::of(document, inner).is_some_and(|callee| super::text::is_format(&callee)),
        _ => false,
    })
}

/// Whether something within leaves the function.
pub fn returns(node: Node<'_>) -> bool {
    any(node, |inner| inner.kind() == "return_statement")
}
