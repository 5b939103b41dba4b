//! A text with its syntax tree.

use std::borrow::Cow;
use std::sync::Arc;

use tree_sitter::{Node, Parser, Tree};

use super::lex::Tokens;
use super::mask::{MaskOptions, mask};
use crate::source::{Source, Span, Spot};

/// Which grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grammar {
    /// Host code: generators.
    Cpp,
    /// Device code: headers and generated text.
    Cuda,
}

/// A source and the tree of its masked text; every node's range is a range of the source.
#[derive(Debug)]
pub struct Document {
    /// The original.
    pub source: Arc<Source>,
    /// The original with comments and branches that were not chosen blanked.
    pub stripped: Vec<u8>,
    /// What was parsed.
    pub masked: Vec<u8>,
    /// The tokens of the original.
    pub tokens: Tokens,
    /// Macros of the user, `NAME` or `NAME=KEYWORDS`.
    pub annotation_macros: Vec<String>,
    /// Macros of the text itself that say `__global__`.
    pub global_words: Vec<Vec<u8>>,
    tree: Tree,
}

impl Document {
    /// Masks and parses a source.
    pub fn parse(source: &Arc<Source>, grammar: Grammar, options: &MaskOptions) -> Self {
        let masked = mask(source.bytes(), options);
        let tree = tree_of(&masked.text, grammar);
        Document {
            source: Arc::clone(source),
            stripped: masked.stripped,
            masked: masked.text,
            tokens: masked.tokens,
            annotation_macros: options.annotation_macros.clone(),
            global_words: masked.global_words,
            tree,
        }
    }

    /// The whole tree.
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// A node's text, byte-equal to the original; broken UTF-8 is replaced.
    pub fn text(&self, node: Node<'_>) -> Cow<'_, str> {
        self.source.slice(span(node))
    }

    /// A node's text without comments, blanks between words squeezed to one.
    pub fn squeezed(&self, node: Node<'_>) -> String {
        squeeze(&String::from_utf8_lossy(&self.stripped[span(node).range()]))
    }

    /// A node's place.
    pub fn spot(&self, node: Node<'_>) -> Spot {
        Spot::new(&self.source, span(node))
    }

    /// The node of this kind (its id) that has exactly this range.
    pub fn node_at(&self, kind: u16, at: Span) -> Option<Node<'_>> {
        let mut node = self.root().descendant_for_byte_range(at.start, at.end)?;
        loop {
            if node.kind_id() == kind && span(node) == at {
                return Some(node);
            }
            node = node.parent()?;
        }
    }
}

/// A node's range.
pub fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// A node's named children, comments left out.
pub fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

/// Whether something within `node`, itself included, holds.
pub fn any(node: Node<'_>, mut holds: impl FnMut(Node<'_>) -> bool) -> bool {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if holds(node) {
            return true;
        }
        open.extend(children(node));
    }
    false
}

/// The named children of a field, comments left out.
pub fn fields<'t>(node: Node<'t>, field: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(field, &mut cursor).filter(|c| c.is_named() && c.kind() != "comment").collect()
}

/// Blanks squeezed: none beside punctuation, one between words.
pub fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quote = None;
    let mut gap = false;
    for c in text.chars() {
        if quote.is_none() && c.is_whitespace() {
            gap = true;
            continue;
        }
        if gap {
            let word = |c: char| c.is_alphanumeric() || c == '_' || c == '"';
            let between = out.chars().next_back().is_some_and(|last| {
                (word(last) && word(c)) || "+-*/%<>=?:&|,".contains(last) || "+-*/%<>=?:&|".contains(c)
            });
            if between {
                out.push(' ');
            }
            gap = false;
        }
        match quote {
            None if c == '"' || c == '\'' => quote = Some(c),
            Some(open) if c == open && !out.ends_with('\\') => quote = None,
            _ => {}
        }
        out.push(c);
    }
    out
}

fn tree_of(text: &[u8], grammar: Grammar) -> Tree {
    let language = match grammar {
        Grammar::Cpp => tree_sitter_cpp::LANGUAGE,
        Grammar::Cuda => tree_sitter_cuda::LANGUAGE,
    };
    let mut parser = Parser::new();
    let ready = parser.set_language(&language.into());
    debug_assert!(ready.is_ok(), "the grammar's ABI fits the library");
    match parser.parse(text, None) {
        Some(tree) => tree,
        // Without a time limit or a cancellation flag a parser with a language always gives a tree.
        None => unreachable!("a parser without limits always gives a tree"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Document, Grammar, squeeze};
    use crate::read::cxx::mask::MaskOptions;
    use crate::source::Source;

    #[test]
    fn a_nodes_text_comes_from_the_original() {
        let source = Source::new("k.cuh", "CUTLASS_DEVICE int f(int /*x*/ a);");
        let document = Document::parse(&source, Grammar::Cuda, &MaskOptions::default());
        assert!(!document.root().has_error());
        assert_eq!(document.text(document.root()), "CUTLASS_DEVICE int f(int /*x*/ a);");
        assert_eq!(document.squeezed(document.root()), "CUTLASS_DEVICE int f(int a);");
    }

    #[test]
    fn squeezing_keeps_words_apart_and_literals_whole() {
        assert_eq!(squeeze("( a\n + b ) /\n c"), "(a + b) / c");
        assert_eq!(squeeze("f( \"a  b\" ,\n x [ 0 ] )"), "f(\"a  b\", x[0])");
    }
}
