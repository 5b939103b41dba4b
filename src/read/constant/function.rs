//! Calls of constexpr functions that a header defines.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::index::Kind;
use super::resolver::Resolver;
use super::type_name;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, children};
use crate::read::cxx::evaluate::{Outcome, all, evaluate, unsupported};

/// The value of a call to a function whose body only declares constants, chooses and returns.
pub fn call(resolver: &mut Resolver<'_>, document: &Document, node: Node<'_>, callee: &Callee<'_>) -> Option<Outcome> {
    if callee.receiver.is_some() {
        return None;
    }
    let found = resolver.declarations(document, callee.last());
    let fits = |list: Node<'_>| {
        let parameters = children(list);
        let required = parameters.iter().filter(|p| p.child_by_field_name("default_value").is_none()).count();
        (required..=parameters.len()).contains(&callee.arguments.len())
    };
    let mut matching = found.iter().filter(|(_, entry)| entry.kind == Kind::Function).filter_map(|(header, entry)| {
        let definition = entry.node(header)?;
        let parameters = declarator(definition)?.child_by_field_name("parameters")?;
        fits(parameters).then_some((*header, *entry, definition, parameters))
    });
    let (header, entry, definition, parameters) = matching.next()?;
    let arguments = match all(document, &callee.arguments, resolver) {
        Ok(arguments) => arguments,
        Err(problems) => return Some(Err(problems)),
    };
    let explicit: Vec<_> = callee
        .template_arguments
        .iter()
        .map_while(|argument| type_name::argument(resolver, document, *argument).ok())
        .map(|value| value.value)
        .collect();
    let mut bindings = match entry.template(header) {
        Some(list) if !explicit.is_empty() => type_name::bind(resolver, header, list, &explicit),
        _ => BTreeMap::new(),
    };
    for (index, parameter) in children(parameters).into_iter().enumerate() {
        let mut name = parameter.child_by_field_name("declarator");
        while let Some(inner) = name.filter(|n| n.kind() != "identifier") {
            name = inner.child_by_field_name("declarator").or_else(|| children(inner).first().copied());
        }
        let value = match (arguments.get(index), parameter.child_by_field_name("default_value")) {
            (Some(value), _) => {
                let of = parameter.child_by_field_name("type").map(|t| header.squeezed(t)).unwrap_or_default();
                Ok(value.clone().with(value.value.clone().converted_to(&of)))
            }
            (None, Some(default)) => evaluate(header, default, resolver),
            (None, None) => unsupported(document, node, "a call without this argument"),
        };
        if let Some(name) = name {
            bindings.insert(header.squeezed(name), value);
        }
    }
    let body = definition.child_by_field_name("body")?;
    Some(resolver.framed(bindings, |this| {
        returned(this, header, &children(body))
            .unwrap_or_else(|| unsupported(document, node, &format!("the body of `{}`", callee.path)))
    }))
}

fn declarator(definition: Node<'_>) -> Option<Node<'_>> {
    let mut node = definition.child_by_field_name("declarator")?;
    while node.kind() != "function_declarator" {
        node = node.child_by_field_name("declarator").or_else(|| children(node).first().copied())?;
    }
    Some(node)
}

/// What a list of statements returns; none when one of them is not followed.
fn returned(resolver: &mut Resolver<'_>, document: &Document, statements: &[Node<'_>]) -> Option<Outcome> {
    for statement in statements {
        match statement.kind() {
            "declaration" | "static_assert_declaration" | "using_declaration" | "alias_declaration" => {}
            "return_statement" => return Some(evaluate(document, *children(*statement).first()?, resolver)),
            "compound_statement" => {
                if let Some(out) = returned(resolver, document, &children(*statement)) {
                    return Some(out);
                }
            }
            "if_statement" => {
                let condition = statement.child_by_field_name("condition")?;
                let condition = condition.child_by_field_name("value").unwrap_or(condition);
                let holds = match evaluate(document, condition, resolver) {
                    Ok(value) => value.value.as_bool()?,
                    Err(problems) => return Some(Err(problems)),
                };
                let branch = statement.child_by_field_name(if holds { "consequence" } else { "alternative" });
                if let Some(branch) = branch {
                    let inner = if branch.kind() == "else_clause" { children(branch) } else { vec![branch] };
                    if let Some(out) = returned(resolver, document, &inner) {
                        return Some(out);
                    }
                }
            }
            _ => return None,
        }
    }
    None
}
