//! The epilogue: every single edit of the contract's list of steps.

use std::sync::Arc;

use crate::model::{ElementType, GatePairs, Stage};

use super::super::format::Rounding;
use super::super::function::Function;
use super::super::kind::Kind;
use super::super::knobs::Knobs;
use super::super::target::{Index, Step, Tensor};
use super::Dictionary;

const SCALARS: &[Kind] = &[Kind::Alpha, Kind::Order, Kind::ScaleA, Kind::ScaleB];
const ADDED: &[Kind] =
    &[Kind::Bias, Kind::Residual, Kind::Order, Kind::Activation, Kind::ScaleA, Kind::ScaleB, Kind::Random];
const SCALED: &[Kind] = &[Kind::Beta, Kind::Order, Kind::Residual, Kind::Bias, Kind::Random];
const CURVED: &[Kind] = &[
    Kind::Activation,
    Kind::Curve,
    Kind::Bias,
    Kind::Residual,
    Kind::Order,
    Kind::Ones,
    Kind::CoverA,
    Kind::CoverB,
    Kind::Random,
    Kind::RandomLarge,
];
const ZERO_POINT: &[Kind] = &[Kind::ZeroPoint];
const ROUNDED: &[Kind] = &[
    Kind::Round,
    Kind::Random,
    Kind::RandomLarge,
    Kind::Accumulator,
    Kind::Saturate,
    Kind::Ones,
    Kind::Alpha,
    Kind::Residual,
];

