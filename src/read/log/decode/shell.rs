//! POSIX shell words, as bash prints and reads them.

use super::{Decoded, MOST_WORDS};
use crate::read::log::word::{Mapped, Word};

/// What ends a command besides its line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stop {
    /// An unmatched `)`: the command stands in a group.
    pub paren: bool,
    /// An unmatched `]`: the command stands in a sentence in brackets.
    pub bracket: bool,
    /// A backtick: the command stands in backticks.
    pub backtick: bool,
}

/// Splits the simple command at `from` into words; ends at an operator, a redirection or a newline.
pub fn shell(text: &Mapped, from: usize, stop: Stop) -> Decoded {
    let mut lexer = Lexer { text, bytes: text.bytes(), at: from, stop, cut: false };
    let mut words = Vec::with_capacity(((text.bytes().len() - from.min(text.bytes().len())) / 32).min(64));
    while let Some(word) = lexer.word() {
        words.push(word);
        if words.len() >= MOST_WORDS {
            lexer.cut = true;
            break;
        }
    }
    Decoded { words, end: lexer.at, cut: lexer.cut }
}

/// Room that is made for a word before its length is known.
const LONG_WORD: usize = 256;

/// Bytes that mean something to a shell outside quotes.
static SPECIAL: [bool; 256] = {
    let special = b" \t\n\r;|&<>`()[]\\'\"$";
    let mut out = [false; 256];
    let mut i = 0;
    while i < special.len() {
        out[special[i] as usize] = true;
        i += 1;
    }
    out
};

struct Lexer<'t> {
    text: &'t Mapped,
    bytes: &'t [u8],
    at: usize,
    stop: Stop,
    cut: bool,
}

impl Lexer<'_> {
    fn word(&mut self) -> Option<Word> {
        self.blanks();
        let start = self.at;
        let length = memchr::memchr(b' ', &self.bytes[self.bytes.len().min(start)..]);
        let mut out = Vec::with_capacity(length.unwrap_or(self.bytes.len() - start).min(LONG_WORD));
        let mut quoted = false;
        let mut open: Vec<u8> = vec![];
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'|' | b'&' => break,
                b'<' | b'>' if self.redirects(&out, quoted) => return None,
                b'`' if self.stop.backtick => break,
                b')' | b']' if self.closes(byte, &mut open) => break,
                b'(' | b'[' => {
                    open.push(byte);
                    out.push(byte);
                    self.at += 1;
                }
                b'\\' => self.backslash(&mut out, &mut quoted),
                b'\'' => {
                    quoted = true;
                    self.single(&mut out);
                }
                b'"' => {
                    quoted = true;
                    self.double(&mut out);
                }
                b'$' if self.bytes.get(self.at + 1) == Some(&b'\'') => {
                    quoted = true;
                    self.at += 1;
                    let (decoded, end, closed) =
                        super::literal(self.text, self.at, super::Escapes { octal: true, hex_is_byte: true });
                    out.extend_from_slice(decoded.bytes());
                    self.at = end;
                    self.cut |= !closed;
                }
                _ => {
                    let rest = &self.bytes[self.at + 1..];
                    let run = 1 + rest.iter().position(|b| SPECIAL[usize::from(*b)]).unwrap_or(rest.len());
                    out.extend_from_slice(&self.bytes[self.at..self.at + run]);
                    self.at += run;
                }
            }
        }
        if out.is_empty() && !quoted {
            return None;
        }
        let mut word = Word::new(out, self.text.position(start));
        word.cut = self.cut;
        Some(word)
    }

    fn blanks(&mut self) {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.bytes.get(self.at + 1) == Some(&b'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// A redirection stands at the start of a word, or after the digits of a file descriptor; elsewhere the text is a
    /// list that was printed without quotes (`-DT=Tile<64>`), for a shell would not have got this far.
    fn redirects(&mut self, out: &[u8], quoted: bool) -> bool {
        !quoted && out.iter().all(u8::is_ascii_digit)
    }

    fn closes(&self, byte: u8, open: &mut Vec<u8>) -> bool {
        let (opener, wanted) = if byte == b')' { (b'(', self.stop.paren) } else { (b'[', self.stop.bracket) };
        if open.last() == Some(&opener) {
            open.pop();
            return false;
        }
        wanted
    }

    fn backslash(&mut self, out: &mut Vec<u8>, quoted: &mut bool) {
        match self.bytes.get(self.at + 1) {
            Some(b'\n') => self.at += 2,
            Some(&next) => {
                out.push(next);
                *quoted = true;
                self.at += 2;
            }
            None => {
                self.at += 1;
                self.cut = true;
            }
        }
    }

    fn single(&mut self, out: &mut Vec<u8>) {
        let body = &self.bytes[self.at + 1..];
        match memchr::memchr(b'\'', body) {
            Some(length) => {
                out.extend_from_slice(&body[..length]);
                self.at += length + 2;
            }
            None => {
                out.extend_from_slice(body);
                self.at = self.bytes.len();
                self.cut = true;
            }
        }
    }

    fn double(&mut self, out: &mut Vec<u8>) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match (byte, self.bytes.get(self.at + 1)) {
                (b'"', _) => {
                    self.at += 1;
                    return;
                }
                (b'\\', Some(b'\n')) => self.at += 2,
                (b'\\', Some(&next @ (b'"' | b'\\' | b'$' | b'`'))) => {
                    out.push(next);
                    self.at += 2;
                }
                _ => {
                    let rest = &self.bytes[self.at + 1..];
                    let run = 1 + memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                    out.extend_from_slice(&self.bytes[self.at..self.at + run]);
                    self.at += run;
                }
            }
        }
        self.cut = true;
    }
}

#[cfg(test)]
mod tests {
    use super::{Stop, shell};
    use crate::read::log::word::{Mapped, Position};

    fn words(text: &str, stop: Stop) -> Vec<String> {
        let text = Mapped::of(text.as_bytes(), Position { line: 1, column: 1, offset: 0 });
        shell(&text, 0, stop).words.into_iter().map(|w| w.text).collect()
    }

    #[test]
    fn every_quote_is_decoded() {
        assert_eq!(
            words(r#"nvcc -DA="\"1.2 (rc)\"" '-I/my ext' -DB='a'\''b' -DC=x\ y $'-DD=\x41\n' """#, Stop::default()),
            ["nvcc", "-DA=\"1.2 (rc)\"", "-I/my ext", "-DB=a'b", "-DC=x y", "-DD=A\n", ""]
        );
    }

    #[test]
    fn operators_end_the_command_and_unquoted_templates_do_not() {
        assert_eq!(words("nvcc -c k.cu && echo", Stop::default()), ["nvcc", "-c", "k.cu"]);
        assert_eq!(words("nvcc k.cu 2>&1 > log", Stop::default()), ["nvcc", "k.cu"]);
        assert_eq!(words("nvcc -DT=Tile<64,f(1)> k.cu", Stop::default()), ["nvcc", "-DT=Tile<64,f(1)>", "k.cu"]);
        assert_eq!(words("nvcc k.cu)", Stop { paren: true, ..Stop::default() }), ["nvcc", "k.cu"]);
        assert_eq!(words("nvcc -DA=[1] k.cu]", Stop { bracket: true, ..Stop::default() }), ["nvcc", "-DA=[1]", "k.cu"]);
    }

    #[test]
    fn an_open_quote_is_a_cut_command() {
        let text = Mapped::of(b"nvcc '-DA=x", Position { line: 1, column: 1, offset: 0 });
        let decoded = shell(&text, 0, Stop::default());
        assert!(decoded.cut && decoded.words[1].cut);
    }
}
