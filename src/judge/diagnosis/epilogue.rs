//! From accumulator to output, step by step in f32, as the contract lists them or as a fault changes them.

use super::format::{self, Rounding};
use super::inputs::Inputs;
use super::knobs::Knobs;
use super::target::{Index, Step, Target, Tensor};

/// The steps for one probe.
pub(super) struct Epilogue<'a> {
    target: &'a Target,
    inputs: &'a Inputs,
    steps: &'a [Step],
    knobs: &'a Knobs,
}

fn single(x: f64) -> f64 {
    f64::from(x as f32)
}

impl<'a> Epilogue<'a> {
    pub(super) fn new(target: &'a Target, inputs: &'a Inputs, knobs: &'a Knobs) -> Self {
        let steps = knobs.epilogue.as_ref().map_or(target.epilogue.as_slice(), |steps| steps.as_slice());
        Epilogue { target, inputs, steps, knobs }
    }

    fn operand(&self, tensor: Tensor, index: &Index, r: usize, q: usize) -> f64 {
        let t = self.target;
        let (m, n) = (t.m(), t.n());
        let (r, q) = (r.min(m - 1), q.min(n - 1));
        let shift = |i: usize, by: i64, count: usize| (i as i64 + by).clamp(0, count as i64 - 1) as usize;
        let along = |own: usize, other: usize, tile: usize, count: usize| match index {
            Index::Own => own,
            Index::Other => other.min(count - 1),
            Index::TileLocal => own % tile,
            Index::TileBase => own / tile * tile,
            Index::Shift(by) | Index::Past(by) => shift(own, *by, count),
            Index::Map(map) => map[r * n + q].min(count - 1),
        };
        let i = self.inputs;
        if let Index::Past(by) = index
            && let Some(value) = self.past(tensor, *by, r, q)
        {
            return value;
        }
        match tensor {
            Tensor::Alpha => i.alpha,
            Tensor::Bias => i.bias[along(q, r, t.b.tile, n)],
            Tensor::ScaleB => i.column_scale[along(q, r, t.b.tile, n)],
            Tensor::ScaleA => i.row_scale[along(r, q, t.a.tile, m)],
            Tensor::Residual => match index {
                Index::Own => i.residual[r * n + q],
                Index::Other => i.residual[q.min(m - 1) * n + r.min(n - 1)],
                Index::TileLocal => i.residual[(r % t.a.tile) * n + q % t.b.tile],
                Index::TileBase => i.residual[(r / t.a.tile * t.a.tile) * n + q],
                Index::Shift(by) | Index::Past(by) => i.residual[shift(r, *by, m) * n + q],
                Index::Map(map) => i.residual[map[r * n + q].min(m * n - 1)],
            },
        }
    }

    /// What lies beyond the end of a tensor, where an index leaves it.
    fn past(&self, tensor: Tensor, by: i64, r: usize, q: usize) -> Option<f64> {
        let (own, count) = match tensor {
            Tensor::Bias | Tensor::ScaleB => (q, self.target.n()),
            Tensor::ScaleA | Tensor::Residual => (r, self.target.m()),
            Tensor::Alpha => return None,
        };
        let outside = !(0..count as i64).contains(&(own as i64 + by));
        let padding = if self.inputs.poisoned { format::poison(self.target.type_of(tensor)) } else { 0.0 };
        outside.then_some(padding)
    }

    /// The value that is stored for the sum at (r, q).
    pub(super) fn value(&self, sum: f64, r: usize, q: usize) -> f64 {
        let mut v = sum * self.knobs.accumulator_factor.unwrap_or(1.0);
        let n = self.target.n();
        let last = self.steps.len().saturating_sub(1);
        for (index, step) in self.steps.iter().enumerate() {
            if index == last
                && let Some(factors) = &self.knobs.out_factor
            {
                v *= factors.get(r * n + q).copied().unwrap_or(1.0);
            }
            v = match step {
                Step::Round { to, rounding, saturate } => {
                    let x = if index == last && self.adds_before() { single(v + self.inputs.before) } else { v };
                    format::convert(*to, x, *rounding, *saturate)
                }
                Step::Add { tensor, index, factor } => single(single(v) + self.operand(*tensor, index, r, q) * factor),
                Step::Multiply { tensor, index, power } => {
                    let x = self.operand(*tensor, index, r, q);
                    let mut v = single(v);
                    for _ in 0..power.unsigned_abs() {
                        v = single(if *power > 0 { v * x } else { v / x });
                    }
                    v
                }
                Step::ZeroPoint { factor } => {
                    single(v - factor * self.inputs.zero_point * self.inputs.column_sum[q.min(n - 1)])
                }
                Step::Relu => {
                    if v > 0.0 || v.is_nan() {
                        v
                    } else {
                        0.0
                    }
                }
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
