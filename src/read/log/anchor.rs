//! Where a compiler's name stands in a line, and what surrounds it.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// Which compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// nvcc.
    Nvcc,
    /// clang, which may be compiling CUDA.
    Clang,
    /// hipcc.
    Hipcc,
    /// The run-time compiler, which has no command line.
    Nvrtc,
}

/// The last component of a compiler's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// Which compiler.
    pub family: Family,
    /// First byte of the name.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"nvcc|hipcc|clang(?:\+\+)?").unwrap_or_else(|e| panic!("compiler names: {e}")));

/// The compiler names in `bytes` that can begin a command.
pub fn anchors(bytes: &[u8]) -> impl Iterator<Item = Anchor> + '_ {
    NAME.find_iter(bytes).filter_map(|found| {
        let family = match found.as_bytes()[0] {
            b'n' => Family::Nvcc,
            b'h' => Family::Hipcc,
            _ => Family::Clang,
        };
        let end = name_end(bytes, found.end());
        let before = found.start().checked_sub(1).map(|i| bytes[i]);
        let begins = before.is_none_or(|b| {
            b.is_ascii_whitespace()
                || matches!(b, b'/' | b'\\' | b'"' | b'\'' | b'`' | b'(' | b'[' | b'=' | b':' | 0)
                || !b.is_ascii()
        });
        let ends = bytes.get(end).is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b',' | 0));
        (begins && ends).then_some(Anchor { family, start: found.start(), end })
    })
}

/// Past `.exe` and a version (`clang++-14`, `nvcc-12.4`).
fn name_end(bytes: &[u8], end: usize) -> usize {
    let rest = &bytes[end..];
    if rest.starts_with(b".exe") {
        return end + 4;
    }
    match rest {
        [b'-', digit, ..] if digit.is_ascii_digit() => {
            1 + end + rest[1..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count()
        }
        _ => end,
    }
}

/// What is open where a command begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The quote that is open, by the offset of its opening.
    pub quote: Option<usize>,
    /// Brackets and parentheses that are open, innermost last.
    pub open: Vec<(usize, u8)>,
    /// A backtick is open.
    pub backtick: bool,
    from: usize,
    at: usize,
}

/// Brackets within brackets are followed this deep.
const MOST_OPEN: usize = 256;

impl Surroundings {
    /// Nothing is open at `from`.
    pub fn new(from: usize) -> Self {
        Surroundings { from, at: from, ..Surroundings::default() }
    }

    /// Reads on to `at`. An apostrophe within a word (`doesn't`) opens nothing.
    pub fn advance(&mut self, bytes: &[u8], at: usize) {
        let mut i = self.at;
        while i < at {
            let byte = bytes[i];
            if let Some(opened) = self.quote {
                match byte {
                    b'\\' => i += 1,
                    _ if byte == bytes[opened] => self.quote = None,
                    _ => {}
                }
            } else {
                match byte {
                    b'"' | b'\'' if opens(bytes, self.from, i) => self.quote = Some(i),
                    b'[' | b'(' if self.open.len() < MOST_OPEN => self.open.push((i, byte)),
                    b']' | b')' => {
                        let opener = if byte == b']' { b'[' } else { b'(' };
                        if self.open.last().is_some_and(|(_, open)| *open == opener) {
                            self.open.pop();
                        }
                    }
                    b'`' => self.backtick = !self.backtick,
                    b'\\' => i += 1,
                    _ => {}
                }
            }
            i += 1;
        }
        self.at = self.at.max(i);
    }
}

fn opens(bytes: &[u8], from: usize, at: usize) -> bool {
    let quote = |i: usize| matches!(bytes.get(i), Some(b'"' | b'\''));
    // `Command '['nvcc', …` opens a list, not a string.
    if matches!(bytes.get(at + 1), Some(b'[' | b'(')) && quote(at + 2) {
        return false;
    }
    at == from || {
        let before = bytes[at - 1];
        before.is_ascii_whitespace() || matches!(before, b'[' | b'(' | b'{' | b',' | b':' | b'=' | b'"' | b'\'')
    }
}

#[cfg(test)]
mod tests {
    use super::{Family, Surroundings, anchors};

    fn names(text: &str) -> Vec<&str> {
        anchors(text.as_bytes()).map(|a| &text[a.start..a.end]).collect()
    }

    #[test]
    fn a_name_is_the_last_component_of_a_path() {
        assert_eq!(names("/usr/bin/nvcc -c k.cu"), ["nvcc"]);
        assert_eq!(names("-DNVCC -Dnvcc_x use_nvcc nvcc_wrapper k.nvcc.o"), [""; 0]);
        assert_eq!(names("['nvcc', '-c']"), ["nvcc"]);
        assert_eq!(names("clang++-14 -x cuda"), ["clang++-14"]);
        assert_eq!(anchors(b"hipcc -c").next().map(|a| a.family), Some(Family::Hipcc));
    }

    fn around(text: &str) -> Surroundings {
        let mut out = Surroundings::new(0);
        out.advance(text.as_bytes(), text.len());
        out
    }

    #[test]
    fn an_apostrophe_opens_nothing() {
        let text = "it doesn't build: nvcc";
        assert_eq!(around(text).quote, None);
        let text = "Command '['ccache', 'nvcc";
        assert_eq!(around(text).quote, Some(20));
    }
}
