//! Instructions in a header's text that not every target has.

use std::sync::{Arc, LazyLock};

use regex::bytes::Regex;

use crate::model::Fact;
use crate::read::cxx::lex::tokenize;
use crate::source::{Place, Source, Span, Spot};

/// Names as in `build-flags/arch/`, and how the instruction shows in source: as assembly, or under CuTe's and CUTLASS' names.
static MARKS: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    [
        ("wgmma", r"\bwgmma\.|\bSM90(_64x\d+x\d+|::GMMA)|\bwarpgroup_(arrive|wait|commit_batch)\b"),
        ("tcgen05", r"\btcgen05\.|\bSM100_MMA_|\bSM100_TMEM_|\bTMEM::Allocator"),
        ("setmaxnreg", r"\bsetmaxnreg\.|\bwarpgroup_reg_(alloc|dealloc)\b"),
        ("tensormap_replace", r"\btensormap\.replace\b|\btma_descriptor_(replace|fence)"),
        ("cvt_e2m1x2", r"\.e2m1x2\b"),
        ("cvt_e4m3x2", r"\.(e4m3x2|e5m2x2)\b"),
        ("griddepcontrol", r"\bgriddepcontrol\.|\bcudaGridDependencySynchronize\b"),
        ("cp_async_bulk_tensor", r"\bcp\.async\.bulk\.(prefetch\.)?tensor\b|\bSM90_TMA_(LOAD|STORE|REDUCE)"),
        ("mbarrier_tx", r"\bcomplete_tx::bytes\b|\bmbarrier\.[\w.]*expect_tx\b|\barrive_and_expect_tx\b"),
        ("clusters", r"\bbarrier\.cluster\.|\bcluster_(arrive|wait|sync)\b|__cluster_dims__"),
    ]
    .into_iter()
    .filter_map(|(name, pattern)| Some((name, Regex::new(pattern).ok()?)))
    .collect()
});

/// What the text itself uses, each at its first place, in the order of the text; comments do not count.
pub fn uses(source: &Arc<Source>) -> Vec<Fact<String>> {
    let text = without_comments(source.bytes());
    let mut found: Vec<(usize, Fact<String>)> = MARKS
        .iter()
        .filter_map(|(name, mark)| {
            let hit = mark.find(&text)?;
            let spot = Spot::new(source, Span::new(hit.start(), hit.end()));
            let expression = spot.text().into_owned();
            Some((hit.start(), Fact::read((*name).to_owned(), spot.place(), expression)))
        })
        .collect();
    found.sort_by_key(|(start, _)| *start);
    found.into_iter().map(|(_, fact)| fact).collect()
}

/// Where the text itself declares dynamic shared memory (`extern __shared__`); comments do not count.
pub fn dynamic_shared(source: &Arc<Source>) -> Option<Place> {
    static MARK: LazyLock<Regex> = LazyLock::new(|| {
        #[allow(clippy::unwrap_used, reason = "a constant pattern, tried by a test")]
        Regex::new(r"\bextern\s+__shared__\b").unwrap()
    });
    let text = without_comments(source.bytes());
    let hit = MARK.find(&text)?;
    Some(Spot::new(source, Span::new(hit.start(), hit.end())).place())
}

/// The same bytes with comments blanked; strings keep their text, for assembly stands in them.
fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    for comment in tokenize(text).comments {
        for byte in &mut out[comment.range()] {
            *byte = b' ';
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::uses;
    use crate::source::Source;

    fn names(text: &str) -> Vec<String> {
        uses(&Source::new("k.cuh", text)).into_iter().map(|fact| fact.value).collect()
    }

    #[test]
    fn assembly_and_library_names_are_seen_in_order() {
        let text =
            "asm volatile(\"setmaxnreg.inc.sync.aligned.u32 232;\");\nusing A = SM90_64x128x16_F32BF16BF16_SS<>;\n";
        assert_eq!(names(text), ["setmaxnreg", "wgmma"]);
        assert_eq!(names("asm(\"tcgen05.alloc.cta_group::1 [%0], 32;\");"), ["tcgen05"]);
    }

    #[test]
    fn comments_do_not_count_and_urls_in_strings_do_not_hide() {
        assert!(names("// wgmma.fence\n/* tcgen05.alloc */ int a;").is_empty());
        assert_eq!(names("char const *u = \"http://x\"; asm(\"wgmma.fence;\");"), ["wgmma"]);
        assert_eq!(names("/* open\nwgmma.fence"), [] as [&str; 0]);
    }

    #[test]
    fn the_place_is_that_of_the_word() {
        let all = uses(&Source::new("k.cuh", "\n  asm(\"wgmma.fence;\");"));
        assert_eq!(all[0].origin.detail(), "k.cuh:2:8 `wgmma.`");
    }
}
