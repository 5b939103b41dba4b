//! Generated kernel texts within an output.

use std::sync::Arc;

use super::{Line, lines};
use crate::source::Source;

/// What stands before a generated text, on a line of its own (DeepGEMM's `DG_JIT_DEBUG`; FlashInfer and others say the same).
const HEADS: [&str; 3] = ["Generated kernel code:", "Generated code:", "Kernel source:"];

/// How a line of C++ at namespace scope begins.
const BEGINS: [&str; 12] =
    ["#", "//", "/*", "template", "static", "extern", "using", "namespace", "void", "struct", "constexpr", "}"];

/// Each generated text as an excerpt that keeps its lines.
pub(super) fn generated(source: &Arc<Source>) -> Vec<Arc<Source>> {
    let all = lines(source);
    let mut out = vec![];
    let mut index = 0;
    while let Some(line) = all.get(index) {
        index += 1;
        if !HEADS.iter().any(|head| line.text.trim_end().ends_with(head)) {
            continue;
        }
        let rest = &all[index..];
        let count = extent(rest);
        if let (Some(first), Some(last)) = (rest.first(), rest[..count].last()) {
            let end = last.start + last.text.len();
            let bytes = source.bytes()[first.start..end].to_vec();
            out.push(Source::excerpt(source.name(), bytes, first.number, source.absolute(first.start)));
            index += count;
        }
    }
    out
}

/// How many lines are code: up to the first line outside of all braces that does not begin as C++ does.
fn extent(lines: &[Line<'_>]) -> usize {
    let mut depth = 0i64;
    let mut last = 0;
    for (index, line) in lines.iter().enumerate() {
        let text = line.text.trim();
        if depth <= 0 && !text.is_empty() && !BEGINS.iter().any(|begin| text.starts_with(begin)) {
            break;
        }
        let code = text.split("//").next().unwrap_or_default();
        depth += code.bytes().map(|byte| i64::from(byte == b'{') - i64::from(byte == b'}')).sum::<i64>();
        if !text.is_empty() {
            last = index + 1;
        }
    }
    last
}
