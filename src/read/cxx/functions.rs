//! Every function that a text declares or defines at namespace or class scope.

use tree_sitter::Node;

use super::document::{Document, children, span, squeeze};
use crate::source::Span;

/// A function's declaration or definition.
#[derive(Debug, Clone)]
pub struct Function<'t> {
    /// Its name with the namespaces and classes around it.
    pub name: String,
    /// The node of its whole declaration, `template <…>` and `extern "C"` included.
    pub outer: Node<'t>,
    /// Its name's node.
    pub name_node: Node<'t>,
    /// Its innermost template parameter list.
    pub template_parameters: Option<Node<'t>>,
    /// Its parameter list.
    pub parameters: Node<'t>,
    /// Its body.
    pub body: Option<Node<'t>>,
}

impl Function<'_> {
    /// The declaration without its body, from the first word on, words that were masked included.
    pub fn head(&self, document: &Document) -> Span {
        let start = unmasked_start(document, self.outer.start_byte());
        let end = self.body.map_or(self.outer.end_byte(), |body| body.start_byte());
        let text = &document.stripped[start..end];
        let text = text.trim_ascii_end();
        Span::new(start, start + text.strip_suffix(b";").unwrap_or(text).trim_ascii_end().len())
    }

    /// Whether the parser stumbled within the declaration, or gave up on what may be its beginning.
    pub fn stumbled(&self, document: &Document) -> bool {
        if self.is_beheaded() || self.is_cut(document) {
            return true;
        }
        let end = self.head(document).end;
        let mut open = vec![self.outer];
        while let Some(node) = open.pop() {
            if node.start_byte() >= end || !node.has_error() {
                continue;
            }
            if node.is_error() || node.is_missing() {
                return true;
            }
            let mut cursor = node.walk();
            open.extend(node.children(&mut cursor));
        }
        false
    }

    /// Whether the text before it, directives aside, is the head of a declaration that has no rest.
    fn is_beheaded(&self) -> bool {
        let mut before = self.outer.prev_sibling();
        while let Some(node) = before.filter(|node| node.kind() == "comment" || node.kind().starts_with("preproc_")) {
            before = node.prev_sibling();
        }
        let Some(before) = before.filter(|node| node.has_error()) else { return false };
        let mut last = before;
        while let Some(inner) = last.child_count().checked_sub(1).and_then(|index| last.child(index)) {
            last = inner;
            if matches!(last.kind(), "template_parameter_list" | "__global__" | "__device__") {
                return before.is_error();
            }
        }
        last.is_missing()
    }

    /// Whether a condition that is still there cuts the head.
    fn is_cut(&self, document: &Document) -> bool {
        let directives = &document.tokens.directives;
        let from = directives.partition_point(|directive| directive.start < self.outer.start_byte());
        let end = self.parameters.end_byte();
        directives[from..].iter().take_while(|d| d.start < end).any(|d| document.masked[d.start] == b'#')
    }

    /// Whether the name, or its end, is `wanted`.
    pub fn is_named(&self, wanted: &str) -> bool {
        let wanted = wanted.trim_start_matches("::");
        self.name.strip_suffix(wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
    }
}

/// Moves a start back over words that the masking pass blanked.
pub fn unmasked_start(document: &Document, start: usize) -> usize {
    let gap = document.masked[..start].iter().rposition(|b| !b.is_ascii_whitespace()).map_or(0, |last| last + 1);
    // A directive is no part of what follows it, and what it leaves out neither.
    let before = document.tokens.directives.partition_point(|directive| directive.end <= start);
    let gap = before.checked_sub(1).map_or(gap, |last| gap.max(document.tokens.directives[last].end));
    document.stripped[gap..start].iter().position(|b| !b.is_ascii_whitespace()).map_or(start, |first| gap + first)
}

struct Frame<'t> {
    node: Node<'t>,
    scope: String,
    outer: Option<Node<'t>>,
    template: Option<Node<'t>>,
}

/// All functions, in order.
pub fn functions(document: &Document) -> Vec<Function<'_>> {
    let mut out = vec![];
    let mut open = vec![Frame { node: document.root(), scope: String::new(), outer: None, template: None }];
    while let Some(frame) = open.pop() {
        let node = frame.node;
        match node.kind() {
            "function_definition" | "declaration" | "field_declaration" => {
                if let Some(function) = function(document, &frame) {
                    out.push(function);
                } else if node.kind() != "field_declaration" {
                    descend(&mut open, node, &frame.scope, None, None);
                }
            }
            "namespace_definition" | "class_specifier" | "struct_specifier" => {
                let name = node.child_by_field_name("name").map(|n| document.squeezed(n)).unwrap_or_default();
                let scope = if name.is_empty() { frame.scope.clone() } else { format!("{}{name}::", frame.scope) };
                if let Some(body) = node.child_by_field_name("body") {
                    descend(&mut open, body, &scope, None, None);
                }
            }
            "template_declaration" => {
                let template = node.child_by_field_name("parameters");
                descend(&mut open, node, &frame.scope, frame.outer.or(Some(node)), template);
            }
            "linkage_specification" => match node.child_by_field_name("body") {
                Some(body) if body.kind() == "declaration_list" => descend(&mut open, body, &frame.scope, None, None),
                Some(body) => open.push(Frame { node: body, outer: Some(node), ..frame }),
                None => {}
            },
            "translation_unit"
            | "declaration_list"
            | "field_declaration_list"
            | "ERROR"
            | "preproc_if"
            | "preproc_ifdef"
            | "preproc_else"
            | "preproc_elif"
            | "preproc_elifdef" => {
                descend(&mut open, node, &frame.scope, None, None);
            }
            _ => {}
        }
    }
    out.sort_by_key(|function| function.outer.start_byte());
    out
}

