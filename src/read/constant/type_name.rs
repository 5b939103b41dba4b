//! Types: aliases resolved, sizes known.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::element;
use super::index::Kind;
use super::resolver::{Resolver, type_value};
use super::{member, scope};
use crate::read::cxx::document::{Document, children};
use crate::read::cxx::evaluate::{Names, Outcome, evaluate, unsupported};
use crate::read::cxx::integer::IntegerType;
use crate::read::cxx::value::{Evaluated, TypeName, Value};
use crate::source::Source;

/// The type that an `alias_declaration` or a `type_definition` names.
pub fn alias(resolver: &mut Resolver<'_>, document: &Document, node: Node<'_>) -> Outcome {
    match node.child_by_field_name("type") {
        Some(of) => named(resolver, document, of),
        None => unsupported(document, node, "this alias"),
    }
}

/// The type (or the value) that a type's node names.
pub fn named(resolver: &mut Resolver<'_>, document: &Document, node: Node<'_>) -> Outcome {
    *resolver.depth() += 1;
    let out = if *resolver.depth() > 128 {
        unsupported(document, node, "a type nested this deep")
    } else {
        named_within(resolver, document, node)
    };
    *resolver.depth() -= 1;
    out
}

fn named_within(resolver: &mut Resolver<'_>, document: &Document, node: Node<'_>) -> Outcome {
    match node.kind() {
        "type_descriptor" => {
            let Some(of) = node.child_by_field_name("type") else { return unsupported(document, node, "this type") };
            match node.child_by_field_name("declarator") {
                Some(declarator) if document.text(declarator).contains(['*', '&']) => {
                    Ok(type_value(&document.squeezed(node), vec![]))
                }
                _ => named(resolver, document, of),
            }
        }
        "primitive_type" | "sized_type_specifier" => Ok(type_value(&document.squeezed(node), vec![])),
        "dependent_type" => match children(node).first() {
            Some(inner) => named(resolver, document, *inner),
            None => unsupported(document, node, "this type"),
        },
        "template_type" | "template_function" => {
            let (Some(name), Some(list)) = (node.child_by_field_name("name"), node.child_by_field_name("arguments"))
            else {
                return unsupported(document, node, "this type");
            };
            let arguments = arguments(resolver, document, list);
            let name = document.squeezed(name);
            if let Some(value) = member::variable_trait(&name, &arguments) {
                return Ok(value.into());
            }
            Ok(expanded(resolver, document, &name, arguments))
        }
        _ => resolver.name(document, node),
    }
}

/// The values of template arguments; one without a value stands for itself.
pub fn arguments(resolver: &mut Resolver<'_>, document: &Document, list: Node<'_>) -> Vec<Value> {
    children(list)
        .into_iter()
        .map(|node| match argument(resolver, document, node) {
            Ok(value) => value.value,
            Err(_) => Value::Symbol(document.squeezed(node)),
        })
        .collect()
}

/// The value of one template argument.
pub fn argument(resolver: &mut Resolver<'_>, document: &Document, node: Node<'_>) -> Outcome {
    if node.kind() == "type_descriptor" { named(resolver, document, node) } else { evaluate(document, node, resolver) }
}

/// `NAME<arguments>`, an alias template replaced by what it stands for.
fn expanded(resolver: &mut Resolver<'_>, document: &Document, name: &str, arguments: Vec<Value>) -> Evaluated {
    let found = resolver.declarations(document, name);
    let alias_of = found.iter().find(|(_, entry)| entry.kind == Kind::Alias && entry.is_template());
    if let Some((header, entry)) = alias_of
        && let Some(node) = entry.node(header)
        && let Some(list) = entry.template(header)
    {
        let bindings = bind(resolver, header, list, &arguments);
        if let Ok(out) = resolver.framed(bindings, |this| alias(this, header, node)) {
            return out;
        }
    }
    type_value(name, arguments)
}