impl Dictionary<'_> {
    fn edit(
        &mut self,
        class: &'static str,
        cause: impl Into<String>,
        gate: &'static [Kind],
        edit: impl FnOnce(&mut Vec<Step>),
    ) {
        let mut steps = self.target.epilogue.clone();
        edit(&mut steps);
        if steps != self.target.epilogue {
            let knobs = Knobs { epilogue: Some(Arc::new(steps)), ..Knobs::default() };
            self.add(class, Stage::Epilogue, cause, knobs, gate);
        }
    }

    fn set(&mut self, class: &'static str, cause: impl Into<String>, gate: &'static [Kind], at: usize, step: Step) {
        self.edit(class, cause, gate, |steps| steps[at] = step);
    }

    pub(super) fn epilogue(&mut self) {
        for (at, step) in self.target.epilogue.iter().enumerate() {
            match step {
                Step::Add { tensor, by, .. } => self.added(at, *tensor, *by),
                Step::Multiply { tensor, .. } => self.multiplied(at, *tensor),
                Step::ZeroPoint { .. } => {
                    for (class, factor, cause) in [
                        ("ZERO_POINT_SIGN", -1.0, "the zero point is added instead of subtracted"),
                        ("ZERO_POINT_MISSING", 0.0, "the zero point is not subtracted"),
                        ("ZERO_POINT_TWICE", 2.0, "the zero point is subtracted twice"),
                    ] {
                        self.set(class, cause, ZERO_POINT, at, Step::ZeroPoint { factor });
                    }
                    let cause = "the zero point is read past its only element";
                    self.set("ZERO_POINT_INDEX", cause, ZERO_POINT, at, Step::ZeroPointPast);
                }
                Step::ZeroPointPast => {}
                Step::Activate(function) => self.activated(at, *function),
                Step::Gate { .. } => self.gated(at),
                Step::OnGate(_) => {}
                Step::Round { to, .. } => self.rounded(at, *to),
            }
        }
        self.swapped();
    }

    fn moved(&mut self, at: usize) {
        let last = self.target.epilogue.len() - 1;
        for to in (0..last).filter(|to| *to != at) {
            let cause = if to < at { "the activation comes too early" } else { "the activation comes too late" };
            self.edit("ACT_ORDER", format!("{cause}: as step {to} instead of {at}"), CURVED, |steps| {
                let step = steps.remove(at);
                steps.insert(to, step);
            });
        }
    }

    fn activated(&mut self, at: usize, function: Function) {
        self.edit("ACT_MISSING", "the activation is not applied", CURVED, |steps| {
            steps.remove(at);
        });
        self.moved(at);
        if function.is_curved() {
            self.edit("ACT_TWICE", "the activation is applied twice", CURVED, |steps| {
                steps.insert(at, Step::Activate(function));
            });
        }
        for other in Function::ACTIVATIONS.into_iter().filter(|other| *other != function) {
            let cause = format!("the activation is {} instead of {}", other.name(), function.name());
            self.set("ACT_KIND", cause, CURVED, at, Step::Activate(other));
        }
    }

    fn gated(&mut self, at: usize) {
        use Function::{GeluSigmoid, GeluTanh, Identity, One, Relu, Sigmoid, Silu};
        self.moved(at);
        for to in 0..at {
            let cause = format!("the gate's activation comes too early: as step {to} instead of {at}");
            self.edit("ACT_ORDER", cause, CURVED, |steps| {
                steps[at] = Step::Gate { gate: Identity, up: Identity };
                steps.insert(to, Step::OnGate(Silu));
            });
        }
        let mut set = |class, cause: String, gate, up| self.set(class, cause, CURVED, at, Step::Gate { gate, up });
        set("ACT_MISSING", "the gate is multiplied without its activation".to_owned(), Identity, Identity);
        for other in [Function::Gelu, GeluTanh, GeluSigmoid, Relu, Sigmoid] {
            set("ACT_KIND", format!("the gate's activation is {} instead of silu", other.name()), other, Identity);
        }
        set("GATE_ACT_BOTH", "gate and up both go through the activation".to_owned(), Silu, Silu);
        set("GATE_UP_MISSING", "silu(gate) is not multiplied by up".to_owned(), Silu, One);
        set("GATE_MISSING", "up is not multiplied by silu(gate)".to_owned(), One, Identity);
        let knobs = Knobs { gate_swapped: true, ..Knobs::default() };
        self.add("GATE_UP_SWAPPED", Stage::Epilogue, "gate and up are exchanged", knobs, CURVED);
        let pairs = match self.target.gate {
            Some(GatePairs::Halves) => GatePairs::Interleaved,
            _ => GatePairs::Halves,
        };
        let what = if pairs == GatePairs::Halves { "columns c and c + n" } else { "columns 2 c and 2 c + 1" };
        let knobs = Knobs { gate_pairs: Some(pairs), ..Knobs::default() };
        self.add("GATE_PAIRS_WRONG", Stage::Epilogue, format!("gate and up are taken from {what}"), knobs, CURVED);
    }

    /// beta · C: the scalar left out, applied to something else, or exchanged with alpha.
    fn beta(&mut self, at: usize, tensor: Tensor) {
        let add = |by| Step::Add { tensor, index: Index::Own, factor: 1.0, by };
        let multiply = Step::Multiply { tensor: Tensor::Beta, index: Index::Own, power: 1 };
        self.set("BETA_IGNORED", "C is added without beta", SCALED, at, add(None));
        self.set("BETA_TWICE", "beta is applied twice", SCALED, at, add(Some((Tensor::Beta, 2))));
        self.edit("BETA_ON_SUM", "beta multiplies the sum instead of C", SCALED, |steps| {
            steps[at] = add(None);
            steps.insert(at, multiply.clone());
        });
        self.edit("BETA_ON_ALL", "beta multiplies the sum and C", SCALED, |steps| {
            steps[at] = add(None);
            steps.insert(at + 1, multiply.clone());
        });
        let alpha = self.target.epilogue.iter().position(|s| matches!(s, Step::Multiply { tensor: Tensor::Alpha, .. }));
        if let Some(alpha) = alpha {
            self.edit("ALPHA_BETA_SWAPPED", "alpha and beta are exchanged", SCALED, |steps| {
                steps[alpha] = multiply.clone();
                steps[at] = add(Some((Tensor::Alpha, 1)));
            });
            self.edit("BETA_IGNORED", "C is multiplied by alpha instead of beta", SCALED, |steps| {
                steps[at] = add(Some((Tensor::Alpha, 1)));
            });
        }
    }

    fn added(&mut self, at: usize, tensor: Tensor, by: Option<(Tensor, i32)>) {
        let (missing, multiple, axis, tile, index, early) = if tensor == Tensor::Bias {
            ("BIAS_MISSING", "BIAS_MULTIPLE", "BIAS_WRONG_AXIS", "BIAS_TILE_LOCAL", "BIAS_INDEX", "BIAS_BEFORE_SCALE")
        } else {
            (
                "RESIDUAL_MISSING",
                "RESIDUAL_MULTIPLE",
                "RESIDUAL_TRANSPOSED",
                "RESIDUAL_TILE_LOCAL",
                "RESIDUAL_INDEX",
                "RESIDUAL_BEFORE_SCALE",
            )
        };
        let name = if tensor == Tensor::Bias { "bias" } else { "residual" };
        let step = |index, factor| Step::Add { tensor, index, factor, by };
        if by.is_some_and(|by| by.0 == Tensor::Beta) {
            self.beta(at, tensor);
        }
        self.set(missing, format!("{name} is not added"), ADDED, at, step(Index::Own, 0.0));
        let mut factors = vec![2.0, 3.0, -1.0];
        if self.target.splits.count > 3 {
            factors.push(self.target.splits.count as f64);
        }
        for factor in factors {
            self.set(multiple, format!("{name} is added {factor} times"), ADDED, at, step(Index::Own, factor));
        }
        self.set(axis, format!("{name} is indexed by the other axis"), ADDED, at, step(Index::Other, 1.0));
        self.set(tile, format!("{name} is indexed within the tile"), ADDED, at, step(Index::TileLocal, 1.0));
        for by in [-1, 1] {
            for shifted in [Index::Shift(by), Index::Past(by)] {
                self.set(index, format!("the index of {name} is off by {by}"), ADDED, at, step(shifted, 1.0));
            }
        }
        self.set(index, format!("{name} is that of the tile's first index"), ADDED, at, step(Index::TileBase, 1.0));
        for before in 0..at {
            let crossed = &self.target.epilogue[before..at];
            if crossed.iter().any(|s| matches!(s, Step::Multiply { .. })) {
                self.edit(early, format!("{name} is added before step {before}"), ADDED, |steps| {
                    let step = steps.remove(at);
                    steps.insert(before, step);
                });
            }
        }
    }

    fn multiplied(&mut self, at: usize, tensor: Tensor) {
        let step = |index, power| Step::Multiply { tensor, index, power };
        let (name, missing, twice, inverted) = match tensor {
            Tensor::ScaleA => ("scale_a", "TOKEN_SCALE_MISSING", "TOKEN_SCALE_TWICE", "TOKEN_SCALE_INVERTED"),
            Tensor::ScaleB => ("scale_b", "CHANNEL_SCALE_MISSING", "CHANNEL_SCALE_TWICE", "CHANNEL_SCALE_INVERTED"),
            _ => ("alpha", "ALPHA_MISSING", "ALPHA_TWICE", "ALPHA_INVERTED"),
        };
        self.set(missing, format!("{name} is not applied"), SCALARS, at, step(Index::Own, 0));
        self.set(twice, format!("{name} is applied twice"), SCALARS, at, step(Index::Own, 2));
        self.set(inverted, format!("{name} is divided by"), SCALARS, at, step(Index::Own, -1));
        let added = match tensor {
            Tensor::ScaleA => "TOKEN_SCALE_ADDED",
            Tensor::ScaleB => "CHANNEL_SCALE_ADDED",
            _ => "ALPHA_ADDED",
        };
        let sum = Step::Add { tensor, index: Index::Own, factor: 1.0, by: None };
        self.set(added, format!("{name} is added instead of multiplied by"), SCALARS, at, sum);
        if tensor == Tensor::Alpha {
            self.set("ALPHA_MULTIPLE", "alpha is applied three times", SCALARS, at, step(Index::Own, 3));
            if self.target.alpha_of_group {
                for by in [-1, 1] {
                    let cause = format!("the group's index into alpha is off by {by}");
                    self.set("ALPHA_INDEX", cause.clone(), SCALARS, at, step(Index::Shift(by), 1));
                    let turned = self.turned(by);
                    self.set(
                        "ALPHA_INDEX",
                        format!("{cause}, from one end to the other"),
                        SCALARS,
                        at,
                        step(turned, 1),
                    );
                }
                self.set("ALPHA_INDEX", "every group takes the first alpha", SCALARS, at, step(Index::TileLocal, 1));
            }
            return;
        }
        let (axis, off, tile) = if tensor == Tensor::ScaleA {
            ("TOKEN_SCALE_WRONG_DIM", "TOKEN_SCALE_OFF_BY_ONE", "TOKEN_SCALE_PER_TILE")
        } else {
            ("CHANNEL_SCALE_WRONG_DIM", "CHANNEL_SCALE_OFF_BY_ONE", "CHANNEL_SCALE_PER_TILE")
        };
        for index in [Index::Other, Index::OtherPast] {
            self.set(axis, format!("{name} is indexed by the other axis"), SCALARS, at, step(index, 1));
        }
        for by in [-1, 1] {
            for shifted in [Index::Shift(by), Index::Past(by)] {
                self.set(off, format!("the index of {name} is off by {by}"), SCALARS, at, step(shifted, 1));
            }
        }
        self.set(tile, format!("{name} is that of the tile's first index"), SCALARS, at, step(Index::TileBase, 1));
        self.set(tile, format!("{name} is indexed within the tile"), SCALARS, at, step(Index::TileLocal, 1));
    }

    /// The group `by` further for each element, the first behind the last.
    fn turned(&self, by: i64) -> Index {
        let t = self.target;
        let count = t.groups.as_ref().map_or(1, |groups| groups.len()) as i64;
        let of = |row: usize| (t.group(row).unwrap_or(0) as i64 + by).rem_euclid(count) as usize;
        Index::Map(Arc::new((0..t.m()).flat_map(|row| std::iter::repeat_n(of(row), t.n())).collect()))
    }

    fn rounded(&mut self, at: usize, to: ElementType) {
        let last = at + 1 == self.target.epilogue.len();
        let step = |rounding, saturate| Step::Round { to, rounding, saturate };
        if !last {
            self.edit(
                "ROUNDING_POINT_MISSING",
                format!("the rounding to {to} before the next step is left out"),
                ROUNDED,
                |steps| {
                    steps.remove(at);
                },
            );
            return;
        }
        self.set(
            "ROUNDING_MODE",
            format!("{to} is rounded toward zero"),
            ROUNDED,
            at,
            step(Rounding::TowardZero, true),
        );
        self.set(
            "ROUNDING_MODE",
            format!("{to} is rounded to nearest, ties away from zero"),
            ROUNDED,
            at,
            step(Rounding::NearestAway, true),
        );
        if matches!(to, ElementType::S8 | ElementType::U8 | ElementType::S32) {
            let cause = format!("{to} is rounded to nearest, ties upward, as floor(x + 0.5) does");
            self.set("ROUNDING_MODE", cause, ROUNDED, at, step(Rounding::NearestUp, true));
            let cause = format!("{to} is x + 0.5 cut toward zero, one too much for negative values");
            self.set("ROUNDING_MODE", cause, ROUNDED, at, step(Rounding::HalfThenCut, true));
        }
        if to == ElementType::S8 {
            let cause = "s8 is clamped at -127 instead of -128";
            self.edit("SATURATION_RANGE", cause, ROUNDED, |steps| {
                steps.insert(at, Step::Activate(Function::Symmetric))
            });
        }
        if matches!(to, ElementType::S8 | ElementType::U8 | ElementType::E4m3 | ElementType::E5m2) {
            self.set(
                "SATURATION_MISSING",
                format!("{to} is not clamped"),
                ROUNDED,
                at,
                step(Rounding::NearestEven, false),
            );
        }
        for through in [ElementType::Bf16, ElementType::F16] {
            if through != to {
                let round = Step::Round { to: through, rounding: Rounding::NearestEven, saturate: true };
                self.edit(
                    "DOUBLE_ROUNDING",
                    format!("the value goes through {through} before {to}"),
                    ROUNDED,
                    |steps| steps.insert(at, round),
                );
            }
        }
        if to.significant_bits().is_none() {
            return;
        }
        let rounds = |at: Option<&Step>| matches!(at, Some(Step::Round { .. }));
        for before in 0..at {
            let steps = &self.target.epilogue;
            if rounds(steps.get(before)) || (before > 0 && rounds(steps.get(before - 1))) {
                continue;
            }
            let round = Step::Round { to, rounding: Rounding::NearestEven, saturate: true };
            let cause = format!("the value is rounded to {to} before step {before} too");
            self.edit("ROUNDING_POINT_EXTRA", cause, ROUNDED, |steps| steps.insert(before, round));
        }
    }

    fn swapped(&mut self) {
        let t = self.target;
        let place =
            |wanted| t.epilogue.iter().position(|s| matches!(s, Step::Multiply { tensor, .. } if *tensor == wanted));
        if let (Some(a), Some(b)) = (place(Tensor::ScaleA), place(Tensor::ScaleB)) {
            let other = |tensor| Step::Multiply { tensor, index: Index::Other, power: 1 };
            self.edit("SCALES_SWAPPED", "scale_a and scale_b are exchanged", SCALARS, |steps| {
                steps[a] = other(Tensor::ScaleA);
                steps[b] = other(Tensor::ScaleB);
            });
        }
    }
}
