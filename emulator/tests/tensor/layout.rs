//! Where operands lie in shared memory and registers, as the PTX manual draws it, and what their bits are worth.

use super::common::Random;

/// An element type of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    F16,
    Bf16,
    Tf32,
    E4M3,
    E5M2,
    S8,
    U8,
    /// Sixteen in 16 bytes.
    E2M3,
    E3M2,
    E2M1,
    /// Thirty-two in 16 bytes.
    Dense,
}

use Type::{Bf16, Dense, E2M1, E2M3, E3M2, E4M3, E5M2, F16, S8, Tf32, U8};

impl Type {
    pub fn name(self) -> &'static str {
        match self {
            F16 => "f16",
            Bf16 => "bf16",
            Tf32 => "tf32",
            E4M3 => "e4m3",
            E5M2 => "e5m2",
            S8 => "s8",
            U8 => "u8",
            E2M3 => "e2m3",
            E3M2 => "e3m2",
            E2M1 => "e2m1",
            Dense => "dense",
        }
    }

    /// Elements in 16 bytes along K.
    pub fn each(self) -> usize {
        match self {
            Dense => 32,
            other => 16 / other.bytes(),
        }
    }

    /// Bits of an element.
    pub fn width(self) -> usize {
        match self {
            E2M3 | E3M2 => 6,
            E2M1 | Dense => 4,
            other => 8 * other.bytes(),
        }
    }

    pub fn bytes(self) -> usize {
        match self {
            F16 | Bf16 => 2,
            Tf32 => 4,
            _ => 1,
        }
    }

    /// The bits of a small integer.
    pub fn bits(self, value: i32) -> u32 {
        let (magnitude, negative) = (value.unsigned_abs(), value < 0);
        let float = |fraction: u32, bias: u32| {
            if magnitude == 0 {
                return 0;
            }
            let exponent = magnitude.ilog2();
            let top = ((magnitude << fraction) >> exponent) & ((1 << fraction) - 1);
            (exponent + bias) << fraction | top
        };
        let signed = |bits: u32, width: u32| bits | u32::from(negative) << (width - 1);
        match self {
            F16 => signed(float(10, 15), 16),
            Bf16 => signed(float(7, 127), 16),
            Tf32 => signed(float(23, 127), 32),
            E4M3 => signed(float(3, 7), 8),
            E5M2 => signed(float(2, 15), 8),
            E2M3 => signed(float(3, 1), 6),
            E3M2 => signed(float(2, 3), 6),
            E2M1 | Dense => signed(float(1, 1), 4),
            S8 | U8 => value as u32 & 0xff,
        }
    }

    /// A small integer that the type has.
    pub fn integer(self, random: &mut Random) -> i32 {
        match self {
            S8 => random.next() as u8 as i8 as i32,
            U8 => random.next() as u8 as i32,
            E5M2 => [-6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5][random.next() as usize % 11],
            E2M1 | Dense => [-6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6][random.next() as usize % 11],
            _ => random.next() as i32 % 5,
        }
    }

    /// Bits at an end of the type's range, or with an infinity or a NaN now and then.
    pub fn extreme(self, which: Extreme, random: &mut Random) -> u32 {
        let bits = random.next();
        // Width, fraction bits, and the exponent of infinity and NaN (or the largest, where there is no infinity).
        let (width, fraction, top) = match self {
            F16 => (16, 10, 31),
            Bf16 => (16, 7, 255),
            Tf32 => (32, 23, 255),
            E4M3 => (8, 3, 15),
            _ => (8, 2, 31),
        };
        let (sign, low) = ((bits >> 31) << (width - 1), bits & ((1 << fraction) - 1));
        match which {
            Extreme::Tiny => sign | (bits >> 30 & 1) << fraction | low,
            Extreme::Huge if self == E4M3 => sign | (top << fraction) | low & 6,
            Extreme::Huge => sign | (top - 1 - (bits >> 30 & 1)) << fraction | low,
            Extreme::Special if bits >> 8 & 63 != 0 => self.wild(random),
            Extreme::Special if self == E4M3 => sign | 0x7f,
            Extreme::Special if bits >> 14 & 1 != 0 => sign | top << fraction,
            Extreme::Special => sign | top << fraction | 1 << (fraction - 1) | low,
        }
    }

    /// Bits of one end of the range, or from all over it.
    pub fn draw(self, which: Option<Extreme>, random: &mut Random) -> u32 {
        match which {
            None => self.wild(random),
            Some(which) => self.extreme(which, random),
        }
    }

    /// Any bits that are neither infinite nor NaN, exponents far apart now and then.
    pub fn wild(self, random: &mut Random) -> u32 {
        let bits = random.next();
        let (sign, shift) = (bits >> 31, bits >> 8 & 7);
        match self {
            F16 => sign << 15 | (14 - shift) << 10 | bits & 0x3ff,
            Bf16 => sign << 15 | (127 - 2 * shift) << 7 | bits & 0x7f,
            Tf32 => sign << 31 | (127 - 2 * shift) << 23 | bits & 0x7f_ffff,
            E4M3 if bits & 0x7f == 0x7f => 0,
            E5M2 if bits & 0x7c == 0x7c => 0,
            _ => bits & 0xff,
        }
    }
}

