//! PTX tokens.

use super::PtxError;

/// What a token is; its text lies beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Opcode with its modifiers, directive, register, label or symbol.
    Word,
    /// Number, sign excluded.
    Number,
    /// Text between quotes, quotes excluded.
    Quoted,
    /// One byte of punctuation.
    Mark(u8),
    /// After the last token.
    End,
}

/// A token and where it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) line: u32,
}

fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'%')
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

/// Splits a PTX text. Comments are dropped.
pub(super) fn lex(text: &str) -> Result<Vec<Token<'_>>, PtxError> {
    let bytes = text.as_bytes();
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let mut tokens = Vec::with_capacity(bytes.len() / 5);
    let (mut i, mut line) = (0, 1u32);
    while i < bytes.len() {
        let (start, byte) = (i, bytes[i]);
        i += 1;
        let kind = match byte {
            b'\n' => {
                line += 1;
                continue;
            }
            // Embedded PTX ends with NUL bytes.
            0..=b' ' => continue,
            b'/' if at(i) == b'/' => {
                while i < bytes.len() && bytes[i] != b'\n' {
                    i += 1;
                }
                continue;
            }
            b'/' if at(i) == b'*' => {
                let Some(end) = text[i + 1..].find("*/") else {
                    return Err(PtxError::new(line, "this comment does not end"));
                };
                line += text[i + 1..i + 1 + end].matches('\n').count() as u32;
                i += end + 3;
                continue;
            }
            b'"' => {
                while at(i) != b'"' {
                    if i >= bytes.len() || bytes[i] == b'\n' {
                        return Err(PtxError::new(line, "this string does not end"));
                    }
                    i += if at(i) == b'\\' { 2 } else { 1 };
                }
                i += 1;
                tokens.push(Token { kind: Kind::Quoted, text: &text[start + 1..i - 1], line });
                continue;
            }
            b'0'..=b'9' => {
                while at(i).is_ascii_alphanumeric() || at(i) == b'.' {
                    i += 1;
                }
                Kind::Number
            }
            _ if begins_word(byte) || byte == b'.' && begins_word(at(i)) => {
                loop {
                    if in_word(at(i)) {
                        i += 1;
                    } else if at(i) == b':' && at(i + 1) == b':' {
                        i += 2;
                    } else {
                        break;
                    }
                }
                Kind::Word
            }
            0x80.. => return Err(PtxError::new(line, "PTX text is ASCII outside of strings")),
            _ => Kind::Mark(byte),
        };
        tokens.push(Token { kind, text: &text[start..i], line });
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_stay_with_their_opcode() {
        let text = "@%p1 bra $L__BB0_2;\nmbarrier.init.shared::cta.b64 [%r1+8], 0f3F800000; /* a\n */ .b8 x // y\n";
        let tokens = lex(text).unwrap();
        let texts: Vec<_> = tokens.iter().map(|t| t.text).collect();
        let wanted = "@ %p1 bra $L__BB0_2 ; mbarrier.init.shared::cta.b64 [ %r1 + 8 ] , 0f3F800000 ; .b8 x";
        assert_eq!(texts.join(" "), wanted);
        assert_eq!(tokens.last().map(|t| t.line), Some(3));
    }

    #[test]
    fn unfinished_text_is_an_error() {
        for text in ["\"abc", "\"abc\\", "/* x", "é"] {
            assert!(lex(text).is_err(), "{text}");
        }
        assert_eq!(lex("/*/").unwrap_err().line, 1);
    }
}
