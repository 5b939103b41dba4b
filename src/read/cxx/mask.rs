//! Overwrites what the grammar cannot know with text of the same length, so that every span still points into the
//! original.

use std::collections::BTreeMap;

use super::annotation::{self, ATTRIBUTE_CALLS, replacement};
use super::lex::{self, Token, TokenKind, Tokens};
use super::{branch, defaults, standalone};
use crate::source::Span;

/// What the masking pass is told.
#[derive(Debug, Clone, Default)]
pub struct MaskOptions {
    /// Macros of the user, `NAME` or `NAME=KEYWORDS`; arguments vanish with them.
    pub annotation_macros: Vec<String>,
    /// When given, only the preprocessor branches that these definitions choose are kept.
    pub branches: Option<Vec<(String, Option<String>)>>,
    /// What is left out besides.
    pub dropped: Vec<Span>,
}

/// A text after the pass.
#[derive(Debug)]
pub struct Masked {
    /// The original with comments and branches that were not chosen blanked.
    pub stripped: Vec<u8>,
    /// What the parser sees.
    pub text: Vec<u8>,
    /// The tokens of the original.
    pub tokens: Tokens,
    /// Macros of the text itself that say `__global__`.
    pub global_words: Vec<Vec<u8>>,
}

/// Masks a text; both results have its length and its line breaks.
pub fn mask(original: &[u8], options: &MaskOptions) -> Masked {
    let tokens = lex::tokenize(original);
    let mut stripped = original.to_vec();
    for comment in &tokens.comments {
        blank(&mut stripped, *comment);
    }
    let mut text = stripped.clone();
    let own = standalone::annotations(original, &tokens);
    mask_tokens(&mut text, &tokens.tokens, options, &own);
    for span in standalone::between(&text, &tokens.tokens) {
        blank(&mut text, span);
    }
    for (span, fill) in defaults::unknown(&text, &tokens.tokens) {
        text[span.range()].fill(fill);
    }
    if let Some(defines) = &options.branches {
        for span in branch::dropped(original, &tokens, defines) {
            blank(&mut text, span);
            blank(&mut stripped, span);
        }
    }
    for span in &options.dropped {
        blank(&mut text, *span);
    }
    let global_words = own.into_iter().filter_map(|(name, global)| global.then_some(name)).collect();
    Masked { stripped, text, tokens, global_words }
}

