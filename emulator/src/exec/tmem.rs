//! Tensor memory and the instructions of the fifth tensor-core generation: what they are.

/// How `tcgen05.ld` and `.st` spread a lane block over the warp's registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Spread {
    /// Thread t has lane t; register r is column r.
    B32x32,
    /// 16 lanes, 2 columns a step.
    B16x64,
    /// 16 lanes in two halves of the warp, the second so many columns further on.
    B16x32Twice(u32),
    /// 16 lanes, 4 columns a step, as 8x8 fragments.
    B16x128,
    /// 16 lanes, 8 columns a step, as accumulator fragments.
    B16x256,
}

/// Operand kinds of `tcgen05.mma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    F16,
    Tf32,
    F8f6f4,
    I8,
    /// Block scales, 32 along K.
    Mxf8f6f4,
    /// 4-bit elements with block scales, 64 along K.
    Mxf4,
}

/// How `tcgen05.cp` spreads rows of shared memory over the lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// Rows in shared memory.
    pub count: usize,
    /// Bytes of each.
    pub bytes: usize,
    /// For each quarter of the lanes the first row that it gets.
    pub quarters: [usize; 4],
}

/// Where the scale factors of a product lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockScales {
    /// Addresses in tensor memory (words), those of A and those of B.
    pub at: [u32; 2],
    /// Elements along K that share a scale.
    pub block: usize,
}

/// An instruction on tensor memory. Operands are word registers unless said otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TmemOp {
    Allocate {
        to: u32,
        columns: u32,
    },
    Release {
        address: u32,
        columns: u32,
    },
    /// `a` is a descriptor (double) or, if `a_in_tensor_memory`, an address; `b` a descriptor; `keep` a predicate.
    Multiply {
        kind: Kind,
        d: u32,
        a: u32,
        a_in_tensor_memory: bool,
        b: u32,
        instruction: u32,
        keep: u32,
        scales: Option<BlockScales>,
        /// By two CTAs of a cluster.
        pair: bool,
    },
    /// From shared memory (`from` is a descriptor, double), in order with the matrix instructions.
    Copy {
        rows: Rows,
        to: u32,
        from: u32,
        /// In both CTAs of a pair, each from its own shared memory.
        pair: bool,
    },
    /// An arrival once the matrix instructions before it are done; `mask` names CTAs.
    Commit {
        bar: u32,
        mask: Option<u32>,
    },
    Load {
        spread: Spread,
        registers: Box<[u32]>,
        address: u32,
    },
    Store {
        spread: Spread,
        registers: Box<[u32]>,
        address: u32,
    },
}
