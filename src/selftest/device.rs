//! The simulated kernel: persistent tiles, a ring of shared stages, steps of the multiplier, split-K, epilogue, store.

use crate::judge::diagnosis::format::{self, cut};
use crate::judge::diagnosis::inputs::Inputs;
use crate::judge::diagnosis::target::{Step, Target};
use crate::model::{ElementType, GatePairs, Plan, Probe, RawLaunch};

use super::contracts::Random;
use super::defects::{Defect, Planted};
use super::epilogue::Context;
use super::memory::{Repack, Scales, Tensor};
use super::store::Output;

/// A kernel on a simulated device. Its workspace lives from launch to launch.
pub struct Device {
    pub(super) target: Target,
    defects: Vec<Planted>,
    pub(super) swizzle: u32,
    workspace: Vec<f64>,
    random: Random,
    pub(super) fixed: u64,
}

/// A shared tile of values: rows × tile_k.
pub(super) type Tile = Vec<f64>;

/// A tile of the output: its coordinates, its rows from the first to the end of its group, and whose weights it meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) tile: (usize, usize),
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) group: usize,
}

/// Everything a launch reads.
pub(super) struct Memory {
    pub(super) inputs: Inputs,
    pub(super) a: Tensor,
    pub(super) b: Tensor,
    pub(super) scales: [Option<Scales>; 2],
}

impl Device {
    /// A kernel for `target` with these defects.
    pub fn new(target: Target, swizzle: u32, defects: Vec<Planted>, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let fixed = random.word();
        let size = target.a.padded() * target.padded_columns() * target.splits.count;
        Device { workspace: vec![0.0; size], target, defects, swizzle, random, fixed }
    }

    /// The planted parameters of a defect, if it is there.
    pub(super) fn has(&self, defect: Defect) -> Option<Planted> {
        self.defects.iter().find(|p| p.defect == defect).copied()
    }

    pub(super) fn on(&self, defect: Defect, is_a: bool) -> Option<Planted> {
        self.has(defect).filter(|p| if is_a { p.sides.0 } else { p.sides.1 })
    }

    /// Runs all probes of a plan.
    pub fn run(&mut self, plan: &Plan) -> Vec<RawLaunch> {
        let mut launches = Vec::new();
        for (index, probe) in plan.probes.iter().enumerate() {
            let Some(memory) = self.memory(probe) else { continue };
            for launch in 0..probe.launches {
                launches.push(self.launch(&memory).raw(&self.target, index as u32, launch));
            }
        }
        launches
    }

    fn memory(&self, probe: &Probe) -> Option<Memory> {
        let t = &self.target;
        let inputs = Inputs::new(t, probe)?;
        let scales = [true, false].map(|is_a| self.place_scales(&inputs, is_a));
        Some(Memory {
            a: Tensor::place(&t.a, t.k, &inputs.a, inputs.a_padding),
            b: Tensor::place(&t.b, t.k, &inputs.b, inputs.b_padding),
            scales,
            inputs,
        })
    }

    fn place_scales(&self, inputs: &Inputs, is_a: bool) -> Option<Scales> {
        let t = &self.target;
        let side = if is_a { &t.a } else { &t.b };
        let scale = side.scale?;
        let (rows, groups) = side.scale_extent(t.k)?;
        let repack = Repack {
            bounded: self.on(Defect::ScaleBound, is_a).is_some(),
            empty: self.on(Defect::ScalePaddingZero, is_a).is_some(),
            row_major: self.on(Defect::ScaleRowMajor, is_a).is_some(),
            transposed: self.on(Defect::ScaleTransposed, is_a).is_some(),
            permuted: self.on(Defect::ScalesPermuted, is_a).map(|_| self.fixed >> 8),
        };
        let (own, other) = if is_a { (&inputs.a_scale, &inputs.b_scale) } else { (&inputs.b_scale, &inputs.a_scale) };
        if self.has(Defect::ScaleSwapAb).is_some() {
            let other_rows = other.len() / groups;
            let taken: Vec<f64> =
                (0..rows * groups).map(|i| other[(i / groups % other_rows) * groups + i % groups]).collect();
            return Some(Scales::place(&scale, (rows, groups), &taken, &repack, inputs.poisoned));
        }
        Some(Scales::place(&scale, (rows, groups), own, &repack, inputs.poisoned))
    }

