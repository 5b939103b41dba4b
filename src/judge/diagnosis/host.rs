//! The closed-form model of a kernel: the output that a contract, or a fault, predicts for a probe.

use std::collections::BTreeMap;

use crate::model::{ElementType, GatePairs};

use super::epilogue::{Epilogue, Spot};
use super::format::{self, Rounding, cut};
use super::function::Range;
use super::inputs::Inputs;
use super::knobs::{Carry, Knobs, StoreFault};
use super::operand::Operand;
use super::proof::{seen, window};
use super::store::Store;
use super::target::{Sum, Target};
use super::values::{Form, Values};

/// In place of a count of writes: whatever is there is right.
pub const ANY: u8 = u8::MAX;

/// Predicted storage of the output.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// Value of each element of storage, the smallest that it may be; meaningless where nothing is written.
    pub values: Vec<f64>,
    /// The largest that each may be; empty where all values are exact.
    pub highest: Vec<f64>,
    /// How often each element is written, or [`ANY`].
    pub writes: Vec<u8>,
    /// Whether something is written outside the storage.
    pub beyond: bool,
}

impl Predicted {
    fn new(ranges: Vec<Range>, writes: Vec<u8>, beyond: bool) -> Self {
        let exact = ranges.iter().all(|(low, high)| super::seen::same(*low, *high));
        let highest = if exact { vec![] } else { ranges.iter().map(|range| range.1).collect() };
        Predicted { values: ranges.into_iter().map(|range| range.0).collect(), highest, writes, beyond }
    }

    /// What the element at an address may be.
    pub fn range(&self, address: usize) -> Range {
        let low = self.values[address];
        (low, self.highest.get(address).copied().unwrap_or(low))
    }

    /// The possible values nearest to `seen`: what errors are measured against.
    pub fn nearest(&self, seen: &[f64]) -> Vec<f64> {
        let of = |(address, x): (usize, &f64)| {
            let (low, high) = self.range(address);
            if low < high { x.clamp(low, high) } else { low }
        };
        let all = seen.iter().enumerate().take(self.values.len()).map(of).collect::<Vec<_>>();
        if self.highest.is_empty() { self.values.clone() } else { all }
    }
}

/// Accumulators that are written to one place.
type Sources = Vec<(usize, usize)>;

/// A contract, its knobs and one probe.
pub struct Host<'a> {
    target: &'a Target,
    inputs: &'a Inputs,
    knobs: &'a Knobs,
    a: Operand<'a>,
    b: Operand<'a>,
    store: Store<'a>,
}

/// A block of accumulators for some rows and columns, which may repeat.
struct Block {
    values: Vec<f64>,
    columns: usize,
}

/// Columns of the output that are multiplied at a time, so that their rows of b are still in a cache.
const AT_A_TIME: usize = 128;

/// C = A · Bᵀ of row-major matrices with `depth` columns; rows of C lie `stride` elements apart. On one thread.
///
/// # Panics
/// When a slice is shorter than its matrix.
#[allow(unsafe_code, reason = "the gemm crate takes raw pointers; lengths are checked here")]
pub fn multiply(c: &mut [f64], stride: usize, a: &[f64], b: &[f64], (rows, columns, depth): (usize, usize, usize)) {
    if rows == 0 || columns == 0 || depth == 0 {
        return;
    }
    assert!(a.len() >= rows * depth && b.len() >= columns * depth && c.len() >= (rows - 1) * stride + columns);
    // SAFETY: the three slices hold rows × depth, columns × depth and rows × columns elements with these strides.
    unsafe {
        gemm_f64::gemm::f64::get_gemm_fn()(
            rows,
            columns,
            depth,
            c.as_mut_ptr(),
            1,
            stride as isize,
            false,
            a.as_ptr(),
            1,
            depth as isize,
            b.as_ptr(),
            depth as isize,
            1,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm_common::Parallelism::None,
        );
    }
}

impl<'a> Host<'a> {
    /// The model of `target` with `knobs` under `inputs`.
    pub fn new(target: &'a Target, inputs: &'a Inputs, knobs: &'a Knobs) -> Self {
        Host {
            target,
            inputs,
            knobs,
            a: Operand::new(target, inputs, knobs, true),
            b: Operand::new(target, inputs, knobs, false),
            store: Store::new(target, knobs.store.as_ref()),
        }
    }

