//! Template and function parameters.

use tree_sitter::Node;

use crate::model::{Parameter, TemplateParameter, TemplateParameterKind};
use crate::read::cxx::document::{Document, children, span};
use crate::read::cxx::functions::element_span;
use crate::source::Span;

/// The parameters of a template parameter list.
pub fn template_parameters(document: &Document, list: Node<'_>) -> Vec<TemplateParameter> {
    children(list).into_iter().map(|node| template_parameter(document, node)).collect()
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
            "identifier" | "field_identifier" => return Some(node),
            kind if kind.starts_with("abstract_") => {}
            _ => {}
        }
        node = match node.child_by_field_name("declarator") {
            Some(inner) => inner,
            None => children(node)
                .into_iter()
                .find(|child| child.kind() == "identifier" || child.kind().ends_with("_declarator"))?,
        };
    }
    None
}