    /// Blocks of k that one split sums, in order.
    fn loop_blocks(&self, split: usize, tile: (usize, usize)) -> Vec<usize> {
        let t = &self.target;
        let per = t.splits.length.div_ceil(t.tile_k);
        let mut list: Vec<usize> = (split * per..((split + 1) * per).min(t.k_blocks())).collect();
        if split > 0 && !list.is_empty() && self.has(Defect::SplitOverlap).is_some() {
            list.insert(0, list[0] - 1);
        }
        if self.has(Defect::KTailMissing).is_some() {
            list.retain(|b| (b + 1) * t.tile_k <= t.k);
        }
        if let Some(p) = self.has(Defect::BlockSkipped) {
            list.retain(|b| *b as i64 != p.number);
        }
        if let Some(p) = self.has(Defect::BlockDoubled) {
            list = list.into_iter().flat_map(|b| if b as i64 == p.number { vec![b, b] } else { vec![b] }).collect();
        }
        if self.has(Defect::TwoBlocksSkipped).is_some() {
            list.retain(|b| *b != 1 && *b != 3);
        }
        if tile == (0, 0) && self.has(Defect::DoubledInTile0).is_some() {
            list.push(list[0]);
        }
        if let Some(p) = self.has(Defect::LoopRepeated) {
            list = list.repeat(p.number as usize);
        }
        list
    }

    /// First row of a and of b, and how far apart the rows of b are, for one block; `half` is 1 for the second sum of a gate.
    fn tile_rows(&self, place: Place, half: usize, block: usize, position: usize) -> (usize, (usize, usize)) {
        let t = &self.target;
        let tile = place.tile;
        let (mut row, mut column) = tile;
        if self.on(Defect::TileCoordinate, true).is_some() {
            row = tile.1 % t.a.tiles();
        }
        if self.on(Defect::TileCoordinate, false).is_some() {
            column = tile.0 % t.column_tiles();
        }
        let next = (tile.1 + 1) % t.column_tiles();
        if position == 0 && self.has(Defect::PrologueNextTile).is_some() {
            column = next;
        }
        if block % 3 == 2 && self.has(Defect::ThirdBlockNextTile).is_some() {
            column = next;
        }
        let first = if t.groups.is_some() { place.first } else { row * t.a.tile };
        (first, self.rows_of_b(place.group, column * t.b.tile, half))
    }

    /// The column of sums, as bias and scales are indexed, behind a column of the output.
    pub(super) fn column_of_sums(&self, column: usize, half: usize) -> usize {
        let (first, step) = self.rows_of_b(0, 0, half);
        first + column * step
    }

    /// First row of b behind columns from `column` on, and the step to the next.
    fn rows_of_b(&self, group: usize, column: usize, half: usize) -> (usize, usize) {
        let t = &self.target;
        let half = if self.has(Defect::GateSwapped).is_some() { 1 - half } else { half };
        let other = self.has(Defect::GatePairsWrong).is_some();
        let base = group * t.wide();
        match t.gate {
            None => (base + column, 1),
            Some(pairs) if (pairs == GatePairs::Halves) != other => (base + column + half * t.n(), 1),
            Some(_) => (base + 2 * column + half, 2),
        }
    }

