//! Qualified names: members of types, traits, enumerators, constants of namespaces.

use tree_sitter::Node;

use super::index::{Entry, Kind};
use super::lexical::{self, Found};
use super::resolver::{Resolver, type_value, unknown};
use super::type_name;
use crate::read::cxx::document::{Document, children};
use crate::read::cxx::evaluate::{Outcome, unsupported};
use crate::read::cxx::value::{TypeName, Value};

/// The value or type behind `A::B`.
pub fn qualified(resolver: &mut Resolver<'_>, document: &Document, node: Node<'_>) -> Outcome {
    let text = document.squeezed(node);
    let mut parts = vec![];
    let mut rest = node;
    while rest.kind() == "qualified_identifier" {
        parts.extend(rest.child_by_field_name("scope"));
        match rest.child_by_field_name("name") {
            Some(name) => rest = name,
            None => return unknown(document, node, &text),
        }
    }
    let last = match rest.kind() {
        "dependent_name" => children(rest).first().copied().unwrap_or(rest),
        _ => rest,
    };
    if let Some(holder) = parts.last()
        && let Some(of) = holder_type(resolver, document, *holder)
        && let Some(outcome) = member(resolver, document, &of, &document.squeezed(last))
    {
        return outcome;
    }
    if matches!(last.kind(), "template_type" | "template_function") {
        let prefix: Vec<_> = parts.iter().map(|part| document.squeezed(*part)).collect();
        let named = type_name::named(resolver, document, last)?;
        return Ok(match &named.value {
            Value::Type(of) if !of.name.contains("::") => {
                type_value(&format!("{}::{}", prefix.join("::"), of.name), of.arguments.clone())
            }
            _ => named,
        });
    }
    let name = document.squeezed(last);
    if let Some(outcome) = resolver.namespace(document, &name) {
        return outcome;
    }
    Ok(match last.kind() {
        "type_identifier" => type_value(&text, vec![]),
        _ => Value::Symbol(text).into(),
    })
}

/// The type that a scope names; none for a namespace.
fn holder_type(resolver: &mut Resolver<'_>, document: &Document, node: Node<'_>) -> Option<TypeName> {
    let value = match node.kind() {
        "namespace_identifier" | "type_identifier" => {
            resolver.lookup(document, node, &document.squeezed(node))?.ok()?.value
        }
        _ => type_name::named(resolver, document, node).ok()?.value,
    };
    match value {
        Value::Type(of) => Some((*of).clone()),
        _ => None,
    }
}

/// A member of a type: a trait that is built in, a static constant or an alias of a class that a header defines.
pub fn member(resolver: &mut Resolver<'_>, document: &Document, of: &TypeName, name: &str) -> Option<Outcome> {
    if let Some(value) = type_trait(of, name) {
        return Some(Ok(value.into()));
    }
    let classes: Vec<(&Document, Entry)> =
        resolver.declarations(document, of.last()).into_iter().filter(|(_, e)| e.kind == Kind::Class).collect();
    let node_of = |(header, entry): &(&'_ Document, Entry)| -> bool {
        entry.node(header).and_then(|n| n.child_by_field_name("name")).is_some_and(|n| n.kind() == "template_type")
    };
    if classes.iter().any(node_of) && !of.arguments.is_empty() {
        let (header, entry) = classes[0];
        let node = entry.node(header)?;
        return Some(unsupported(header, node, &format!("`{}`, which is specialised,", of.name)));
    }
    let (header, entry) = *classes.first()?;
    let class = entry.node(header)?;
    let body = class.child_by_field_name("body")?;
    let bindings = match entry.template(header) {
        Some(list) => type_name::bind(resolver, header, list, &of.arguments),
        None => std::collections::BTreeMap::new(),
    };
    resolver.framed(bindings, |this| {
        if let Some(found) = lexical::member(header, body, name) {
            return Some(match found {
                Found::Unset(node) => unsupported(header, node, &format!("the member `{name}`")),
                other => this.found(header, other, name),
            });
        }
        let bases = children(class).into_iter().find(|c| c.kind() == "base_class_clause").map(children);
        for base in bases.unwrap_or_default() {
            if let Ok(value) = type_name::named(this, header, base)
                && let Value::Type(base) = &value.value
                && base.name != of.name
                && let Some(outcome) = member(this, header, base, name)
            {
                return Some(outcome);
            }
        }
        None
    })
}

/// `std::is_void<T>::value` and the like.
fn type_trait(of: &TypeName, name: &str) -> Option<Value> {
    match (of.last(), name, &of.arguments[..]) {
        ("Int" | "C" | "constant" | "integral_constant", "value", [.., value]) => Some(value.clone()),
        ("sizeof_bits", "value", [Value::Type(of)]) => type_name::size(of).map(|bytes| Value::size(bytes * 8)),
        ("conditional", "type", [condition, yes, no]) => {
            Some(if condition.as_bool()? { yes.clone() } else { no.clone() })
        }
        (trait_name, "value", arguments) => decided(trait_name, arguments),
        _ => None,
    }
}

/// `is_same_v<A, B>` and the like.
pub fn variable_trait(name: &str, arguments: &[Value]) -> Option<Value> {
    match (name, arguments) {
        ("sizeof_bits_v", [Value::Type(of)]) => type_name::size(of).map(|bytes| Value::size(bytes * 8)),
        ("conditional_t", [condition, yes, no]) => Some(if condition.as_bool()? { yes.clone() } else { no.clone() }),
        _ => decided(name.strip_suffix("_v")?, arguments),
    }
}

fn decided(name: &str, arguments: &[Value]) -> Option<Value> {
    match (name, arguments) {
        ("is_void", [Value::Type(of)]) => Some(Value::Bool(of.name == "void")),
        ("is_same", [Value::Type(a), Value::Type(b)]) => {
            let same = a.last() == b.last() && a.arguments == b.arguments;
            Some(Value::Bool(same))
        }
        ("is_pointer", [Value::Type(of)]) => Some(Value::Bool(of.name.ends_with('*'))),
        ("is_null_pointer", [Value::Type(of)]) => Some(Value::Bool(of.last() == "nullptr_t")),
        _ => None,
    }
}