    fn slots(&self) -> Option<&[(u32, u32)]> {
        self.knobs.slots.as_ref().map(|slots| slots.as_slice())
    }

    fn operand_rows(&self, rows: &[usize], is_a: bool, slots: Option<&[(u32, u32)]>) -> Vec<f64> {
        let mut out = Vec::new();
        self.put_operand_rows(rows, is_a, slots, &mut out);
        out
    }

    /// The same in place of what `out` holds: memory that is used again need not be mapped again.
    fn put_operand_rows(&self, rows: &[usize], is_a: bool, slots: Option<&[(u32, u32)]>, out: &mut Vec<f64>) {
        let operand = if is_a { &self.a } else { &self.b };
        out.clear();
        out.reserve(rows.len() * slots.map_or(self.target.k, <[_]>::len));
        if slots.is_none() && operand.plain_rows(rows, out) {
            return;
        }
        for &r in rows {
            let row = match slots {
                None => operand.row(r, &mut (0..self.target.k as u32)),
                Some(slots) if is_a => operand.row(r, &mut slots.iter().map(|s| s.0)),
                Some(slots) => operand.row(r, &mut slots.iter().map(|s| s.1)),
            };
            out.extend(row);
        }
    }

    fn narrow(&self, a: &[f64], b: &[f64]) -> f64 {
        let t = self.target;
        let split = t.splits.length;
        // A sum that is not promoted is narrow over the whole length.
        let window = t.promote.filter(|_| self.knobs.sum != Sum::Cut(14)).unwrap_or(split).min(split).max(1);
        let mut total = 0.0;
        for (a, b) in a.chunks(split.max(1)).zip(b.chunks(split.max(1))) {
            for (a, b) in a.chunks(window).zip(b.chunks(window)) {
                let mut sum = 0.0;
                for (a, b) in a.chunks(t.instruction_k).zip(b.chunks(t.instruction_k)) {
                    sum = self.kept(sum + a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>());
                }
                total += sum;
            }
        }
        total
    }

    /// What the accumulator keeps of a sum.
    fn kept(&self, sum: f64) -> f64 {
        match self.knobs.sum {
            Sum::Exact => sum,
            Sum::Nearest(11) => f64::from(half::f16::from_f64(sum)),
            Sum::Nearest(8) => f64::from(half::bf16::from_f64(sum)),
            Sum::Nearest(bits) => crate::judge::units::rounded(sum, bits),
            Sum::Cut(bits) => cut(sum, bits),
            Sum::Wrap(bits) => {
                let range = 2_f64.powi(bits as i32);
                (sum + range / 2.0).rem_euclid(range) - range / 2.0
            }
        }
    }

    /// How often each k is in the sum, where both operands take the same ones.
    fn counts(&self, slots: Option<&[(u32, u32)]>) -> Option<Vec<f64>> {
        let Some(slots) = slots else { return Some(vec![1.0; self.target.k]) };
        if slots.iter().any(|slot| slot.0 != slot.1) {
            return None;
        }
        let mut counts = vec![0.0; self.target.k];
        slots.iter().for_each(|slot| counts.get_mut(slot.0 as usize).into_iter().for_each(|count| *count += 1.0));
        Some(counts)
    }

    /// Sums that need no multiplication of matrices: one operand is one-hot, or both are constant or count.
    fn short(&self, rows: &[usize], columns: &[usize]) -> Option<Vec<f64>> {
        if self.knobs.sum != Sum::Exact {
            return None;
        }
        let (a, b) = (self.a.untouched()?, self.b.untouched()?);
        let easy = |form: &Form| matches!(form, Form::OneHot { .. });
        let plain = |form: &Form| matches!(form, Form::Constant(_) | Form::Blocks { .. });
        if !(easy(a.form()) || easy(b.form()) || (plain(a.form()) && plain(b.form()))) {
            return None;
        }
        let k = self.target.k;
        let counts = self.counts(self.slots())?;
        let whole: f64 = counts.iter().sum();
        let width = |values: &Values, r: usize| match values.form() {
            Form::Blocks { width } => {
                let from = r % k.div_ceil(*width) * width;
                Some(counts[from..(from + width).min(k)].iter().sum::<f64>())
            }
            Form::Constant(_) => Some(whole),
            _ => None,
        };
        let sum = |r: usize, q: usize| -> Option<f64> {
            if r >= a.rows() || q >= b.rows() {
                return Some(0.0);
            }
            match (a.form(), b.form()) {
                (Form::OneHot { value, .. }, _) => a.hot(r).map(|hot| value * b.get(q, hot) * counts[hot]),
                (_, Form::OneHot { value, .. }) => b.hot(q).map(|hot| value * a.get(r, hot) * counts[hot]),
                (Form::Constant(x), Form::Constant(y)) => Some(x * y * whole),
                (Form::Constant(x), Form::Blocks { .. }) => Some(x * width(b, q)?),
                (Form::Blocks { .. }, Form::Constant(y)) => Some(y * width(a, r)?),
                _ => None,
            }
        };
        let mut values = Vec::with_capacity(rows.len() * columns.len());
        for &r in rows {
            for &q in columns {
                values.push(sum(r, q)?);
            }
        }
        Some(values)
    }

