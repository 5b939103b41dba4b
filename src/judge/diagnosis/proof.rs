//! Whether every partial sum of a probe is exact, whatever the order: computed from the values, never assumed.

use crate::model::ElementType;

use super::inputs::Inputs;
use super::target::{Side, Target};
use super::values::{Size, lowest_bit};

/// The condition and its figures: bound / 2^unit ≤ 2^bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proof {
    /// Every product is a multiple of 2^unit.
    pub unit: i32,
    /// No partial sum exceeds this.
    pub bound: f64,
    /// Significant bits of the accumulator.
    pub bits: u32,
    /// The largest k for which values of this size stay exact.
    pub largest_k: u64,
    /// Whether the condition holds.
    pub holds: bool,
}

impl Proof {
    /// Whether the condition still holds for sums that are `growth` times as large.
    pub fn holds_for(&self, growth: f64) -> bool {
        self.bound * growth <= 2_f64.powi(self.bits as i32 + self.unit)
    }
}

/// Sizes of an operand with its block scales multiplied in.
fn scaled(size: Size, scales: &[f64]) -> Size {
    let finite = || scales.iter().map(|s| s.abs()).filter(|s| *s > 0.0);
    let high = finite().reduce(f64::max).unwrap_or(1.0);
    let low = finite().map(lowest_bit).min().unwrap_or(0);
    Size { unit: size.unit.saturating_add(low), largest: size.largest * high, row: size.row * high, count: size.count }
}

/// Size of rows of `depth` values as the multiplier sees them; a row that is not finite needs no proof.
pub(super) fn seen(values: &[f64], depth: usize) -> Size {
    let finite = values.chunks(depth.max(1)).filter(|row| row.iter().all(|x| x.is_finite()));
    Size::of(finite.map(|row| row.iter().copied()))
}

fn sum_bound(a: &Size, b: &Size) -> f64 {
    (a.row * b.largest).min(b.row * a.largest).min(a.largest * b.largest * a.count.min(b.count) as f64)
}

/// The proof for one probe.
pub fn proof(target: &Target, inputs: &Inputs) -> Proof {
    let (bare_a, bare_b) = (inputs.a.size(), inputs.b.size());
    let (a, b) = (scaled(bare_a, &inputs.a_scale), scaled(bare_b, &inputs.b_scale));
    // Factors of whole windows are applied outside the multiplier, when a window is added to the f32 sum.
    let outside = |side: &Side| side.scale.is_none_or(|s| target.promote.is_some_and(|window| s.k_block >= window));
    if target.promote.is_some() && outside(&target.a) && outside(&target.b) {
        let inner = window(&bare_a, &bare_b, target);
        let outer = 2_f64.powi(24 + a.unit.saturating_add(b.unit).min(900));
        return Proof { holds: inner.holds && sum_bound(&a, &b) <= outer, ..inner };
    }
    window(&a, &b, target)
}

/// Bits that additions of splits hold, where they are narrow and may come in any order.
fn narrow_bits(target: &Target) -> u32 {
    let splits = &target.splits;
    let bits = |element: ElementType| element.significant_bits().unwrap_or(31);
    let narrow = splits.is_narrow() && splits.any_order;
    if narrow {
        bits(splits.partial).min(bits(splits.sum)).min(target.accumulator_bits)
    } else {
        target.accumulator_bits
    }
}

/// The proof for the multiplier alone.
pub(super) fn window(a: &Size, b: &Size, target: &Target) -> Proof {
    if a.largest == 0.0 || b.largest == 0.0 {
        return Proof { unit: 0, bound: 0.0, bits: target.accumulator_bits, largest_k: u64::MAX, holds: true };
    }
    let unit = a.unit + b.unit;
    let step = 2_f64.powi(unit);
    let product = a.largest * b.largest;
    let whole = sum_bound(a, b);
    let (bound, outer) = match target.promote {
        Some(window) => (whole.min(product * window as f64), whole <= 2_f64.powi(24) * step),
        None => (whole, true),
    };
    let bits = narrow_bits(target);
    let room = 2_f64.powi(bits as i32) * step;
    Proof {
        unit,
        bound,
        bits,
        largest_k: (room / product).min(1e18) as u64,
        holds: bound <= room && outer && whole <= largest_part(target),
    }
}

/// Sums of splits that overflow show nothing.
fn largest_part(target: &Target) -> f64 {
    let splits = &target.splits;
    let f16 = [splits.partial, splits.sum].contains(&ElementType::F16);
    if (splits.count > 1 && f16) || target.accumulator_bits == 11 { 65_504.0 } else { f64::INFINITY }
}
