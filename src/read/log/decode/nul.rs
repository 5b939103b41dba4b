//! Arguments separated by NULs: `/proc/PID/cmdline`.

use super::{Decoded, MOST_WORDS};
use crate::read::log::word::{Mapped, Word};

/// Splits at NULs from `from` on; a last piece without its NUL is cut. Two NULs in a row are an empty argument.
pub fn nul(text: &Mapped, from: usize) -> Decoded {
    let bytes = text.bytes();
    let mut out = Decoded { end: bytes.len(), ..Decoded::default() };
    let mut at = from;
    while at < bytes.len() {
        if out.words.len() >= MOST_WORDS {
            (out.end, out.cut) = (at, true);
            break;
        }
        let end = memchr::memchr(0, &bytes[at..]).map(|i| at + i);
        let mut word = Word::new(&bytes[at..end.unwrap_or(bytes.len())], text.position(at));
        word.cut = end.is_none() && bytes.len() - from >= 4096;
        out.cut |= word.cut;
        out.words.push(word);
        at = end.map_or(bytes.len(), |i| i + 1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::nul;
    use crate::read::log::word::{Mapped, Position};

    #[test]
    fn blanks_and_empty_arguments_survive() {
        let text = Mapped::of(b"nvcc\0-Xcompiler\0-fPIC -Wall\0\0k.cu\0", Position { line: 1, column: 1, offset: 0 });
        let words: Vec<String> = nul(&text, 0).words.into_iter().map(|w| w.text).collect();
        assert_eq!(words, ["nvcc", "-Xcompiler", "-fPIC -Wall", "", "k.cu"]);
    }
}
