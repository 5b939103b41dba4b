//! The contract in the terms of the host model: one place for what a correct kernel does.

use std::sync::Arc;

use crate::model::{ElementType, GatePairs};

use super::format::Rounding;
use super::function::Function;

/// Block scale factors of an operand: one for `row_block` rows and `k_block` columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockScale {
    /// Type of a factor.
    pub element: ElementType,
    /// Rows that share a factor.
    pub row_block: usize,
    /// Columns that share a factor.
    pub k_block: usize,
    /// Whether the kernel reads them in the 128 × 4 layout.
    pub swizzled: bool,
}

/// One of the two multiplied operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// Type of an element.
    pub element: ElementType,
    /// m for a, n for b.
    pub rows: usize,
    /// Elements from line to line.
    pub leading: usize,
    /// Whether k is contiguous.
    pub k_major: bool,
    /// Block scale factors, if the operand has them.
    pub scale: Option<BlockScale>,
    /// Rows of a tile.
    pub tile: usize,
}

impl Side {
    /// Tiles along the rows.
    pub fn tiles(&self) -> usize {
        self.rows.div_ceil(self.tile)
    }

    /// Rows with the overhang of the last tile.
    pub fn padded(&self) -> usize {
        self.tiles() * self.tile
    }

    /// Address of (r, k): r · .0 + k · .1 + .2.
    pub fn affine(&self) -> (i64, i64, i64) {
        if self.k_major { (self.leading as i64, 1, 0) } else { (1, self.leading as i64, 0) }
    }

    /// Rows and columns of the scale factors for a reduction of length `k`.
    pub fn scale_extent(&self, k: usize) -> Option<(usize, usize)> {
        self.scale.map(|s| (self.rows.div_ceil(s.row_block), k.div_ceil(s.k_block)))
    }
}

/// Which element of its operand an epilogue step takes.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Index {
    /// Its own: n for bias and scale_b, m for scale_a, (m, n) for residual.
    #[default]
    Own,
    /// That of the other axis; (n, m) for residual.
    Other,
    /// Its own within the tile.
    TileLocal,
    /// That of the tile's first row or column.
    TileBase,
    /// Its own and so many more, clamped.
    Shift(i64),
    /// Its own and so many more; beyond the ends lies padding.
    Past(i64),
    /// That of the other axis; beyond the end lies padding.
    OtherPast,
    /// Measured: at (m, n) row-major.
    Map(Arc<Vec<usize>>),
}

/// Vectors and scalars of the epilogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tensor {
    /// One a column.
    Bias,
    /// One an output element.
    Residual,
    /// One a row.
    ScaleA,
    /// One a column.
    ScaleB,
    /// One, or one a group.
    Alpha,
    /// One.
    Beta,
}

/// One step of the epilogue, with the ways in which it can be wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Rounds.
    Round {
        /// To this type.
        to: ElementType,
        /// How.
        rounding: Rounding,
        /// Clamped instead of wrapped or infinite.
        saturate: bool,
    },
    /// v += factor · tensor\[index\] · by.
    Add {
        /// What.
        tensor: Tensor,
        /// Which element.
        index: Index,
        /// 1, unless wrong.
        factor: f64,
        /// A scalar and its power, for beta · C.
        by: Option<(Tensor, i32)>,
    },
    /// v *= tensor\[index\]^power.
    Multiply {
        /// What.
        tensor: Tensor,
        /// Which element.
        index: Index,
        /// 1, unless wrong.
        power: i32,
    },
    /// v -= factor · zero point · Σ_k b\[n, k\].
    ZeroPoint {
        /// 1, unless wrong.
        factor: f64,
    },
    /// The same with what lies behind the zero point, in 32-bit integers.
    ZeroPointPast,
    /// v = f(v).
    Activate(Function),
    /// v = f(v), for the gate's column alone.
    OnGate(Function),
    /// v = gate(v of the gate's column) · up(v of the other): the steps before act on both.
    Gate {
        /// On the gate.
        gate: Function,
        /// On the other; the identity, unless wrong.
        up: Function,
    },
}

/// How products are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sum {
    /// Exact for every probe that is run: the probe's proof says so.
    #[default]
    Exact,
    /// Rounded to nearest even at so many significant bits after each instruction.
    Nearest(u32),
    /// Cut to so many significant bits after each instruction.
    Cut(u32),
    /// As Hopper's fp8 wgmma adds, over the whole length.
    Hopper,
    /// Wraps at so many bits.
    Wrap(u32),
}

/// A reduction in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Splits {
    /// How many.
    pub count: usize,
    /// k of each but the last.
    pub length: usize,
    /// What a part is rounded to before it is added.
    pub partial: ElementType,
    /// What each addition is rounded to.
    pub sum: ElementType,
    /// Whether each part is added into the output, through factors and roundings of its own.
    pub into_output: bool,
    /// Whether the order may change.
    pub any_order: bool,
}

impl Splits {
    /// None: one sum over all of `k`.
    pub fn none(k: usize) -> Self {
        let f32 = ElementType::F32;
        Splits { count: 1, length: k.max(1), partial: f32, sum: f32, into_output: false, any_order: false }
    }

    /// `count` parts of whole tiles, added in f32 through a workspace.
    pub fn even(count: usize, k: usize, tile_k: usize) -> Self {
        Splits { count, length: k.div_ceil(tile_k).div_ceil(count.max(1)) * tile_k, ..Splits::none(k) }
    }

