//! Matrix instructions: what they are.

use crate::tensor::operand::Element;

/// Where wgmma's left operand comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// A shared-memory descriptor (double).
    Shared(u32),
    /// Registers.
    Registers([u32; 4]),
}

/// Accumulator type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Accumulator {
    F32,
    F16,
    S32,
}

/// A `wgmma.mma_async`, 64 rows high.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wgmma {
    /// Columns.
    pub n: usize,
    /// Element types of A and B.
    pub elements: [Element; 2],
    /// Accumulator type.
    pub accumulator: Accumulator,
    /// Accumulator registers.
    pub d: Box<[u32]>,
    /// A.
    pub a: Left,
    /// Descriptor of B (double).
    pub b: u32,
    /// Predicate: the accumulator is kept.
    pub keep: u32,
    /// Whether A and B are negated.
    pub negate: [bool; 2],
    /// Whether A and B are MN-major.
    pub transposed: [bool; 2],
    /// Integer sums saturate.
    pub saturate: bool,
}

/// A `mma.sync` with 16 rows and 8 columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mma {
    /// Depth.
    pub k: usize,
    /// Element types of A and B.
    pub elements: [Element; 2],
    /// Accumulator type.
    pub accumulator: Accumulator,
    /// Result registers.
    pub d: Box<[u32]>,
    /// A.
    pub a: Box<[u32]>,
    /// B.
    pub b: Box<[u32]>,
    /// Accumulator registers.
    pub c: Box<[u32]>,
    /// 8-bit floats are multiplied as half-precision ones, as Hopper does.
    pub as_halves: bool,
    /// Integer sums saturate.
    pub saturate: bool,
}

/// A `wmma.mma`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wmma {
    /// Rows, columns and depth.
    pub shape: [usize; 3],
    /// Element types of A and B.
    pub elements: [Element; 2],
    /// Type of the accumulator before.
    pub start: Accumulator,
    /// Type of the result.
    pub result: Accumulator,
    /// Result registers.
    pub d: Box<[u32]>,
    /// A.
    pub a: Box<[u32]>,
    /// B.
    pub b: Box<[u32]>,
    /// Accumulator registers.
    pub c: Box<[u32]>,
    /// Sums saturate: integers at their range, others at the largest finite number.
    pub saturate: bool,
}

/// A matrix instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MatrixOp {
    Wgmma(Wgmma),
    WgmmaCommit,
    WgmmaWait {
        open: u32,
    },
    Mma(Mma),
    Wmma(Wmma),
    /// 8x8 matrices of 16-bit elements from shared memory.
    Load {
        registers: Box<[u32]>,
        address: u32,
        transposed: bool,
    },
    /// 8x8 matrices of 16-bit elements to shared memory.
    Store {
        registers: Box<[u32]>,
        address: u32,
        transposed: bool,
    },
    /// Transposes an 8x8 matrix in registers.
    Transpose {
        to: u32,
        from: u32,
    },
}
