//! A class whose call operator is a kernel, such as `cutlass::gemm::kernel::GemmUniversal`.

use tree_sitter::Node;

use super::parameter;
use crate::model::{Fact, KernelSignature};
use crate::read::cxx::document::{Document, children};
use crate::read::cxx::functions::unmasked_start;
use crate::source::Spot;

/// The primary declaration of the class `name` (qualified or not), read as a kernel's signature: it has no parameters.
pub(super) fn find(document: &Document, name: &str) -> Option<KernelSignature> {
    let wanted = name.trim_start_matches("::");
    let mut open = vec![document.root()];
    let mut found: Option<(Node<'_>, String)> = None;
    while let Some(node) = open.pop() {
        if matches!(node.kind(), "class_specifier" | "struct_specifier")
            && let Some(named) = node.child_by_field_name("name").filter(|n| n.kind() == "type_identifier")
        {
            let qualified = format!("{}{}", scope(document, node), document.squeezed(named));
            let same = qualified.strip_suffix(wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"));
            let earlier = found.as_ref().is_none_or(|(other, _)| node.start_byte() < other.start_byte());
            if same && earlier {
                found = Some((node, qualified));
            }
        }
        if !matches!(node.kind(), "function_definition" | "compound_statement") {
            open.extend(children(node));
        }
    }
    let (node, qualified) = found?;
    let outer = node.parent().filter(|p| p.kind() == "template_declaration").unwrap_or(node);
    let start = unmasked_start(document, outer.start_byte());
    let end = node.child_by_field_name("body").map_or(node.end_byte(), |body| body.start_byte());
    let spot = Spot::new(&document.source, start..end);
    let list = outer.child_by_field_name("parameters");
    Some(KernelSignature {
        name: qualified,
        text: Fact::transcribed(spot.text().trim_end().to_owned(), spot.place()),
        template_parameters: list.map(|list| parameter::template_parameters(document, list, None)).unwrap_or_default(),
        parameters: vec![],
        global: false,
        launch_bounds: None,
        cluster_dims: None,
    })
}

/// The namespaces around a node, each with its `::`.
fn scope(document: &Document, node: Node<'_>) -> String {
    let mut out = String::new();
    let mut at = node;
    while let Some(parent) = at.parent() {
        if parent.kind() == "namespace_definition"
            && let Some(name) = parent.child_by_field_name("name")
        {
            out = format!("{}::{out}", document.squeezed(name));
        }
        at = parent;
    }
    out
}
