//! The probes of tier 0, which detect, fitted to a target.

use crate::model::{ElementType, Fill, OutFill, Padding, Probe, Role};

use super::inputs::Inputs;
use super::kind::Kind;
use super::proof::{Proof, proof};
use super::target::{Target, Tensor};

/// A probe with what is predicted from it.
#[derive(Debug, Clone)]
pub struct Rung {
    /// What it is for.
    pub kind: Kind,
    /// Which of its kind: a digit, or 16 · window + digit for maps.
    pub index: usize,
    /// What the executable runs.
    pub probe: Probe,
    /// The values.
    pub inputs: Inputs,
    /// Why exact comparison is allowed.
    pub proof: Proof,
    /// What sums are multiplied by, so that they are exact under an activation.
    pub gain: f64,
    /// Where digits begin.
    pub first: f64,
}

/// Rungs in order, and those whose exactness condition fails.
#[derive(Debug, Default)]
pub struct Rungs {
    /// To run.
    pub rungs: Vec<Rung>,
    /// Not run: name and proof.
    pub refused: Vec<(String, Proof)>,
}

/// Largest integer of a type up to which all integers are values of it.
pub(super) fn whole_numbers(element: ElementType) -> i64 {
    match element {
        ElementType::S8 => 127,
        ElementType::U8 => 255,
        ElementType::E4m3 | ElementType::Ue4m3 => 16,
        ElementType::E5m2 => 8,
        ElementType::E2m1 => 4,
        ElementType::F16 | ElementType::Tf32 => 2048,
        ElementType::F32 | ElementType::S32 => 1 << 24,
        ElementType::Bf16 | ElementType::Ue8m0 => 256,
    }
}

pub(super) fn signed(element: ElementType) -> bool {
    !matches!(element, ElementType::U8 | ElementType::Ue4m3 | ElementType::Ue8m0)
}

/// Builds rungs for one target.
pub struct Builder<'a> {
    pub(super) target: &'a Target,
    pub(super) seed: u64,
    pub(super) out: Rungs,
}

pub(super) type Fills = Vec<(Role, Fill)>;

pub(super) fn constant(value: f64) -> Fill {
    Fill::Constant { value }
}

pub(super) fn one_hot(stride: u64, offset: u64, value: f64) -> Fill {
    Fill::OneHot { stride, offset, value }
}

impl<'a> Builder<'a> {
    /// For `target`; random fills are drawn from `seed`.
    pub fn new(target: &'a Target, seed: u64) -> Self {
        Builder { target, seed, out: Rungs::default() }
    }

    pub(super) fn seed(&self, salt: u64) -> u64 {
        // Seeds of a plan stay below 2^32, and three apart for the pieces of a gaussian.
        (super::fill::hash(self.seed, salt, 0) >> 34) * 4
    }

    pub(super) fn add(&mut self, kind: Kind, index: usize, fills: Fills, padding: Padding, launches: u32) {
        self.add_gained(kind, index, (fills, 1.0), padding, launches);
    }

    /// The same with sums that are `gain` times as large.
    pub(super) fn add_gained(
        &mut self,
        kind: Kind,
        index: usize,
        (fills, gain): (Fills, f64),
        padding: Padding,
        launches: u32,
    ) {
        if let Some(rung) = self.built(kind, index, (fills, gain), padding, launches) {
            self.keep(rung);
        }
    }

    /// A rung, whether its sums are exact or not; none with a file.
    pub(super) fn built(
        &self,
        kind: Kind,
        index: usize,
        (fills, gain): (Fills, f64),
        padding: Padding,
        launches: u32,
    ) -> Option<Rung> {
        let out = match self.target {
            Target { accumulate: true, .. } => OutFill::Constant(1.0),
            Target { zeroed: true, .. } => OutFill::Constant(0.0),
            _ => OutFill::Sentinel,
        };
        // What a narrow type holds for unwritten is a value as well: only two launches with different ones tell.
        let narrow = self.target.out.bits() <= 8 && !self.target.out.has_spare_nan();
        let launches = if narrow && out == OutFill::Sentinel { launches.max(2) } else { launches };
        let name = if index == 0 { kind.name().to_owned() } else { format!("{}.{index}", kind.name()) };
        let probe = Probe { name, fills, padding, out, launches };
        let inputs = Inputs::new(self.target, &probe)?;
        let proof = proof(self.target, &inputs);
        let first = if self.target.gain() > 1.0 { self.target.gain() } else { 1.0 };
        Some(Rung { kind, index, probe, inputs, proof, gain, first })
    }

