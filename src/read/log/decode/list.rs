//! Lists of string literals: Python's repr, JSON arrays, strace's execve.

use super::{Decoded, Escapes, MOST_WORDS, literal};
use crate::read::log::word::{Mapped, Word};

/// Decodes the list whose bracket stands at `from`; ends after its closing bracket.
pub fn list(text: &Mapped, from: usize, escapes: Escapes) -> Decoded {
    let bytes = text.bytes();
    let close = if bytes.get(from) == Some(&b'(') { b')' } else { b']' };
    let mut out = Decoded { end: bytes.len(), cut: true, ..Decoded::default() };
    let mut at = from + 1;
    while let Some(&byte) = bytes.get(at) {
        if out.words.len() >= MOST_WORDS {
            out.end = at;
            return out;
        }
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' => at += 1,
            _ if byte == close => {
                out.end = at + 1;
                out.cut = false;
                return out;
            }
            b'"' | b'\'' => {
                let (body, end, closed) = literal(text, at, escapes);
                let mut word = Word::new(body.into_bytes(), text.position(at + 1));
                at = end;
                // strace marks a string that it cut with dots after the closing quote.
                word.cut = !closed || bytes[at..].starts_with(b"...");
                let cut = word.cut;
                out.words.push(word);
                if cut {
                    out.end = at;
                    return out;
                }
            }
            b'.' if bytes[at..].starts_with(b"...") => {
                out.end = at;
                return out;
            }
            _ => at = bare(text, at, &mut out),
        }
    }
    out
}

/// Decodes words that all stand in double quotes, as Rust's Debug prints a command; `None` when one does not.
pub fn quoted(text: &Mapped, from: usize) -> Option<Decoded> {
    let bytes = text.bytes();
    let mut out = Decoded { end: from, ..Decoded::default() };
    while bytes.get(out.end) == Some(&b'"') && out.words.len() < MOST_WORDS {
        let (body, end, closed) = literal(text, out.end, Escapes::default());
        if !closed {
            return None;
        }
        out.words.push(Word::new(body.into_bytes(), text.position(out.end + 1)));
        out.end = end;
        if bytes.get(end) == Some(&b' ') && bytes.get(end + 1) == Some(&b'"') {
            out.end += 1;
        } else {
            break;
        }
    }
    // Another kind of word right behind would make it a shell line.
    let next = bytes[out.end..].trim_ascii_start().first();
    (!matches!(next, Some(b'-' | b'/' | b'\''))).then_some(out)
}

/// What is not a literal: a prefix (`b'..'`), a wrapping call (`PosixPath('..')`), or a number, which stands for itself.
fn bare(text: &Mapped, from: usize, out: &mut Decoded) -> usize {
    let rest = &text.bytes()[from..];
    let length =
        rest.iter().position(|b| matches!(b, b',' | b']' | b')' | b'\'' | b'"' | b'(' | b'\n')).unwrap_or(rest.len());
    match rest.get(length) {
        Some(b'\'' | b'"') => from + length.max(1),
        Some(b'(') => from + length + 1,
        Some(b')' | b']') if length == 0 => from + 1,
        _ => {
            out.words.push(Word::new(rest[..length].trim_ascii(), text.position(from)));
            from + length.max(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Escapes, list};
    use crate::read::log::word::{Mapped, Position};

    fn decode(text: &str) -> (Vec<String>, bool) {
        let text = Mapped::of(text.as_bytes(), Position { line: 1, column: 1, offset: 0 });
        let decoded = list(&text, 0, Escapes::default());
        (decoded.words.into_iter().map(|w| w.text).collect(), decoded.cut)
    }

    #[test]
    fn a_python_list_with_every_kind_of_element() {
        let (words, cut) = decode(r#"['nvcc', "-DA='x'", b'-c', PosixPath('/a b/k.cu'), 4, '-DB="it\'s"']' returned"#);
        assert_eq!(words, ["nvcc", "-DA='x'", "-c", "/a b/k.cu", "4", "-DB=\"it's\""]);
        assert!(!cut);
    }

    #[test]
    fn a_list_that_never_closes_is_cut() {
        assert!(decode("['nvcc', '-I/us").1);
        assert!(decode("[\"nvcc\", \"-I/usr/inc\"..., 0x1").1);
        assert!(decode("[\"nvcc\", ...], 0x1").1);
    }
}
