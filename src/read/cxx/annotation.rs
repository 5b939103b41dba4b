//! Annotation macros that no grammar can know, as data.

/// A macro and what it stands for in the tree: a keyword that is at most as long, or nothing.
pub const ANNOTATION_MACROS: &[(&str, &str)] = &[
    ("CUTE_DEVICE", "__device__"),
    ("CUTE_GRID_CONSTANT", ""),
    ("CUTE_HOST", ""),
    ("CUTE_HOST_DEVICE", "__device__"),
    ("CUTE_HOST_RTC", ""),
    ("CUTE_INLINE_CONSTANT", "constexpr"),
    ("CUTE_NO_UNROLL", ""),
    ("CUTE_STATIC", "static"),
    ("CUTE_UNROLL", ""),
    ("CUTLASS_CONSTEXPR_IF_CXX17", "constexpr"),
    ("CUTLASS_CONSTEXPR_INLINE", ""),
    ("CUTLASS_DEPRECATED", ""),
    ("CUTLASS_DEVICE", "__device__"),
    ("CUTLASS_GEMM_LOOP", ""),
    ("CUTLASS_GEMM_LOOP_NO_UNROLL", ""),
    ("CUTLASS_GLOBAL", "__global__"),
    ("CUTLASS_GRID_CONSTANT", ""),
    ("CUTLASS_HOST", ""),
    ("CUTLASS_HOST_DEVICE", "__device__"),
    ("CUTLASS_LAMBDA_FUNC_INLINE", ""),
    ("CUTLASS_PRAGMA_NO_UNROLL", ""),
    ("CUTLASS_PRAGMA_UNROLL", ""),
    ("CUTLASS_THREAD_LOCAL", ""),
    ("DG_GLOBAL", ""),
    ("FLASHINFER_INLINE", "inline"),
    ("TL_DEVICE", ""),
    ("TL_DEVICE_NOINLINE", "__device__"),
    ("TL_HOST_DEVICE", "__device__"),
];

/// Attributes with an argument list that vanish from the tree, arguments and all.
pub const ATTRIBUTE_CALLS: &[&str] =
    &["CUTE_ALIGNAS", "__align__", "__block_size__", "__cluster_dims__", "__launch_bounds__", "__maxnreg__"];

/// The words that make a function a kernel.
pub const GLOBAL_WORDS: &[&str] = &["CUTLASS_GLOBAL", "DG_GLOBAL", "__global__"];

/// Looks a word up; `extra` holds the user's own macros, which stand for nothing.
pub fn replacement(word: &str, extra: &[String]) -> Option<&'static str> {
    if let Ok(index) = ANNOTATION_MACROS.binary_search_by_key(&word, |entry| entry.0) {
        return Some(ANNOTATION_MACROS[index].1);
    }
    extra.iter().any(|name| name == word).then_some("")
}

#[cfg(test)]
mod tests {
    use super::{ANNOTATION_MACROS, replacement};

    #[test]
    fn the_table_is_sorted_and_no_replacement_is_longer_than_its_macro() {
        assert!(ANNOTATION_MACROS.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(ANNOTATION_MACROS.iter().all(|(name, text)| text.len() <= name.len()));
    }

    #[test]
    fn the_users_macros_extend_the_table() {
        assert_eq!(replacement("CUTLASS_GLOBAL", &[]), Some("__global__"));
        assert_eq!(replacement("MY_INLINE", &[]), None);
        assert_eq!(replacement("MY_INLINE", &["MY_INLINE".to_owned()]), Some(""));
    }
}
