//! Defaults of parameters that the grammar does not know: `= {}` of a function's parameter, and a type parameter's pointer
//! or reference (`typename P = void *`).

use super::lex::{Token, TokenKind, closing};
use crate::source::Span;

/// The spans of such defaults, each with the byte to fill it with: digits stand for a value, underscores for a type.
pub fn unknown(text: &[u8], tokens: &[Token]) -> Vec<(Span, u8)> {
    let mut out = vec![];
    let mut open: Vec<u8> = vec![];
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(bracket @ (b'(' | b'[' | b'{')) => open.push(bracket),
            TokenKind::Punct(b')' | b']' | b'}') => {
                open.pop();
            }
            TokenKind::Punct(b'=') if open.last() == Some(&b'(') => out.extend(braces(tokens, index)),
            TokenKind::Word if token.bytes(text) == b"template" => out.extend(types(text, tokens, index + 1)),
            _ => {}
        }
    }
    out.retain(|(span, _)| !text[span.range()].contains(&b'\n'));
    out
}

/// `= {}` before a comma or the end of the list.
fn braces(tokens: &[Token], equals: usize) -> Option<(Span, u8)> {
    let [open, close, after] = tokens.get(equals + 1..equals + 4)? else { return None };
    let empty = open.is(b'{') && close.is(b'}') && (after.is(b')') || after.is(b','));
    empty.then(|| (Span::new(open.span.start, close.span.end), b'0'))
}

/// The defaults of a template parameter list that end with `*` or `&`.
fn types(text: &[u8], tokens: &[Token], open: usize) -> Vec<(Span, u8)> {
    let mut out = vec![];
    if !tokens.get(open).is_some_and(|token| token.is(b'<')) {
        return out;
    }
    let (mut angles, mut index) = (0usize, open);
    let (mut begins, mut of_type, mut from) = (true, false, None);
    while let Some(token) = tokens.get(index) {
        match token.kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => match closing(tokens, index) {
                Some(end) => index = end,
                None => return out,
            },
            TokenKind::Punct(b';' | b'#') => return out,
            TokenKind::Punct(b'<') => angles += 1,
            TokenKind::Punct(b'>' | b',') if angles == 1 => {
                let last = tokens[index - 1];
                if let Some(from) = from.take()
                    && (last.is(b'*') || last.is(b'&'))
                {
                    out.push((Span::new(from, last.span.end), b'_'));
                }
                if token.is(b'>') {
                    return out;
                }
                (begins, of_type) = (true, false);
                index += 1;
                continue;
            }
            TokenKind::Punct(b'>') => angles -= 1,
            TokenKind::Punct(b'=') if angles == 1 && of_type => from = tokens.get(index + 1).map(|t| t.span.start),
            TokenKind::Word if begins => of_type = matches!(token.bytes(text), b"typename" | b"class"),
            _ => {}
        }
        begins = begins && index == open;
        index += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::unknown;
    use crate::read::cxx::lex::tokenize;

    fn found(text: &str) -> Vec<&str> {
        let tokens = tokenize(text.as_bytes());
        unknown(text.as_bytes(), &tokens.tokens).into_iter().map(|(span, _)| &text[span.range()]).collect()
    }

    #[test]
    fn empty_braces_count_in_parentheses_only() {
        assert_eq!(found("void f(S s = {}, int n = { }); S t = {}; g({.a = {}, 1});"), ["{}", "{ }"]);
        assert_eq!(found("void f(S s = {\n}, T t = {1}, bool b = a == {});"), ["{}"]);
    }

    #[test]
    fn pointers_and_references_as_defaults_of_type_parameters() {
        assert_eq!(
            found("template <typename P = void *, class Q = A<int, B *>, int *R = x, class S = T &> f"),
            ["void *", "T &"]
        );
        assert_eq!(found("template <typename P = void *"), [""; 0]);
        assert_eq!(found("template <class T = A<int>*>"), ["A<int>*"]);
    }
}
