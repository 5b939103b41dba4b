//! From accumulator to output, step by step in f32, as the contract lists them or as a fault changes them.

use std::borrow::Cow;

use super::format::{self, Rounding};
use super::function::Range;
use super::inputs::Inputs;
use super::knobs::Knobs;
use super::operand::Operand;
use super::target::{Index, Step, Target, Tensor};

/// The steps for one probe.
pub(super) struct Epilogue<'a> {
    target: &'a Target,
    inputs: &'a Inputs,
    steps: &'a [Step],
    gate: Option<usize>,
    knobs: &'a Knobs,
    /// Σ_k of each row of b, as the zero point is multiplied by.
    sums: Cow<'a, [f64]>,
}

/// What lies behind a zero point: the largest integer where padding is poisoned.
fn behind(poisoned: bool) -> f64 {
    if poisoned { format::poison(crate::model::ElementType::S32) } else { 0.0 }
}

/// Where a value is: row and column of the output, its group, and the column of sums it comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub(super) r: usize,
    pub(super) q: usize,
    pub(super) group: usize,
    pub(super) column: usize,
}

type Steps = std::ops::Range<usize>;

fn single(x: f64) -> f64 {
    f64::from(x as f32)
}

/// A function that keeps the order, on both ends.
fn each(v: Range, f: impl Fn(f64) -> f64) -> Range {
    if v.0 == v.1 || v.0.is_nan() {
        let x = f(v.0);
        return (x, x);
    }
    let (a, b) = (f(v.0), f(v.1));
    (a.min(b), b.max(a))
}

impl<'a> Epilogue<'a> {
    pub(super) fn new(target: &'a Target, inputs: &'a Inputs, knobs: &'a Knobs) -> Self {
        let steps = knobs.epilogue.as_ref().map_or(target.epilogue.as_slice(), |steps| steps.as_slice());
        let gate = steps.iter().position(|step| matches!(step, Step::Gate { .. }));
        let sums = if knobs.sums_of_read && target.has_zero_point() {
            let b = Operand::new(target, inputs, knobs, false);
            let all: Vec<(u32, u32)> = match &knobs.slots {
                Some(slots) => slots.iter().map(|slot| (slot.1, slot.1)).collect(),
                None => (0..target.k as u32).map(|k| (k, k)).collect(),
            };
            Cow::Owned((0..target.b.rows).map(|r| b.row(r, &mut all.iter().copied()).iter().sum()).collect())
        } else {
            Cow::Borrowed(inputs.column_sum.as_slice())
        };
        Epilogue { target, inputs, steps, gate, knobs, sums }
    }

    fn operand(&self, tensor: Tensor, index: &Index, at: Spot) -> f64 {
        let t = self.target;
        let (m, n, wide) = (t.m(), t.n(), t.wide());
        let (r, q) = (at.r.min(m - 1), at.q.min(n - 1));
        let column = at.column.min(wide - 1);
        let shift = |i: usize, by: i64, count: usize| (i as i64 + by).clamp(0, count as i64 - 1) as usize;
        let along = |own: usize, other: usize, tile: usize, count: usize| match index {
            Index::Own => own,
            Index::Other | Index::OtherPast => other.min(count - 1),
            Index::TileLocal => own % tile,
            Index::TileBase => own / tile * tile,
            Index::Shift(by) | Index::Past(by) => shift(own, *by, count),
            Index::Map(map) => map[r * n + q].min(count - 1),
        };
        let i = self.inputs;
        if let Index::Past(by) = index
            && let Some(value) = self.past(tensor, *by, at)
        {
            return value;
        }
        let crossed = match tensor {
            Tensor::ScaleA => at.q >= m,
            Tensor::Bias | Tensor::ScaleB => at.r >= wide,
            _ => false,
        };
        if *index == Index::OtherPast && crossed {
            return self.padding(tensor);
        }
        // What is indexed by the column has one part for each group.
        let part = |values: &[f64]| values[at.group * wide + along(column, r, t.b.tile, wide)];
        match tensor {
            Tensor::Alpha => {
                let group = along(at.group, r, 1, i.alpha.len().max(1));
                i.alpha[group.min(i.alpha.len() - 1)]
            }
            Tensor::Beta => i.beta,
            Tensor::Bias => part(&i.bias),
            Tensor::ScaleB => part(&i.column_scale),
            Tensor::ScaleA => i.row_scale[along(r, q, t.a.tile, m)],
            Tensor::Residual => match index {
                Index::Own => i.residual[r * n + q],
                Index::Other | Index::OtherPast => i.residual[q.min(m - 1) * n + r.min(n - 1)],
                Index::TileLocal => i.residual[(r % t.a.tile) * n + q % t.b.tile],
                Index::TileBase => i.residual[(r / t.a.tile * t.a.tile) * n + q],
                Index::Shift(by) | Index::Past(by) => i.residual[shift(r, *by, m) * n + q],
                Index::Map(map) => i.residual[map[r * n + q].min(m * n - 1)],
            },
        }
    }

