//! Types that a declaration does not spell: `auto`, `decltype`, and aliases of the text.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::interpreter::Interpreter;
use super::pure::declarations;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, children};
use crate::read::cxx::evaluate::is_conversion;
use crate::read::cxx::integer::IntegerType;
use crate::read::cxx::typing::sample;
use crate::read::cxx::value::Value;

impl Interpreter<'_> {
    /// The arithmetic type that a name stands for; any other name as it stands.
    pub fn spelled(&self, declared: &str) -> String {
        let named = declared.strip_prefix("decltype(").and_then(|rest| rest.strip_suffix(')'));
        let of = named.and_then(|name| {
            let local = self.scopes.get(name).map(|variable| variable.declared.clone());
            local.or_else(|| self.parameters.get(name).cloned())
        });
        let of = of.unwrap_or_else(|| declared.to_owned());
        self.aliases.get(&of).cloned().unwrap_or(of)
    }

    /// The type that `auto` stands for, where the initialiser is a number of a known type.
    pub fn deduced(&mut self, value: Node<'_>) -> Option<String> {
        let text = |node: Node<'_>| self.document.squeezed(node);
        let said = match value.kind() {
            "parenthesized_expression" => return self.deduced(*children(value).first()?),
            "cast_expression" => value.child_by_field_name("type").map(text),
            "call_expression" => Callee::of(self.document, value).and_then(|callee| {
                match (callee.last(), &callee.template_arguments[..]) {
                    ("static_cast", [of]) => Some(text(*of)),
                    (name, []) if callee.receiver.is_none() => Some(name.to_owned()),
                    _ => None,
                }
            }),
            "identifier" => {
                let name = text(value);
                let local = self.scopes.get(&name).map(|variable| variable.declared.clone());
                local.or_else(|| self.parameters.get(&name).cloned())
            }
            "subscript_expression" => {
                let array = value.child_by_field_name("argument").map(text);
                array.and_then(|array| self.scopes.get(&array)).map(|variable| variable.element.clone())
            }
            _ => None,
        };
        let said = said.map(|said| self.spelled(&said)).filter(|said| is_conversion(said));
        said.or_else(|| sample(self.document, value, self).as_ref().and_then(type_of).map(str::to_owned))
    }
}

fn type_of(value: &Value) -> Option<&'static str> {
    Some(match value {
        Value::Bool(_) => "bool",
        Value::Float { single: true, .. } => "float",
        Value::Float { .. } => "double",
        Value::Integer(integer) => match integer.of {
            IntegerType::Int => "int",
            IntegerType::UnsignedInt => "unsigned",
            IntegerType::Long => "long",
            IntegerType::UnsignedLong => "unsigned long",
        },
        _ => return None,
    })
}

/// Aliases of arithmetic types that a text declares, all of one name alike.
pub fn aliases(document: &Document) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
    declarations(document, |node| {
        let name = match node.kind() {
            "alias_declaration" => node.child_by_field_name("name"),
            "type_definition" => node.child_by_field_name("declarator"),
            _ => None,
        };
        if let (Some(name), Some(of)) = (name, node.child_by_field_name("type")) {
            let of = document.squeezed(of);
            let known = found.entry(document.squeezed(name)).or_insert_with(|| Some(of.clone()));
            if known.as_ref().is_some_and(|known| *known != of) {
                *known = None;
            }
        }
    });
    let mut out = BTreeMap::new();
    for (name, of) in &found {
        let mut of = of.clone();
        for _ in 0..8 {
            of = match of {
                Some(inner) if !is_conversion(&inner) => found.get(&inner).cloned().flatten(),
                other => other,
            };
        }
        out.extend(of.filter(|of| is_conversion(of)).map(|of| (name.clone(), of)));
    }
    out
}
