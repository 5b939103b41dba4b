//! Macros that a text itself shows to be no part of a declaration: those that it defines as nothing but annotations, calls
//! and words in capitals between statements, and calls in capitals behind an annotation.

use std::collections::BTreeMap;

use super::lex::{Token, TokenKind, Tokens, closing};
use crate::source::Span;

/// Words that a macro for annotations is made of.
const ANNOTATIONS: &[&[u8]] = &[
    b"__device__",
    b"__forceinline__",
    b"__global__",
    b"__host__",
    b"__inline__",
    b"__noinline__",
    b"__restrict__",
    b"constexpr",
    b"extern",
    b"inline",
    b"static",
];

/// Words that only begin a declaration: what stands before them is no type.
const BEGINS: &[&[u8]] = &[
    b"__device__",
    b"__forceinline__",
    b"__global__",
    b"__host__",
    b"class",
    b"enum",
    b"namespace",
    b"static",
    b"struct",
    b"template",
    b"typedef",
    b"using",
];

/// The macros without parameters that the text defines as nothing or as annotations, each with whether it says
/// `__global__`.
pub fn annotations(text: &[u8], tokens: &Tokens) -> BTreeMap<Vec<u8>, bool> {
    let mut out: BTreeMap<Vec<u8>, Option<bool>> = BTreeMap::new();
    for directive in &tokens.directives {
        let [first, name, words @ ..] = words_of(&tokens.tokens, *directive) else { continue };
        if first.bytes(text) != b"define" || name.kind != TokenKind::Word {
            continue;
        }
        let only = is_annotation(text, words);
        let global = only.then(|| words.iter().any(|word| word.bytes(text) == b"__global__"));
        let known = out.entry(name.bytes(text).to_vec()).or_insert(global);
        *known = known.zip(global).map(|(before, now)| before || now);
    }
    out.into_iter().filter_map(|(name, global)| Some((name, global?))).collect()
}

fn is_annotation(text: &[u8], words: &[Token]) -> bool {
    let mut index = 0;
    while let Some(word) = words.get(index) {
        index = match word.bytes(text) {
            b"__attribute__" => match closing(words, index + 1) {
                Some(end) => end + 1,
                None => return false,
            },
            other if ANNOTATIONS.contains(&other) => index + 1,
            _ => return false,
        };
    }
    true
}

/// The tokens of a directive behind its `#`.
pub fn words_of(tokens: &[Token], directive: Span) -> &[Token] {
    let from = tokens.partition_point(|t| t.span.start < directive.start);
    let until = tokens.partition_point(|t| t.span.start < directive.end);
    tokens.get(from + 1..until).unwrap_or_default()
}

/// Macros in capitals, with their arguments or without, that stand between a statement's end and the beginning of a
/// declaration; with arguments, also behind an annotation of a declaration.
pub fn between(text: &[u8], tokens: &[Token]) -> Vec<Span> {
    let mut out = vec![];
    let (mut index, mut begins, mut annotated) = (0, true, false);
    while let Some(token) = tokens.get(index) {
        let end = match (annotated, begins) {
            _ if token.directive || !is_capital(token.bytes(text)) => None,
            (true, _) => call_end(tokens, index),
            (_, true) => macros_end(text, tokens, index),
            _ => None,
        };
        if let Some(end) = end {
            out.push(Span::new(token.span.start, tokens[end - 1].span.end));
            index = end;
            continue;
        }
        annotated = !token.directive && ANNOTATIONS.contains(&token.bytes(text));
        begins = token.directive || matches!(token.kind, TokenKind::Punct(b';' | b'{' | b'}'));
        index += 1;
    }
    out
}

/// One past the last of the macros that begin at `from`, where a declaration or a block's end follows them.
fn macros_end(text: &[u8], tokens: &[Token], from: usize) -> Option<usize> {
    let (mut at, mut called) = (from, false);
    while tokens.get(at).is_some_and(|token| !token.directive && is_capital(token.bytes(text))) {
        at += 1;
        called = tokens.get(at).is_some_and(|token| token.is(b'(') && !token.directive);
        if called {
            at = closing(tokens, at)? + 1;
        }
    }
    match tokens.get(at) {
        Some(next) if !next.directive && BEGINS.contains(&next.bytes(text)) => Some(at),
        Some(next) if called && (next.directive || next.is(b'}')) => Some(at),
        None if called => Some(at),
        _ => None,
    }
}

/// One past a macro's arguments, where the declaration that it annotates goes on with a word.
fn call_end(tokens: &[Token], at: usize) -> Option<usize> {
    let end = tokens.get(at + 1).filter(|token| token.is(b'(')).and_then(|_| closing(tokens, at + 1))? + 1;
    tokens.get(end).is_some_and(|next| next.kind == TokenKind::Word && !next.directive).then_some(end)
}

fn is_capital(word: &[u8]) -> bool {
    word.len() > 2
        && word.iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
        && word.iter().any(u8::is_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::{annotations, between};
    use crate::read::cxx::lex::tokenize;

    fn alone(text: &str) -> Vec<&str> {
        let tokens = tokenize(text.as_bytes());
        between(text.as_bytes(), &tokens.tokens).into_iter().map(|span| &text[span.range()]).collect()
    }

    #[test]
    fn calls_and_words_in_capitals_before_a_declaration() {
        assert_eq!(
            alone("int a;\nLOAD_VARIANTS(prefetch, (1))\n\ntemplate <class T> void f();"),
            ["LOAD_VARIANTS(prefetch, (1))"]
        );
        assert_eq!(alone("SPACE_BEGIN namespace a { MAKE(f)\nMAKE(g) }"), ["SPACE_BEGIN", "MAKE(f)\nMAKE(g)"]);
        assert_eq!(alone("}\nMAKE(x)\n#endif\n"), ["MAKE(x)"]);
        assert_eq!(alone("__global__ BOUNDS(N * 2) void k(); static TABLE(x) = 1;"), ["BOUNDS(N * 2)"]);
    }

    #[test]
    fn types_and_calls_of_functions_stay() {
        assert_eq!(alone("FLOAT f(); MAKE(a); MAKE(m) { } REAL\n#ifdef X\n g(); x = MAKE(y)"), [""; 0]);
    }

    #[test]
    fn macros_defined_as_annotations() {
        let text = "#ifdef A\n#define SPACE __device__ __attribute__((always_inline)) inline\n#else\n#define SPACE\n#endif\n#define RUN __global__\n\
                    #define N 3\n#define F(x) inline\n#define MIXED inline\n#define MIXED 4\n";
        let found = annotations(text.as_bytes(), &tokenize(text.as_bytes()));
        let found: Vec<_> = found.iter().map(|(name, global)| (name.as_slice(), *global)).collect();
        assert_eq!(found, [(&b"RUN"[..], true), (b"SPACE", false)]);
    }
}