    /// Takes it to be run, or to be listed as refused.
    pub(super) fn keep(&mut self, rung: Rung) {
        if rung.proof.holds {
            self.out.rungs.push(rung);
        } else {
            self.out.refused.push((rung.probe.name, rung.proof));
        }
    }

    /// A power of two that brings sums of this size into the range of a narrow output, as a fill of alpha or scale_a.
    pub(super) fn shrink(&self, size: f64) -> Fills {
        let limit = match self.target.out {
            ElementType::S8 => 100.0,
            ElementType::U8 => 200.0,
            ElementType::E4m3 => 400.0,
            ElementType::E5m2 | ElementType::F16 => 30_000.0,
            _ => return vec![],
        };
        if size <= limit {
            return vec![];
        }
        let factor = constant(2_f64.powi(-((size / limit).log2().ceil() as i32)));
        if self.target.uses(Tensor::Alpha) {
            vec![(Role::Alpha, factor)]
        } else if self.target.uses(Tensor::ScaleA) {
            vec![(Role::ScaleA, factor)]
        } else {
            vec![]
        }
    }

    /// Where digits of an operand begin that is added to a sum of zero.
    fn first(&self) -> i64 {
        self.target.gain() as i64
    }

    /// The value of a constant or one-hot operand that lifts sums by the target's gain, and what else it takes.
    pub(super) fn lift(&self, role: Role) -> (f64, Fills) {
        let t = self.target;
        let gain = t.gain();
        let (side, scale) = if role == Role::A { (&t.a, Role::ScaleA) } else { (&t.b, Role::ScaleB) };
        match side.scale {
            _ if gain == 1.0 => (1.0, vec![]),
            Some(_) => (1.0, vec![(scale, constant(gain))]),
            None => (gain, vec![]),
        }
    }

    fn cover(&self, rows: usize, element: ElementType) -> u64 {
        let chunk = (128 / element.bits()).max(1) as usize;
        let mut width = chunk;
        while self.target.k.div_ceil(width) > rows {
            width *= 2;
        }
        width as u64
    }

