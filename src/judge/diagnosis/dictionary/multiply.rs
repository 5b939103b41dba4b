//! Which k are summed, how often, and in what accumulator.

use std::sync::Arc;

use crate::model::{ElementType, Stage};

use super::super::hopper;
use super::super::kind::Kind;
use super::super::knobs::{Carry, Knobs};
use super::super::target::{Sum, Tensor};
use super::{Dictionary, OPERAND};

const COUNT: &[Kind] = &[Kind::CoverA, Kind::CoverB, Kind::Ones, Kind::Random, Kind::Alpha, Kind::RandomScales];
const ADDED: &[Kind] = &[Kind::Bias, Kind::Residual, Kind::Order, Kind::Random];
const WIDTH: &[Kind] =
    &[Kind::Accumulator, Kind::Ones, Kind::RandomLarge, Kind::Random, Kind::CoverA, Kind::CoverB, Kind::RandomScales];

impl Dictionary<'_> {
    fn slots(&mut self, class: &'static str, cause: String, slots: Arc<Vec<(u32, u32)>>) {
        self.add(class, Stage::MmaAccumulate, cause, Knobs { slots: Some(slots), ..Knobs::default() }, COUNT);
    }

    pub(super) fn multiply(&mut self) {
        let t = self.target;
        let blocks = t.k_blocks();
        let candidates: Vec<usize> = match &self.fits.blocks {
            Some(list) => list.clone(),
            None => (0..blocks).collect(),
        };
        let per = (t.splits.length / t.tile_k).max(1);
        self.splits();
        for &b in &candidates {
            if blocks > 1 {
                let cause = format!("k from {} to {} is not summed", b * t.tile_k, ((b + 1) * t.tile_k).min(t.k));
                self.slots("K_BLOCK_MISSING", cause, self.blocks((0..blocks).filter(|i| *i != b)));
            }
            let boundary = t.splits.count > 1 && b > 0 && (b + 1) % per == 0;
            let cause = format!(
                "k from {} to {} is summed twice{}",
                b * t.tile_k,
                ((b + 1) * t.tile_k).min(t.k),
                if boundary { ", at the end of a split: neighbouring splits overlap" } else { "" }
            );
            self.slots("K_BLOCK_DOUBLE", cause, self.blocks((0..blocks).chain([b])));
        }
        // Elsewhere the probes that count k say where the tail begins.
        let chunk = (128 / t.a.element.bits()).max(1) as usize;
        for cut in (chunk..t.tile_k.min(t.k)).step_by(chunk).filter(|cut| !t.is_plain() && *cut != t.k % t.tile_k) {
            let slots = (0..(t.k - cut) as u32).map(|k| (k, k)).collect();
            self.slots("K_TAIL_MISSING", format!("k from {} on is not in the sum", t.k - cut), Arc::new(slots));
        }
        for &n in &self.fits.repeats {
            let all = (0..n).flat_map(|_| 0..blocks);
            self.slots("K_LOOP_REPEAT", format!("the whole sum is taken {n} times"), self.blocks(all));
        }
        if blocks > 2 && t.splits.count == 1 {
            let cause = format!("only the last block, k from {}, is in the sum", (blocks - 1) * t.tile_k);
            self.slots("ACC_FLAG_RESET", cause, self.blocks([blocks - 1]));
        }
        let instruction = t.instruction_k as u32;
        if (t.tile_k as u32) > instruction {
            for (class, keep) in [("K_SUBTILE_TAIL", true), ("K_SUBTILE_ONLY_FIRST", false)] {
                if !keep && t.tile_k <= 2 * t.instruction_k {
                    continue;
                }
                let end = t.tile_k as u32 - instruction;
                let all = self.blocks(0..blocks);
                let slots = all.iter().copied().filter(|(k, _)| {
                    let local = k % t.tile_k as u32;
                    if keep { local < end } else { local < instruction }
                });
                let slots = Arc::new(slots.collect());
                let cause = if keep {
                    "the last instruction of every block is missing"
                } else {
                    "only the first instruction of every block runs"
                };
                self.slots(class, cause.to_owned(), slots);
            }
        }
        for (name, parts) in [("a", (true, false)), ("b", (false, true)), ("a and b", (true, true))] {
            if t.tile_k <= t.instruction_k {
                continue;
            }
            let stuck = |k: u32| k / t.tile_k as u32 * t.tile_k as u32 + k % instruction;
            let all = self.blocks(0..blocks);
            let slots =
                all.iter().map(|&(k, _)| (if parts.0 { stuck(k) } else { k }, if parts.1 { stuck(k) } else { k }));
            let slots = Arc::new(slots.collect());
            let knobs = Knobs { slots: Some(slots), ..Knobs::default() };
            let cause = format!("the address of {name} does not advance within a block of k");
            self.add("KSLICE_STUCK", Stage::MmaAccumulate, cause, knobs, OPERAND);
        }
        self.accumulator();
    }

    /// Parts of a split sum that are lost, counted twice, or added in another type.
    fn splits(&mut self) {
        let splits = self.target.splits;
        if splits.count < 2 {
            return;
        }
        // A split may have nothing to do.
        let count = splits.count.min(self.target.k.div_ceil(splits.length));
        let mut times = |class, cause: String, times: Vec<usize>| {
            let knobs = Knobs { split_times: Some(Arc::new(times)), ..Knobs::default() };
            self.add(class, Stage::MmaAccumulate, cause, knobs, COUNT);
        };
        for s in (0..count).filter(|_| count > 1) {
            let all =
                |own: usize, others: usize| (0..splits.count).map(|i| if i == s { own } else { others }).collect();
            // Of two, one missing is the other alone.
            if count > 2 {
                times("SPLITK_PART_MISSING", format!("split {s} of {count} is not in the sum"), all(0, 1));
            }
            times("SPLITK_REDUCTION_MISSING", format!("only split {s} of {count} is in the sum"), all(1, 0));
            times("SPLITK_PART_DOUBLE", format!("split {s} of {count} is added twice"), all(2, 1));
        }
        for s in (0..count).filter(|_| count > 1 && splits.is_narrow()) {
            let wide = (ElementType::F32, ElementType::F32);
            let alone = (0..splits.count).map(|i| usize::from(i == s)).collect();
            let knobs = Knobs { split_times: Some(Arc::new(alone)), split_types: Some(wide), ..Knobs::default() };
            let cause = format!("only split {s} of {count} is in the sum, as it was before it was stored");
            self.add("SPLITK_REDUCTION_MISSING", Stage::MmaAccumulate, cause, knobs, COUNT);
        }
        let (k, length, tile) = (self.target.k, splits.length, self.target.tile_k);
        if count > 1 && length.is_multiple_of(tile) {
            let part = |s: usize| {
                let first = (s * length).saturating_sub(if s > 0 { tile } else { 0 });
                let end = if s + 1 >= count { k.next_multiple_of(tile) } else { (s + 1) * length };
                (first as u32..if s < count { end } else { first } as u32).map(|k| (k, k)).collect::<Vec<_>>()
            };
            let parts = (0..splits.count).map(|s| if s < count { part(s) } else { vec![] }).collect();
            let knobs = Knobs { split_slots: Some(Arc::new(parts)), ..Knobs::default() };
            let cause = format!("neighbouring splits overlap by a block of {tile} k, which both add");
            self.add("K_BLOCK_DOUBLE", Stage::MmaAccumulate, cause, knobs, COUNT);
        }
        if splits.into_output {
            let knobs = Knobs { adds_each: true, ..Knobs::default() };
            if self.target.uses(Tensor::Bias) || self.target.uses(Tensor::Residual) {
                let cause = "every split adds what the epilogue adds, not the first alone";
                self.add("SPLITK_ADDS_EACH", Stage::Epilogue, cause, knobs, ADDED);
            }
        }
        let own = (splits.partial, splits.sum);
        let types = [ElementType::F32, ElementType::Bf16, ElementType::F16];
        for partial in types {
            for sum in types.into_iter().filter(|sum| *sum == partial || *sum == ElementType::F32) {
                if (partial, sum) == own || !matches!(own.1, ElementType::F32 | ElementType::Bf16 | ElementType::F16) {
                    continue;
                }
                let cause =
                    format!("parts are kept in {partial} and added in {sum}, instead of {} and {}", own.0, own.1);
                let knobs = Knobs { split_types: Some((partial, sum)), ..Knobs::default() };
                self.add("SPLITK_REDUCTION_TYPE", Stage::MmaAccumulate, cause, knobs, WIDTH);
            }
        }
    }

    fn accumulator(&mut self) {
        let t = self.target;
        if t.groups.is_none() && t.a.tiles() * t.column_tiles() > 1 {
            for (carry, order) in [(Carry::RowsFirst, "m"), (Carry::ColumnsFirst, "n")] {
                let knobs = Knobs { carry: Some(carry), ..Knobs::default() };
                let cause = format!("the accumulator is not cleared between tiles, {order} fastest");
                self.add("ACC_NOT_CLEARED", Stage::MmaAccumulate, cause, knobs, COUNT);
            }
        }
        let integer = matches!(t.a.element, ElementType::S8 | ElementType::U8);
        let fp8 = hopper::lowest_exponent(t.a.element).is_some();
        let widths: &[(Sum, &str)] = if integer {
            &[
                (Sum::Wrap(16), "16-bit integers that wrap"),
                (Sum::Wrap(8), "8-bit integers that wrap"),
                (Sum::Nearest(24), "f32"),
            ]
        } else {
            &[
                (Sum::Nearest(11), "f16"),
                (Sum::Nearest(8), "bf16"),
                if fp8 { (Sum::Hopper, "13 fraction bits, not promoted") } else { (Sum::Cut(14), "13 fraction bits") },
                (Sum::Cut(12), "11 fraction bits"),
                (Sum::Cut(11), "10 fraction bits"),
                (Sum::Cut(8), "7 fraction bits"),
            ]
        };
        for (sum, name) in widths {
            let class = if *sum == Sum::Hopper { "ACC_NOT_PROMOTED" } else { "ACC_DTYPE_NARROW" };
            let knobs = Knobs { sum: *sum, ..Knobs::default() };
            self.add(class, Stage::MmaAccumulate, format!("the sum is kept in {name}"), knobs, WIDTH);
        }
        let knobs = Knobs { accumulator_factor: Some(-1.0), ..Knobs::default() };
        self.add("MMA_NEGATE", Stage::MmaAccumulate, "the sum has the wrong sign", knobs, COUNT);
        if t.accumulate {
            let knobs = Knobs { wrong_role: true, ..Knobs::default() };
            self.add("OUTPUT_OVERWRITTEN", Stage::Store, "the output is overwritten instead of added to", knobs, COUNT);
        }
    }
}
