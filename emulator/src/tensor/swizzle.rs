//! The permutation of 16-byte chunks in shared memory.

/// Bytes over which a row of a swizzled layout extends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// No permutation.
    None,
    /// Chunks within 32 bytes.
    B32,
    /// Chunks within 64 bytes.
    B64,
    /// Chunks within 128 bytes.
    B128,
}

impl Pattern {
    /// Where the byte that an unswizzled layout puts at this shared address really lies: address bits 4 to 6 are XORed
    /// with bits 7 to 9, as many of them as the pattern has.
    #[inline(always)]
    pub fn apply(self, address: u32) -> u32 {
        let mask = match self {
            Pattern::None => 0,
            Pattern::B32 => 0x10,
            Pattern::B64 => 0x30,
            Pattern::B128 => 0x70,
        };
        address ^ address >> 3 & mask
    }

    /// Bytes of a row of the pattern; 16 without one.
    pub fn span(self) -> u32 {
        match self {
            Pattern::None => 16,
            Pattern::B32 => 32,
            Pattern::B64 => 64,
            Pattern::B128 => 128,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_permute_their_chunks() {
        // Row 3 of a 128-byte pattern: chunk c lies at c ^ 3.
        let chunks: Vec<u32> = (0..8).map(|c| Pattern::B128.apply(3 * 128 + c * 16) / 16 % 8).collect();
        assert_eq!(chunks, [3, 2, 1, 0, 7, 6, 5, 4]);
        for pattern in [Pattern::None, Pattern::B32, Pattern::B64, Pattern::B128] {
            let mut all: Vec<u32> = (0..4096).map(|a| pattern.apply(a)).collect();
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..4096), "{pattern:?} is not a permutation");
        }
    }
}
