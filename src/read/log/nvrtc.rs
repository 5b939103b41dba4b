//! Options of the run-time compiler NVRTC, which frameworks print without a compiler.

use super::anchor::Family;
use super::decode::{self, Escapes};
use super::locate::{Located, Style};
use super::word::{Mapped, Word};

/// Whether a line can hold them.
pub fn matters(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"NVRTC").is_some() || memchr::memmem::find(bytes, b"nvrtc").is_some()
}

/// The options in a line that says it: `… NVRTC options: -std=… `, `nvrtcCompileProgram options=['-I…', …]`.
pub fn options(text: &Mapped, from: usize) -> Option<Located> {
    let bytes = text.bytes();
    let body = &bytes[from..];
    let name = memchr::memmem::find(body, b"NVRTC").or_else(|| memchr::memmem::find(body, b"nvrtc"))?;
    let word = memchr::memmem::find(&body[name..], b"option")?;
    let mark = body[name + word..].iter().position(|b| matches!(b, b':' | b'=' | b'[' | b'('))?;
    let mut at = from + name + word + mark;
    if matches!(bytes[at], b':' | b'=') {
        at += 1;
    }
    at += bytes[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    let compiler = Word { text: "NVRTC".into(), at: text.position(from + name), replaced: false, cut: false };
    let (arguments, cut) = match bytes.get(at)? {
        b'[' | b'(' => {
            let decoded = decode::list(text, at, Escapes::default());
            (decoded.words, decoded.cut)
        }
        // Printed by joining them with blanks: nothing is quoted.
        b'-' => (blanks(text, at), false),
        _ => return None,
    };
    let options = !arguments.is_empty() && arguments.iter().all(|w| w.text.starts_with('-') || !w.text.contains(' '));
    let located = Located { cut, ..Located::inferred(Family::Nvrtc, Style::Nvrtc, compiler, arguments) };
    options.then_some(located)
}

fn blanks(text: &Mapped, from: usize) -> Vec<Word> {
    let bytes = text.bytes();
    let mut out = vec![];
    let mut at = from;
    while at < bytes.len() && out.len() < decode::MOST_WORDS {
        let length = bytes[at..].iter().take_while(|b| !b.is_ascii_whitespace()).count();
        if length > 0 {
            out.push(Word::new(&bytes[at..at + length], text.position(at)));
        }
        at += length + 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::options;
    use crate::read::log::word::{Mapped, Position};

    #[test]
    fn printed_lists_and_joined_options_are_read() {
        for line in [
            "Compiling JIT runtime with NVRTC options: -std=c++20 --gpu-architecture=sm_90a -default-device ",
            "nvrtc compile, options=['-std=c++20', '--gpu-architecture=sm_90a', b'-default-device']",
        ] {
            let text = Mapped::of(line.as_bytes(), Position { line: 1, column: 1, offset: 0 });
            let words: Vec<String> = options(&text, 0).unwrap().arguments.iter().flat_map(|a| a.texts()).collect();
            assert_eq!(words, ["-std=c++20", "--gpu-architecture=sm_90a", "-default-device"]);
        }
        let text = Mapped::of(b"nvrtc: error: invalid value for --gpu-architecture (-arch)", Position::default());
        assert!(options(&text, 0).is_none());
    }
}
