//! The simulated epilogue: f32 arithmetic, one fragment value after the other.

use crate::judge::diagnosis::format::{self, Rounding};
use crate::judge::diagnosis::inputs::Inputs;
use crate::judge::diagnosis::target::{Step, Tensor};
use crate::model::ElementType;

use super::defects::Defect as D;
use super::device::Device;

/// One tile's epilogue.
pub(super) struct Context<'a> {
    pub(super) device: &'a Device,
    pub(super) inputs: &'a Inputs,
    pub(super) sums: &'a [f64],
    pub(super) tile: (usize, usize),
}

impl Context<'_> {
    fn has(&self, defect: D) -> bool {
        self.device.has(defect).is_some()
    }

    /// The value stored for the sum at position `i` of the tile.
    pub(super) fn value(&self, sum: f64, i: usize) -> f64 {
        let t = &self.device.target;
        let (local_m, local_n) = (i / t.b.tile, i % t.b.tile);
        let m = (self.tile.0 * t.a.tile + local_m).min(t.m() - 1);
        let n = (self.tile.1 * t.b.tile + local_n).min(t.n() - 1);
        let steps = self.device.steps_of_contract();
        let mut v = sum;
        let integer = t.accumulator_bits == 31;
        if !integer {
            v = f64::from(v as f32);
        }
        let bias_early = self.has(D::BiasEarly);
        let first_multiply = steps.iter().position(|s| matches!(s, Step::Multiply { .. }));
        let first_add = steps.iter().position(|s| matches!(s, Step::Add { tensor: Tensor::Bias, .. }));
        for (at, step) in steps.iter().enumerate() {
            if bias_early && Some(at) == first_multiply {
                v = f64::from(v as f32 + self.bias(m, n, local_n) as f32);
            }
            if self.has(D::ReluEarly) && Some(at) == first_add {
                v = v.max(0.0);
            }
            v = match step {
                Step::ZeroPoint { .. } => f64::from(self.zero_point(v, n) as f32),
                Step::Multiply { tensor: Tensor::Alpha, .. } => self.alpha(v),
                Step::Multiply { tensor, .. } => self.vector(v, *tensor, m, n),
                Step::Add { tensor: Tensor::Bias, .. } if bias_early => v,
                Step::Add { tensor: Tensor::Bias, .. } => {
                    self.extra_rounding(v, at) + f64::from(self.bias(m, n, local_n) as f32)
                }
                Step::Add { .. } => self.extra_rounding(v, at) + self.residual(m, n, (local_m, local_n)),
                Step::Relu if self.has(D::ReluEarly) || self.has(D::ReluMissing) => v,
                Step::Relu if v.is_nan() => v,
                Step::Relu => v.max(0.0),
                Step::Round { .. } if at + 1 == steps.len() => return self.last(v, n, local_n),
                Step::Round { to, .. } if !self.has(D::RoundingLeftOut) => {
                    format::convert(*to, f64::from(v as f32), Rounding::NearestEven, true)
                }
                Step::Round { .. } => v,
            };
            v = f64::from(v as f32);
        }
        v
    }

    fn extra_rounding(&self, v: f64, at: usize) -> f64 {
        let steps = self.device.steps_of_contract();
        let last = steps.iter().rposition(|s| matches!(s, Step::Add { .. }));
        if self.has(D::RoundingAdded) && last == Some(at) {
            return format::convert(self.device.target.out, v, Rounding::NearestEven, true);
        }
        f64::from(v as f32)
    }

    fn zero_point(&self, v: f64, n: usize) -> f64 {
        let mut whole = self.inputs.zero_point * self.sums[n];
        if self.has(D::ZeroPointHalfK) {
            whole *= 0.5;
        }
        if self.has(D::ZeroPointSign) {
            return v + whole;
        }
        if self.has(D::ZeroPointMissing) {
            return v;
        }
        if self.has(D::ZeroPointTwice) {
            return v - 2.0 * whole;
        }
        v - whole
    }

    fn alpha(&self, v: f64) -> f64 {
        let alpha = self.inputs.alpha as f32;
        let x = v as f32;
        f64::from(if self.has(D::AlphaMissing) {
            x
        } else if self.has(D::AlphaInverted) {
            x / alpha
        } else if self.has(D::AlphaTwice) {
            x * alpha * alpha
        } else if self.has(D::AlphaThrice) {
            x * alpha * alpha * alpha
        } else {
            x * alpha
        })
    }

    fn vector(&self, v: f64, tensor: Tensor, m: usize, n: usize) -> f64 {
        let t = &self.device.target;
        let (rows, columns) = (t.m(), t.n());
        let x = v as f32;
        let swapped = self.has(D::ScalesSwapped);
        if tensor == Tensor::ScaleA {
            let index = if swapped || self.has(D::TokenScaleOnN) {
                n.min(rows - 1)
            } else if self.has(D::TokenScaleNext) {
                (m + 1).min(rows - 1)
            } else if self.has(D::TokenScalePrevious) {
                m.saturating_sub(1)
            } else if self.has(D::TokenScalePerTile) {
                m / t.a.tile * t.a.tile
            } else {
                m
            };
            let scale = self.inputs.row_scale[index] as f32;
            if self.has(D::TokenScaleMissing) {
                return v;
            }
            return f64::from(if self.has(D::TokenScaleSquared) { x * scale * scale } else { x * scale });
        }
        if self.has(D::ChannelScaleMissing) {
            return v;
        }
        let index = if swapped || self.has(D::ChannelScaleOnM) {
            m.min(columns - 1)
        } else if self.has(D::ChannelScaleNext) {
            (n + 1).min(columns - 1)
        } else {
            n
        };
        f64::from(x * self.inputs.column_scale[index] as f32)
    }

    fn bias(&self, m: usize, n: usize, local_n: usize) -> f64 {
        let t = &self.device.target;
        let last = t.n() - 1;
        let index = if self.has(D::BiasAxis) {
            m.min(last)
        } else if self.has(D::BiasTileLocal) {
            local_n
        } else if self.has(D::BiasNext) {
            (n + 1).min(last)
        } else if self.has(D::BiasRotated) {
            (n * 7 + 3) % t.n()
        } else {
            n
        };
        let mut bias = self.inputs.bias[index];
        if self.has(D::BiasMissing) {
            bias = 0.0;
        }
        if self.has(D::BiasTwice) {
            bias *= 2.0;
        }
        if self.has(D::BiasTimesScale) {
            bias *= self.inputs.row_scale[m];
        }
        if self.has(D::AlphaOnBias) {
            bias *= self.inputs.alpha;
        }
        bias
    }

    fn residual(&self, m: usize, n: usize, (local_m, local_n): (usize, usize)) -> f64 {
        let t = &self.device.target;
        let (rows, columns) = (t.m(), t.n());
        let at = |r: usize, c: usize| self.inputs.residual[r * columns + c];
        let x = if self.has(D::ResidualTransposed) {
            at(n.min(rows - 1), m.min(columns - 1))
        } else if self.has(D::ResidualTileLocal) {
            at(local_m.min(rows - 1), local_n)
        } else if self.has(D::ResidualNextRow) {
            at((m + 1).min(rows - 1), n)
        } else {
            at(m, n)
        };
        if self.has(D::ResidualMissing) {
            0.0
        } else if self.has(D::ResidualTwice) {
            2.0 * x
        } else {
            x
        }
    }

    fn last(&self, v: f64, n: usize, local_n: usize) -> f64 {
        let t = &self.device.target;
        let mut v = if t.out == ElementType::S32 { v } else { f64::from(v as f32) };
        if self.has(D::ColumnSevenDoubled) && n % 8 == 7 && local_n < t.b.tile {
            v *= 2.0;
        }
        if t.accumulate && !self.has(D::Overwritten) {
            v = f64::from((v + self.inputs.before) as f32);
        }
        if self.has(D::DoubleRounding) {
            let through = if t.out == ElementType::Bf16 { ElementType::F16 } else { ElementType::Bf16 };
            v = format::convert(through, v, Rounding::NearestEven, true);
        }
        let rounding = if self.has(D::RoundTowardZero) {
            Rounding::TowardZero
        } else if self.has(D::RoundAway) {
            Rounding::NearestAway
        } else {
            Rounding::NearestEven
        };
        self.device.to_output(v, rounding, !self.has(D::NoSaturation))
    }
}