    /// Whether something narrower than f32 is between the sums and their sum.
    pub fn is_narrow(&self) -> bool {
        let wide = |element| matches!(element, ElementType::F32 | ElementType::S32);
        self.count > 1 && !(wide(self.partial) && wide(self.sum))
    }
}

/// What a correct kernel does.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Length of the reduction.
    pub k: usize,
    /// m × k.
    pub a: Side,
    /// n × k.
    pub b: Side,
    /// Type of the output.
    pub out: ElementType,
    /// Elements from line to line of the output.
    pub out_leading: usize,
    /// Whether its lines are columns: (r, q) at q · leading + r.
    pub out_by_columns: bool,
    /// k of a pipeline stage.
    pub tile_k: usize,
    /// k of one instruction.
    pub instruction_k: usize,
    /// Stages of the pipeline; 0 if unknown.
    pub stages: usize,
    /// Splits of k.
    pub splits: Splits,
    /// Rows that multiply with rows of b of their own: first row and rows of each group.
    pub groups: Option<Arc<Vec<(usize, usize)>>>,
    /// Whether each group has an alpha of its own.
    pub alpha_of_group: bool,
    /// The two columns of sums behind a column of the output, for a gated activation.
    pub gate: Option<GatePairs>,
    /// Significant bits of the accumulator: 24, 14 or 31.
    pub accumulator_bits: u32,
    /// k after which a narrow accumulator is added to an f32 one.
    pub promote: Option<usize>,
    /// Steps in order; the last one rounds to `out`.
    pub epilogue: Vec<Step>,
    /// Whether the result is added to what the output holds.
    pub accumulate: bool,
    /// Whether the output is zero before the launch, since its parts are added into it.
    pub zeroed: bool,
    /// Whether the caller promises zero between and beyond the logical elements.
    pub padding_zero: bool,
    /// Types of the epilogue's tensors; f32 where not named.
    pub types: Vec<(Tensor, ElementType)>,
}

impl Target {
    /// Rows of the output.
    pub fn m(&self) -> usize {
        self.a.rows
    }

    /// Columns of the output.
    pub fn n(&self) -> usize {
        self.wide() / if self.gate.is_some() { 2 } else { 1 }
    }

    /// Columns of sums: rows of b that one row of a meets.
    pub fn wide(&self) -> usize {
        self.b.rows / self.groups.as_ref().map_or(1, |groups| groups.len().max(1))
    }

    /// Tiles along the columns of the output.
    pub fn column_tiles(&self) -> usize {
        self.n().div_ceil(self.b.tile)
    }

    /// Columns with the overhang of the last tile.
    pub fn padded_columns(&self) -> usize {
        self.column_tiles() * self.b.tile
    }

    /// The group of a row; none for a row that no group has.
    pub fn group(&self, row: usize) -> Option<usize> {
        match &self.groups {
            None => Some(0),
            Some(groups) => groups.iter().position(|(first, rows)| row >= *first && row < first + rows),
        }
    }

    /// Row of a (or of b) counted from the first row of its group, or half of a gate: where the tiles begin.
    pub fn local_row(&self, is_a: bool, row: usize) -> usize {
        match (is_a, &self.groups) {
            (true, None) => row,
            (true, Some(groups)) => self.group(row).map_or(row, |group| row - groups[group].0),
            (false, _) if self.gate == Some(GatePairs::Halves) => row % self.n().max(1),
            (false, None) => row,
            (false, Some(_)) => row % self.wide().max(1),
        }
    }

    /// Whether every row meets every row of b and makes one column of each, so that addresses can be read out of the output.
    pub fn is_plain(&self) -> bool {
        self.groups.is_none() && self.gate.is_none()
    }

    /// The activations of the epilogue, gated ones too.
    pub fn activations(&self) -> impl Iterator<Item = Function> + '_ {
        self.epilogue.iter().filter_map(|step| match step {
            Step::Activate(function) | Step::Gate { gate: function, .. } => Some(*function),
            _ => None,
        })
    }

    /// What sums of exact probes are multiples of: large enough that every activation is exact there.
    pub fn gain(&self) -> f64 {
        if self.activations().any(Function::is_curved) { 32.0 } else { 1.0 }
    }

    /// Blocks of k, the partial one included.
    pub fn k_blocks(&self) -> usize {
        self.k.div_ceil(self.tile_k)
    }

    /// Type of a tensor of the epilogue.
    pub fn type_of(&self, wanted: Tensor) -> ElementType {
        self.types.iter().find(|(tensor, _)| *tensor == wanted).map_or(ElementType::F32, |(_, element)| *element)
    }

    /// Whether the epilogue uses a tensor.
    pub fn uses(&self, wanted: Tensor) -> bool {
        self.epilogue.iter().any(|step| match step {
            Step::Add { tensor, by, .. } => *tensor == wanted || by.is_some_and(|by| by.0 == wanted),
            Step::Multiply { tensor, .. } => *tensor == wanted,
            _ => false,
        })
    }

    /// Whether the epilogue subtracts a zero point.
    pub fn has_zero_point(&self) -> bool {
        self.epilogue.iter().any(|step| matches!(step, Step::ZeroPoint { .. } | Step::ZeroPointPast))
    }

    /// Whether an operand of the epilogue is indexed by m, so that rows of a and rows of the store can be told apart.
    pub fn indexed_by_m(&self) -> bool {
        self.uses(Tensor::ScaleA) || self.uses(Tensor::Residual)
    }

    /// The same for n.
    pub fn indexed_by_n(&self) -> bool {
        self.uses(Tensor::ScaleB) || self.uses(Tensor::Bias) || self.uses(Tensor::Residual)
    }
}