    /// Sums of one tile and one split, beginning from `sums`.
    fn mainloop(
        &mut self,
        memory: &Memory,
        place: Place,
        (split, half): (usize, usize),
        mut sums: Vec<f64>,
    ) -> Vec<f64> {
        let blocks = self.loop_blocks(split, place.tile);
        let stages = self.target.stages;
        let mut ring: Vec<Option<(Tile, Tile)>> = vec![None; stages];
        // What is carried over lies in the f32 sums, where there are two.
        let mut promoted = vec![0.0; sums.len()];
        if self.target.promote.is_some() {
            std::mem::swap(&mut promoted, &mut sums);
        }
        let mut since = 0;
        for (position, &block) in blocks.iter().enumerate() {
            let stage = position % stages;
            let (row, column) = self.tile_rows(place, half, block, position);
            let last = position + 1 == blocks.len();
            let stale_block = last && position > 0 && self.has(Defect::StaleBlock).is_some();
            let first_k = (block - usize::from(stale_block)) * self.target.tile_k;
            let mut a = self.tile(memory, true, (row, 1), first_k);
            let mut b = self.tile(memory, false, column, first_k);
            if let Some(p) = self.has(Defect::BlockHead) {
                let depth = self.target.tile_k;
                for line in a.chunks_exact_mut(depth).chain(b.chunks_exact_mut(depth)) {
                    line[..p.number as usize].fill(0.0);
                }
            }
            let fresh = self.has(Defect::StaleLag).filter(|_| stage == 0).map(|_| (a.clone(), b.clone()));
            let stale = self.has(Defect::StaleStage).filter(|p| stage as i64 == p.number);
            let stale = stale.or(self.has(Defect::StaleLag).filter(|_| stage == 0));
            if let (Some(p), Some((old_a, old_b))) = (stale, &ring[stage]) {
                if p.sides.0 {
                    a.clone_from(old_a);
                }
                if p.sides.1 {
                    b.clone_from(old_b);
                }
            }
            if self.has(Defect::RaceStale).is_some()
                && self.random.chance(30)
                && let Some((old, _)) = &ring[stage]
            {
                a.clone_from(old);
            }
            if last && self.has(Defect::RaceEarlyEpilogue).is_some() && self.random.chance(40) {
                continue;
            }
            if position > 0 && self.has(Defect::FlagReset).is_some() {
                sums.fill(0.0);
                promoted.fill(0.0);
            }
            self.steps(&a, &b, &mut sums, &mut promoted, &mut since, last);
            if let Some(p) = self.has(Defect::BlockOverrun) {
                let depth = self.target.tile_k;
                let mut more = self.tile(memory, true, (row, 1), first_k + depth);
                more.chunks_exact_mut(depth).for_each(|line| line[p.number as usize..].fill(0.0));
                let other = self.tile(memory, false, column, first_k + depth);
                self.steps(&more, &other, &mut sums, &mut promoted, &mut since, last);
            }
            ring[stage] = Some(fresh.unwrap_or((a, b)));
        }
        sums.iter().zip(&promoted).map(|(s, p)| s + p).collect()
    }

    /// The instructions of one block of k.
    fn steps(&self, a: &Tile, b: &Tile, sums: &mut [f64], promoted: &mut [f64], since: &mut usize, last: bool) {
        let t = &self.target;
        let (depth, step) = (t.tile_k, t.instruction_k);
        let count = depth / step;
        for s in 0..count {
            if (s + 1 == count && self.has(Defect::SubtileTail).is_some())
                || (s > 0 && self.has(Defect::OnlyFirstSlice).is_some())
            {
                continue;
            }
            let place = |is_a: bool| {
                if self.on(Defect::SliceStuck, is_a).is_some() {
                    0
                } else if is_a && self.has(Defect::SliceReversed).is_some() {
                    count - 1 - s
                } else {
                    s
                }
            };
            let (from_a, from_b) = (place(true) * step, place(false) * step);
            let sign = if (last && s + 1 == count && self.has(Defect::LastStepNegated).is_some())
                || self.has(Defect::Negated).is_some()
            {
                -1.0
            } else {
                1.0
            };
            for (r, line) in sums.chunks_exact_mut(t.b.tile).enumerate() {
                let a = &a[r * depth + from_a..][..step];
                let twice = self.has(Defect::OperandTwice).is_some();
                if !twice && a.iter().all(|x| *x == 0.0) && b.iter().all(|x| x.is_finite()) {
                    continue;
                }
                for (q, sum) in line.iter_mut().enumerate() {
                    let b = &b[q * depth + from_b..][..step];
                    let mut part = 0.0;
                    for (i, (x, y)) in a.iter().zip(b).enumerate() {
                        part += if twice && i % 2 == 0 { y * y } else { x * y };
                    }
                    *sum = if self.has(Defect::NotPromoted).is_some() {
                        narrow_step(t.a.element, *sum, a.iter().zip(b).map(|(x, y)| (*x, sign * y)))
                    } else {
                        self.keep(*sum + sign * part)
                    };
                }
            }
            *since += step;
            if let Some(window) = t.promote
                && self.has(Defect::NotPromoted).is_none()
                && (*since).is_multiple_of(window)
            {
                for (sum, total) in sums.iter_mut().zip(promoted.iter_mut()) {
                    *total = f64::from((*total + *sum) as f32);
                    *sum = 0.0;
                }
            }
        }
    }

