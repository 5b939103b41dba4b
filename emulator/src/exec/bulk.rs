//! Barriers in shared memory and asynchronous copies: what the instructions are.

use super::op::{AtomicKind, AtomicType};

/// Registers of a tensor copy's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TilePlace {
    /// Generic address of the tensor map (double).
    pub map: u32,
    /// Coordinates (words), innermost first.
    pub coordinates: Box<[u32]>,
}

/// A field that `tensormap.replace` changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MapField {
    Address,
    Rank,
    BoxDim(u8),
    Dim(u8),
    Stride(u8),
    ElementStride(u8),
    Element,
    Interleave,
    Swizzle,
    Fill,
}

/// An instruction on mbarriers or asynchronous copies. Unless said otherwise operands are word registers; `bar`, `to` and
/// `from` in shared memory are shared addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BulkOp {
    Init {
        bar: u32,
        count: u32,
    },
    Invalidate {
        bar: u32,
    },
    /// `state`: double register that receives the phase.
    Arrive {
        bar: u32,
        count: Option<u32>,
        expect: Option<u32>,
        drop: bool,
        state: Option<u32>,
    },
    Expect {
        bar: u32,
        bytes: u32,
    },
    Complete {
        bar: u32,
        bytes: u32,
    },
    /// `parity` is a word, `state` a double; `blocking` for `try_wait`.
    Wait {
        to: u32,
        bar: u32,
        parity: Option<u32>,
        state: Option<u32>,
        blocking: bool,
    },
    /// `cp.async`: `from` is a double; `source_bytes` of `bytes` are read, the rest is zero.
    Copy {
        to: u32,
        from: u32,
        bytes: u32,
        source_bytes: Option<u32>,
    },
    CopyCommit,
    /// Groups that may stay open; all copies, committed or not, without a number.
    CopyWait {
        open: Option<u32>,
    },
    CopyArrive {
        bar: u32,
        counted: bool,
    },
    /// Device to shared memory; `mask` names the CTAs.
    Load {
        to: u32,
        from: u32,
        bytes: u32,
        bar: u32,
        mask: Option<u32>,
    },
    /// Shared memory to that of another CTA.
    Send {
        to: u32,
        from: u32,
        bytes: u32,
        bar: u32,
    },
    /// Shared memory to the device.
    Store {
        to: u32,
        from: u32,
        bytes: u32,
        reduction: Option<(AtomicKind, AtomicType)>,
    },
    TileLoad {
        to: u32,
        place: TilePlace,
        bar: u32,
        mask: Option<u32>,
        /// `cta_group::2`: `bar` may be in the other CTA of the pair.
        pair: bool,
    },
    TileStore {
        place: TilePlace,
        from: u32,
        reduction: Option<AtomicKind>,
    },
    /// Asks for the next cluster that has not started: 16 bytes come to `to` and count at `bar`, in all CTAs if `everywhere`.
    Cancel {
        to: u32,
        bar: u32,
        everywhere: bool,
    },
    BulkCommit,
    BulkWait {
        open: u32,
    },
    /// `st.async`: values (words) to another CTA, counted by its barrier.
    StoreAsync {
        to: u32,
        values: Box<[u32]>,
        bar: u32,
    },
    /// `to` receives the address that `from` has in CTA `rank`; double registers if `wide`.
    MapToRank {
        to: u32,
        from: u32,
        rank: u32,
        wide: bool,
    },
    /// Rank of the CTA an address belongs to.
    RankOf {
        to: u32,
        from: u32,
        wide: bool,
    },
    /// `map` and `value` are doubles.
    Replace {
        map: u32,
        field: MapField,
        value: u32,
    },
    /// 128 bytes from shared (`from`) to device memory (`to`, a double).
    CopyMap {
        to: u32,
        from: u32,
    },
}