    /// What lies beyond the end of a tensor, where an index leaves it.
    fn past(&self, tensor: Tensor, by: i64, at: Spot) -> Option<f64> {
        let t = self.target;
        let (own, count) = match tensor {
            Tensor::Bias | Tensor::ScaleB => (at.group * t.wide() + at.column.min(t.wide() - 1), t.b.rows),
            Tensor::ScaleA | Tensor::Residual => (at.r.min(t.m() - 1), t.m()),
            Tensor::Alpha | Tensor::Beta => return None,
        };
        let outside = !(0..count as i64).contains(&(own as i64 + by));
        outside.then(|| self.padding(tensor))
    }

    fn padding(&self, tensor: Tensor) -> f64 {
        if self.inputs.poisoned { format::poison(self.target.type_of(tensor)) } else { 0.0 }
    }

    /// The value that is stored for the sum at `at`; with a gate, for the two sums at `at` and `other`.
    pub(super) fn value(&self, at: (f64, Spot), other: Option<(f64, Spot)>, first: bool, before: f64) -> Range {
        let sum = |sum: f64| {
            let x = sum * self.knobs.accumulator_factor.unwrap_or(1.0) + self.knobs.accumulator_start;
            (x, x)
        };
        let Some(gate) = self.gate else {
            return self.run(0..self.steps.len(), sum(at.0), at.1, true, (first, before));
        };
        let Some(other) = other else { return (f64::NAN, f64::NAN) };
        let v = self.run(0..gate, sum(at.0), at.1, true, (first, before));
        let u = self.run(0..gate, sum(other.0), other.1, false, (first, before));
        let Step::Gate { gate: opened, up } = &self.steps[gate] else { return v };
        let (v, u) = (each(opened.of(each(v, single)), single), each(up.of(each(u, single)), single));
        let corners = [v.0 * u.0, v.0 * u.1, v.1 * u.0, v.1 * u.1].map(single);
        let product = if corners.iter().any(|x| x.is_nan()) {
            (f64::NAN, f64::NAN)
        } else {
            (
                corners.iter().copied().fold(f64::INFINITY, f64::min),
                corners.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            )
        };
        self.run(gate + 1..self.steps.len(), product, at.1, true, (first, before))
    }

    fn run(&self, steps: Steps, sum: Range, at: Spot, of_gate: bool, (first, before): (bool, f64)) -> Range {
        let mut v = sum;
        let n = self.target.n();
        let last = self.steps.len().saturating_sub(1);
        for (index, step) in self.steps.iter().enumerate().take(steps.end).skip(steps.start) {
            if index == last
                && let Some(factors) = &self.knobs.out_factor
            {
                let factor = factors.get(at.r * n + at.q).copied().unwrap_or(1.0);
                v = each(v, |v| v * factor);
            }
            v = match step {
                Step::Round { to, rounding, saturate } => {
                    let adds = index == last && self.adds_before();
                    each(v, |v| {
                        let x = if adds { single(v + before) } else { v };
                        format::convert(*to, x, *rounding, *saturate)
                    })
                }
                Step::Add { .. } if !first => v,
                Step::Add { tensor, index, factor, by } => {
                    let mut x = self.operand(*tensor, index, at) * factor;
                    if let Some((scalar, power)) = by {
                        x *= self.operand(*scalar, &Index::Own, at).powi(*power);
                    }
                    each(v, |v| single(single(v) + x))
                }
                Step::Multiply { tensor, index, power } => {
                    let x = self.operand(*tensor, index, at);
                    each(v, |v| {
                        let mut v = single(v);
                        for _ in 0..power.unsigned_abs() {
                            v = single(if *power > 0 { v * x } else { v / x });
                        }
                        v
                    })
                }
                Step::ZeroPoint { factor } => {
                    let column = at.group * self.target.wide() + at.column.min(self.target.wide() - 1);
                    let x = factor * self.inputs.zero_point * self.sums[column];
                    each(v, |v| single(v - x))
                }
                Step::ZeroPointPast => {
                    let column = at.group * self.target.wide() + at.column.min(self.target.wide() - 1);
                    let x = behind(self.inputs.poisoned) * self.sums[column];
                    let wrapped = |x: f64| (x + 2_f64.powi(31)).rem_euclid(2_f64.powi(32)) - 2_f64.powi(31);
                    each(v, |v| single(wrapped(v - x)))
                }
                Step::Activate(function) => each(function.of(each(v, single)), single),
                Step::OnGate(function) if of_gate => each(function.of(each(v, single)), single),
                Step::Gate { .. } | Step::OnGate(_) => v,
            };
        }
        v
    }

    /// Whether what the output held is added: in f32, before the last rounding.
    fn adds_before(&self) -> bool {
        self.target.accumulate != self.knobs.wrong_role
    }
}

/// The last step of an epilogue that ends in `to`.
pub fn rounding_to(to: crate::model::ElementType) -> Step {
    Step::Round { to, rounding: Rounding::NearestEven, saturate: true }
}
