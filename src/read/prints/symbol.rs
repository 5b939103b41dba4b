//! Printed kernel symbols.

use std::sync::Arc;

use super::Line;
use crate::model::Fact;
use crate::source::Source;

/// Words that are mangled names of templates: what a loader or a profiler prints of a kernel.
pub(super) fn symbols(source: &Arc<Source>, line: &Line<'_>) -> Vec<Fact<String>> {
    let mut out = vec![];
    let mut from = 0;
    while let Some(at) = line.text[from..].find("_Z").map(|at| from + at) {
        let length = line.text[at..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let before = line.text[..at].bytes().next_back();
        let word = &line.text[at..at + length];
        let begins = before.is_none_or(|b| !(b.is_ascii_alphanumeric() || b == b'_'));
        if begins && word.len() > 4 && word.contains('I') && cpp_demangle::Symbol::new(word.as_bytes()).is_ok() {
            out.push(Fact::transcribed(word.to_owned(), line.spot(source, at, at + length).place()));
        }
        from = at + length;
    }
    out
}
