//! The instruction descriptor of `tcgen05.mma` and Blackwell's shared-memory descriptor.

use super::operand::{Descriptor, Element};
use super::swizzle::Pattern;

/// Fields of an instruction descriptor without block scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// Accumulator type: 0 f16, 1 f32, 2 s32.
    pub accumulator: u32,
    /// Type codes of A and B; their meaning depends on the instruction's kind.
    pub types: [u32; 2],
    /// Whether A and B are negated.
    pub negate: [bool; 2],
    /// Whether A and B are MN-major.
    pub transposed: [bool; 2],
    /// Integer sums saturate.
    pub saturate: bool,
}

impl Instruction {
    /// Takes a descriptor apart; `None` for a sparse one.
    pub fn new(bits: u32) -> Option<Instruction> {
        let flag = |bit: u32| bits >> bit & 1 != 0;
        (!flag(2)).then_some(Instruction {
            m: (bits >> 24 & 0x1f) as usize * 16,
            n: (bits >> 17 & 0x3f) as usize * 8,
            accumulator: bits >> 4 & 3,
            types: [bits >> 7 & 7, bits >> 10 & 7],
            negate: [flag(13), flag(14)],
            transposed: [flag(15), flag(16)],
            saturate: flag(3),
        })
    }
}

/// Fields of an instruction descriptor with block scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scaling {
    /// Which byte of a word holds the first scale of a row of A, and of a column of B.
    pub first: [u32; 2],
    /// Scales are powers of two (UE8M0), not UE4M3.
    pub powers: bool,
}

impl Scaling {
    /// Takes a descriptor apart: rows, columns, types and negation are those of [`Instruction`]. `None` for a form that is
    /// not emulated (sparse, 96 along K).
    pub fn new(bits: u32) -> Option<(Instruction, Scaling)> {
        let sparse_or_deep = bits >> 2 & 1 != 0 || bits >> 31 != 0;
        let plain = Instruction::new(bits & !(3 << 4))?;
        let scaling = Scaling { first: [bits >> 29 & 3, bits >> 4 & 3], powers: bits >> 23 & 1 != 0 };
        (!sparse_or_deep).then_some((Instruction { accumulator: 1, ..plain }, scaling))
    }
}

/// An operand type of an instruction kind by its code.
pub fn element(kind: crate::exec::Kind, code: u32) -> Option<Element> {
    use crate::exec::Kind;
    Some(match (kind, code) {
        (Kind::F16, 0) => Element::F16,
        (Kind::F16, 1) => Element::Bf16,
        (Kind::Tf32, 2) => Element::Tf32,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 0) => Element::E4M3,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 1) => Element::E5M2,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 3) => Element::E2M3,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 4) => Element::E3M2,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 5) => Element::E2M1,
        (Kind::I8, 0) => Element::U8,
        (Kind::I8, 1) => Element::S8,
        (Kind::Mxf4, 1) => Element::E2M1Dense,
        _ => return None,
    })
}

impl Descriptor {
    /// Takes a Blackwell descriptor apart; `None` for a swizzle that is not emulated.
    pub fn blackwell(bits: u64) -> Option<Descriptor> {
        let field = |shift: u32| ((bits >> shift & 0x3fff) << 4) as u32;
        let pattern = match bits >> 61 {
            0 => Pattern::None,
            2 => Pattern::B128,
            4 => Pattern::B64,
            6 => Pattern::B32,
            _ => return None,
        };
        Some(Descriptor { start: field(0), leading: field(16), stride: field(32), pattern })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_isa_puts_them() {
        // f32 accumulator, bf16 times bf16, 128 x 16, K-major.
        let bits = 1 << 4 | 1 << 7 | 1 << 10 | (16 / 8) << 17 | (128 / 16) << 24;
        let instruction = Instruction::new(bits).unwrap();
        assert_eq!((instruction.m, instruction.n, instruction.accumulator), (128, 16, 1));
        assert_eq!(element(crate::exec::Kind::F16, instruction.types[0]), Some(Element::Bf16));
        assert_eq!(instruction.transposed, [false; 2]);
        assert_eq!(Instruction::new(4), None);
        // Second scale of A, third of B, powers of two, e2m1 twice, 128 x 64.
        let bits = 2 << 4 | 1 << 7 | 1 << 10 | 8 << 17 | 1 << 23 | 8 << 24 | 1 << 29;
        let (instruction, scaling) = Scaling::new(bits).unwrap();
        assert_eq!((instruction.m, instruction.n, instruction.types), (128, 64, [1, 1]));
        assert_eq!(scaling, Scaling { first: [1, 2], powers: true });
        assert_eq!(Scaling::new(bits | 1 << 31), None);
        let descriptor = Descriptor::blackwell(0x40 | 64 << 32 | 2 << 61).unwrap();
        assert_eq!((descriptor.start, descriptor.stride, descriptor.pattern), (0x400, 1024, Pattern::B128));
    }
}
