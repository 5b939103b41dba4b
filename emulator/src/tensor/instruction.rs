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

/// An operand type of kind f16, tf32 or f8f6f4 (8-bit ones only).
pub fn element(kind: crate::exec::Kind, code: u32) -> Option<Element> {
    use crate::exec::Kind;
    Some(match (kind, code) {
        (Kind::F16, 0) => Element::F16,
        (Kind::F16, 1) => Element::Bf16,
        (Kind::Tf32, 2) => Element::Tf32,
        (Kind::F8f6f4, 0) => Element::E4M3,
        (Kind::F8f6f4, 1) => Element::E5M2,
        (Kind::I8, 0) => Element::U8,
        (Kind::I8, 1) => Element::S8,
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
        let descriptor = Descriptor::blackwell(0x40 | 64 << 32 | 2 << 61).unwrap();
        assert_eq!((descriptor.start, descriptor.stride, descriptor.pattern), (0x400, 1024, Pattern::B128));
    }
}