    /// Tier 0: some twenty launches that detect, and measure what needs no map.
    pub fn tier0(mut self) -> Rungs {
        let t = self.target;
        let k = t.k as u64;
        let gain = t.gain();
        let with = |mut fills: Fills, more: Fills| {
            fills.extend(more);
            fills
        };
        let zero = || vec![(Role::A, constant(0.0)), (Role::B, constant(0.0))];
        let hot = super::fill::hash(self.seed, 99, 0) % k;
        let (high_a, lift_a) = self.lift(Role::A);
        let (high_b, lift_b) = self.lift(Role::B);
        let ones = || vec![(Role::A, constant(1.0)), (Role::B, constant(1.0))];
        let unit = || {
            let fills = vec![(Role::A, one_hot(0, hot, high_a)), (Role::B, one_hot(0, hot, 1.0))];
            with(fills, lift_a.clone())
        };
        let repeat = with(vec![(Role::A, constant(high_a)), (Role::B, one_hot(1, hot, 1.0))], lift_a.clone());
        self.add_gained(Kind::Repeat, 0, (repeat, gain), Padding::Zero, 4);
        self.add(Kind::Zero, 0, zero(), Padding::Zero, 2);
        if t.uses(Tensor::Bias) {
            for digit in 0..2 {
                let fill = Fill::ColumnDigits { base: 100, digit, first: self.first() };
                self.add(Kind::Bias, digit as usize, with(zero(), vec![(Role::Bias, fill)]), Padding::Zero, 1);
            }
        }
        if t.uses(Tensor::Residual) {
            let elements = (t.m() * t.n()) as u64;
            let digits = (1..8).find(|digits| 100_u64.pow(*digits) >= elements).unwrap_or(8);
            for digit in 0..digits {
                let fill = Fill::Address { base: 100, digit, pitch: t.n() as u64, first: self.first() };
                self.add(Kind::Residual, digit as usize, with(zero(), vec![(Role::Residual, fill)]), Padding::Zero, 1);
            }
        }
        let small = self.shrink(t.k as f64);
        self.add(Kind::Ones, 0, with(ones(), small.clone()), Padding::Zero, 2);
        self.add(Kind::PoisonedOnes, 0, with(ones(), small), Padding::Poison, 1);
        let width = self.cover(t.m(), t.a.element);
        let fills = with(vec![(Role::A, Fill::Blocks { width }), (Role::B, constant(high_b))], lift_b);
        self.add_gained(Kind::CoverA, 0, (with(fills, self.shrink(width as f64)), gain), Padding::Zero, 1);
        let width = self.cover(t.b.rows, t.b.element);
        let fills = with(vec![(Role::A, constant(high_a)), (Role::B, Fill::Blocks { width })], lift_a.clone());
        self.add_gained(Kind::CoverB, 0, (with(fills, self.shrink(width as f64)), gain), Padding::Zero, 1);
        for digit in 0..2 {
            let fill = Fill::RowDigits { base: 100, digit, first: 1 };
            let at = digit as usize;
            if t.uses(Tensor::ScaleA) {
                let fills = with(unit(), vec![(Role::ScaleA, fill.clone())]);
                self.add_gained(Kind::ScaleA, at, (fills, gain), Padding::Zero, 1);
            }
            if t.uses(Tensor::ScaleB) {
                self.add_gained(Kind::ScaleB, at, (with(unit(), vec![(Role::ScaleB, fill)]), gain), Padding::Zero, 1);
            }
        }
        // Only what the kernel takes can be filled.
        if t.uses(Tensor::Alpha) {
            let fill = if t.alpha_of_group { Fill::RowDigits { base: 100, digit: 0, first: 4 } } else { constant(4.0) };
            self.add_gained(Kind::Alpha, 0, (with(unit(), vec![(Role::Alpha, fill)]), gain), Padding::Zero, 1);
        }
        if t.uses(Tensor::Beta) {
            let fills =
                vec![(Role::Beta, constant(4.0)), (Role::Residual, constant(24.0)), (Role::Bias, constant(40.0))];
            let fills = fills.into_iter().filter(|(role, _)| self.has(*role)).collect();
            self.add(Kind::Beta, 0, with(unit(), fills), Padding::Zero, 1);
        }
        let order = vec![
            (Role::Alpha, constant(4.0)),
            (Role::Beta, constant(2.0)),
            (Role::Bias, constant(3.0)),
            (Role::Residual, constant(5.0)),
            (Role::ZeroPoint, constant(0.0)),
        ];
        let mut order: Fills = order.into_iter().filter(|(role, _)| self.has(*role)).collect();
        if t.uses(Tensor::ScaleA) {
            order.push((Role::ScaleA, constant(2.0)));
        }
        if t.uses(Tensor::ScaleB) {
            order.push((Role::ScaleB, constant(0.5)));
        }
        self.add(Kind::Order, 0, with(unit(), order), Padding::Zero, 1);
        self.activations(hot);
        if t.has_zero_point() {
            let fills = with(unit(), vec![(Role::ZeroPoint, constant(4.0))]);
            self.add_gained(Kind::ZeroPoint, 0, (fills, gain), Padding::Zero, 1);
        }
        self.codes(hot);
        self.accumulator();
        self.rounding(hot);
        if matches!(t.out, ElementType::S8 | ElementType::E4m3 | ElementType::E5m2) && signed(t.b.element) {
            let fills = vec![(Role::A, constant(2.0)), (Role::B, Fill::RowDigits { base: 3, digit: 0, first: -1 })];
            self.add(Kind::Saturate, 0, fills, Padding::Zero, 1);
        }
        self.random(Kind::Random, (3, 3), Padding::Zero, (-1, 2), 100);
        self.random(Kind::RandomPoisoned, (3, 4), Padding::Poison, (-1, 2), 200);
        let large = if t.a.element == ElementType::S8 { 100 } else { 15 };
        self.random(Kind::RandomLarge, (large, large), Padding::Zero, (-1, 2), 300);
        self.scales();
        if t.a.element == ElementType::F16 && t.b.element == ElementType::F16 {
            // Neighbouring powers of f16 lie 2^8 apart as bf16.
            for (index, varied) in [Role::A, Role::B].into_iter().enumerate() {
                let of = |role, salt| (role, if role == varied { self.powers(0, 1, salt) } else { constant(1.0) });
                let mut fills = vec![of(Role::A, 450), of(Role::B, 451)];
                fills.extend(self.random_epilogue(460, 0).0);
                self.add(Kind::RandomPowers, index, fills, Padding::Zero, 2);
            }
        }
        self.out
    }

    fn has(&self, role: Role) -> bool {
        let t = self.target;
        match role {
            Role::Alpha => t.uses(Tensor::Alpha),
            Role::Beta => t.uses(Tensor::Beta),
            Role::Bias => t.uses(Tensor::Bias),
            Role::Residual => t.uses(Tensor::Residual),
            Role::ZeroPoint => t.has_zero_point(),
            _ => false,
        }
    }
}