/// Template parameters bound to arguments, defaults evaluated over the earlier ones.
pub fn bind(
    resolver: &mut Resolver<'_>,
    document: &Document,
    list: Node<'_>,
    arguments: &[Value],
) -> BTreeMap<String, Outcome> {
    let mut out: BTreeMap<String, Outcome> = BTreeMap::new();
    for (index, parameter) in children(list).into_iter().enumerate() {
        let (name, default) = parameter_parts(document, parameter);
        if parameter.kind().starts_with("variadic") {
            let rest = arguments.get(index..).unwrap_or_default().to_vec();
            out.insert(name, Ok(Value::Tuple(rest).into()));
            break;
        }
        let value = match (arguments.get(index), default) {
            (Some(value), _) => Ok(value.clone().into()),
            (None, Some(default)) => {
                let so_far = out.clone();
                resolver.framed(so_far, |this| argument(this, document, default))
            }
            (None, None) => unsupported(document, parameter, "a template parameter without an argument"),
        };
        let declared = parameter.child_by_field_name("type").map(|t| document.squeezed(t)).unwrap_or_default();
        let value = value.map(|v| {
            let converted = v.value.clone().converted_to(&declared);
            v.with(converted)
        });
        out.insert(name, value);
    }
    out
}

fn parameter_parts<'t>(document: &Document, node: Node<'t>) -> (String, Option<Node<'t>>) {
    let default = node.child_by_field_name("default_value").or_else(|| node.child_by_field_name("default_type"));
    let name = node
        .child_by_field_name("declarator")
        .or_else(|| node.child_by_field_name("name"))
        .or_else(|| children(node).into_iter().find(|c| c.kind().ends_with("identifier") && Some(*c) != default));
    (name.map(|n| document.squeezed(n)).unwrap_or_default(), default)
}

/// The size of a type, or of the type of an expression.
pub fn size_of(resolver: &mut Resolver<'_>, document: &Document, node: Node<'_>) -> Outcome {
    let mut inner = node;
    while inner.kind() == "parenthesized_expression" {
        match children(inner)[..] {
            [one] => inner = one,
            _ => break,
        }
    }
    let text = document.squeezed(inner);
    let value = match inner.kind() {
        "identifier" => match resolver.lookup(document, inner, &text) {
            Some(value) => value?,
            None => type_value(&text, vec![]),
        },
        _ => named(resolver, document, inner)?,
    };
    let size = match &value.value {
        Value::Type(of) => size(of),
        Value::Integer(i) => Some(u64::from(i.of.bits() / 8)),
        Value::Float { single, .. } => Some(if *single { 4 } else { 8 }),
        Value::Bool(_) | Value::Char(_) => Some(1),
        _ => None,
    };
    match size {
        Some(bytes) => Ok(value.with(Value::size(bytes))),
        None => unsupported(document, node, &format!("the size of `{text}`")),
    }
}

/// The size of a type whose size is known.
pub fn size(of: &TypeName) -> Option<u64> {
    if of.name.ends_with('*') {
        return Some(8);
    }
    element::size(of.last()).or_else(|| IntegerType::of(&of.name).map(|(_, bits, _)| u64::from(bits / 8)))
}

/// The type or value that the text of a template argument names.
pub fn argument_text(resolver: &mut Resolver<'_>, text: &str) -> Outcome {
    let source = Source::new("template argument", format!("using krepro_argument = krepro_list<{text}>;"));
    let document = scope::parse(&source);
    let list = document
        .root()
        .named_child(0)
        .and_then(|alias| alias.child_by_field_name("type"))
        .map(|of| if of.kind() == "type_descriptor" { of.child_by_field_name("type").unwrap_or(of) } else { of })
        .and_then(|of| of.child_by_field_name("arguments"));
    match list.map(children).as_deref() {
        Some([one]) if !document.root().has_error() => argument(resolver, &document, *one),
        _ => unsupported(&document, document.root(), &format!("`{text}`")),
    }
}
