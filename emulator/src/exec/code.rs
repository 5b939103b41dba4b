//! A kernel ready to run.

use std::sync::Arc;

use super::op::Inst;
use crate::ptx::Directives;

/// Shared memory that every CTA loses to the system on sm_90 and later; variables begin behind it.
pub const RESERVED_SHARED: u32 = 1024;

/// A special register's value, which differs by thread or launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Special {
    Thread(u8),
    Threads(u8),
    Cta(u8),
    Ctas(u8),
    Lane,
    Warp,
    Warps,
    ClusterRank,
    ClusterSize,
    CtaInCluster(u8),
    CtasInCluster(u8),
    Cluster(u8),
    Clusters(u8),
    Multiprocessor,
    Multiprocessors,
    MaskEqual,
    MaskLess,
    MaskLessEqual,
    MaskGreater,
    MaskGreaterEqual,
    DynamicShared,
    TotalShared,
    Grid,
    /// The address of a shared variable at this offset.
    Shared(u32),
}

/// Where an instruction came from.
#[derive(Debug, Clone)]
pub struct Source {
    /// Line of the PTX text.
    pub line: u32,
    /// Index into the module's locations.
    pub location: Option<u32>,
    /// Opcode as written.
    pub opcode: Arc<str>,
}

/// A prepared kernel.
#[derive(Debug, Default)]
pub struct Code {
    /// Instructions; execution begins at 0 and never leaves them.
    pub ops: Vec<Inst>,
    /// Beside each instruction, its origin.
    pub sources: Vec<Source>,
    /// Number of predicate, word and double registers.
    pub registers: [u32; 3],
    /// Predicates with a fixed value.
    pub predicates: Vec<(u32, bool)>,
    /// Words with a fixed value.
    pub words: Vec<(u32, u32)>,
    /// Doubles with a fixed value.
    pub doubles: Vec<(u32, u64)>,
    /// Words that hold a special value.
    pub special_words: Vec<(u32, Special)>,
    /// Doubles that hold a special value.
    pub special_doubles: Vec<(u32, Special)>,
    /// Local memory of a thread in bytes.
    pub local_bytes: u32,
    /// First byte behind the static shared memory.
    pub shared_end: u32,
    /// Bytes of the parameter block.
    pub parameter_bytes: u32,
    /// Launch directives.
    pub directives: Directives,
    /// Whether the order of CTAs can change results (float atomics, atomics whose old value is used, on device memory).
    pub ordered: bool,
}