/// Overwrites all but line breaks with blanks.
fn blank(text: &mut [u8], span: Span) {
    for byte in &mut text[span.range()] {
        if !matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

fn overwrite(text: &mut [u8], span: Span, with: &str) {
    blank(text, span);
    text[span.start..span.start + with.len()].copy_from_slice(with.as_bytes());
}

fn mask_tokens(text: &mut [u8], tokens: &[Token], options: &MaskOptions, own: &BTreeMap<Vec<u8>, bool>) {
    let mut index = 0;
    let mut template_until = 0;
    while index < tokens.len() {
        let token = tokens[index];
        let called = tokens.get(index + 1).is_some_and(|next| next.is(b'('));
        index += 1;
        if token.kind != TokenKind::Word {
            continue;
        }
        let Ok(word) = std::str::from_utf8(&text[token.span.range()]).map(str::to_owned) else { continue };
        if token.directive {
            alternative_token(text, tokens, index - 1, &word);
        } else if called && ATTRIBUTE_CALLS.contains(&word.as_str()) {
            if let Some(end) = lex::closing(tokens, index) {
                blank(text, Span::new(token.span.start, tokens[end].span.end));
                index = end + 1;
            }
        } else if called && is_static_assert(&word) {
            if let Some(end) = lex::closing(tokens, index) {
                let end = if tokens.get(end + 1).is_some_and(|t| t.is(b';')) { end + 1 } else { end };
                blank(text, Span::new(token.span.start, tokens[end].span.end));
                index = end + 1;
            }
        } else if word == "template" && tokens.get(index).is_some_and(|t| t.is(b'<')) {
            template_until = template_until.max(template_end(tokens, index));
        } else if (word == "typename" && index > template_until)
            || (word == "friend" && follows_a_word(tokens, index - 1))
        {
            blank(text, token.span);
        } else if let Some(with) = replacement(&word, &options.annotation_macros) {
            overwrite(text, token.span, with);
            let arguments = called && options.annotation_macros.iter().any(|entry| annotation::own(entry).0 == word);
            if let Some(end) = lex::closing(tokens, index).filter(|_| arguments) {
                blank(text, Span::new(tokens[index].span.start, tokens[end].span.end));
                index = end + 1;
            }
        } else if own.contains_key(word.as_bytes()) {
            blank(text, token.span);
        }
    }
}

/// Whether the token stands behind another word of its declaration: the grammar knows `friend` in front only.
fn follows_a_word(tokens: &[Token], index: usize) -> bool {
    index > 0 && !tokens[index - 1].directive && tokens[index - 1].kind == TokenKind::Word
}

/// `and`, `or` and `not` in a preprocessor condition.
fn alternative_token(text: &mut [u8], tokens: &[Token], index: usize, word: &str) {
    let with = match word {
        "and" => "&&",
        "or" => "||",
        "not" => "!",
        _ => return,
    };
    let directive = tokens[..index].iter().rposition(|t| t.is(b'#')).and_then(|hash| tokens.get(hash + 1));
    if directive.is_some_and(|t| matches!(&text[t.span.range()], b"if" | b"elif")) {
        overwrite(text, tokens[index].span, with);
    }
}

/// `X_STATIC_ASSERT(…)` and `X_STATIC_ASSERT_V(…)`.
fn is_static_assert(word: &str) -> bool {
    let word = word.strip_suffix("_V").unwrap_or(word);
    word == "STATIC_ASSERT" || word.ends_with("_STATIC_ASSERT")
}

/// The index of the token that ends the template parameter list opened at `open`.
fn template_end(tokens: &[Token], open: usize) -> usize {
    let (mut angles, mut brackets) = (0usize, 0usize);
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => brackets += 1,
            TokenKind::Punct(b')' | b']' | b'}') => brackets = brackets.saturating_sub(1),
            TokenKind::Punct(b'<') if brackets == 0 => angles += 1,
            TokenKind::Punct(b'>') if brackets == 0 => {
                angles = angles.saturating_sub(1);
                if angles == 0 {
                    return index;
                }
            }
            TokenKind::Punct(b';') if brackets == 0 => return index,
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::{MaskOptions, mask};

    fn masked(text: &str) -> String {
        let out = mask(text.as_bytes(), &MaskOptions::default());
        assert_eq!(out.text.len(), text.len());
        assert_eq!(out.stripped.len(), text.len());
        String::from_utf8(out.text).unwrap()
    }

    #[test]
    fn a_macro_becomes_its_keyword_of_the_same_width() {
        assert_eq!(masked("CUTLASS_GLOBAL void k();"), "__global__     void k();");
        assert_eq!(masked("#define CUTLASS_GLOBAL x"), "#define CUTLASS_GLOBAL x");
        assert_eq!(masked("\"CUTLASS_GLOBAL\""), "\"CUTLASS_GLOBAL\"");
    }

    #[test]
    fn attributes_with_arguments_vanish() {
        assert_eq!(masked("__launch_bounds__(f(1), 2) int"), format!("{:26} int", ""));
        assert_eq!(masked("__launch_bounds__(1"), "__launch_bounds__(1");
    }

    #[test]
    fn alternative_tokens_change_only_in_conditions() {
        assert_eq!(masked("#if A and not B\nx and y"), "#if A &&  !   B\nx and y");
        assert_eq!(masked("#define X a and b"), "#define X a and b");
    }

    #[test]
    fn typename_stays_in_template_heads_only() {
        assert_eq!(
            masked("template <typename T = typename X::Y> f(typename Z::W{});"),
            "template <typename T = typename X::Y> f(         Z::W{});"
        );
    }

    #[test]
    fn friend_behind_a_word_vanishes() {
        assert_eq!(
            masked("CUTE_DEVICE friend void f(); friend class X;"),
            "__device__         void f(); friend class X;"
        );
    }

    #[test]
    fn comments_and_static_assert_macros_vanish() {
        assert_eq!(masked("a/*b\nc*/d"), "a   \n   d");
        assert_eq!(masked("DG_STATIC_ASSERT(a < b, \"x\"); y"), format!("{:29} y", ""));
    }
}
