//! Sums of products: of which k, how often, in what accumulator, and in which parts.

use crate::model::ElementType;

use super::format::{self, Rounding, cut};
use super::hopper;
use super::inputs::Inputs;
use super::knobs::Knobs;
use super::operand::Operand;
use super::product::multiply;
use super::target::{Sum, Target};
use super::values::{Form, Values};

/// The loop over k of a kernel, knobs included.
pub(super) struct Sums<'a> {
    target: &'a Target,
    knobs: &'a Knobs,
    a: Operand<'a>,
    b: Operand<'a>,
}

/// Columns of the output that are multiplied at a time, so that their rows of b are still in a cache.
const AT_A_TIME: usize = 128;

impl<'a> Sums<'a> {
    pub(super) fn new(target: &'a Target, inputs: &'a Inputs, knobs: &'a Knobs) -> Self {
        Sums {
            target,
            knobs,
            a: Operand::new(target, inputs, knobs, true),
            b: Operand::new(target, inputs, knobs, false),
        }
    }

    /// The knobs' slots.
    pub(super) fn slots(&self) -> Option<&[(u32, u32)]> {
        self.knobs.slots.as_ref().map(|slots| slots.as_slice())
    }

    pub(super) fn operand_rows(&self, rows: &[usize], is_a: bool, slots: Option<&[(u32, u32)]>) -> Vec<f64> {
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
            let own = |slot: &(u32, u32)| if is_a { slot.0 } else { slot.1 };
            let row = match (slots, &self.knobs.scale_k) {
                (None, _) => operand.row(r, &mut (0..self.target.k as u32).map(|k| (k, k))),
                (Some(slots), Some(of)) if of.len() == slots.len() => {
                    operand.row(r, &mut slots.iter().map(own).zip(of.iter().copied()))
                }
                (Some(slots), _) => operand.row(r, &mut slots.iter().map(|slot| (own(slot), own(slot)))),
            };
            out.extend(row);
        }
    }

    fn narrow(&self, a: &[f64], b: &[f64]) -> f64 {
        let t = self.target;
        let split = t.splits.length;
        // A sum that is not promoted is narrow over the whole length.
        let window = t.promote.filter(|_| self.knobs.sum != Sum::Hopper).unwrap_or(split).min(split).max(1);
        let lowest = |element| hopper::lowest_exponent(element).unwrap_or(-126);
        let lowest = (lowest(t.a.element), lowest(t.b.element));
        let mut total = 0.0;
        for (a, b) in a.chunks(split.max(1)).zip(b.chunks(split.max(1))) {
            for (a, b) in a.chunks(window).zip(b.chunks(window)) {
                let mut sum = 0.0;
                for (a, b) in a.chunks(t.instruction_k).zip(b.chunks(t.instruction_k)) {
                    if self.knobs.sum == Sum::Hopper {
                        sum = hopper::add(sum, a, b, lowest);
                        continue;
                    }
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
            Sum::Exact | Sum::Hopper => sum,
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
        // How many of the k of a row are in the sum: of each once, whatever it meets.
        let width = |values: &Values, r: usize| match values.form() {
            Form::Blocks { width } if r < values.rows() => {
                let from = r % k.div_ceil(*width) * width;
                counts[from..(from + width).min(k)].iter().sum::<f64>()
            }
            _ => whole,
        };
        let both = plain(a.form()) && plain(b.form());
        let widths = |values: &Values, list: &[usize]| -> Vec<f64> {
            if both { list.iter().map(|r| width(values, *r)).collect() } else { vec![] }
        };
        let (of_a, of_b) = (widths(a, rows), widths(b, columns));
        let sum = |(i, r): (usize, usize), (j, q): (usize, usize)| -> Option<f64> {
            if r >= a.rows() || q >= b.rows() {
                return Some(0.0);
            }
            match (a.form(), b.form()) {
                (Form::OneHot { value, .. }, _) => a.hot(r).map(|hot| value * b.get(q, hot) * counts[hot]),
                (_, Form::OneHot { value, .. }) => b.hot(q).map(|hot| value * a.get(r, hot) * counts[hot]),
                (Form::Constant(x), Form::Constant(y)) => Some(x * y * whole),
                (Form::Constant(x), Form::Blocks { .. }) => Some(x * of_b[j]),
                (Form::Blocks { .. }, Form::Constant(y)) => Some(y * of_a[i]),
                _ => None,
            }
        };
        let mut values = Vec::with_capacity(rows.len() * columns.len());
        for (i, &r) in rows.iter().enumerate() {
            for (j, &q) in columns.iter().enumerate() {
                values.push(sum((i, r), (j, q))?);
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
    pub(super) fn times(&self, split: usize) -> usize {
        self.knobs.split_times.as_ref().map_or(1, |times| times.get(split).copied().unwrap_or(1))
    }

    /// The slots of each split.
    pub(super) fn parts_of_k(&self) -> Vec<Vec<(u32, u32)>> {
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

    /// Sums of products for distinct rows and columns, row by row.
    pub(super) fn block(&self, rows: &[usize], columns: &[usize]) -> Vec<f64> {
        let Some((partial, sum)) = self.split_types() else {
            return self.short(rows, columns).unwrap_or_else(|| self.products(rows, columns, self.slots()));
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
        total
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
}
