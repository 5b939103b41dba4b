//! Matrix operands: element types, shared-memory descriptors, and the values behind them.

use std::sync::LazyLock;

use super::accumulate::Adder;
use super::format::{E2M1, E2M3, E3M2, E4M3, E5M2};
use super::swizzle::Pattern;

/// The values of all codes of e4m3 and e5m2.
static VALUES: LazyLock<[[f32; 256]; 2]> =
    LazyLock::new(|| [E4M3, E5M2].map(|format| std::array::from_fn(|code| format.decode(code as u8))));

/// Element type of a matrix operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Element {
    F16,
    Bf16,
    Tf32,
    E4M3,
    E5M2,
    S8,
    U8,
    /// 6 bits, sixteen of them in 16 bytes, as `kind::f8f6f4` reads them.
    E2M3,
    /// The same.
    E3M2,
    /// 4 bits, sixteen of them in 16 bytes.
    E2M1,
    /// 4 bits, thirty-two of them in 16 bytes, as `kind::mxf4` reads them.
    E2M1Dense,
}

impl Element {
    /// From its PTX name.
    pub fn parse(name: &str) -> Option<Element> {
        Some(match name {
            "f16" => Element::F16,
            "bf16" => Element::Bf16,
            "tf32" => Element::Tf32,
            "e4m3" => Element::E4M3,
            "e5m2" => Element::E5M2,
            "s8" => Element::S8,
            "u8" => Element::U8,
            _ => return None,
        })
    }

    /// Bytes that an element takes on the whole; 1 for those that are smaller.
    pub fn bytes(self) -> usize {
        match self {
            Element::F16 | Element::Bf16 => 2,
            Element::Tf32 => 4,
            _ => 1,
        }
    }

    /// Elements in 16 bytes of an operand and the bits of each; they are packed from the low end.
    pub fn chunk(self) -> (usize, u32) {
        match self {
            Element::F16 | Element::Bf16 => (8, 16),
            Element::Tf32 => (4, 32),
            Element::E2M3 | Element::E3M2 => (16, 6),
            Element::E2M1 => (16, 4),
            Element::E2M1Dense => (32, 4),
            _ => (16, 8),
        }
    }

    /// Elements along K that one instruction takes: 32 bytes of an operand.
    pub fn depth(self) -> usize {
        2 * self.chunk().0
    }

    /// Exponent that subnormal values count with.
    pub fn lowest(self) -> i32 {
        match self {
            Element::F16 | Element::E5M2 => -14,
            Element::E4M3 => -6,
            Element::E3M2 => -2,
            Element::E2M3 | Element::E2M1 | Element::E2M1Dense => 0,
            _ => -126,
        }
    }

    /// Whether it is an integer.
    pub fn integer(self) -> bool {
        matches!(self, Element::S8 | Element::U8)
    }

    /// The value of an element's bits.
    #[inline(always)]
    pub fn decode(self, bits: u32) -> f32 {
        match self {
            Element::F16 => crate::exec::half_to_single(bits as u16),
            Element::Bf16 => f32::from_bits(bits << 16),
            // The tensor core does not look at the low 13 bits.
            Element::Tf32 => f32::from_bits(bits & 0xffff_e000),
            Element::E4M3 => VALUES[0][bits as usize & 0xff],
            Element::E5M2 => VALUES[1][bits as usize & 0xff],
            Element::E2M3 => E2M3.decode(bits as u8),
            Element::E3M2 => E3M2.decode(bits as u8),
            Element::E2M1 | Element::E2M1Dense => E2M1.decode(bits as u8),
            Element::S8 => f32::from(bits as u8 as i8),
            Element::U8 => f32::from(bits as u8),
        }
    }

    /// The values of many elements, negated or not.
    pub fn decode_all(self, bits: &[u32], negate: bool) -> Vec<f32> {
        let sign = u32::from(negate) << 31;
        let signed = |value: f32| f32::from_bits(value.to_bits() ^ sign);
        match self {
            Element::Bf16 => bits.iter().map(|&bits| f32::from_bits(bits << 16 ^ sign)).collect(),
            Element::F16 => bits.iter().map(|&bits| signed(crate::exec::half_to_single(bits as u16))).collect(),
            _ => bits.iter().map(|&bits| signed(self.decode(bits))).collect(),
        }
    }

    /// The adder of Hopper's wgmma for these elements.
    pub fn wgmma_adder(self) -> Adder {
        match self {
            Element::Tf32 => Adder::TF32,
            Element::E4M3 | Element::E5M2 => Adder::HOPPER_F8,
            _ => Adder::F16,
        }
    }

    /// The adder of mma.sync for these elements, on Hopper and later; 8-bit floats only after Hopper.
    pub fn mma_adder(self) -> Adder {
        match self {
            Element::Tf32 => Adder::TF32,
            Element::E4M3 | Element::E5M2 => Adder::BLACKWELL_F8,
            _ => Adder::F16,
        }
    }
}

/// A matrix in shared memory as a wgmma descriptor tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    /// Start address in shared memory, in bytes.
    pub start: u32,
    /// Leading dimension byte offset.
    pub leading: u32,
    /// Stride dimension byte offset.
    pub stride: u32,
    /// Chunk permutation.
    pub pattern: Pattern,
}

impl Descriptor {
    /// Takes a Hopper descriptor apart.
    pub fn hopper(bits: u64) -> Descriptor {
        let field = |shift: u32| ((bits >> shift & 0x3fff) << 4) as u32;
        let pattern = match bits >> 62 {
            1 => Pattern::B128,
            2 => Pattern::B64,
            3 => Pattern::B32,
            _ => Pattern::None,
        };
        Descriptor { start: field(0), leading: field(16), stride: field(32), pattern }
    }

