//! The probes of tier 0, which detect, fitted to a target.

use crate::model::{ElementType, Fill, OutFill, Padding, Probe, Role};

use super::format;
use super::inputs::Inputs;
use super::kind::Kind;
use super::proof::{Proof, proof};
use super::target::{Side, Target, Tensor};

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

fn signed(element: ElementType) -> bool {
    !matches!(element, ElementType::U8 | ElementType::Ue4m3 | ElementType::Ue8m0)
}

/// Builds rungs for one target.
pub struct Builder<'a> {
    pub(super) target: &'a Target,
    seed: u64,
    pub(super) out: Rungs,
}

type Fills = Vec<(Role, Fill)>;

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

    fn seed(&self, salt: u64) -> u64 {
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
        let out = match self.target {
            Target { accumulate: true, .. } => OutFill::Constant(1.0),
            Target { zeroed: true, .. } => OutFill::Constant(0.0),
            _ => OutFill::Sentinel,
        };
        let name = if index == 0 { kind.name().to_owned() } else { format!("{}.{index}", kind.name()) };
        let probe = Probe { name: name.clone(), fills, padding, out, launches };
        let Some(inputs) = Inputs::new(self.target, &probe) else { return };
        let proof = proof(self.target, &inputs);
        if proof.holds {
            let first = if self.target.gain() > 1.0 { self.target.gain() } else { 1.0 };
            self.out.rungs.push(Rung { kind, index, probe, inputs, proof, gain, first });
        } else {
            self.out.refused.push((name, proof));
        }
    }

    /// A power of two that brings sums of this size into the range of a narrow output, as a fill of alpha or scale_a.
    fn shrink(&self, size: f64) -> Fills {
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

    fn integers(&self, side: &Side, size: i64, salt: u64) -> Fill {
        let size = size.min(whole_numbers(side.element));
        let low = if signed(side.element) { -size } else { 0 };
        Fill::Integers { low, high: size, seed: self.seed(salt) }
    }

    pub(super) fn powers(&self, low: i64, high: i64, salt: u64) -> Fill {
        Fill::Powers { low, high, seed: self.seed(salt) }
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

    /// How far random sums are lifted, as a power of two, so that they are beyond the curve of an activation.
    fn raised(&self) -> i64 {
        match self.target.out {
            _ if self.target.gain() == 1.0 => 0,
            // A product of two sums leaves its range.
            ElementType::F16 if self.target.gate.is_some() => -4,
            // Integers make sums that leave it too, when their codes are read with another sign.
            ElementType::F16 if self.target.a.element.significant_bits().is_none() => 0,
            ElementType::F16 => 7,
            _ => 9,
        }
    }

    /// Random values for all operands of the epilogue, scales powers of two; with them, whether they lift the sums.
    fn random_epilogue(&self, salt: u64, down: i32) -> (Fills, bool) {
        let t = self.target;
        let draw = super::fill::hash(self.seed, salt, 1);
        let mut fills = Vec::new();
        let raised = self.raised();
        let mut lifted = raised == 0;
        if t.uses(Tensor::ScaleA) {
            let up = if lifted { 0 } else { raised + 1 };
            lifted = true;
            fills.push((Role::ScaleA, self.powers(up - 1, up + 2, salt + 10)));
        }
        if t.uses(Tensor::ScaleB) {
            fills.push((Role::ScaleB, self.powers(-1, 2, salt + 11)));
        }
        if t.uses(Tensor::Alpha) {
            let alpha = [0.5, 2.0, 4.0][(draw % 3) as usize];
            let up = if lifted { 0 } else { raised as i32 + 1 };
            lifted = true;
            let fill = if t.alpha_of_group {
                self.powers(i64::from(up - down) - 1, i64::from(up - down) + 2, salt + 16)
            } else {
                constant(alpha * 2_f64.powi(up - down))
            };
            fills.push((Role::Alpha, fill));
        }
        if t.uses(Tensor::Beta) {
            fills.push((Role::Beta, constant([0.5, 2.0, 4.0][(draw >> 24) as usize % 3])));
        }
        if t.uses(Tensor::Bias) {
            let fill = if raised > 0 {
                self.powers(7, if t.out == ElementType::F16 { 10 } else { 14 }, salt + 12)
            } else {
                let size = if raised < 0 { 4 } else { 40 };
                Fill::Integers { low: -size, high: size, seed: self.seed(salt + 12) }
            };
            fills.push((Role::Bias, fill));
        }
        if t.uses(Tensor::Residual) {
            fills.push((Role::Residual, Fill::Integers { low: -40, high: 40, seed: self.seed(salt + 13) }));
        }
        if t.has_zero_point() {
            let size = 1 + (draw >> 8) % 8;
            let sign = if draw >> 16 & 1 == 0 { 1.0 } else { -1.0 };
            fills.push((Role::ZeroPoint, constant(sign * size as f64)));
        }
        (fills, lifted)
    }

    fn random_scales(&self, salt: u64, low: i64, high: i64) -> Fills {
        let mut fills = Vec::new();
        for (role, side, salt) in [(Role::ScaleA, &self.target.a, salt + 14), (Role::ScaleB, &self.target.b, salt + 15)]
        {
            if side.scale.is_some() {
                fills.push((role, self.powers(low, high, salt)));
            }
        }
        fills
    }

    fn random(&mut self, kind: Kind, sizes: (i64, i64), padding: Padding, scales: (i64, i64), salt: u64) {
        let t = self.target;
        let spread = (sizes.0.min(whole_numbers(t.a.element)) * sizes.1.min(whole_numbers(t.b.element))) as f64 / 2.0
            * (t.k as f64).sqrt()
            * 2_f64.powi(scales.1 as i32 * 2 * i32::from(t.a.scale.is_some()));
        let down = match self.shrink(spread * 4.0).first() {
            Some((_, Fill::Constant { value })) => -value.log2() as i32,
            _ => 0,
        };
        let sizes = if self.raised() < 0 { (1, 1) } else { sizes };
        let (a, b) = (self.integers(&t.a, sizes.0, salt), self.integers(&t.b, sizes.1, salt + 1));
        let mut fills = vec![(Role::A, a), (Role::B, b)];
        let (more, lifted) = self.random_epilogue(salt, down);
        fills.extend(more);
        let up = if lifted || t.a.scale.is_none() { 0 } else { self.raised() / 2 + 1 };
        fills.extend(self.random_scales(salt, scales.0 + up, scales.1 + up));
        if !lifted && self.raised() > 0 && t.a.scale.is_none() && t.b.scale.is_none() {
            // One operand has signs, the other the size.
            let top = (whole_numbers(ElementType::F16) as f64).min(format::largest(t.b.element)).log2().floor() as i64;
            let up = self.raised().min(top - 1);
            let (index, side) = if kind == Kind::RandomLarge { (0, &t.b) } else { (1, &t.a) };
            fills[index].1 = self.powers(up, up + 1, salt + 17);
            fills[1 - index].1 = self.integers(side, sizes.0.min(sizes.1).min(3), salt + 18);
        }
        self.add(kind, 0, fills, padding, 2);
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

    /// Block scales whose codes stay exact when they are read as another type's: at the far end of the range, and for UE4M3, where
    /// neighbouring powers lie 2^8 apart as UE8M0, in one operand at a time.
    fn scales(&mut self) {
        let scale = |side: &Side| side.scale.map(|s| s.element);
        match scale(&self.target.a).or(scale(&self.target.b)) {
            None => {}
            Some(ElementType::Ue4m3) => {
                for index in 0..2 {
                    let fills = |salt, varied| if varied { self.powers(7, 8, salt) } else { constant(256.0) };
                    let scales = vec![(Role::ScaleA, fills(414, index == 0)), (Role::ScaleB, fills(415, index == 1))];
                    let (a, b) = (self.integers(&self.target.a, 3, 400), self.integers(&self.target.b, 3, 401));
                    let mut all = vec![(Role::A, a), (Role::B, b)];
                    all.extend(self.random_epilogue(400, 0).0);
                    all.extend(scales.into_iter().filter(|(role, _)| {
                        let side = if *role == Role::ScaleA { &self.target.a } else { &self.target.b };
                        side.scale.is_some()
                    }));
                    self.add(Kind::RandomScales, index, all, Padding::Zero, 2);
                }
            }
            Some(_) => self.random(Kind::RandomScales, (3, 3), Padding::Zero, (-7, -1), 400),
        }
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

    /// Sums below zero, and sums on the curve, whose digits make every argument different.
    fn activations(&mut self, hot: u64) {
        let t = self.target;
        if t.activations().next().is_none() {
            return;
        }
        let curved = t.gain() > 1.0;
        let (below, lift) = if curved { self.lift(Role::A) } else { (1.0, vec![]) };
        // An operand without a sign has no sum below zero.
        let below = if signed(t.a.element) { -2.0 * below } else { 1.0 };
        let mut fills = vec![(Role::A, one_hot(0, hot, below)), (Role::B, one_hot(0, hot, 1.0))];
        if curved {
            // -4 · 64: nothing is left of the curve.
            fills[1].1 = one_hot(0, hot, whole_numbers(t.b.element).min(4) as f64);
        }
        fills.extend(lift);
        if t.uses(Tensor::Bias) {
            fills.push((Role::Bias, Fill::ColumnDigits { base: 4, digit: 0, first: 1 }));
        }
        self.add(Kind::Activation, 0, fills, Padding::Zero, 1);
        if !curved {
            return;
        }
        for (index, reach) in [4.0, 8.0].into_iter().enumerate() {
            let size = whole_numbers(t.b.element).min(64);
            let step = match t.a.element.significant_bits() {
                Some(_) => (reach / size as f64).clamp(1.0 / 16.0, 2.0),
                None => 1.0,
            };
            let low = if signed(t.b.element) { -size } else { 0 };
            let b = Fill::Integers { low, high: size, seed: self.seed(80 + index as u64) };
            self.add(Kind::Curve, index, vec![(Role::A, one_hot(0, hot, step)), (Role::B, b)], Padding::Zero, 1);
        }
    }

    fn codes(&mut self, hot: u64) {
        let t = self.target;
        let fill = |element: ElementType, seed: u64| match element {
            ElementType::E4m3 | ElementType::E5m2 => Fill::Gaussian { seed, scale: 8.0 },
            ElementType::E2m1 | ElementType::S8 | ElementType::U8 => Fill::Codes { step: 37 },
            _ => Fill::Integers { low: -255, high: 255, seed },
        };
        let (a, b) = (fill(t.a.element, self.seed(50)), fill(t.b.element, self.seed(54)));
        self.add(Kind::CodesA, 0, vec![(Role::A, a), (Role::B, one_hot(1, hot, 1.0))], Padding::Zero, 1);
        self.add(Kind::CodesB, 0, vec![(Role::A, one_hot(1, hot, 1.0)), (Role::B, b)], Padding::Zero, 1);
    }

    fn accumulator(&mut self) {
        let t = self.target;
        let window = t.promote.unwrap_or(t.k).min(t.k) as f64;
        let room = (2_f64.powi(t.accumulator_bits.min(24) as i32) / window).sqrt().floor() as i64;
        let size = room.min(whole_numbers(t.a.element)).min(whole_numbers(t.b.element)).min(255);
        if size < 1 {
            return;
        }
        let low = (size / 2).max(size - 3).max(1);
        let draw = |seed| Fill::Integers { low, high: size, seed };
        let mut fills = vec![(Role::A, draw(self.seed(60))), (Role::B, draw(self.seed(61)))];
        fills.extend(self.shrink((size * size) as f64 * t.k as f64));
        self.add(Kind::Accumulator, 0, fills.clone(), Padding::Zero, 1);
        // Signs cancel: a small sum after large partial ones shows lost bits in any output.
        if signed(t.b.element) && signed(t.a.element) {
            fills[0].1 = Fill::Integers { low: -size, high: size, seed: self.seed(62) };
            self.add(Kind::Accumulator, 1, fills, Padding::Zero, 1);
        }
    }

    fn rounding(&mut self, hot: u64) {
        let t = self.target;
        let Some(bits) = t.out.significant_bits().filter(|bits| *bits < 24) else { return };
        let factor = if t.uses(Tensor::Alpha) {
            Some(Role::Alpha)
        } else if t.uses(Tensor::ScaleA) {
            Some(Role::ScaleA)
        } else {
            None
        };
        let size = whole_numbers(t.a.element).min((1 << bits) - 1).min(255);
        let a = Fill::Integers { low: if signed(t.a.element) { -size } else { 0 }, high: size, seed: self.seed(70) };
        match factor {
            Some(role) => {
                for (index, part) in [0.25, 0.5, 0.75, 1.5].into_iter().enumerate() {
                    let alpha = 1.0 + part * 2_f64.powi(1 - bits as i32);
                    let fills = vec![(Role::A, a.clone()), (Role::B, one_hot(1, hot, 1.0)), (role, constant(alpha))];
                    self.add(Kind::Round, index, fills, Padding::Zero, 1);
                }
            }
            None => {
                let value = whole_numbers(t.b.element).min(255);
                for (index, value) in [value, value - 1].into_iter().enumerate() {
                    let a = Fill::Integers {
                        low: if signed(t.a.element) { -255 } else { 0 },
                        high: 255,
                        seed: self.seed(70),
                    };
                    let fills = vec![(Role::A, a), (Role::B, one_hot(1, hot, value as f64))];
                    self.add(Kind::Round, index, fills, Padding::Zero, 1);
                }
            }
        }
    }
}
