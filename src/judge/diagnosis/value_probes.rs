//! The probes of tier 0 that look at values: activations, codes, the accumulator's width, the last rounding.

use crate::model::{ElementType, Fill, Padding, Role};

use super::kind::Kind;
use super::probes::{Builder, constant, one_hot, signed, whole_numbers};
use super::target::{Side, Tensor};

impl Builder<'_> {
    /// Sums below zero, and sums on the curve, whose digits make every argument different.
    pub(super) fn activations(&mut self, hot: u64) {
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

    pub(super) fn codes(&mut self, hot: u64) {
        let t = self.target;
        let fill = |element: ElementType, seed: u64| match element {
            ElementType::E4m3 | ElementType::E5m2 => Fill::Gaussian { seed, scale: 8.0 },
            ElementType::E2m1 | ElementType::S8 | ElementType::U8 => Fill::Codes { step: 37 },
            _ => Fill::Integers { low: -255, high: 255, seed },
        };
        let (a, b) = (fill(t.a.element, self.seed(50)), fill(t.b.element, self.seed(54)));
        self.add(Kind::CodesA, 0, vec![(Role::A, a), (Role::B, one_hot(1, hot, 1.0))], Padding::Zero, 1);
        self.add(Kind::CodesB, 0, vec![(Role::A, one_hot(1, hot, 1.0)), (Role::B, b)], Padding::Zero, 1);
        for (index, fill) in self.far_codes(&t.a).into_iter().enumerate() {
            self.add(Kind::CodesA, 1 + index, vec![(Role::A, fill), (Role::B, one_hot(1, hot, 1.0))], Padding::Zero, 1);
        }
        for (index, fill) in self.far_codes(&t.b).into_iter().enumerate() {
            self.add(Kind::CodesB, 1 + index, vec![(Role::A, one_hot(1, hot, 1.0)), (Role::B, fill)], Padding::Zero, 1);
        }
    }

    /// The codes that a bell of values leaves out: subnormal ones and the largest. A narrow accumulator holds a part of them at a time.
    fn far_codes(&self, side: &Side) -> Vec<Fill> {
        let powers = |(index, (low, high)): (usize, &(i64, i64))| self.powers(*low, *high, 56 + index as u64);
        let parts: &[(i64, i64)] = match side.element {
            _ if self.target.gate.is_some() || self.target.out.bits() < 16 => &[],
            ElementType::E4m3 if self.target.accumulator_bits >= 24 => return vec![Fill::Codes { step: 37 }],
            ElementType::E4m3 => &[(-9, 0), (0, 8)],
            ElementType::E5m2 => &[(-16, -6), (-6, 5), (5, 15)],
            _ => &[],
        };
        parts.iter().enumerate().map(powers).collect()
    }

    pub(super) fn accumulator(&mut self) {
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

    pub(super) fn rounding(&mut self, hot: u64) {
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
