//! Instructions in a header's text that not every target has.

use std::sync::Arc;

use crate::model::Fact;
use crate::source::{Source, Spot};

/// Text of inline PTX, and the feature's name in `build-flags/arch/`.
const FEATURES: [(&str, &str); 9] = [
    ("wgmma.mma_async", "wgmma"),
    ("tcgen05.", "tcgen05"),
    ("setmaxnreg.", "setmaxnreg"),
    ("tensormap.replace", "tensormap_replace"),
    ("e2m1x2", "cvt_e2m1x2"),
    ("cvt.rn.satfinite.e4m3x2", "cvt_e4m3x2"),
    ("cp.async.bulk.tensor", "cp_async_bulk_tensor"),
    ("complete_tx::bytes", "mbarrier_tx"),
    ("griddepcontrol.", "griddepcontrol"),
];

/// Each feature once, where it first stands outside a `//` comment.
pub fn uses(header: &Arc<Source>) -> Vec<Fact<String>> {
    let text = header.bytes();
    FEATURES
        .iter()
        .filter_map(|(needle, feature)| {
            let at = memchr::memmem::find_iter(text, needle.as_bytes()).find(|at| !commented(text, *at))?;
            let place = Spot::new(header, at..at + needle.len()).place();
            Some(Fact::read((*feature).to_owned(), place, (*needle).to_owned()))
        })
        .collect()
}

/// Whether a `//` stands before the offset in its line.
fn commented(text: &[u8], at: usize) -> bool {
    let start = text[..at].iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
    memchr::memmem::find(&text[start..at], b"//").is_some()
}

#[cfg(test)]
mod tests {
    use super::uses;
    use crate::source::Source;

    #[test]
    fn instructions_count_and_comments_do_not() {
        let source = Source::new("k.cuh", "// tcgen05.mma\nasm(\"wgmma.mma_async.sync\");\nasm(\"setmaxnreg.inc\");\n");
        let names: Vec<_> = uses(&source).into_iter().map(|fact| fact.value).collect();
        assert_eq!(names, ["wgmma", "setmaxnreg"]);
    }
}
