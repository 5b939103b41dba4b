//! The ways in which the host model can be made wrong. All at their defaults, it is the contract.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{ElementType, GatePairs};

use super::target::{Step, Sum};

/// Rows of an operand exchanged, within a tile or between tiles.
#[derive(Debug, Clone, PartialEq)]
pub enum RowMap {
    /// The upper half of a tile holds the lower half again.
    HalfDuplicate,
    /// The halves of a tile are exchanged.
    HalfSwap,
    /// Row r is row map\[r\].
    Table(Arc<Vec<usize>>),
}

/// How codes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decode {
    /// As another type of the same width.
    As(ElementType),
    /// Half the value: the exponent bias of the fnuz types.
    Half,
    /// Subnormal values as zero.
    Flushed,
}

/// One operand in place of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twice {
    /// This operand.
    Own,
    /// The other one.
    Other,
}

/// How block scale factors go wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum ScaleFault {
    /// Taken as 1.
    Ignored,
    /// As if a block had twice the length.
    Coarse,
    /// As if a block had half the length.
    Fine,
    /// The next block's; the last has its own or 1.
    Next {
        /// Whether the last one is clamped to its own.
        clamp: bool,
    },
    /// The previous block's; the first has its own.
    Previous,
    /// Written row-major, read in the 128 × 4 layout.
    RowMajor,
    /// Physical positions from a bound on hold zero.
    Bound(usize),
    /// Factor (r, g) is that of (g, r) in flat order.
    Transposed,
    /// Read as another type.
    As(ElementType),
    /// Subnormal ones read as zero.
    Flushed,
    /// Always row 0 of the tile.
    TileRow,
    /// Measured: what is read at (r, k).
    Map(Arc<Vec<ScaleCell>>),
    /// Measured: the value that each code is read as; none for its own.
    Values(Arc<Vec<Option<f64>>>),
    /// Right, and beyond the last block of k what lies where its place would be.
    Beyond,
}

/// What is read as a block scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScaleCell {
    /// The logical factor with this flat index.
    At(u32),
    /// Storage that holds no factor: what each probe's padding says.
    Padding,
    /// Zero under every probe.
    Zero,
}

/// Where the tiles of an operand come from: row and column are linear in the tile's coordinates and in those within the tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiled {
    /// Rows and columns of a tile.
    pub tile: (usize, usize),
    /// Factors of tile row, row within the tile, tile column, column within the tile, and 1: the row that is read.
    pub row: [i64; 5],
    /// The same for the column.
    pub column: [i64; 5],
}

impl Tiled {
    /// Where (r, k) is read.
    pub fn source(&self, r: usize, k: usize) -> (i64, i64) {
        let (tr, tk) = self.tile;
        let at = [r / tr, r % tr, k / tk, k % tk, 1].map(|x| x as i64);
        let dot = |factors: &[i64; 5]| factors.iter().zip(at).map(|(f, x)| f * x).sum::<i64>();
        (dot(&self.row), dot(&self.column))
    }
}

/// What may be wrong with one operand.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SideKnobs {
    /// Rows.
    pub rows: Option<RowMap>,
    /// Rows from here on are zero.
    pub row_limit: Option<usize>,
    /// Address of (r, k): r · .0 + k · .1 + .2.
    pub affine: Option<(i64, i64, i64)>,
    /// Swizzle spans, in bytes, of writer and reader.
    pub swizzle: Option<(u32, u32)>,
    /// Neighbouring k exchanged.
    pub nibble: bool,
    /// Codes.
    pub decode: Option<Decode>,
    /// Block scales.
    pub scale: Option<ScaleFault>,
    /// What poisoned padding is read as, where it is read as a block scale; no number without.
    pub scale_poison: Option<f64>,
    /// The other operand's block scales.
    pub other_scale: bool,
    /// The other operand's block scales at this operand's rows, besides its own.
    pub also_other_scale: bool,
    /// Measured: flat logical index at (r, k), or none for what is no element.
    pub map: Option<Arc<Vec<Option<u32>>>>,
    /// What is no element in the map is what padding holds, instead of zero.
    pub map_padding: bool,
    /// Measured: the value that each code is read as; none for its own.
    pub values: Option<Arc<Vec<Option<f64>>>>,
    /// At every so many k, beginning with one, this operand is multiplied by itself, or the other one is.
    pub twice: Option<(Twice, usize, usize)>,
    /// Tile coordinate taken from the other axis.
    pub tile_swap: bool,
    /// Tiles taken from elsewhere.
    pub tiled: Option<Tiled>,
    /// The other operand's tensor, at this operand's addresses.
    pub other_tensor: bool,
}

impl SideKnobs {
    /// Whether storage that holds no factor may be read as one: a code that is no number there, or the smallest of all, leaves open
    /// which infinity or NaN it makes, and what is left of a sum of zero.
    pub fn reads_scale_padding(&self) -> bool {
        let in_map = |map: &Arc<Vec<ScaleCell>>| map.contains(&ScaleCell::Padding);
        self.also_other_scale
            || match &self.scale {
                Some(ScaleFault::Map(map)) => in_map(map),
                Some(ScaleFault::Next { clamp }) => !clamp,
                Some(ScaleFault::Beyond) => true,
                _ => false,
            }
    }

