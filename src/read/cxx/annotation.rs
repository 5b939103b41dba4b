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
const GLOBAL_WORDS: &[&str] = &["CUTLASS_GLOBAL", "DG_GLOBAL", "__global__"];

/// What a macro of the user may stand for.
pub const KEYWORDS: &[&str] = &["__device__", "__global__", "__host__", "const", "constexpr", "inline", "static"];

/// A macro of the user, `NAME` or `NAME=KEYWORDS`: its name, and what it stands for.
pub fn own(entry: &str) -> (&str, &str) {
    entry.split_once('=').map_or((entry.trim(), ""), |(name, text)| (name.trim(), text.trim()))
}

/// Whether an entry is a name, and what it stands for keywords that are known.
pub fn is_own(entry: &str) -> bool {
    let (name, text) = own(entry);
    let word = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
    word && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.split_whitespace().all(|word| KEYWORDS.contains(&word))
}

/// Looks a word up; `extra` holds the user's own macros, which stand for nothing or for keywords. Keywords that are longer
/// than their macro leave the tree; [`is_global`] still knows them.
pub fn replacement<'e>(word: &str, extra: &'e [String]) -> Option<&'e str> {
    if let Ok(index) = ANNOTATION_MACROS.binary_search_by_key(&word, |entry| entry.0) {
        return Some(ANNOTATION_MACROS[index].1);
    }
    let (_, text) = extra.iter().map(|entry| own(entry)).find(|(name, _)| *name == word)?;
    Some(if text.len() <= word.len() { text } else { "" })
}

/// Whether a word makes a function a kernel.
pub fn is_global(word: &[u8], extra: &[String]) -> bool {
    let is = |name: &str| name.as_bytes() == word;
    GLOBAL_WORDS.iter().any(|name| is(name))
        || extra.iter().map(|entry| own(entry)).any(|(name, text)| is(name) && text.contains("__global__"))
}

#[cfg(test)]
mod tests {
    use super::{ANNOTATION_MACROS, is_global, is_own, replacement};

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
        let kernel = ["MY_KERNEL_MACRO=__global__ static".to_owned(), "MY_K=__global__".to_owned()];
        assert_eq!(replacement("MY_KERNEL_MACRO", &kernel), Some(""));
        assert!(is_global(b"MY_KERNEL_MACRO", &kernel) && is_global(b"MY_K", &kernel) && !is_global(b"MY_K", &[]));
        assert_eq!(replacement("HOUSE_KERNEL", &["HOUSE_KERNEL=__global__".to_owned()]), Some("__global__"));
        assert!(is_own("A=") && is_own("A = static") && !is_own("A=float") && !is_own("") && !is_own("3A"));
    }
}
