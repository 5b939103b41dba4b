//! The probes of tier 0, which detect, fitted to a target.

use crate::model::{ElementType, Fill, OutFill, Padding, Probe, Role};

use super::inputs::Inputs;
use super::kind::Kind;
use super::proof::{Proof, proof};
use super::target::{Side, Step, Target, Tensor};

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
        let out = if self.target.accumulate { OutFill::Constant(1.0) } else { OutFill::Sentinel };
        let name = if index == 0 { kind.name().to_owned() } else { format!("{}.{index}", kind.name()) };
        let probe = Probe { name: name.clone(), fills, padding, out, launches };
        let Some(inputs) = Inputs::new(self.target, &probe) else { return };
        let proof = proof(self.target, &inputs);
        if proof.holds {
            self.out.rungs.push(Rung { kind, index, probe, inputs, proof });
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

    /// Random values for all operands of the epilogue, scales powers of two.
    fn random_epilogue(&self, salt: u64, down: i32) -> Fills {
        let t = self.target;
        let draw = super::fill::hash(self.seed, salt, 1);
        let mut fills = Vec::new();
        if t.uses(Tensor::ScaleA) {
            fills.push((Role::ScaleA, self.powers(-1, 2, salt + 10)));
        }
        if t.uses(Tensor::ScaleB) {
            fills.push((Role::ScaleB, self.powers(-1, 2, salt + 11)));
        }
        if t.uses(Tensor::Alpha) {
            let alpha = [0.5, 2.0, 4.0][(draw % 3) as usize];
            fills.push((Role::Alpha, constant(alpha * 2_f64.powi(-down))));
        }
        if t.uses(Tensor::Bias) {
            fills.push((Role::Bias, Fill::Integers { low: -40, high: 40, seed: self.seed(salt + 12) }));
        }
        if t.uses(Tensor::Residual) {
            fills.push((Role::Residual, Fill::Integers { low: -40, high: 40, seed: self.seed(salt + 13) }));
        }
        if t.has_zero_point() {
            let size = 1 + (draw >> 8) % 8;
            let sign = if draw >> 16 & 1 == 0 { 1.0 } else { -1.0 };
            fills.push((Role::ZeroPoint, constant(sign * size as f64)));
        }
        fills
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
        let mut fills =
            vec![(Role::A, self.integers(&t.a, sizes.0, salt)), (Role::B, self.integers(&t.b, sizes.1, salt + 1))];
        fills.extend(self.random_epilogue(salt, down));
        fills.extend(self.random_scales(salt, scales.0, scales.1));
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
        let ones = || vec![(Role::A, constant(1.0)), (Role::B, constant(1.0))];
        let zero = || vec![(Role::A, constant(0.0)), (Role::B, constant(0.0))];
        let hot = super::fill::hash(self.seed, 99, 0) % k;
        let unit = |value: f64| vec![(Role::A, one_hot(0, hot, value)), (Role::B, one_hot(0, hot, 1.0))];
        let with = |mut fills: Fills, more: Fills| {
            fills.extend(more);
            fills
        };
        let repeat = vec![(Role::A, constant(1.0)), (Role::B, one_hot(1, hot, 1.0))];
        self.add(Kind::Repeat, 0, repeat, Padding::Zero, 4);
        self.add(Kind::Zero, 0, zero(), Padding::Zero, 2);
        if t.uses(Tensor::Bias) {
            for digit in 0..2 {
                let fill = Fill::ColumnDigits { base: 100, digit, first: 1 };
                self.add(Kind::Bias, digit as usize, with(zero(), vec![(Role::Bias, fill)]), Padding::Zero, 1);
            }
        }
        if t.uses(Tensor::Residual) {
            let elements = (t.m() * t.n()) as u64;
            let digits = (1..8).find(|digits| 100_u64.pow(*digits) >= elements).unwrap_or(8);
            for digit in 0..digits {
                let fill = Fill::Address { base: 100, digit, pitch: t.n() as u64, first: 1 };
                self.add(Kind::Residual, digit as usize, with(zero(), vec![(Role::Residual, fill)]), Padding::Zero, 1);
            }
        }
        let small = self.shrink(t.k as f64);
        self.add(Kind::Ones, 0, with(ones(), small.clone()), Padding::Zero, 2);
        self.add(Kind::PoisonedOnes, 0, with(ones(), small), Padding::Poison, 1);
        let width = self.cover(t.m(), t.a.element);
        let fills = vec![(Role::A, Fill::Blocks { width }), (Role::B, constant(1.0))];
        self.add(Kind::CoverA, 0, with(fills, self.shrink(width as f64)), Padding::Zero, 1);
        let width = self.cover(t.n(), t.b.element);
        let fills = vec![(Role::A, constant(1.0)), (Role::B, Fill::Blocks { width })];
        self.add(Kind::CoverB, 0, with(fills, self.shrink(width as f64)), Padding::Zero, 1);
        for digit in 0..2 {
            let fill = Fill::RowDigits { base: 100, digit, first: 1 };
            if t.uses(Tensor::ScaleA) {
                self.add(
                    Kind::ScaleA,
                    digit as usize,
                    with(unit(1.0), vec![(Role::ScaleA, fill.clone())]),
                    Padding::Zero,
                    1,
                );
            }
            if t.uses(Tensor::ScaleB) {
                self.add(Kind::ScaleB, digit as usize, with(unit(1.0), vec![(Role::ScaleB, fill)]), Padding::Zero, 1);
            }
        }
        // Only what the kernel takes can be filled.
        if t.uses(Tensor::Alpha) {
            self.add(Kind::Alpha, 0, with(unit(1.0), vec![(Role::Alpha, constant(4.0))]), Padding::Zero, 1);
        }
        let order = vec![
            (Role::Alpha, constant(4.0)),
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
        self.add(Kind::Order, 0, with(unit(1.0), order), Padding::Zero, 1);
        if t.epilogue.contains(&Step::Relu) {
            let mut fills = if signed(t.a.element) { unit(-2.0) } else { unit(1.0) };
            if t.uses(Tensor::Bias) {
                fills.push((Role::Bias, Fill::ColumnDigits { base: 4, digit: 0, first: 1 }));
            }
            self.add(Kind::Activation, 0, fills, Padding::Zero, 1);
        }
        if t.has_zero_point() {
            self.add(Kind::ZeroPoint, 0, with(unit(1.0), vec![(Role::ZeroPoint, constant(4.0))]), Padding::Zero, 1);
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
                fills.extend(self.random_epilogue(460, 0));
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
                    all.extend(self.random_epilogue(400, 0));
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
            Role::Bias => t.uses(Tensor::Bias),
            Role::Residual => t.uses(Tensor::Residual),
            Role::ZeroPoint => t.has_zero_point(),
            _ => false,
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
