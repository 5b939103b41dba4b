//! Command lines of Windows: the rules of CommandLineToArgvW.

use super::{Decoded, MOST_WORDS};
use crate::read::log::word::{Mapped, Word};

/// Splits from `from`, where a path (with blanks, quoted or not) reaches to `name_end`; ends with the line, or at the quote
/// that the sentence around the command closes.
pub fn windows(text: &Mapped, from: usize, name_end: usize) -> Decoded {
    let bytes = text.bytes();
    let quoted = bytes.get(from) == Some(&b'"');
    let path = &bytes[from + usize::from(quoted)..name_end];
    let mut out = Decoded { words: vec![Word::new(path, text.position(from))], ..Decoded::default() };
    let mut at = name_end + usize::from(quoted);
    loop {
        at += bytes[at..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        if out.words.len() >= MOST_WORDS {
            out.cut = true;
            break;
        }
        // A typographic quote, a line end or a lone closing quote ends the sentence's command.
        match bytes.get(at) {
            None | Some(b'\n' | b'\r') => break,
            Some(byte) if !byte.is_ascii() => break,
            Some(_) => {}
        }
        let (word, end, stop) = one(bytes, at);
        out.words.push(Word::new(word, text.position(at)));
        at = end;
        if stop {
            break;
        }
    }
    out.end = at;
    out
}

/// One argument, its end, and whether the command ends with it.
fn one(bytes: &[u8], from: usize) -> (Vec<u8>, usize, bool) {
    let mut out = vec![];
    let mut at = from;
    let mut inside = false;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => {
                let slashes = bytes[at..].iter().take_while(|b| **b == b'\\').count();
                at += slashes;
                if bytes.get(at) == Some(&b'"') {
                    out.extend(std::iter::repeat_n(b'\\', slashes / 2));
                    if slashes % 2 == 1 {
                        out.push(b'"');
                        at += 1;
                    }
                } else {
                    out.extend(std::iter::repeat_n(b'\\', slashes));
                }
            }
            b'"' => {
                // `…cu"" exited`: the second quote belongs to the sentence.
                if inside && bytes.get(at + 1) == Some(&b'"') && bytes.get(at + 2).is_none_or(u8::is_ascii_whitespace) {
                    return (out, at + 2, true);
                }
                inside = !inside;
                at += 1;
            }
            b' ' | b'\t' | b'\n' | b'\r' if !inside => break,
            _ if !byte.is_ascii() && !inside => return (out, at, true),
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    (out, at, false)
}

#[cfg(test)]
mod tests {
    use super::windows;
    use crate::read::log::word::{Mapped, Position};

    #[test]
    fn backslashes_are_separators_unless_a_quote_follows() {
        let line = r#""C:\Program Files\nvcc.exe" -D"V=\"1\"" -I"C:\a b" code=\"x,y\" "C:\k.cu"" exited with code 1."#;
        let text = Mapped::of(line.as_bytes(), Position { line: 1, column: 1, offset: 0 });
        let end = line.find(".exe").unwrap() + 4;
        let words: Vec<String> = windows(&text, 0, end).words.into_iter().map(|w| w.text).collect();
        assert_eq!(words, [r"C:\Program Files\nvcc.exe", "-DV=\"1\"", r"-IC:\a b", "code=\"x,y\"", r"C:\k.cu"]);
    }
}
