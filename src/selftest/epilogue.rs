//! The simulated epilogue: f32 arithmetic, one fragment value after the other.

use crate::judge::diagnosis::format::{self, Rounding};
use crate::judge::diagnosis::function::Function;
use crate::judge::diagnosis::inputs::Inputs;
use crate::judge::diagnosis::target::{Step, Tensor};
use crate::model::ElementType;

use super::defects::Defect as D;
use super::device::{Device, Place};

/// One tile's epilogue.
pub(super) struct Context<'a> {
    pub(super) device: &'a Device,
    pub(super) inputs: &'a Inputs,
    pub(super) sums: &'a [f64],
    pub(super) place: Place,
    /// Whether what the epilogue adds is added.
    pub(super) first: bool,
}

impl Context<'_> {
    fn has(&self, defect: D) -> bool {
        self.device.has(defect).is_some()
    }

    /// The value stored for the sum at position `i` of the tile; with a gate, for two sums.
    pub(super) fn value(&self, sum: f64, other: Option<f64>, i: usize) -> f64 {
        let t = &self.device.target;
        let (local_m, local_n) = (i / t.b.tile, i % t.b.tile);
        let m = (self.place.first + local_m).min(t.m() - 1);
        let n = (self.place.tile.1 * t.b.tile + local_n).min(t.n() - 1);
        let steps = self.device.steps_of_contract();
        let gate = steps.iter().position(|s| matches!(s, Step::Gate { .. }));
        let (Some(gate), Some(other)) = (gate, other) else {
            return self.run((0, steps.len()), sum, (m, n, n), (local_m, local_n), true);
        };
        // The columns of sums, as the bias is indexed.
        let column = |half| self.device.column_of_sums(n, half);
        let mut v = self.run((0, gate), sum, (m, n, column(0)), (local_m, local_n), true) as f32;
        let mut u = self.run((0, gate), other, (m, n, column(1)), (local_m, local_n), false) as f32;
        if !self.has(D::ActMissing) && !self.has(D::ActEarly) {
            v = self.activated(f64::from(v), Function::Silu) as f32;
        }
        if self.has(D::GateActsOnBoth) {
            u = self.activated(f64::from(u), Function::Silu) as f32;
        }
        let product = if self.has(D::GateUpMissing) { v } else { v * u };
        self.run((gate + 1, steps.len()), f64::from(product), (m, n, n), (local_m, local_n), true)
    }

    fn run(
        &self,
        (from, to): (usize, usize),
        sum: f64,
        (m, n, column): (usize, usize, usize),
        local: (usize, usize),
        of_gate: bool,
    ) -> f64 {
        let t = &self.device.target;
        let steps = self.device.steps_of_contract();
        let mut v = sum;
        if t.accumulator_bits != 31 || from > 0 {
            v = f64::from(v as f32);
        }
        let bias_early = self.has(D::BiasEarly);
        let first_multiply = steps.iter().position(|s| matches!(s, Step::Multiply { .. }));
        let first_add = steps.iter().position(|s| matches!(s, Step::Add { .. }));
        let last_add = steps.iter().rposition(|s| matches!(s, Step::Add { .. }));
        let act = steps.iter().find_map(|s| match s {
            Step::Activate(function) | Step::Gate { gate: function, .. } => Some(*function),
            _ => None,
        });
        for (at, step) in steps.iter().enumerate().take(to).skip(from) {
            if bias_early && Some(at) == first_multiply && self.first {
                v = f64::from(v as f32 + self.bias(m, column, local.1) as f32);
            }
            if self.has(D::ActEarly)
                && of_gate
                && Some(at) == first_add
                && let Some(function) = act
            {
                v = self.activated(v, function);
            }
            v = match step {
                Step::ZeroPoint { .. } => f64::from(self.zero_point(v, column) as f32),
                Step::Multiply { tensor: Tensor::Alpha, .. } => self.alpha(v),
                Step::Multiply { tensor, .. } => self.vector(v, *tensor, m, column),
                Step::Add { .. } if !self.first => v,
                Step::Add { tensor: Tensor::Bias, .. } if bias_early => v,
                Step::Add { tensor: Tensor::Bias, .. } => {
                    self.extra_rounding(v, at) + f64::from(self.bias(m, column, local.1) as f32)
                }
                Step::Add { by, .. } => self.with_residual(self.extra_rounding(v, at), by.is_some(), (m, n), local),
                Step::Activate(_) if self.has(D::ActEarly) || self.has(D::ActMissing) || self.has(D::ActLate) => v,
                Step::Activate(function) => {
                    let to = self.device.target.out;
                    let before = |v| format::convert(to, v, Rounding::NearestEven, true);
                    let v = if self.has(D::RoundingBeforeAct) { before(v) } else { v };
                    let once = self.activated(v, *function);
                    if self.has(D::ActTwice) { self.activated(once, *function) } else { once }
                }
                Step::Gate { .. } | Step::OnGate(_) | Step::ZeroPointPast => v,
                Step::Round { .. } if at + 1 == steps.len() => return self.last(v, n, local.1),
                Step::Round { to, .. } if !self.has(D::RoundingLeftOut) => {
                    format::convert(*to, f64::from(v as f32), Rounding::NearestEven, true)
                }
                Step::Round { .. } => v,
            };
            v = f64::from(v as f32);
            if self.has(D::ActLate)
                && Some(at) == last_add
                && let Some(function) = act
            {
                v = self.activated(v, function);
            }
        }
        v
    }

    /// An activation as kernels compute it: in f32, by formulas with errors of their own.
    fn activated(&self, v: f64, function: Function) -> f64 {
        let x = v as f32;
        let other = self.device.has(D::ActOther).map(|p| p.number as usize);
        let function = match other {
            None => function,
            Some(which) => {
                let others = Function::ACTIVATIONS.into_iter().filter(|f| f.is_curved() && *f != function);
                others.cycle().nth(which).unwrap_or(Function::Relu)
            }
        };
        let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
        let y = match function {
            Function::Relu if x.is_nan() => x,
            Function::Relu => x.max(0.0),
            Function::Silu => x * sigmoid(x),
            Function::GeluSigmoid => x * sigmoid(1.702 * x),
            Function::GeluTanh => {
                let inner = 0.797_884_6 * (x + 0.044_715 * x * x * x);
                // As short as the hardware's.
                let short = f32::from_bits(inner.tanh().to_bits() & 0xffff_f000);
                0.5 * x * (1.0 + short)
            }
            Function::Gelu => 0.5 * x * (1.0 + error_function(x * std::f32::consts::FRAC_1_SQRT_2)),
            _ => x,
        };
        f64::from(y)
    }

    /// v + beta · C.
    fn with_residual(&self, v: f64, scaled: bool, (m, n): (usize, usize), local: (usize, usize)) -> f64 {
        let (v, c) = (v as f32, self.residual(m, n, local) as f32);
        let beta = if scaled { self.inputs.beta as f32 } else { 1.0 };
        f64::from(if self.has(D::BetaIgnored) {
            v + c
        } else if self.has(D::BetaTwice) {
            v + beta * beta * c
        } else if self.has(D::BetaOnSum) {
            beta * v + c
        } else if self.has(D::BetaOnAll) {
            beta * (v + c)
        } else {
            v + beta * c
        })
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
        let mut whole = self.inputs.zero_point * self.sums[self.place.group * self.device.target.wide() + n];
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
        let group = self.place.group + usize::from(self.has(D::GroupAlphaNext));
        let alpha = self.inputs.alpha[group.min(self.inputs.alpha.len() - 1)] as f32;
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
        let (rows, columns) = (t.m(), t.wide());
        let base = self.place.group * columns;
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
        let scale = self.inputs.column_scale[base + index] as f32;
        f64::from(if self.has(D::ChannelScaleAdded) { x + scale } else { x * scale })
    }

    fn bias(&self, m: usize, n: usize, local_n: usize) -> f64 {
        let t = &self.device.target;
        let last = t.wide() - 1;
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
        let mut bias = self.inputs.bias[self.place.group * t.wide() + index];
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
            bias *= self.inputs.alpha[0];
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

/// erf after Abramowitz and Stegun 7.1.26, whose error is below 1.5e-7.
fn error_function(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let series = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6];
    let sum = series.iter().fold(0.0_f32, |sum, c| (sum + c) * t);
    let y = 1.0 - sum * (-x * x).exp();
    if x < 0.0 { -y } else { y }
}
