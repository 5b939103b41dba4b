//! The trace of matrix operands: what each matrix instruction read, and what its accumulator became.

use super::cluster::Cluster;
use super::failure::Site;

/// Most instructions recorded of a cluster.
const MOST: usize = 1 << 14;
/// First values kept of an operand.
const FIRST: usize = 8;

/// One operand of an instruction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Operand {
    /// Largest magnitude of each row of A, or column of B: a row of padding stands out.
    pub absmax: Vec<f32>,
    /// The first values along K of the first row.
    pub first: Vec<f32>,
}

/// What an instruction read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Operands {
    /// The left operand.
    pub a: Operand,
    /// The right operand.
    pub b: Operand,
}

/// One matrix instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Where it stands and who executed it.
    pub site: Site,
    /// How many matrix instructions the warp executed before it.
    pub ordinal: u64,
    /// Its operands.
    pub operands: Operands,
    /// Largest magnitude of each row of the accumulator afterwards.
    pub accumulator: Vec<f32>,
}

fn operand(values: &[f32], depth: usize) -> Operand {
    let absmax = values
        .chunks(depth)
        .map(|row| row.iter().fold(0f32, |most, v| if v.is_nan() { f32::NAN } else { most.max(v.abs()) }));
    Operand { absmax: absmax.collect(), first: values.iter().copied().take(FIRST.min(depth)).collect() }
}

impl Operands {
    /// Of operands line by line, `depth` values each.
    pub(super) fn new(a: &[f32], b: &[f32], depth: usize) -> Operands {
        Operands { a: operand(a, depth), b: operand(b, depth) }
    }
}

impl Cluster<'_> {
    /// Adds an instruction to the trace.
    pub(super) fn record(&mut self, rank: usize, warp: u32, pc: u32, operands: Operands, sums: &[f32]) {
        if self.trace.len() >= MOST {
            return;
        }
        let site = *self.site(rank, warp, pc, u32::MAX);
        let ordinal = self.trace.iter().rev().find(|s| s.site.cta == site.cta && s.site.warp == warp);
        let ordinal = ordinal.map_or(0, |s| s.ordinal + 1);
        let rows = operands.a.absmax.len().max(1);
        let accumulator = operand(sums, sums.len() / rows).absmax;
        self.trace.push(Step { site, ordinal, operands, accumulator });
    }
}