fn descend<'t>(
    open: &mut Vec<Frame<'t>>,
    node: Node<'t>,
    scope: &str,
    outer: Option<Node<'t>>,
    template: Option<Node<'t>>,
) {
    for child in children(node) {
        open.push(Frame { node: child, scope: scope.to_owned(), outer, template });
    }
}

fn function<'t>(document: &Document, frame: &Frame<'t>) -> Option<Function<'t>> {
    let declared = frame.node.child_by_field_name("declarator")?;
    if let Some(conversion) = conversion(document, frame, declared) {
        return Some(conversion);
    }
    let declarator = declarator(declared)?;
    let parameters = declarator.child_by_field_name("parameters")?;
    // `inline operator T()` is parsed as a function `T` of the type `operator`.
    let operator = frame.node.child_by_field_name("type").filter(|node| document.text(*node) == "operator");
    let name_node = operator.map_or_else(|| declarator.child_by_field_name("declarator"), Some)?;
    let name = match operator {
        Some(operator) => between(document, operator.start_byte(), parameters.start_byte()),
        None => document.squeezed(name_node),
    };
    Some(Function {
        name: format!("{}{name}", frame.scope),
        outer: frame.outer.unwrap_or(frame.node),
        name_node,
        template_parameters: frame.template,
        parameters,
        body: frame.node.child_by_field_name("body"),
    })
}

/// `operator T()`, whose name is everything before its parameter list.
fn conversion<'t>(document: &Document, frame: &Frame<'t>, declared: Node<'t>) -> Option<Function<'t>> {
    let mut operator = declared;
    while operator.kind() == "qualified_identifier" {
        operator = operator.child_by_field_name("name")?;
    }
    if operator.kind() != "operator_cast" {
        return None;
    }
    let mut inner = operator;
    while inner.kind() != "abstract_function_declarator" {
        inner = inner.child_by_field_name("declarator")?;
    }
    let parameters = inner.child_by_field_name("parameters")?;
    let name = between(document, declared.start_byte(), parameters.start_byte());
    Some(Function {
        name: format!("{}{name}", frame.scope),
        outer: frame.outer.unwrap_or(frame.node),
        name_node: operator,
        template_parameters: frame.template,
        parameters,
        body: frame.node.child_by_field_name("body"),
    })
}

fn between(document: &Document, start: usize, end: usize) -> String {
    squeeze(&String::from_utf8_lossy(&document.stripped[start..end]))
}

/// The function declarator behind pointers and references.
fn declarator(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    for _ in 0..16 {
        if node.kind() == "function_declarator" {
            return Some(node);
        }
        node = match node.child_by_field_name("declarator") {
            Some(inner) => inner,
            None => children(node).into_iter().find(|child| child.kind().ends_with("_declarator"))?,
        };
    }
    None
}

/// The range of a node in a list from after the comma or bracket before it, masked words included.
pub fn element_span(document: &Document, node: Node<'_>) -> Span {
    let span = span(node);
    Span::new(unmasked_start(document, span.start), span.end)
}

#[cfg(test)]
mod tests {
    use super::functions;
    use crate::read::cxx::document::{Document, Grammar};
    use crate::read::cxx::mask::MaskOptions;
    use crate::source::Source;

    #[test]
    fn names_carry_their_namespaces_and_heads_their_attributes() {
        let source = Source::new(
            "k.cuh",
            "namespace a { namespace b {\ntemplate <int N>\n__launch_bounds__(N) CUTLASS_GLOBAL void k(int *x) { }\n}}\n\
             extern \"C\" __cluster_dims__(2,1,1) __global__ void c(void);\n#if X\nint &r(int) { return y; }\n#endif\n",
        );
        let document = Document::parse(&source, Grammar::Cuda, &MaskOptions::default());
        let all: Vec<_> = functions(&document)
            .iter()
            .map(|f| (f.name.clone(), source.slice(f.head(&document)).into_owned()))
            .collect();
        assert_eq!(
            all,
            [
                (
                    "a::b::k".to_owned(),
                    "template <int N>\n__launch_bounds__(N) CUTLASS_GLOBAL void k(int *x)".to_owned()
                ),
                ("c".to_owned(), "extern \"C\" __cluster_dims__(2,1,1) __global__ void c(void)".to_owned()),
                ("r".to_owned(), "int &r(int)".to_owned()),
            ]
        );
    }
}
