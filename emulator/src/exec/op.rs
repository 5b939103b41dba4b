//! Prepared instructions: a flat enum whose operands are register indices.

use super::alu::{Alu, Convert, Rare};
use super::bulk::BulkOp;
use super::matrix::MatrixOp;
use super::tmem::TmemOp;

/// No predicate.
pub const UNGUARDED: u32 = u32::MAX;

/// An instruction and the lanes that execute it.
#[derive(Debug, Clone)]
pub struct Inst {
    /// Predicate register, or [`UNGUARDED`].
    pub guard: u32,
    /// Executed where the predicate is false.
    pub negated: bool,
    /// What to do.
    pub op: Op,
}

/// State space of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Any, by address.
    Generic,
    /// Device memory.
    Global,
    /// Shared memory of the cluster's CTAs.
    Shared,
    /// Local memory.
    Local,
    /// Parameters of the kernel.
    Parameter,
}

/// An address: a register plus bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// Register index.
    pub register: u32,
    /// Whether it is a double-word register.
    pub wide: bool,
    /// Bytes added.
    pub offset: i32,
}

/// A load or store of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Where.
    pub space: Space,
    /// Bytes: 1, 2, 4 or 8.
    pub bytes: u8,
    /// Bits kept of a sign-extended load: 0 for a zero-extending one, else 16 or 32.
    pub sign: u8,
    /// Where exactly.
    pub address: Address,
    /// Register loaded or stored: a word up to 4 bytes, else a double.
    pub register: u32,
}

/// A load or store of several values side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorAccess {
    /// The first value; its register is not used.
    pub access: Access,
    /// Registers in memory order; `None` for `_`.
    pub registers: Box<[Option<u32>]>,
}

/// What an atomic does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AtomicKind {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
    Increment,
    Decrement,
}

/// What an atomic works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AtomicType {
    U32,
    S32,
    U64,
    S64,
    F32,
    F64,
    F16,
    Bf16,
    F16x2,
    Bf16x2,
    B16,
}

/// An atomic or reduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atomic {
    /// Where.
    pub space: Space,
    /// What to do.
    pub kind: AtomicKind,
    /// On what.
    pub of: AtomicType,
    /// Where exactly.
    pub address: Address,
    /// Registers of the old values (empty for a reduction).
    pub old: Box<[Option<u32>]>,
    /// Registers of the operands, side by side in memory.
    pub operands: Box<[u32]>,
    /// New value of a compare-and-exchange.
    pub new: u32,
}

/// Which lane a shuffle reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// A `shfl.sync`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shuffle {
    /// Which lane is read.
    pub mode: ShuffleMode,
    /// Destination.
    pub to: Option<u32>,
    /// Predicate: the lane read was in range.
    pub valid: Option<u32>,
    /// Source.
    pub from: u32,
    /// Lane or distance.
    pub lane: u32,
    /// Clamp and segment mask.
    pub clamp: u32,
    /// Member lanes.
    pub members: u32,
}

/// A vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum VoteMode {
    All,
    Any,
    Uniform,
    Ballot,
}

/// Operations of a warp as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum WarpOp {
    /// `bar.warp.sync`
    Sync {
        members: u32,
    },
    Shuffle(Shuffle),
    /// `to` is a word for a ballot, else a predicate.
    Vote {
        mode: VoteMode,
        to: u32,
        from: u32,
        members: u32,
    },
    /// `all`: one mask if every lane has the same value, and whether.
    Match {
        all: bool,
        wide: bool,
        to: Option<u32>,
        same: Option<u32>,
        from: u32,
        members: u32,
    },
    Reduce {
        kind: AtomicKind,
        signed: bool,
        to: u32,
        from: u32,
        members: u32,
    },
    Elect {
        leader: Option<u32>,
        elected: Option<u32>,
        members: u32,
    },
    ActiveMask {
        to: u32,
    },
}

/// What a barrier reduces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BarrierReduction {
    Count,
    And,
    Or,
}

/// A named barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Barrier {
    /// Register of its number.
    pub id: u32,
    /// Register of the number of threads; all of the CTA without.
    pub threads: Option<u32>,
    /// Whether to wait.
    pub wait: bool,
    /// Reduction, predicate register, destination (a word for a count, else a predicate).
    pub reduction: Option<(BarrierReduction, u32, u32)>,
}

/// What a `clock` register counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Clock {
    Low,
    High,
    Wide,
    Nanoseconds,
}

/// An instruction.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Op {
    /// Registers only.
    Alu(Alu),
    Rare(Rare),
    /// `cvt` without a fast form; sources and destinations are words unless `wide`.
    Convert {
        how: Box<Convert>,
        to: u32,
        from: u32,
    },
    /// `add.cc` and its kind: to, a, b, carry in, carry out (predicates).
    Carry {
        wide: bool,
        subtract: bool,
        operands: Box<[u32; 3]>,
        carry_in: Option<u32>,
        carry_out: Option<u32>,
    },
    Load(Access),
    Store(Access),
    LoadVector(Box<VectorAccess>),
    StoreVector(Box<VectorAccess>),
    /// Address to predicate: whether it lies in that space.
    IsSpace {
        space: Space,
        to: u32,
        from: u32,
    },
    Atomic(Box<Atomic>),
    Branch(u32),
    /// `brx.idx`: index register and targets.
    BranchTable {
        index: u32,
        targets: Box<[u32]>,
    },
    Exit,
    Trap,
    Nop,
    /// `fence.proxy.async`: what was stored becomes visible to the asynchronous proxy.
    ProxyFence,
    /// Lets other warps run.
    Pause,
    Clock {
        kind: Clock,
        to: u32,
    },
    Warp(Box<WarpOp>),
    Barrier(Box<Barrier>),
    ClusterArrive,
    ClusterWait,
    /// Format and argument pointers (double registers), destination of the result.
    Print {
        format: u32,
        arguments: u32,
        result: Option<Address>,
    },
    /// Message, file, function (double registers) and line (word register).
    Assert {
        operands: Box<[u32; 4]>,
    },
    /// mbarriers and asynchronous copies.
    Bulk(Box<BulkOp>),
    /// Matrix instructions.
    Matrix(Box<MatrixOp>),
    /// Tensor memory.
    Tensor(Box<TmemOp>),
    /// Fails when it is reached.
    Unsupported(Box<str>),
}