    /// Whether codes of elements or of factors are read as another type's.
    pub fn misreads(&self) -> bool {
        matches!(self.decode, Some(Decode::As(_)))
            || matches!(self.scale, Some(ScaleFault::As(_) | ScaleFault::Values(_)))
            || self.values.is_some()
            || self.twice.is_some()
            || self.map_padding
            || self.scale_poison.is_some()
    }
}

/// How the store goes wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum StoreFault {
    /// A tile is not written.
    Unwritten {
        /// Its row and column of tiles.
        tile: (usize, usize),
    },
    /// Columns from here on are not written.
    ColumnsFrom(usize),
    /// Rows from here on are not written.
    RowsFrom(usize),
    /// Rows of each group from the last multiple of this on are not written.
    GroupRowsDown(usize),
    /// The last rows of every tile are not written.
    TileRowsFrom(usize),
    /// The last columns of every tile are not written.
    TileColumnsFrom(usize),
    /// Each tile is transposed.
    Transposed,
    /// Columns exchanged: q becomes q xor this.
    ColumnXor(usize),
    /// Rows exchanged: r becomes r xor this.
    RowXor(usize),
    /// The two 8-row halves of a 16-row fragment interleaved.
    RowInterleave,
    /// The first two tiles along n (or m, if there is one tile along n) exchanged.
    TileSwap,
    /// Another leading dimension.
    Leading(usize),
    /// Rows where columns should be contiguous, or the reverse, with this leading dimension.
    OtherMajor(usize),
    /// Not masked at the edges.
    Unmasked,
    /// Only these elements of (m, n), row-major, are written.
    Mask(Arc<Vec<bool>>),
    /// The base is off by so many elements.
    Offset(i64),
    /// Lines of the staged tile lie so many elements apart, and are read as if they lay one behind the other.
    Pitch(usize),
    /// Measured: the source of (m, n) row-major, none where nothing is written; and whether something is written outside.
    Map(Arc<Vec<Option<(usize, usize)>>>, bool),
}

/// Tiles whose accumulator is not cleared, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carry {
    /// Rows of tiles vary fastest.
    RowsFirst,
    /// Columns of tiles vary fastest.
    ColumnsFirst,
}

/// k of a and of b, for each product of a sum.
pub type Slots = Vec<(u32, u32)>;

/// All of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Knobs {
    /// k of a and of b for each product; 0..k without.
    pub slots: Option<Arc<Vec<(u32, u32)>>>,
    /// k of the block scales for each product, instead of the operands' k.
    pub scale_k: Option<Arc<Vec<u32>>>,
    /// Operand a.
    pub a: SideKnobs,
    /// Operand b.
    pub b: SideKnobs,
    /// Beyond k, memory is read instead of zero.
    pub no_zero_fill: bool,
    /// The accumulator.
    pub sum: Sum,
    /// What the sums of splits are rounded to, and each addition of them, instead of the contract's.
    pub split_types: Option<(ElementType, ElementType)>,
    /// The slots of each split.
    pub split_slots: Option<Arc<Vec<Slots>>>,
    /// How often each split is added.
    pub split_times: Option<Arc<Vec<usize>>>,
    /// Every split adds what the epilogue adds, not the first alone.
    pub adds_each: bool,
    /// The group whose rows of b each row meets, instead of its own; none for no group.
    pub group_of: Option<Arc<Vec<Option<usize>>>>,
    /// Rows of b from group to group, instead of the contract's.
    pub group_stride: Option<usize>,
    /// The two columns of a gated activation: exchanged.
    pub gate_swapped: bool,
    /// The two columns of a gated activation: paired as the other layout has them.
    pub gate_pairs: Option<GatePairs>,
    /// Not cleared between tiles.
    pub carry: Option<Carry>,
    /// What the accumulator begins with.
    pub accumulator_start: f64,
    /// The zero point is multiplied by the sum of what is read as b, not of b.
    pub sums_of_read: bool,
    /// Factor of the accumulator.
    pub accumulator_factor: Option<f64>,
    /// The epilogue instead of the contract's.
    pub epilogue: Option<Arc<Vec<Step>>>,
    /// Factor of the value before the first rounding to the output, measured at (m, n) row-major.
    pub out_factor: Option<Arc<Vec<f64>>>,
    /// The store.
    pub store: Option<StoreFault>,
    /// The output is overwritten where it should be added to, or the reverse.
    pub wrong_role: bool,
}

impl Knobs {
    /// How many times as large as without these knobs a sum can be, of a kernel with so many tiles.
    pub fn growth(&self, tiles: usize) -> f64 {
        let most = |slots: &mut dyn Iterator<Item = &(u32, u32)>| {
            let mut counts: HashMap<u32, usize> = HashMap::new();
            slots.for_each(|slot| *counts.entry(slot.0).or_default() += 1);
            counts.into_values().max().unwrap_or(1)
        };
        let slots = self.slots.as_ref().map_or(1, |slots| most(&mut slots.iter()));
        let parts = self.split_slots.as_ref().map_or(1, |parts| most(&mut parts.iter().flatten()));
        let times = self.split_times.as_ref().map_or(1, |times| times.iter().copied().max().unwrap_or(1));
        (slots.max(parts).max(times) * if self.carry.is_some() { tiles } else { 1 }) as f64
    }
}