    /// Types that the sums of splits and their additions are rounded to, where they are narrow.
    fn split_types(&self) -> Option<(ElementType, ElementType)> {
        let splits = &self.target.splits;
        let in_parts = self.knobs.split_times.is_some() || self.knobs.split_slots.is_some();
        let own = (splits.is_narrow() || in_parts).then_some((splits.partial, splits.sum));
        self.knobs.split_types.or(own).filter(|_| splits.count > 1 && !splits.into_output)
    }

    /// How often a split is added.
    fn times(&self, split: usize) -> usize {
        self.knobs.split_times.as_ref().map_or(1, |times| times.get(split).copied().unwrap_or(1))
    }

    /// The slots of each split.
    fn parts_of_k(&self) -> Vec<Vec<(u32, u32)>> {
        if let Some(parts) = &self.knobs.split_slots {
            return parts.to_vec();
        }
        let splits = &self.target.splits;
        let mut parts = vec![Vec::new(); splits.count];
        let mut put = |slot: (u32, u32)| parts[(slot.0 as usize / splits.length).min(splits.count - 1)].push(slot);
        match self.slots() {
            Some(slots) => slots.iter().copied().for_each(put),
            None => (0..self.target.k as u32).for_each(|k| put((k, k))),
        }
        parts
    }

    /// Sums of products for distinct rows and columns.
    fn block(&self, rows: &[usize], columns: &[usize]) -> Block {
        let Some((partial, sum)) = self.split_types() else {
            if let Some(values) = self.short(rows, columns) {
                return Block { values, columns: columns.len() };
            }
            return Block { values: self.products(rows, columns, self.slots()), columns: columns.len() };
        };
        let round = |to, x| format::convert(to, x, Rounding::NearestEven, true);
        let mut total = vec![0.0; rows.len() * columns.len()];
        for (index, slots) in self.parts_of_k().iter().enumerate() {
            let part = self.products(rows, columns, Some(slots));
            for (total, part) in total.iter_mut().zip(part) {
                let part = round(partial, part);
                (0..self.times(index)).for_each(|_| *total = round(sum, *total + part));
            }
        }
        Block { values: total, columns: columns.len() }
    }

    fn products(&self, rows: &[usize], columns: &[usize], slots: Option<&[(u32, u32)]>) -> Vec<f64> {
        let untouched = self.a.untouched().is_some() && self.b.untouched().is_some();
        let counted = slots.is_some() && untouched && self.knobs.sum == Sum::Exact;
        let counts = if counted { self.counts(slots) } else { None };
        // Where both take the same k, the counts go into the smaller operand, and the other one stays as it is.
        let slots = if counts.is_some() { None } else { slots };
        let depth = slots.map_or(self.target.k, <[_]>::len);
        let mut a = self.operand_rows(rows, true, slots);
        if let Some(counts) = &counts {
            a.chunks_mut(depth.max(1)).for_each(|row| row.iter_mut().zip(counts).for_each(|(x, count)| *x *= count));
        }
        let mut values = vec![0.0; rows.len() * columns.len()];
        let mut b = Vec::new();
        for (index, chunk) in columns.chunks(AT_A_TIME).enumerate() {
            let from = index * AT_A_TIME;
            self.put_operand_rows(chunk, false, slots, &mut b);
            if self.knobs.sum == Sum::Exact {
                let part = &mut values[from.min(rows.len() * columns.len())..];
                multiply(part, columns.len(), &a, &b, (rows.len(), chunk.len(), depth));
                continue;
            }
            for (r, a) in a.chunks(depth.max(1)).take(rows.len()).enumerate() {
                for (q, b) in b.chunks(depth.max(1)).take(chunk.len()).enumerate() {
                    values[r * columns.len() + from + q] = self.narrow(a, b);
                }
            }
        }
        values
    }

