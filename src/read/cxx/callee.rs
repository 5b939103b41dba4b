//! What a call calls.

use tree_sitter::Node;

use super::document::{Document, children, fields};

/// The function of a call expression, taken apart.
#[derive(Debug)]
pub struct Callee<'t> {
    /// Its qualified name without template arguments; for a method, the method's name.
    pub path: String,
    /// The object of a method call.
    pub receiver: Option<Node<'t>>,
    /// Its explicit template arguments.
    pub template_arguments: Vec<Node<'t>>,
    /// The arguments.
    pub arguments: Vec<Node<'t>>,
}

impl<'t> Callee<'t> {
    /// Takes a `call_expression` apart.
    pub fn of(document: &Document, call: Node<'t>) -> Option<Self> {
        let function = call.child_by_field_name("function")?;
        let arguments = call.child_by_field_name("arguments").map(children).unwrap_or_default();
        let mut out = Callee { path: String::new(), receiver: None, template_arguments: vec![], arguments };
        out.take(document, function);
        Some(out)
    }

    /// The name without qualifiers.
    pub fn last(&self) -> &str {
        self.path.rsplit("::").next().unwrap_or_default()
    }

    fn take(&mut self, document: &Document, node: Node<'t>) {
        let mut node = node;
        loop {
            let inner = match node.kind() {
                "field_expression" => {
                    self.receiver = node.child_by_field_name("argument");
                    node.child_by_field_name("field")
                }
                "qualified_identifier" => {
                    if let Some(scope) = node.child_by_field_name("scope") {
                        self.path.push_str(&document.squeezed(scope));
                    }
                    self.path.push_str("::");
                    node.child_by_field_name("name")
                }
                "template_function" | "template_method" | "template_type" => {
                    self.template_arguments = node.child_by_field_name("arguments").map(children).unwrap_or_default();
                    node.child_by_field_name("name")
                }
                "dependent_name" => fields(node, "name").first().copied().or_else(|| node.named_child(0)),
                _ => {
                    self.path.push_str(&document.squeezed(node));
                    return;
                }
            };
            match inner {
                Some(inner) => node = inner,
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Callee;
    use crate::read::cxx::document::{Document, Grammar};
    use crate::read::cxx::mask::MaskOptions;
    use crate::source::Source;

    fn callee(text: &str) -> (String, Option<String>, Vec<String>, usize) {
        let source = Source::new("x", format!("void f() {{ {text}; }}"));
        let document = Document::parse(&source, Grammar::Cuda, &MaskOptions::default());
        let mut node = document.root();
        while node.kind() != "call_expression" {
            node = node.descendant_for_byte_range(11, 11 + text.len()).filter(|n| *n != node).unwrap();
        }
        let callee = Callee::of(&document, node).unwrap();
        (
            callee.path.clone(),
            callee.receiver.map(|n| document.squeezed(n)),
            callee.template_arguments.iter().map(|n| document.squeezed(*n)).collect(),
            callee.arguments.len(),
        )
    }

    #[test]
    fn qualified_names_methods_and_template_arguments() {
        assert_eq!(callee("a::b::f<1, T>(x, y)"), ("a::b::f".into(), None, vec!["1".into(), "T".into()], 2));
        assert_eq!(callee("p->q.e(\"$\", /* c */ 1)"), ("e".into(), Some("p->q".into()), vec![], 2));
        assert_eq!(callee("x.template g<3>()"), ("g".into(), Some("x".into()), vec!["3".into()], 0));
    }
}
