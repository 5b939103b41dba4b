//! What a statement that is not followed may change.

use tree_sitter::Node;

use super::interpreter::Interpreter;
use super::leaves::compact;
use super::scope::State;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, any, children};
use crate::read::cxx::problem::{Problem, Problems, Unknown};

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

/// Makes every local that may be assigned within `node` unknown, or the leaf given for it; `why` replaces the reason.
pub fn assigned_within(interpreter: &mut Interpreter<'_>, node: Node<'_>, why: Option<&Problems>) {
    for (name, at) in candidates(interpreter.document, node) {
        let Some(variable) = interpreter.scopes.get(&name) else {
            let spot = interpreter.document.spot(at);
            let what = format!("`{name}`, which is given on entry and may change here,");
            let problems = why.cloned().unwrap_or_else(|| vec![Problem::Unsupported { what, at: spot }]);
            if assigned(interpreter.document, node, &name) {
                interpreter.scopes.declare_outside(&name, "", State::Poisoned(problems));
            }
            continue;
        };
        if variable.constant {
            continue;
        }
        let declared = variable.declared.clone();
        let expr = interpreter.document.squeezed(at);
        let spot = interpreter.document.spot(at);
        let state = match (interpreter.leaves.take(&name, &declared, Some(expr.clone()), &spot), why) {
            (Some(leaf), _) => State::Bound(leaf),
            (None, Some(problems)) => State::Poisoned(problems.clone()),
            (None, None) => {
                let assigned = Some((expr, spot.clone()));
                State::Poisoned(vec![Problem::Unknown(Unknown { name: name.clone(), used: spot, assigned })])
            }
        };
        interpreter.set(&name, state);
    }
}

/// Whether something within assigns or steps `name` itself, or takes its address.
fn assigned(document: &Document, node: Node<'_>, name: &str) -> bool {
    any(node, |inner| {
        let target = match inner.kind() {
            "assignment_expression" => inner.child_by_field_name("left"),
            "update_expression" => inner.child_by_field_name("argument"),
            "pointer_expression" if document.text(inner).starts_with('&') => inner.child_by_field_name("argument"),
            _ => None,
        };
        target.is_some_and(|target| compact(&document.squeezed(target)) == name)
    })
}

/// Locals that are assigned, stepped, passed by address or passed to a function that may take a reference.
fn candidates<'t>(document: &Document, node: Node<'t>) -> Vec<(String, Node<'t>)> {
    let mut out = vec![];
    let mut open = vec![node];
    let push = |out: &mut Vec<(String, Node<'t>)>, target: Option<Node<'t>>, at: Node<'t>| {
        let place = |t: &Node<'_>| matches!(t.kind(), "identifier" | "field_expression" | "subscript_expression");
        if let Some(target) = target.filter(place) {
            let name = compact(&document.squeezed(target));
            if !out.iter().any(|(known, _)| *known == name) {
                out.push((name, at));
            }
        }
    };
    while let Some(node) = open.pop() {
        match node.kind() {
            "assignment_expression" => {
                let right = node.child_by_field_name("right").unwrap_or(node);
                push(&mut out, node.child_by_field_name("left"), right);
            }
            "update_expression" | "pointer_expression" => push(&mut out, node.child_by_field_name("argument"), node),
            "call_expression" => {
                let cast = Callee::of(document, node).is_some_and(|c| c.last().ends_with("_cast"));
                for argument in node.child_by_field_name("arguments").map(children).unwrap_or_default() {
                    push(&mut out, Some(argument).filter(|_| !cast), node);
                }
            }
            _ => {}
        }
        let mut inner = children(node);
        inner.reverse();
        open.extend(inner);
    }
    out
}
