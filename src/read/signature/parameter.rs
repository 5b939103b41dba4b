//! Template and function parameters.

use tree_sitter::Node;

use crate::model::{Parameter, TemplateParameter, TemplateParameterKind};
use crate::read::cxx::document::{Document, any, children, span};
use crate::read::cxx::functions::element_span;
use crate::source::Span;

/// The parameters of a template parameter list; `function` is the parameter list of the function that it belongs to.
///
/// `Shape S` may be a value of a type or, if `Shape` is a concept, a type: it is one where the declaration uses it as one.
pub fn template_parameters(document: &Document, list: Node<'_>, function: Option<Node<'_>>) -> Vec<TemplateParameter> {
    let mut out: Vec<_> = children(list).into_iter().map(|node| template_parameter(document, node)).collect();
    let is_type = |name: &str| {
        !name.is_empty() && [Some(list), function].into_iter().flatten().any(|part| uses_as_type(document, part, name))
    };
    for parameter in &mut out {
        if parameter.kind == TemplateParameterKind::Value && is_type(&parameter.name) {
            parameter.kind = TemplateParameterKind::Type;
        }
    }
    out
}

/// Whether a parameter within `part` has the type `name`, or something there is a member of `name`.
fn uses_as_type(document: &Document, part: Node<'_>, name: &str) -> bool {
    let is = |field: &str, node: Node<'_>, kind: &str| {
        node.child_by_field_name(field).is_some_and(|n| n.kind() == kind && document.text(n) == name)
    };
    children(part).into_iter().any(|parameter| is("type", parameter, "type_identifier"))
        || any(part, |node| node.kind() == "qualified_identifier" && is("scope", node, "namespace_identifier"))
}

fn template_parameter(document: &Document, node: Node<'_>) -> TemplateParameter {
    let kind = match node.kind() {
        "type_parameter_declaration"
        | "optional_type_parameter_declaration"
        | "variadic_type_parameter_declaration" => TemplateParameterKind::Type,
        "template_template_parameter_declaration" => TemplateParameterKind::Template,
        _ => TemplateParameterKind::Value,
    };
    let parts = Parts::of(document, node, kind != TemplateParameterKind::Value);
    let pack = parts.declared.contains("...");
    TemplateParameter {
        kind,
        declared: parts.declared.replace("...", "").trim().to_owned(),
        name: parts.name,
        default: parts.default,
        pack,
    }
}

/// The parameters of a function; `(void)` has none.
pub fn parameters(document: &Document, list: Node<'_>) -> Vec<Parameter> {
    let all: Vec<Parameter> = children(list)
        .into_iter()
        .map(|node| {
            let parts = Parts::of(document, node, false);
            Parameter { declared: parts.declared, name: parts.name, default: parts.default }
        })
        .collect();
    match &all[..] {
        [only] if only.declared == "void" && only.name.is_empty() => vec![],
        _ => all,
    }
}

struct Parts {
    declared: String,
    name: String,
    default: Option<String>,
}

impl Parts {
    fn of(document: &Document, node: Node<'_>, of_type: bool) -> Self {
        let whole = element_span(document, node);
        let default = ["default_value", "default_type"].into_iter().find_map(|f| node.child_by_field_name(f));
        let name = if of_type { type_name(node) } else { declared_name(node) };
        let text = |span: Span| written(&String::from_utf8_lossy(&document.stripped[span.range()]));
        let head = default.map_or(whole.end, |node| equals_before(document, whole.start, node.start_byte()));
        let declared = match name {
            None => text(Span::new(whole.start, head)),
            Some(name) => {
                let (before, after) = (Span::new(whole.start, name.start_byte()), Span::new(name.end_byte(), head));
                written(&format!("{} {}", text(before), text(after)))
            }
        };
        let default = default.map(|node| {
            let start = document.stripped[head..node.start_byte()].iter().position(|b| *b == b'=').map_or(0, |p| p + 1);
            text(Span::new(head + start, node.end_byte()))
        });
        Parts { declared, name: name.map(|n| document.squeezed(n)).unwrap_or_default(), default }
    }
}

/// Where the `=` before a default stands.
fn equals_before(document: &Document, from: usize, default: usize) -> usize {
    document.stripped[from..default].iter().rposition(|b| *b == b'=').map_or(default, |p| from + p)
}

/// Blank runs (comments and line breaks among them) become one blank; the rest stays as written.
fn written(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name that a type parameter declares.
fn type_name(node: Node<'_>) -> Option<Node<'_>> {
    let default = node.child_by_field_name("default_type").map(span);
    let mut last = None;
    let mut open = children(node);
    while let Some(child) = open.pop() {
        match child.kind() {
            "type_identifier" if Some(span(child)) != default => last = last.or(Some(child)),
            "type_parameter_declaration"
            | "optional_type_parameter_declaration"
            | "variadic_type_parameter_declaration" => {
                return type_name(child);
            }
            _ => {}
        }
    }
    node.child_by_field_name("name").or(last)
}

/// The identifier that a declarator declares.
fn declared_name(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node.child_by_field_name("declarator")?;
    for _ in 0..16 {
        match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" => return Some(node),
            _ => {}
        }
        // A pointer to a member is `scope::` and then its declarator.
        let inner = if node.kind() == "qualified_identifier" { "name" } else { "declarator" };
        node = match node.child_by_field_name(inner) {
            Some(inner) => inner,
            None => children(node)
                .into_iter()
                .find(|child| child.kind() == "identifier" || child.kind().ends_with("_declarator"))?,
        };
    }
    None
}
