//! What a header declares at namespace scope.

use std::collections::HashMap;

use tree_sitter::Node;

use crate::read::cxx::document::{Document, children, fields, span};
use crate::source::Span;

/// What a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A variable with an initialiser.
    Constant,
    /// An alias of a type.
    Alias,
    /// A class or struct with a body.
    Class,
    /// A function with a body.
    Function,
    /// An enumerator.
    Enumerator,
    /// An object-like macro.
    Macro,
}

/// A declaration; its node is found again by kind and range.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    node: (u16, Span),
    template: Option<(u16, Span)>,
}

impl Entry {
    /// Its node.
    pub fn node(self, document: &Document) -> Option<Node<'_>> {
        document.node_at(self.node.0, self.node.1)
    }

    /// The template parameter list in front of it.
    pub fn template(self, document: &Document) -> Option<Node<'_>> {
        document.node_at(self.template?.0, self.template?.1)
    }

    /// Whether it is a template.
    pub fn is_template(self) -> bool {
        self.template.is_some()
    }
}

/// Names to their declarations, in order.
#[derive(Debug, Default)]
pub struct Index {
    names: HashMap<String, Vec<Entry>>,
}

impl Index {
    /// Reads a header.
    pub fn of(document: &Document) -> Self {
        let mut out = Index::default();
        let mut open = vec![(document.root(), None)];
        while let Some((node, template)) = open.pop() {
            out.visit(document, node, template, &mut open);
        }
        for entries in out.names.values_mut() {
            entries.sort_by_key(|entry| entry.node.1.start);
        }
        out
    }

    /// The declarations of a name.
    pub fn get(&self, name: &str) -> &[Entry] {
        self.names.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    fn add(&mut self, name: String, kind: Kind, node: Node<'_>, template: Option<Node<'_>>) {
        let found = |node: Node<'_>| (node.kind_id(), span(node));
        self.names.entry(name).or_default().push(Entry { kind, node: found(node), template: template.map(found) });
    }

    fn visit<'t>(
        &mut self,
        document: &Document,
        node: Node<'t>,
        template: Option<Node<'t>>,
        open: &mut Vec<(Node<'t>, Option<Node<'t>>)>,
    ) {
        let name = || node.child_by_field_name("name").map(|n| document.squeezed(n)).unwrap_or_default();
        match node.kind() {
            "declaration" => {
                for declarator in fields(node, "declarator").into_iter().filter(|d| d.kind() == "init_declarator") {
                    if let Some(inner) = declarator.child_by_field_name("declarator") {
                        self.add(document.squeezed(inner), Kind::Constant, declarator, template);
                    }
                }
                open.extend(children(node).into_iter().map(|child| (child, None)));
            }
            "alias_declaration" => self.add(name(), Kind::Alias, node, template),
            "type_definition" => {
                for declarator in fields(node, "declarator") {
                    self.add(document.squeezed(declarator), Kind::Alias, node, None);
                }
                open.extend(node.child_by_field_name("type").map(|inner| (inner, None)));
            }
            "class_specifier" | "struct_specifier" if node.child_by_field_name("body").is_some() => {
                let full = name();
                let plain = full.split('<').next().unwrap_or_default().to_owned();
                self.add(plain, Kind::Class, node, template);
            }
            "enum_specifier" => {
                for item in node.child_by_field_name("body").map(children).unwrap_or_default() {
                    if let Some(name) = item.child_by_field_name("name") {
                        self.add(document.squeezed(name), Kind::Enumerator, item, None);
                    }
                }
            }
            "function_definition" => {
                let mut declarator = node.child_by_field_name("declarator");
                while let Some(inner) = declarator.filter(|d| d.kind() != "function_declarator") {
                    declarator = inner.child_by_field_name("declarator").or_else(|| children(inner).first().copied());
                }
                if let Some(name) = declarator.and_then(|d| d.child_by_field_name("declarator")) {
                    self.add(document.squeezed(name), Kind::Function, node, template);
                }
            }
            "preproc_def" => self.add(name(), Kind::Macro, node, None),
            "template_declaration" => {
                let list = node.child_by_field_name("parameters");
                open.extend(children(node).into_iter().map(|child| (child, list)));
            }
            "translation_unit"
            | "namespace_definition"
            | "declaration_list"
            | "linkage_specification"
            | "ERROR"
            | "preproc_if"
            | "preproc_ifdef"
            | "preproc_else"
            | "preproc_elif"
            | "expression_statement" => {
                open.extend(children(node).into_iter().map(|child| (child, None)));
            }
            _ => {}
        }
    }
}
