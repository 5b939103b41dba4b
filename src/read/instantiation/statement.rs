//! A text cut into statements, with the block that each stands in.

use crate::read::cxx::lex::{Token, TokenKind, closing};

/// Tokens `from..until` (the semicolon excluded) of one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// First token.
    pub from: usize,
    /// One past the last token.
    pub until: usize,
    /// The tokens of the opening braces around it, outermost first.
    pub blocks: Vec<usize>,
}

const BLOCK_WORDS: &[&[u8]] = &[b"namespace", b"struct", b"class", b"union", b"enum", b"extern", b"template"];
const BEFORE_BLOCK: &[&[u8]] = &[b"else", b"do", b"try", b"const", b"noexcept", b"override", b"final", b"mutable"];

/// All statements; `if (…)`, `for (…)` and function heads are statements of their own.
pub fn statements(text: &[u8], tokens: &[Token]) -> Vec<Statement> {
    let mut out = vec![];
    let mut blocks: Vec<usize> = vec![];
    let (mut from, mut index) = (0, 0);
    let push = |out: &mut Vec<Statement>, from: usize, until: usize, blocks: &[usize]| {
        if until > from {
            out.push(Statement { from, until, blocks: blocks.to_vec() });
        }
    };
    while let Some(token) = tokens.get(index) {
        match token.kind {
            TokenKind::Punct(b'(' | b'[') => index = closing(tokens, index).unwrap_or(tokens.len()),
            TokenKind::Punct(b'{') if opens_block(text, tokens, from, index) => {
                push(&mut out, from, index, &blocks);
                blocks.push(index);
                from = index + 1;
            }
            TokenKind::Punct(b'{') => index = closing(tokens, index).unwrap_or(tokens.len()),
            TokenKind::Punct(b'}') => {
                push(&mut out, from, index, &blocks);
                blocks.pop();
                from = index + 1;
            }
            TokenKind::Punct(b';') => {
                push(&mut out, from, index, &blocks);
                from = index + 1;
            }
            _ => {}
        }
        index += 1;
    }
    push(&mut out, from, tokens.len(), &blocks);
    out
}

/// Whether the brace at `at`, in a statement that begins at `from`, opens a block and not an initialiser.
fn opens_block(text: &[u8], tokens: &[Token], from: usize, at: usize) -> bool {
    if at == from || BLOCK_WORDS.contains(&tokens[from].bytes(text)) {
        return true;
    }
    let before = tokens[at - 1];
    match before.kind {
        TokenKind::Punct(b')') => true,
        TokenKind::Word => BEFORE_BLOCK.contains(&before.bytes(text)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::statements;
    use crate::read::cxx::lex::tokenize;

    #[test]
    fn blocks_and_braced_initialisers_are_told_apart() {
        let text = "static void f() { auto x = g<1>{}; if (a) { k<2>(y); } else { z; } } using T = int;";
        let tokens = tokenize(text.as_bytes()).tokens;
        let all: Vec<_> = statements(text.as_bytes(), &tokens)
            .into_iter()
            .map(|s| (&text[tokens[s.from].span.start..tokens[s.until - 1].span.end], s.blocks.len()))
            .collect();
        assert_eq!(
            all,
            [
                ("static void f()", 0),
                ("auto x = g<1>{}", 1),
                ("if (a)", 1),
                ("k<2>(y)", 2),
                ("else", 1),
                ("z", 2),
                ("using T = int", 0)
            ]
        );
    }

    #[test]
    fn unbalanced_text_ends() {
        for text in ["}}} x;", "f(((;", "{{{", "x{", ""] {
            statements(text.as_bytes(), &tokenize(text.as_bytes()).tokens);
        }
    }
}
