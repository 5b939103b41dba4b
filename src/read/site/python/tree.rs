//! Python text with its syntax tree.

use std::sync::Arc;

use tree_sitter::{Node, Parser, Tree};

use crate::read::cxx::document::{children, span};
use crate::source::{Source, Spot};

/// A source and its tree.
pub struct Script {
    /// The text.
    pub source: Arc<Source>,
    tree: Tree,
}

impl Script {
    /// Parses a source.
    pub fn parse(source: &Arc<Source>) -> Self {
        let mut parser = Parser::new();
        let ready = parser.set_language(&tree_sitter_python::LANGUAGE.into());
        debug_assert!(ready.is_ok(), "the grammar's ABI fits the library");
        match parser.parse(source.bytes(), None) {
            Some(tree) => Script { source: Arc::clone(source), tree },
            // Without a time limit or a cancellation flag a parser with a language always gives a tree.
            None => unreachable!("a parser without limits always gives a tree"),
        }
    }

    /// The whole tree.
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// A node's text.
    pub fn text(&self, node: Node<'_>) -> String {
        self.source.slice(span(node)).into_owned()
    }

    /// A node's text in one line.
    pub fn squeezed(&self, node: Node<'_>) -> String {
        crate::read::cxx::document::squeeze(&self.text(node))
    }

    /// A node's place.
    pub fn spot(&self, node: Node<'_>) -> Spot {
        Spot::new(&self.source, span(node))
    }

    /// The first place where the parser stumbled.
    pub fn stumbled(&self) -> Option<Spot> {
        let mut open = vec![self.root()];
        let mut first: Option<Node<'_>> = None;
        while let Some(node) = open.pop() {
            if node.is_error() || node.is_missing() {
                if first.is_none_or(|f| node.start_byte() < f.start_byte()) {
                    first = Some(node);
                }
            } else if node.has_error() {
                let mut cursor = node.walk();
                open.extend(node.children(&mut cursor));
            }
        }
        first.map(|node| self.spot(node))
    }

    /// Every function with the classes around it as `Class::name`, functions within functions left out.
    pub fn functions(&self) -> Vec<Function<'_>> {
        let mut out = vec![];
        let mut open = vec![(self.root(), String::new())];
        while let Some((node, scope)) = open.pop() {
            for child in children(node) {
                let inner = match child.kind() {
                    "decorated_definition" => child.child_by_field_name("definition").unwrap_or(child),
                    _ => child,
                };
                let name = inner.child_by_field_name("name").map(|n| self.text(n)).unwrap_or_default();
                match (inner.kind(), inner.child_by_field_name("body")) {
                    ("function_definition", Some(body)) => {
                        let decorated = child != inner;
                        let class = scope.clone();
                        out.push(Function { name: format!("{scope}{name}"), class, node: inner, body, decorated });
                    }
                    ("class_definition", Some(body)) => open.push((body, format!("{scope}{name}::"))),
                    ("if_statement" | "try_statement" | "else_clause" | "block", _) => {
                        open.push((inner, scope.clone()))
                    }
                    _ => {}
                }
            }
        }
        out.sort_by_key(|function| function.node.start_byte());
        out
    }
}

/// A function's definition.
#[derive(Debug, Clone)]
pub struct Function<'t> {
    /// Its name with the classes around it.
    pub name: String,
    /// The classes around it, each with `::` behind it.
    pub class: String,
    /// Its definition.
    pub node: Node<'t>,
    /// Its statements.
    pub body: Node<'t>,
    /// Whether a decorator stands before it.
    pub decorated: bool,
}

impl<'t> Function<'t> {
    /// Whether the name, or its end, is `wanted`.
    pub fn is_named(&self, wanted: &str) -> bool {
        self.name.strip_suffix(wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
    }

    /// Last names of the decorators before it.
    pub fn decorators(&self, script: &Script) -> Vec<String> {
        let around = self.node.parent().filter(|parent| parent.kind() == "decorated_definition");
        let all = around.map(children).unwrap_or_default();
        let name = |node: Node<'t>| {
            let text = script.squeezed(node);
            let path = text.trim_start_matches('@').split('(').next().unwrap_or_default().to_owned();
            path.rsplit('.').next().unwrap_or_default().trim().to_owned()
        };
        all.into_iter().filter(|node| node.kind() == "decorator").map(name).collect()
    }

    /// The name's node.
    pub fn name_node(&self) -> Node<'t> {
        self.node.child_by_field_name("name").unwrap_or(self.node)
    }

    /// The parameters: name, kind of the node, default.
    pub fn parameters(&self, script: &Script) -> Vec<(String, &'t str, Option<Node<'t>>)> {
        let list = self.node.child_by_field_name("parameters").map(children).unwrap_or_default();
        let parameter = |node: Node<'t>| -> (String, &'t str, Option<Node<'t>>) {
            let name = node
                .child_by_field_name("name")
                .or_else(|| children(node).first().copied())
                .map_or_else(|| script.text(node), |name| script.text(name));
            (name, node.kind(), node.child_by_field_name("value"))
        };
        list.into_iter().map(parameter).collect()
    }
}
