//! Element types of operands.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What one element of a tensor is. Names as PTX and the field write them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElementType {
    /// bfloat16: 8 significant bits.
    Bf16,
    /// IEEE half: 11 significant bits.
    F16,
    /// IEEE single: 24 significant bits.
    F32,
    /// An f32 whose low 13 mantissa bits the tensor core ignores: 11 significant bits.
    Tf32,
    /// OCP fp8 E4M3: 4 significant bits, largest 448, no infinity.
    E4m3,
    /// OCP fp8 E5M2: 3 significant bits, largest 57344.
    E5m2,
    /// fp4 E2M1, two a byte, the even index in the low nibble.
    E2m1,
    /// Scale: E4M3 without sign.
    Ue4m3,
    /// Scale: a power of two, 2^(code - 127); 0xff is NaN.
    Ue8m0,
    /// Signed 8-bit integer.
    S8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 32-bit integer.
    S32,
}

impl ElementType {
    /// All of them.
    pub const ALL: [ElementType; 12] = [
        ElementType::Bf16,
        ElementType::F16,
        ElementType::F32,
        ElementType::Tf32,
        ElementType::E4m3,
        ElementType::E5m2,
        ElementType::E2m1,
        ElementType::Ue4m3,
        ElementType::Ue8m0,
        ElementType::S8,
        ElementType::U8,
        ElementType::S32,
    ];

    /// Bits of storage of one element.
    pub fn bits(self) -> u32 {
        match self {
            ElementType::E2m1 => 4,
            ElementType::E4m3
            | ElementType::E5m2
            | ElementType::Ue4m3
            | ElementType::Ue8m0
            | ElementType::S8
            | ElementType::U8 => 8,
            ElementType::Bf16 | ElementType::F16 => 16,
            ElementType::F32 | ElementType::Tf32 | ElementType::S32 => 32,
        }
    }

    /// Bytes that `elements` of this type take, rounded up to whole bytes.
    pub fn bytes(self, elements: u64) -> u64 {
        elements.saturating_mul(u64::from(self.bits())).div_ceil(8)
    }

    /// Whether the type has a NaN that no conversion gives. A buffer of another type can hold what marks it as unwritten by chance.
    pub fn has_spare_nan(self) -> bool {
        matches!(self, ElementType::Bf16 | ElementType::F16 | ElementType::F32 | ElementType::Tf32 | ElementType::E5m2)
    }

    /// Significant bits of a floating type, the hidden one included; `None` for integers.
    pub fn significant_bits(self) -> Option<u32> {
        match self {
            ElementType::Bf16 => Some(8),
            ElementType::F16 | ElementType::Tf32 => Some(11),
            ElementType::F32 => Some(24),
            ElementType::E4m3 | ElementType::Ue4m3 => Some(4),
            ElementType::E5m2 => Some(3),
            ElementType::E2m1 => Some(2),
            ElementType::Ue8m0 => Some(1),
            ElementType::S8 | ElementType::U8 | ElementType::S32 => None,
        }
    }

    /// The lower-case name used in files and options.
    pub fn name(self) -> &'static str {
        match self {
            ElementType::Bf16 => "bf16",
            ElementType::F16 => "f16",
            ElementType::F32 => "f32",
            ElementType::Tf32 => "tf32",
            ElementType::E4m3 => "e4m3",
            ElementType::E5m2 => "e5m2",
            ElementType::E2m1 => "e2m1",
            ElementType::Ue4m3 => "ue4m3",
            ElementType::Ue8m0 => "ue8m0",
            ElementType::S8 => "s8",
            ElementType::U8 => "u8",
            ElementType::S32 => "s32",
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ElementType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        ElementType::ALL.into_iter().find(|t| t.name() == text).ok_or_else(|| {
            let names: Vec<_> = ElementType::ALL.iter().map(|t| t.name()).collect();
            format!("`{text}` is no element type; known are {}", names.join(", "))
        })
    }
}
