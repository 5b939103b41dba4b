//! The probes of tier 0 whose operands are random: no parameter of a hypothesis is fitted to them.

use crate::model::{ElementType, Fill, Padding, Role};

use super::format;
use super::kind::Kind;
use super::probes::{Builder, Fills, Rung, constant, one_hot, signed, whole_numbers};
use super::target::{Side, Tensor};

impl Builder<'_> {
    pub(super) fn integers(&self, side: &Side, size: i64, salt: u64) -> Fill {
        let size = size.min(whole_numbers(side.element));
        let low = if signed(side.element) { -size } else { 0 };
        Fill::Integers { low, high: size, seed: self.seed(salt) }
    }

    pub(super) fn powers(&self, low: i64, high: i64, salt: u64) -> Fill {
        Fill::Powers { low, high, seed: self.seed(salt) }
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
    pub(super) fn random_epilogue(&self, salt: u64, down: i32) -> (Fills, bool) {
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

    /// Random operands of everything, of these sizes, or of the first smaller ones whose sums are exact.
    pub(super) fn random(&mut self, kind: Kind, sizes: (i64, i64), padding: Padding, scales: (i64, i64), salt: u64) {
        let smaller = [(3, 1), (1, 1)].into_iter().filter(|small| kind != Kind::RandomLarge && *small < sizes);
        let mut tried = None;
        for (a, b) in std::iter::once(sizes).chain(smaller) {
            tried = self.drawn(kind, ((a, b), None), padding, scales, salt);
            if tried.as_ref().is_none_or(|rung| rung.proof.holds) {
                break;
            }
        }
        // Additions of narrow splits in any order hold the sum of few products alone.
        if tried.as_ref().is_some_and(|rung| !rung.proof.holds) && self.target.splits.is_narrow() {
            tried = self.drawn(kind, ((1, 3), Some(64)), padding, scales, salt).or(tried);
        }
        if let Some(rung) = tried {
            self.keep(rung);
        }
    }

    fn drawn(
        &self,
        kind: Kind,
        (sizes, width): ((i64, i64), Option<u64>),
        padding: Padding,
        scales: (i64, i64),
        salt: u64,
    ) -> Option<Rung> {
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
        if let Some(width) = width {
            fills[0].1 = Fill::Blocks { width };
        }
        self.built(kind, 0, (fills, 1.0), padding, 4)
    }

    /// Block scales whose codes stay exact when they are read as another type's: at the far end of the range, and for UE4M3, where
    /// neighbouring powers lie 2^8 apart as UE8M0, in one operand at a time.
    pub(super) fn scales(&mut self) {
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
        self.scale_codes();
    }

    /// Every code of a block scale, subnormal ones and the largest, through one product.
    fn scale_codes(&mut self) {
        let t = self.target;
        let hot = super::fill::hash(self.seed, 98, 0) % t.k as u64;
        for (index, (role, side)) in [(Role::ScaleA, &t.a), (Role::ScaleB, &t.b)].into_iter().enumerate() {
            if side.scale.is_some_and(|scale| scale.element == ElementType::Ue4m3) {
                let (varied, selected) = if index == 0 { (Role::A, Role::B) } else { (Role::B, Role::A) };
                let elements = self.integers(side, 3, 470 + index as u64);
                let fills =
                    vec![(varied, elements), (selected, one_hot(1, hot, 1.0)), (role, Fill::Codes { step: 37 })];
                self.add(Kind::RandomScales, 2 + index, fills, Padding::Zero, 1);
            }
        }
    }
}
