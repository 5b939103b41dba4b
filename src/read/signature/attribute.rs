//! Attributes of a kernel that stand anywhere before its parameter list.

use crate::model::Fact;
use crate::read::cxx::annotation;
use crate::read::cxx::document::Document;
use crate::read::cxx::lex::{self, Token, TokenKind};
use crate::source::{Span, Spot};

fn within(document: &Document, head: Span) -> &[Token] {
    let tokens = &document.tokens.tokens;
    let from = tokens.partition_point(|t| t.span.start < head.start);
    let until = tokens.partition_point(|t| t.span.start < head.end);
    &tokens[from..until]
}

/// The text within `NAME( )`, exactly, when the attribute is there.
pub fn arguments(document: &Document, head: Span, name: &str) -> Option<Fact<String>> {
    let tokens = within(document, head);
    let bytes = document.source.bytes();
    let at = tokens.iter().position(|t| t.kind == TokenKind::Word && t.bytes(bytes) == name.as_bytes())?;
    let open = tokens.get(at + 1).filter(|t| t.is(b'('))?;
    let close = tokens.get(lex::closing(tokens, at + 1)?)?;
    let inner = &bytes[open.span.end..close.span.start];
    let start = open.span.end + (inner.len() - inner.trim_ascii_start().len());
    let spot = Spot::new(&document.source, start..start + inner.trim_ascii().len());
    Some(Fact::transcribed(spot.text().into_owned(), spot.place()))
}

/// Whether the declaration says `__global__`, or a macro that stands for it.
pub fn is_global(document: &Document, head: Span) -> bool {
    let bytes = document.source.bytes();
    let says = |word: &[u8]| {
        annotation::is_global(word, &document.annotation_macros) || document.global_words.iter().any(|own| own == word)
    };
    within(document, head).iter().any(|t| t.kind == TokenKind::Word && says(t.bytes(bytes)))
}