    /// Shared address of byte `byte` along the contiguous dimension of line `line`, for an operand whose contiguous
    /// dimension is K (lines are rows of A or columns of B).
    #[inline(always)]
    pub fn k_major(&self, line: u32, byte: u32) -> u32 {
        let inner = match self.pattern {
            Pattern::None => byte / 16 * self.leading + byte % 16,
            pattern => byte / pattern.span() * self.leading + byte % pattern.span(),
        };
        let span = self.pattern.span();
        self.pattern.apply(self.start.wrapping_add(line / 8 * self.stride + line % 8 * span).wrapping_add(inner))
    }

    /// Shared address for an operand whose contiguous dimension is M or N: byte `byte` along it, in row `k`.
    #[inline(always)]
    pub fn mn_major(&self, byte: u32, k: u32) -> u32 {
        let span = self.pattern.span();
        let (across, along) = match self.pattern {
            Pattern::None => (self.stride, self.leading),
            _ => (self.leading, self.stride),
        };
        let offset = byte / span * across + byte % span + k / 8 * along + k % 8 * span;
        self.pattern.apply(self.start.wrapping_add(offset))
    }
}

/// Raw elements of a `lines` by `depth` operand, line by line, 32 bits each. Elements smaller than a byte are always
/// contiguous along K.
pub fn fetch(
    shared: &[u8],
    descriptor: &Descriptor,
    element: Element,
    k_contiguous: bool,
    first: usize,
    lines: usize,
    depth: usize,
) -> Result<Vec<u32>, u32> {
    let size = element.bytes();
    let (per_chunk, bits) = element.chunk();
    // Descriptors hold 18 bits of an address.
    let slice = |address: u32, bytes: usize| {
        let at = address as usize & 0x3_ffff;
        shared.get(at..at + bytes).ok_or(address & 0x3_ffff)
    };
    let value = |bytes: &[u8]| bytes.iter().rev().fold(0u32, |value, &byte| value << 8 | u32::from(byte));
    let mut out = vec![0; lines * depth];
    for (line, row) in out.chunks_exact_mut(depth).enumerate() {
        let line = (first + line) as u32;
        if bits < 8 {
            for (chunk, to) in row.chunks_mut(per_chunk).enumerate() {
                let bytes = slice(descriptor.k_major(line, 16 * chunk as u32), 16)?;
                let packed = bytes.iter().rev().fold(0u128, |value, &byte| value << 8 | u128::from(byte));
                let element = |i: usize| (packed >> (bits as usize * i)) as u32 & ((1 << bits) - 1);
                to.iter_mut().enumerate().for_each(|(i, to)| *to = element(i));
            }
        } else if k_contiguous {
            // Chunks of 16 bytes stay together in every layout.
            for (chunk, to) in row.chunks_mut(16 / size).enumerate() {
                let bytes = slice(descriptor.k_major(line, 16 * chunk as u32), to.len() * size)?;
                match size {
                    1 => widen::<1>(bytes, to),
                    2 => widen::<2>(bytes, to),
                    _ => widen::<4>(bytes, to),
                }
            }
        } else {
            for (k, to) in row.iter_mut().enumerate() {
                *to = value(slice(descriptor.mn_major(line * size as u32, k as u32), size)?);
            }
        }
    }
    Ok(out)
}

/// Little-endian elements of `SIZE` bytes, one after the other.
#[inline(always)]
fn widen<const SIZE: usize>(bytes: &[u8], to: &mut [u32]) {
    for (to, element) in to.iter_mut().zip(bytes.as_chunks::<SIZE>().0) {
        let mut word = [0; 4];
        word[..SIZE].copy_from_slice(element);
        *to = u32::from_le_bytes(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_k_major_descriptor_of_128_bytes_finds_swizzled_rows() {
        // 16 rows of 64 bf16 as TMA writes them with the 128-byte swizzle: element (r, c) = r * 64 + c.
        let mut shared = vec![0u8; 4096];
        for row in 0..16u32 {
            for column in 0..64u32 {
                let at = Pattern::B128.apply(1024 + row * 128 + column * 2) as usize;
                shared[at..at + 2].copy_from_slice(&((row * 64 + column) as u16).to_le_bytes());
            }
        }
        // The second K step: start moved by 32 bytes.
        let bits = (1024 + 32) >> 4 | 1 << 16 | (1024u64 >> 4) << 32 | 1 << 62;
        let values = fetch(&shared, &Descriptor::hopper(bits), Element::Bf16, true, 0, 16, 16).unwrap();
        for row in 0..16 {
            for k in 0..16 {
                assert_eq!(values[row * 16 + k], (row * 64 + 16 + k) as u32);
            }
        }
        assert!(fetch(&shared[..1100], &Descriptor::hopper(bits), Element::Bf16, true, 0, 16, 16).is_err());
    }

    #[test]
    fn an_mn_major_descriptor_finds_columns() {
        // 16 rows (K) of 64 bf16 (N), 128-byte swizzle, groups of 8 rows 1024 bytes apart.
        let mut shared = vec![0u8; 4096];
        for k in 0..16u32 {
            for n in 0..64u32 {
                let at = Pattern::B128.apply(k * 128 + n * 2) as usize;
                shared[at..at + 2].copy_from_slice(&((k * 64 + n) as u16).to_le_bytes());
            }
        }
        let bits = (1024u64 >> 4) << 32 | 1 << 62;
        let values = fetch(&shared, &Descriptor::hopper(bits), Element::Bf16, false, 0, 64, 16).unwrap();
        assert_eq!(values[5 * 16 + 9], 9 * 64 + 5);
        assert_eq!(values[63 * 16 + 15], 15 * 64 + 63);
    }
}
