//! Sizes of the types that kernels compute with.

/// Last part of a type's name, and its size in bytes.
const SIZES: &[(&str, u64)] = &[
    ("CUtensorMap", 128),
    ("CUtensorMap_st", 128),
    ("TmaDescriptor", 128),
    ("__half", 2),
    ("__nv_bfloat16", 2),
    ("__nv_fp8_e4m3", 1),
    ("__nv_fp8_e5m2", 1),
    ("__nv_fp8_e8m0", 1),
    ("bf16", 2),
    ("bfloat16", 2),
    ("bfloat162", 4),
    ("bfloat16_t", 2),
    ("bool", 1),
    ("char", 1),
    ("double", 8),
    ("e4m3", 1),
    ("e5m2", 1),
    ("float", 4),
    ("float16_t", 2),
    ("float32_t", 4),
    ("float_e4m3_t", 1),
    ("float_e5m2_t", 1),
    ("float_ue8m0_t", 1),
    ("fp16", 2),
    ("fp8_e4_t", 1),
    ("fp8_e5_t", 1),
    ("half", 2),
    ("half_t", 2),
    ("nv_bfloat16", 2),
    ("nv_half", 2),
    ("tfloat32_t", 4),
];

/// The size of a named type that is no integer type.
pub fn size(last: &str) -> Option<u64> {
    SIZES.binary_search_by_key(&last, |entry| entry.0).ok().map(|index| SIZES[index].1)
}

#[cfg(test)]
mod tests {
    use super::{SIZES, size};

    #[test]
    fn the_table_is_sorted() {
        assert!(SIZES.windows(2).all(|w| w[0].0 < w[1].0));
        assert_eq!(size("half_t"), Some(2));
        assert_eq!(size("unheard_of"), None);
    }
}
