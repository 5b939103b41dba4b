//! The closed-form model of a kernel: the output that a contract, or a fault, predicts for a probe.

use std::collections::BTreeMap;

use crate::model::GatePairs;

use super::epilogue::{Epilogue, Spot};
use super::format::{self, Rounding};
use super::function::Range;
use super::inputs::Inputs;
use super::knobs::{Carry, Knobs, StoreFault};
use super::predicted::{ANY, Predicted};
use super::proof::{seen, window};
use super::seen::NOT_FINITE;
use super::store::Store;
use super::sums::Sums;
use super::target::Target;

/// What a sum of zero and of products with the smallest factor stays below.
const NEXT_TO_ZERO: f64 = 1.0 / (1_u64 << 63) as f64;

/// Accumulators that are written to one place.
type Sources = Vec<(usize, usize)>;

/// A contract, its knobs and one probe.
pub struct Host<'a> {
    target: &'a Target,
    inputs: &'a Inputs,
    knobs: &'a Knobs,
    sums: Sums<'a>,
    store: Store<'a>,
}

impl<'a> Host<'a> {
    /// The model of `target` with `knobs` under `inputs`.
    pub fn new(target: &'a Target, inputs: &'a Inputs, knobs: &'a Knobs) -> Self {
        Host {
            target,
            inputs,
            knobs,
            sums: Sums::new(target, inputs, knobs),
            store: Store::new(target, knobs.store.as_ref()),
        }
    }

    /// The group whose weights row `r` meets.
    fn group(&self, r: usize) -> Option<usize> {
        match &self.knobs.group_of {
            Some(table) => table.get(r).copied().flatten(),
            None => self.target.group(r),
        }
    }

    /// The first row of b that a group meets.
    fn first_of_group(&self, group: usize) -> usize {
        group * self.knobs.group_stride.unwrap_or(self.target.wide())
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
        let base = self.first_of_group(group);
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
        let block = self.sums.block(&Vec::from_iter(rows.keys().copied()), &Vec::from_iter(columns.keys().copied()));
        let at = |r: usize, column: usize| block[rows[&r] * columns.len() + columns[&(base + column)]];
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
        self.opened(epilogue.value((sums.0, spot(one)), two.map(|two| (sums.1, spot(two))), first, before))
    }

    /// The same where each split adds its own value into the output.
    fn added(&self, sources: &[(usize, usize)], group: usize) -> Vec<Range> {
        let t = self.target;
        let (_, sum) = self.knobs.split_types.unwrap_or((t.splits.partial, t.splits.sum));
        let round = |x| format::convert(sum, x, Rounding::NearestEven, true);
        let epilogue = Epilogue::new(t, self.inputs, self.knobs);
        let start = if t.accumulate != self.knobs.wrong_role { self.inputs.before } else { 0.0 };
        let mut values = vec![(start, start); sources.len()];
        for (index, slots) in self.sums.parts_of_k().into_iter().enumerate() {
            let knobs = Knobs { slots: Some(std::sync::Arc::new(slots)), split_slots: None, ..self.knobs.clone() };
            let part = Host::new(t, self.inputs, &knobs);
            let sums = part.sums(sources, group);
            for ((value, source), sums) in values.iter_mut().zip(sources).zip(sums) {
                // What is there is added here, after the rounding of the part.
                let first = index == 0 || self.knobs.adds_each;
                let (low, high) = self.finished(&epilogue, sums, *source, group, (first, 0.0));
                (0..self.sums.times(index)).for_each(|_| *value = (round(value.0 + low), round(value.1 + high)));
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
            let places = || addresses.iter().filter_map(|at| t.place(*at));
            rows = places().map(|place| place.0).collect();
            let of = |(r, q): (usize, usize)| {
                let base = self.first_of_group(self.group(r).unwrap_or(0));
                let (first, second) = self.columns(q);
                [Some(base + first), second.map(|second| base + second)]
            };
            columns = places().flat_map(of).flatten().collect();
        }
        for list in [&mut rows, &mut columns] {
            list.sort_unstable();
            list.dedup();
        }
        let slots = self.sums.slots();
        let depth = slots.map_or(t.k, <[_]>::len);
        let size = |rows: &[usize], is_a| seen(&self.sums.operand_rows(rows, is_a, slots), depth);
        window(&size(&rows, true), &size(&columns, false), t).holds
    }

    /// What is left open of a value where storage without a factor is read as one.
    fn opened(&self, range: Range) -> Range {
        match range {
            _ if !(self.knobs.a.reads_scale_padding() || self.knobs.b.reads_scale_padding()) => range,
            (0.0, 0.0) => (-NEXT_TO_ZERO, NEXT_TO_ZERO),
            (low, _) if low.is_nan() => NOT_FINITE,
            range => range,
        }
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
        let (before, logical) = (self.inputs.before, self.target.place(address).is_some());
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
        if t.place(address).is_some_and(|(r, _)| t.group(r).is_none()) {
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
        let computed: Vec<Range> = if plain {
            let block = self.sums.block(&Vec::from_iter(0..m), &Vec::from_iter(0..n));
            let epilogue = Epilogue::new(t, self.inputs, self.knobs);
            let of = |(i, sum): (usize, &f64)| {
                self.finished(&epilogue, (*sum, 0.0), (i / n, i % n), 0, (true, self.inputs.before))
            };
            block.iter().enumerate().map(of).collect()
        } else {
            self.values(&Vec::from_iter((0..m).flat_map(|r| (0..n).map(move |q| (r, q)))))
        };
        for (address, value) in t.addresses().zip(computed) {
            values[address] = value;
            writes[address] = 1;
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