    /// The group whose weights row `r` meets.
    fn group(&self, r: usize) -> Option<usize> {
        match &self.knobs.group_of {
            Some(table) => table.get(r).copied().flatten(),
            None => self.target.group(r),
        }
    }

    /// The columns of sums behind column `q` of the output.
    fn columns(&self, q: usize) -> (usize, Option<usize>) {
        let pairs = if self.target.gate.is_some() { self.knobs.gate_pairs.or(self.target.gate) } else { None };
        let pair = match pairs {
            None => return (q, None),
            Some(GatePairs::Halves) => (q, q + self.target.n()),
            Some(GatePairs::Interleaved) => (2 * q, 2 * q + 1),
        };
        if self.knobs.gate_swapped { (pair.1, Some(pair.0)) } else { (pair.0, Some(pair.1)) }
    }

    /// Accumulators whose sum is that of (r, q).
    fn parts(&self, r: usize, q: usize) -> Vec<(usize, usize)> {
        let t = self.target;
        let (tile_r, tile_q) = (r / t.a.tile, q / t.b.tile);
        let (local_r, local_q) = (r % t.a.tile, q % t.b.tile);
        let (rows, columns) = (t.a.tiles(), t.column_tiles());
        let mut tiles = vec![(tile_r, tile_q)];
        if let Some(carry) = self.knobs.carry {
            let order: Vec<(usize, usize)> = match carry {
                Carry::RowsFirst => (0..columns).flat_map(|q| (0..rows).map(move |r| (r, q))).collect(),
                Carry::ColumnsFirst => (0..rows).flat_map(|r| (0..columns).map(move |q| (r, q))).collect(),
            };
            let end = order.iter().position(|&tile| tile == (tile_r, tile_q)).unwrap_or(0);
            tiles = order[..=end].to_vec();
        }
        let place = |(tr, tq): (usize, usize)| {
            let from_r = if self.knobs.a.tile_swap { tq % rows } else { tr };
            let from_q = if self.knobs.b.tile_swap { tr % columns } else { tq };
            (from_r * t.a.tile + local_r, from_q * t.b.tile + local_q)
        };
        tiles.into_iter().map(place).collect()
    }

    fn is_simple(&self) -> bool {
        self.knobs.carry.is_none() && !self.knobs.a.tile_swap && !self.knobs.b.tile_swap
    }

    /// Sums behind the outputs at sources (r, q) of one group, given in any order; two for each, with a gate.
    fn sums(&self, sources: &[(usize, usize)], group: usize) -> Vec<(f64, f64)> {
        let simple = self.is_simple();
        let base = group * self.target.wide();
        let mut rows = BTreeMap::new();
        let mut columns = BTreeMap::new();
        let mut parts_of = Vec::new();
        for &(r, q) in sources {
            let parts = if simple { vec![] } else { self.parts(r, q) };
            for (r, q) in parts.iter().copied().chain(simple.then_some((r, q))) {
                let (first, second) = self.columns(q);
                rows.insert(r, 0);
                columns.insert(base + first, 0);
                if let Some(second) = second {
                    columns.insert(base + second, 0);
                }
            }
            if !simple {
                parts_of.push(parts);
            }
        }
        for map in [&mut rows, &mut columns] {
            map.values_mut().enumerate().for_each(|(index, value)| *value = index);
        }
        let block = self.block(&Vec::from_iter(rows.keys().copied()), &Vec::from_iter(columns.keys().copied()));
        let at = |r: usize, column: usize| block.values[rows[&r] * block.columns + columns[&(base + column)]];
        let pair = |(r, q): (usize, usize)| {
            let (first, second) = self.columns(q);
            (at(r, first), second.map_or(0.0, |second| at(r, second)))
        };
        let add = |x: (f64, f64), y: (f64, f64)| (x.0 + y.0, x.1 + y.1);
        let all = |index: usize, source| {
            if simple { pair(source) } else { parts_of[index].iter().map(|p| pair(*p)).fold((0.0, 0.0), add) }
        };
        sources.iter().enumerate().map(|(index, source)| all(index, *source)).collect()
    }