    /// What the accumulator keeps of a sum.
    fn keep(&self, sum: f64) -> f64 {
        if self.has(Defect::SumF16).is_some() {
            return f64::from(half::f16::from_f64(sum));
        }
        if self.has(Defect::SumBf16).is_some() {
            return f64::from(half::bf16::from_f64(sum));
        }
        if self.has(Defect::SumI16).is_some() {
            return f64::from(sum as i64 as i16);
        }
        if self.has(Defect::SumSaturates).is_some() {
            return sum.clamp(-20_000.0, 20_000.0);
        }
        if self.has(Defect::SumDropsBits).is_some() {
            return cut(sum, 9);
        }
        match self.target.accumulator_bits {
            31 => sum,
            bits => cut(sum, bits),
        }
    }

    /// The group that a row is taken for.
    fn lookup(&self, row: usize) -> Option<usize> {
        let t = &self.target;
        let groups = t.groups.as_ref()?;
        let own = groups.iter().position(|(first, rows)| (*first..first + rows).contains(&row))?;
        let count = groups.len();
        let mut group = own;
        if self.has(Defect::GroupOffset).is_some() {
            group = groups.iter().rposition(|(first, _)| row > *first).unwrap_or(0);
        }
        if self.has(Defect::GroupNext).is_some() {
            group = (own + 1) % count;
        }
        if self.has(Defect::GroupFirst).is_some() {
            group = 0;
        }
        if self.has(Defect::GroupSwapped).is_some() && own < 2 {
            group = 1 - own;
        }
        if self.has(Defect::GroupLastCut).is_some() && own + 1 == count {
            return None;
        }
        if self.has(Defect::GroupRowsCut).is_some() && row - groups[own].0 >= groups[own].1 / 4 * 4 {
            return None;
        }
        Some(group)
    }

    /// All tiles in the order in which the persistent loop takes them.
    fn places(&self) -> Vec<Place> {
        let t = &self.target;
        let mut list = Vec::new();
        for column in 0..t.column_tiles() {
            if t.groups.is_none() {
                let of = |row: usize| Place { tile: (row, column), first: row * t.a.tile, end: t.m(), group: 0 };
                list.extend((0..t.a.tiles()).map(of));
                continue;
            }
            let mut row = 0;
            while row < t.m() {
                let Some(group) = self.lookup(row) else {
                    row += 1;
                    continue;
                };
                // Tiles begin with their group and end with it.
                let same = |r: &usize| self.lookup(*r) == Some(group) && t.group(*r) == t.group(row);
                let end = row + (row..t.m()).take_while(same).count();
                let mut first = row;
                while first < end {
                    list.push(Place { tile: (list.len(), column), first, end: end.min(first + t.a.tile), group });
                    first += t.a.tile;
                }
                row = end;
            }
        }
        list
    }

    fn launch(&mut self, memory: &Memory) -> Output {
        let rows = self.target.a.tiles();
        let size = self.target.a.tile * self.target.b.tile;
        let mut output = Output::new(&self.target, memory.inputs.before);
        let start = if self.has(Defect::AccumulatorStart).is_some() { 1.0 } else { 0.0 };
        let mut carry = vec![0.0; size];
        let mut before: Option<Place> = None;
        let column = |n: usize| (0..self.target.k).map(|k| memory.inputs.b.get(n, k)).sum();
        let sums: Vec<f64> =
            if self.target.has_zero_point() { (0..self.target.b.rows).map(column).collect() } else { vec![] };
        let splits = self.target.splits;
        if splits.count > 1 && self.has(Defect::WorkspaceStale).is_none() {
            self.workspace.fill(0.0);
        }
        for place in self.places() {
            let halves = if self.target.gate.is_some() { 2 } else { 1 };
            let mut totals = Vec::new();
            for half in 0..halves {
                let mut total = Vec::new();
                for split in 0..splits.count {
                    let begin = if self.has(Defect::NotCleared).is_some() { carry.clone() } else { vec![start; size] };
                    let sums = self.mainloop(memory, place, (split, half), begin);
                    carry.clone_from(&sums);
                    if splits.into_output && splits.count > 1 {
                        self.add_part(memory, &sums, place, split, &mut output);
                    } else {
                        total = self.reduce(total, sums, split, place.tile);
                    }
                }
                if splits.count > 1 && self.has(Defect::SplitMissing).is_none() {
                    let at = (place.tile.1 * rows + place.tile.0) * size;
                    total = self.workspace[at..at + size].to_vec();
                }
                totals.push(total);
            }
            if splits.into_output && splits.count > 1 {
                continue;
            }
            let context = Context { device: self, inputs: &memory.inputs, sums: &sums, place, first: true };
            let other = totals.get(1);
            let of = |(i, sum): (usize, &f64)| context.value(*sum, other.map(|other| other[i]), i);
            let values: Vec<f64> = totals[0].iter().enumerate().map(of).collect();
            if let Some(previous) = before
                && self.has(Defect::RaceStore).is_some()
                && self.random.chance(50)
            {
                output.store(self, &values, previous, false);
            }
            output.store(self, &values, place, false);
            before = Some(place);
        }
        output
    }

