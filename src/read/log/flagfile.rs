//! Flags without a command: CMake's `flags.make`.

use super::anchor::{Family, anchors};
use super::decode::{self, Stop};
use super::locate::{Located, Style};
use super::logical::Logical;
use super::ninja::Ninja;
use super::word::{Mapped, Word};

/// The path in `# compile CUDA with /path/nvcc`: an offset range of the text.
pub fn compiler(body: &[u8]) -> Option<std::ops::Range<usize>> {
    let with = memchr::memmem::find(body, b"CUDA with ")?;
    if !body.starts_with(b"#") {
        return None;
    }
    let start = with + 10;
    let end = start + body[start..].trim_ascii_end().len();
    let names = anchors(body).any(|a| a.family == Family::Nvcc && a.end == end);
    names.then_some(start..end)
}

/// The variables of CMake's `flags.make`, in the order in which its rules use them.
pub fn flags(variables: &Ninja, compiler_line: Option<&Logical>) -> Option<(Located, Logical)> {
    let mut arguments: Vec<Word> = vec![];
    for name in ["CUDA_DEFINES", "CUDA_INCLUDES", "CUDA_FLAGS"] {
        if let Some(value) = variables.variable(name) {
            arguments.extend(words(value));
        }
    }
    let first = arguments.first()?.at;
    let (compiler, line) = match compiler_line {
        Some(line) => {
            let body = &line.text.bytes()[line.from..];
            let range = compiler(body)?;
            (Word::new(&body[range.clone()], line.text.position(line.from + range.start)), line.clone())
        }
        None => (Word { text: "nvcc".into(), at: first, replaced: false, cut: false }, Logical::default()),
    };
    let located = Located::inferred(Family::Nvcc, Style::Flags, compiler, arguments);
    Some((located, line))
}

fn words(value: &Mapped) -> Vec<Word> {
    decode::shell(value, 0, Stop::default()).words
}