    /// Values after the epilogue at sources (r, q), given in any order.
    fn values(&self, sources: &[(usize, usize)]) -> Vec<Range> {
        let mut values = vec![(0.0, 0.0); sources.len()];
        let mut groups: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        let of = |r: usize| if self.target.groups.is_none() { Some(0) } else { self.group(r) };
        sources.iter().enumerate().for_each(|(index, source)| groups.entry(of(source.0)).or_default().push(index));
        let epilogue = Epilogue::new(self.target, self.inputs, self.knobs);
        for (group, members) in groups {
            let Some(group) = group else { continue };
            let own: Vec<(usize, usize)> = members.iter().map(|index| sources[*index]).collect();
            let sums = if self.target.splits.into_output && self.target.splits.count > 1 {
                for (index, value) in members.iter().zip(self.added(&own, group)) {
                    values[*index] = value;
                }
                continue;
            } else {
                self.sums(&own, group)
            };
            for ((index, (r, q)), sums) in members.iter().zip(&own).zip(sums) {
                values[*index] = self.finished(&epilogue, sums, (*r, *q), group, (true, self.inputs.before));
            }
        }
        values
    }

    fn finished(
        &self,
        epilogue: &Epilogue<'_>,
        sums: (f64, f64),
        (r, q): (usize, usize),
        group: usize,
        (first, before): (bool, f64),
    ) -> Range {
        let (one, two) = self.columns(q);
        let spot = |column| Spot { r, q, group, column };
        epilogue.value((sums.0, spot(one)), two.map(|two| (sums.1, spot(two))), first, before)
    }

    /// The same where each split adds its own value into the output.
    fn added(&self, sources: &[(usize, usize)], group: usize) -> Vec<Range> {
        let t = self.target;
        let (_, sum) = self.knobs.split_types.unwrap_or((t.splits.partial, t.splits.sum));
        let round = |x| format::convert(sum, x, Rounding::NearestEven, true);
        let epilogue = Epilogue::new(t, self.inputs, self.knobs);
        let start = if t.accumulate != self.knobs.wrong_role { self.inputs.before } else { 0.0 };
        let mut values = vec![(start, start); sources.len()];
        for (index, slots) in self.parts_of_k().into_iter().enumerate() {
            let knobs = Knobs { slots: Some(std::sync::Arc::new(slots)), split_slots: None, ..self.knobs.clone() };
            let part = Host::new(t, self.inputs, &knobs);
            let sums = part.sums(sources, group);
            for ((value, source), sums) in values.iter_mut().zip(sources).zip(sums) {
                // What is there is added here, after the rounding of the part.
                let first = index == 0 || self.knobs.adds_each;
                let (low, high) = self.finished(&epilogue, sums, *source, group, (first, 0.0));
                (0..self.times(index)).for_each(|_| *value = (round(value.0 + low), round(value.1 + high)));
            }
        }
        values
    }

    /// Whether every partial sum is exact where codes are read as another type's, which can have more bits than the probe's own proof
    /// allows for: at some addresses, or everywhere.
    pub fn exact(&self, addresses: Option<&[usize]>) -> bool {
        let t = self.target;
        let (mut rows, mut columns) = (Vec::from_iter(0..t.m()), Vec::from_iter(0..t.b.rows));
        if let Some(addresses) = addresses {
            let places = || addresses.iter().map(|at| (at / t.out_leading, at % t.out_leading));
            rows = places().map(|place| place.0).collect();
            let of = |(r, q): (usize, usize)| {
                let base = self.group(r).unwrap_or(0) * t.wide();
                let (first, second) = self.columns(q.min(t.n() - 1));
                [Some(base + first), second.map(|second| base + second)]
            };
            columns = places().flat_map(of).flatten().collect();
        }
        for list in [&mut rows, &mut columns] {
            list.sort_unstable();
            list.dedup();
        }
        let depth = self.slots().map_or(t.k, <[_]>::len);
        let size = |rows: &[usize], is_a| seen(&self.operand_rows(rows, is_a, self.slots()), depth);
        window(&size(&rows, true), &size(&columns, false), t).holds
    }