    /// One split's own way into the output.
    fn add_part(&mut self, memory: &Memory, sums: &[f64], place: Place, split: usize, output: &mut Output) {
        if (self.has(Defect::SplitMissing).is_some() && split + 1 < self.target.splits.count)
            || self.has(Defect::SplitPartMissing).is_some_and(|p| p.number == split as i64)
        {
            return;
        }
        let first = split == 0 || self.has(Defect::SplitBiasEach).is_some();
        let context = Context { device: self, inputs: &memory.inputs, sums: &[], place, first };
        let values: Vec<f64> = sums.iter().enumerate().map(|(i, sum)| context.value(*sum, None, i)).collect();
        let times = 1 + usize::from(self.has(Defect::SplitPartTwice).is_some_and(|p| p.number == split as i64));
        (0..times).for_each(|_| output.store(self, &values, place, true));
    }

    fn reduce(&mut self, total: Vec<f64>, sums: Vec<f64>, split: usize, tile: (usize, usize)) -> Vec<f64> {
        let splits = self.target.splits;
        if splits.count == 1 || self.has(Defect::SplitMissing).is_some() {
            return if split + 1 == splits.count || total.is_empty() { sums } else { total };
        }
        let own = |defect| self.has(defect).is_some_and(|p: Planted| p.number == split as i64);
        let times = usize::from(!own(Defect::SplitPartMissing)) + usize::from(own(Defect::SplitPartTwice));
        let (partial, kept_as) = if self.has(Defect::SplitInBf16).is_some() {
            (ElementType::Bf16, ElementType::Bf16)
        } else {
            (splits.partial, splits.sum)
        };
        let round = |element, x| format::convert(element, x, format::Rounding::NearestEven, true);
        let at = (tile.1 * self.target.a.tiles() + tile.0) * sums.len();
        for (kept, sum) in self.workspace[at..at + sums.len()].iter_mut().zip(&sums) {
            for _ in 0..times {
                *kept = round(kept_as, *kept + round(partial, *sum));
            }
        }
        sums
    }

    /// The steps of the contract.
    pub(super) fn steps_of_contract(&self) -> &[Step] {
        &self.target.epilogue
    }

    /// What a value becomes in the output's type.
    pub(super) fn to_output(&self, x: f64, rounding: format::Rounding, saturate: bool) -> f64 {
        format::convert(self.target.out, x, rounding, saturate)
    }
}

/// One instruction of Hopper's fp8 adder: addends are aligned to the largest exponent and lose what lies 2^-13 below it.
fn narrow_step(element: ElementType, sum: f64, factors: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let least = if element == ElementType::E5m2 { 2_f64.powi(-14) } else { 2_f64.powi(-6) };
    let power = |x: f64, least: f64| 2_f64.powi(x.abs().max(least).log2().floor() as i32);
    let of_products = factors.clone().filter(|(x, y)| x * y != 0.0).map(|(x, y)| power(x, least) * power(y, least));
    let largest = of_products.fold(if sum == 0.0 { 0.0 } else { power(sum, 0.0) }, f64::max);
    if largest == 0.0 || !largest.is_finite() {
        return sum + factors.map(|(x, y)| x * y).sum::<f64>();
    }
    let grain = largest / 8192.0;
    let aligned = |x: f64| x - x % grain;
    cut(aligned(sum) + factors.map(|(x, y)| aligned(x * y)).sum::<f64>(), 14)
}
