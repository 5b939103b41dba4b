//! Element types of a tensor map.

use super::driver_enum;

driver_enum! {
    /// `CUtensorMapDataType`.
    ElementType {
        /// 1 byte.
        U8 = 0,
        /// 2 bytes.
        U16 = 1,
        /// 4 bytes.
        U32 = 2,
        /// 4 bytes.
        I32 = 3,
        /// 8 bytes.
        U64 = 4,
        /// 8 bytes.
        I64 = 5,
        /// 2 bytes.
        F16 = 6,
        /// 4 bytes.
        F32 = 7,
        /// 8 bytes.
        F64 = 8,
        /// 2 bytes.
        Bf16 = 9,
        /// 4 bytes, denormals flushed.
        F32Ftz = 10,
        /// 4 bytes.
        Tf32 = 11,
        /// 4 bytes, denormals flushed.
        Tf32Ftz = 12,
        /// Sixteen 4-bit values in 8 bytes, dense in shared memory.
        U4Align8 = 13,
        /// Sixteen 4-bit values in 8 bytes, each group at 16 bytes in shared memory.
        U4Align16 = 14,
        /// Sixteen 6-bit values in 12 bytes, each group at 16 bytes in shared memory.
        U6Align16 = 15,
    }
}

impl ElementType {
    /// Bits of one element in global memory.
    pub fn bits(self) -> u32 {
        match self {
            ElementType::U8 => 8,
            ElementType::U16 | ElementType::F16 | ElementType::Bf16 => 16,
            ElementType::U64 | ElementType::I64 | ElementType::F64 => 64,
            ElementType::U4Align8 | ElementType::U4Align16 => 4,
            ElementType::U6Align16 => 6,
            _ => 32,
        }
    }

    /// Bytes that `elements` of them take in shared memory, gaps of the `…Align16` types included.
    pub fn shared_bytes(self, elements: u64) -> u64 {
        match self {
            ElementType::U4Align16 | ElementType::U6Align16 => elements.div_ceil(16) * 16,
            _ => (elements * u64::from(self.bits())).div_ceil(8),
        }
    }

    /// Whether out-of-bounds elements may read as NaN.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            ElementType::F16
                | ElementType::F32
                | ElementType::F64
                | ElementType::Bf16
                | ElementType::F32Ftz
                | ElementType::Tf32
                | ElementType::Tf32Ftz
        )
    }

    /// Whether a group of sixteen takes 16 bytes in shared memory whatever its size in global memory.
    pub fn is_align16(self) -> bool {
        matches!(self, ElementType::U4Align16 | ElementType::U6Align16)
    }
}