/// An end of a type's range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    Tiny,
    Huge,
    Special,
}

pub const EXTREMES: [Extreme; 3] = [Extreme::Tiny, Extreme::Huge, Extreme::Special];

/// Row `line` and element `k` of an operand as bytes in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Bytes of the swizzle: 16 for none.
    pub span: usize,
    /// Whether K is contiguous.
    pub k_major: bool,
    pub of: Type,
    pub lines: usize,
    pub depth: usize,
    /// Descriptor fields in bytes.
    pub leading: usize,
    pub stride: usize,
}

impl Tile {
    /// Groups one after the other, as closely as they fit.
    pub fn new(of: Type, lines: usize, depth: usize, span: usize, k_major: bool) -> Tile {
        let size = of.bytes();
        let (leading, stride) = match (k_major, span) {
            // Core matrices of 8 lines by 16 bytes, first along the lines.
            (true, 16) => (lines / 8 * 128, 128),
            (true, _) => (16, 8 * span),
            // Without a swizzle the leading offset leads to the next 8 of K, the stride to the next lines.
            (false, 16) => (lines * size / 16 * 128, 128),
            // Groups of 8 of K, then the next lines.
            (false, _) => (depth / 8 * 8 * span, 8 * span),
        };
        Tile { span, k_major, of, lines, depth, leading, stride }
    }

    /// Where byte `byte` along the contiguous dimension lies, in line or row `other` of the other one.
    fn at(&self, byte: usize, other: usize) -> usize {
        let Tile { span, leading, stride, .. } = *self;
        let flat = if self.k_major {
            let along = if span == 16 { byte / 16 * leading } else { byte / span * span * self.lines };
            other / 8 * stride + other % 8 * span + byte % span + along
        } else {
            let (across, along) = if span == 16 { (stride, leading) } else { (leading, stride) };
            byte / span * across + byte % span + other / 8 * along + other % 8 * span
        };
        // 16-byte chunk number, exclusive or with the number of the 128-byte row, in as many bits as the span has.
        let (chunk, row) = (flat / 16, flat / 128);
        (chunk ^ (row % (span / 16))) * 16 + flat % 16
    }

    /// Where the 16 bytes that hold an element begin, or the element itself if it takes whole bytes.
    pub fn offset(&self, line: usize, k: usize) -> usize {
        let size = self.of.bytes();
        match self.k_major {
            true if self.of.width() < 8 => self.at(k / self.of.each() * 16, line),
            true => self.at(k * size, line),
            false => self.at(line * size, k),
        }
    }

    pub fn bytes(&self) -> usize {
        (0..self.lines)
            .flat_map(|line| (0..self.depth).map(move |k| (line, k)))
            .map(|(l, k)| self.offset(l, k))
            .max()
            .unwrap()
            / 1024
            * 1024
            + 1024
    }

    /// A Hopper descriptor without its address.
    pub fn hopper(&self) -> u64 {
        let pattern = match self.span {
            128 => 1,
            64 => 2,
            32 => 3,
            _ => 0,
        };
        (self.leading as u64 >> 4) << 16 | (self.stride as u64 >> 4) << 32 | pattern << 62
    }

    /// A Blackwell descriptor without its address.
    pub fn blackwell(&self) -> u64 {
        let pattern = match self.span {
            128 => 2,
            64 => 4,
            32 => 6,
            _ => 0,
        };
        (self.leading as u64 >> 4) << 16 | (self.stride as u64 >> 4) << 32 | 1 << 46 | pattern << 61
    }

    /// Puts elements (line by line) into an image at `at`.
    pub fn put(&self, image: &mut [u8], at: usize, elements: &[u32]) {
        let (size, width) = (self.of.bytes(), self.of.width());
        for (line, k) in (0..self.lines).flat_map(|line| (0..self.depth).map(move |k| (line, k))) {
            let to = at + self.offset(line, k);
            let element = elements[line * self.depth + k];
            if width < 8 {
                let place = &mut image[to..to + 16];
                let first = width * (k % self.of.each());
                for bit in 0..width {
                    let (byte, mask) = ((first + bit) / 8, 1 << ((first + bit) % 8));
                    place[byte] = place[byte] & !mask | if element >> bit & 1 != 0 { mask } else { 0 };
                }
            } else {
                image[to..to + size].copy_from_slice(&element.to_le_bytes()[..size]);
            }
        }
    }
}

/// Row and column of accumulator word `i` of thread `t` of a warp group or warp, 32-bit accumulators.
pub fn accumulator(t: usize, i: usize) -> (usize, usize) {
    (t / 32 * 16 + t % 32 / 4 + i % 4 / 2 * 8, i / 4 * 8 + t % 4 * 2 + i % 2)
}

/// Row and first element of word `i` of the left operand.
pub fn left(t: usize, i: usize, each: usize) -> (usize, usize) {
    (t / 32 * 16 + t % 32 / 4 + i % 2 * 8, (t % 4 + i / 2 * 4) * each)
}