    /// The whole storage.
    pub fn full(&self) -> Predicted {
        if self.knobs.store.is_none() && self.target.groups.is_none() {
            return self.full_plain();
        }
        let storage = self.target.storage();
        let mut writes = vec![0; storage];
        let mut sources = Vec::new();
        let mut of = vec![usize::MAX; storage];
        for (address, (count, of)) in writes.iter_mut().zip(&mut of).enumerate() {
            let found = self.found(address);
            *count = found.1;
            if let [source] = found.0.as_slice() {
                *of = sources.len();
                sources.push(*source);
            }
        }
        let computed = self.values(&sources);
        let mut values: Vec<Range> =
            of.iter().map(|&index| computed.get(index).copied().unwrap_or((0.0, 0.0))).collect();
        for (address, (value, count)) in values.iter_mut().zip(&mut writes).enumerate() {
            if let Some(kept) = self.kept_before(address, *count) {
                (*value, *count) = (kept, 1);
            }
        }
        Predicted::new(values, writes, self.store.beyond())
    }

    /// What an element holds that is not written: without a sentinel, nobody can see that it was not.
    fn kept_before(&self, address: usize, count: u8) -> Option<Range> {
        let (before, logical) = (self.inputs.before, address % self.target.out_leading < self.target.n());
        (count == 0 && logical && !before.is_nan()).then_some((before, before))
    }

    /// What is written to an address, and how often. A row that belongs to no group, in the contract, may hold anything.
    fn found(&self, address: usize) -> (Sources, u8) {
        let t = self.target;
        if t.groups.is_none() {
            let found = self.store.sources(address);
            let count = found.len().min(254) as u8;
            return (found, count);
        }
        if address % t.out_leading < t.n() && t.group(address / t.out_leading).is_none() {
            return (vec![], ANY);
        }
        let mut found = self.store.sources(address);
        if let Some(StoreFault::GroupRowsDown(unit)) = &self.knobs.store {
            found.retain(|(r, _)| match (t.group(*r), &t.groups) {
                (Some(group), Some(groups)) => r - groups[group].0 < groups[group].1 / unit * unit,
                _ => false,
            });
        }
        found.retain(|(r, _)| self.group(*r).is_some());
        let count = found.len().min(254) as u8;
        (found, count)
    }

    fn full_plain(&self) -> Predicted {
        let t = self.target;
        let (m, n) = (t.m(), t.n());
        let mut values = vec![(0.0, 0.0); t.storage()];
        let mut writes = vec![0; t.storage()];
        let plain = self.is_simple() && t.is_plain() && !(t.splits.into_output && t.splits.count > 1);
        let computed = if plain {
            let block = self.block(&Vec::from_iter(0..m), &Vec::from_iter(0..n));
            let epilogue = Epilogue::new(t, self.inputs, self.knobs);
            let of = |(i, sum): (usize, &f64)| {
                self.finished(&epilogue, (*sum, 0.0), (i / n, i % n), 0, (true, self.inputs.before))
            };
            block.values.iter().enumerate().map(of).collect()
        } else {
            self.values(&Vec::from_iter((0..m).flat_map(|r| (0..n).map(move |q| (r, q)))))
        };
        for r in 0..m {
            let at = r * t.out_leading;
            values[at..at + n].copy_from_slice(&computed[r * n..(r + 1) * n]);
            writes[at..at + n].fill(1);
        }
        Predicted::new(values, writes, false)
    }

    /// Only these addresses: value, and how often written.
    pub fn at(&self, addresses: &[usize]) -> Vec<(Range, u8)> {
        let found: Vec<(Sources, u8)> = addresses.iter().map(|&address| self.found(address)).collect();
        let sources: Vec<(usize, usize)> = found.iter().filter(|f| f.0.len() == 1).map(|f| f.0[0]).collect();
        let mut computed = self.values(&sources).into_iter();
        let of = |(address, f): (&usize, &(Sources, u8))| {
            let value = if f.0.len() == 1 { computed.next().unwrap_or((0.0, 0.0)) } else { (0.0, 0.0) };
            self.kept_before(*address, f.1).map_or((value, f.1), |kept| (kept, 1))
        };
        addresses.iter().zip(&found).map(of).collect()
    }
}
