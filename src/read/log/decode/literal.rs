//! String literals: Python, JSON, Rust, C as strace and bash print it.

use crate::read::log::word::Mapped;

/// Where the languages differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Escapes {
    /// `\303` is a byte (strace, bash), not a character.
    pub octal: bool,
    /// `\xc3` is a byte (strace, bash), not the character of that number (Python).
    pub hex_is_byte: bool,
}

/// Decodes the literal whose opening quote stands at `from`: its text, the offset after it, and whether it was closed.
pub fn literal(text: &Mapped, from: usize, escapes: Escapes) -> (Mapped, usize, bool) {
    let bytes = text.bytes();
    let mut out = Mapped::new();
    let Some(&quote) = bytes.get(from) else {
        return (out, from, false);
    };
    let mut at = from + 1;
    while let Some(&byte) = bytes.get(at) {
        if byte == quote {
            return (out, at + 1, true);
        }
        if byte == b'\\' {
            let (decoded, length) = escape(&bytes[at..], escapes);
            out.push(&decoded, text.position(at));
            at += length;
        } else {
            let run = bytes[at..].iter().position(|b| *b == quote || *b == b'\\').unwrap_or(bytes.len() - at);
            out.push_range(text, at..at + run);
            at += run;
        }
    }
    (out, at, false)
}

/// One escape at the start of `bytes`: what it stands for, and its length.
fn escape(bytes: &[u8], escapes: Escapes) -> (Vec<u8>, usize) {
    let Some(&kind) = bytes.get(1) else {
        return (b"\\".to_vec(), 1);
    };
    let simple = |byte: u8| (vec![byte], 2);
    match kind {
        b'\\' | b'\'' | b'"' | b'/' | b'`' | b'$' | b'?' => simple(kind),
        b'n' => simple(b'\n'),
        b't' => simple(b'\t'),
        b'r' => simple(b'\r'),
        b'a' => simple(7),
        b'b' => simple(8),
        b'f' => simple(12),
        b'v' => simple(11),
        b'e' if escapes.octal => simple(27),
        b'\n' => (vec![], 2),
        b'0'..=b'7' => {
            let digits = bytes[1..].iter().take(3).take_while(|b| (b'0'..=b'7').contains(*b)).count();
            number(&bytes[1..=digits], 8, 1 + digits, escapes.octal)
        }
        b'x' => number(hex(&bytes[2..], 2), 16, 4, escapes.hex_is_byte),
        b'u' if bytes.get(2) == Some(&b'{') => {
            let length = bytes.iter().take(12).position(|b| *b == b'}').unwrap_or(2);
            number(bytes.get(3..length).unwrap_or_default(), 16, length + 1, false)
        }
        b'u' => match surrogates(bytes) {
            Some(pair) => pair,
            None => number(hex(&bytes[2..], 4), 16, 6, false),
        },
        b'U' => number(hex(&bytes[2..], 8), 16, 10, false),
        _ => (vec![b'\\', kind], 2),
    }
}

fn hex(bytes: &[u8], most: usize) -> &[u8] {
    let length = bytes.iter().take(most).take_while(|b| b.is_ascii_hexdigit()).count();
    if length == most { &bytes[..length] } else { &[] }
}

fn number(digits: &[u8], radix: u32, length: usize, byte: bool) -> (Vec<u8>, usize) {
    let value = std::str::from_utf8(digits).ok().and_then(|d| u32::from_str_radix(d, radix).ok());
    match value {
        Some(value) if byte => (vec![(value & 0xff) as u8], length),
        Some(value) => {
            let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
            (character.to_string().into_bytes(), length)
        }
        None => (b"\\".to_vec(), 1),
    }
}

fn surrogates(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let unit = |at: usize| {
        let digits = hex(bytes.get(at..)?, 4);
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let high = unit(2)?;
    if !(0xd800..0xdc00).contains(&high) || bytes.get(6..8) != Some(b"\\u") {
        return None;
    }
    let character = char::decode_utf16([high, unit(8)?]).next()?.ok()?;
    Some((character.to_string().into_bytes(), 12))
}

#[cfg(test)]
mod tests {
    use super::{Escapes, literal};
    use crate::read::log::word::{Mapped, Position};

    fn decode(text: &str, escapes: Escapes) -> String {
        let text = Mapped::of(text.as_bytes(), Position { line: 1, column: 1, offset: 0 });
        let (out, _, closed) = literal(&text, 0, escapes);
        assert!(closed);
        String::from_utf8(out.bytes().to_vec()).unwrap()
    }

    #[test]
    fn escapes_of_four_languages() {
        assert_eq!(decode(r#"'it\'s "x" \xe9'"#, Escapes::default()), "it's \"x\" é");
        assert_eq!(decode(r#""a\/b\ud83d\ude00\u00e9""#, Escapes::default()), "a/b😀é");
        assert_eq!(decode(r#""\u{e9}\"\\""#, Escapes::default()), "é\"\\");
        assert_eq!(decode(r#""\303\251""#, Escapes { octal: true, hex_is_byte: true }), "é");
    }

    #[test]
    fn a_broken_escape_is_kept() {
        assert_eq!(decode(r#""\xZZ\q""#, Escapes::default()), r"\xZZ\q");
    }
}
