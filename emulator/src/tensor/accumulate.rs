//! How a tensor core adds: one product of tiles, bit for bit where silicon was measured.
//!
//! Per output and group of `group` products: every addend (the accumulator and each product) is cut toward zero to
//! `fraction` bits below the largest exponent among them, the cut addends are added exactly, and the sum is rounded once.
//! A product's exponent is the sum of its factors' exponents, not normalised. Measured on an H200 for wgmma bf16, f16 and
//! fp8; for other instructions it follows the published bit-accurate models.

/// The adder of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adder {
    /// Bits kept below the largest exponent (F).
    pub fraction: u32,
    /// Products that are added at once (KI).
    pub group: usize,
    /// What the sum becomes.
    pub rounding: Rounding,
}

/// How a group's sum becomes the next accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Single precision, toward zero.
    Single,
    /// Single precision of which 13 fraction bits exist, toward zero.
    Single13,
    /// Half precision, to nearest even.
    Half,
}

impl Adder {
    /// Half and bfloat16 operands since Hopper (wgmma, tcgen05, mma.sync).
    pub const F16: Adder = Adder { fraction: 25, group: 16, rounding: Rounding::Single };
    /// tf32 operands since Hopper.
    pub const TF32: Adder = Adder { fraction: 25, group: 8, rounding: Rounding::Single };
    /// 8-bit float operands of Hopper's wgmma.
    pub const HOPPER_F8: Adder = Adder { fraction: 13, group: 32, rounding: Rounding::Single13 };
    /// Operands of 8 bits and fewer since Blackwell.
    pub const BLACKWELL_F8: Adder = Adder { fraction: 25, group: 32, rounding: Rounding::Single };
    /// Half and bfloat16 operands of mma.sync before Hopper.
    pub const AMPERE_F16: Adder = Adder { fraction: 24, group: 8, rounding: Rounding::Single };

    /// The same adder with a half-precision accumulator.
    pub const fn to_half(self) -> Adder {
        Adder { rounding: Rounding::Half, ..self }
    }
}

/// A tile of operand values, with the exponent of each.
#[derive(Debug, Clone, Default)]
pub struct Tile {
    values: Vec<f32>,
    exponents: Vec<i32>,
}

/// Exponent of zero: never the largest, and an infinity times zero still counts as special.
const ZERO: i32 = -30_000;
/// Exponent of infinity and NaN: always the largest.
const SPECIAL: i32 = 100_000;

impl Tile {
    /// A tile of these values, whose format has `lowest` as its smallest normal exponent (-14 for half, -126 for bfloat16 and
    /// tf32, -6 for e4m3, -14 for e5m2): a subnormal value counts with that exponent.
    pub fn new(values: Vec<f32>, lowest: i32) -> Self {
        let exponents = values.iter().map(|&value| exponent(value, lowest)).collect();
        Tile { values, exponents }
    }

    /// The values.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

#[inline(always)]
fn exponent(value: f32, lowest: i32) -> i32 {
    let biased = (value.to_bits() >> 23 & 0xff) as i32;
    let finite = if value == 0.0 { ZERO } else { (biased - 127).max(lowest) };
    if biased == 0xff { SPECIAL } else { finite }
}

/// `accumulator[i][j] += Σ a[i][k] · b[k][j]`, all dense and row by row. `columns` is the width of `b` and the accumulator;
/// the depth is a multiple of the adder's group or less than it.
///
/// # Panics
///
/// When the lengths do not fit together.
pub fn multiply(adder: Adder, a: &Tile, b: &Tile, columns: usize, accumulator: &mut [f32]) {
    assert!(columns > 0 && accumulator.len().is_multiple_of(columns) && b.values.len().is_multiple_of(columns));
    let (rows, depth) = (accumulator.len() / columns, b.values.len() / columns);
    assert_eq!(a.values.len(), rows * depth);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as was just asked.
        #[allow(unsafe_code)]
        return unsafe { multiply_avx2(adder, a, b, columns, accumulator) };
    }
    multiply_any(adder, a, b, columns, accumulator);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn multiply_avx2(adder: Adder, a: &Tile, b: &Tile, columns: usize, accumulator: &mut [f32]) {
    multiply_any(adder, a, b, columns, accumulator);
}

#[inline(always)]
fn multiply_any(adder: Adder, a: &Tile, b: &Tile, columns: usize, accumulator: &mut [f32]) {
    // Columns worked on at once: their sums and exponents stay in registers.
    match columns {
        8 => in_strips::<8>(adder, a, b, columns, accumulator),
        _ => in_strips::<16>(adder, a, b, columns, accumulator),
    }
}

#[inline(always)]
fn in_strips<const W: usize>(adder: Adder, a: &Tile, b: &Tile, columns: usize, accumulator: &mut [f32]) {
    let depth = b.values.len() / columns;
    for (row, out) in accumulator.chunks_exact_mut(columns).enumerate() {
        for first in (0..depth).step_by(adder.group) {
            let group = first..depth.min(first + adder.group);
            let at = row * depth + group.start..row * depth + group.end;
            let left = (&a.values[at.clone()], &a.exponents[at]);
            let mut strips = out.chunks_exact_mut(W);
            let mut at = group.start * columns;
            for out in &mut strips {
                if let Ok(out) = <&mut [f32; W]>::try_from(out) {
                    add_group(adder, left, (&b.values[at..], &b.exponents[at..]), columns, out);
                }
                at += W;
            }
            let out = strips.into_remainder();
            if !out.is_empty() {
                add_short::<W>(adder, left, (&b.values[at..], &b.exponents[at..]), columns, out);
            }
        }
    }
}

/// Adds the products of one group to `W` outputs of a row. The operands are values and their exponents: of `a` the row, of
/// `b` from the strip's first column on, a row every `columns`.
#[inline(always)]
fn add_group<const W: usize>(
    adder: Adder,
    a: (&[f32], &[i32]),
    b: (&[f32], &[i32]),
    columns: usize,
    out: &mut [f32; W],
) {
    let mut largest = [0; W];
    for j in 0..W {
        largest[j] = exponent(out[j], -126);
    }
    for (row, &exponent) in b.1.chunks(columns).zip(a.1) {
        let Some(row) = row.first_chunk::<W>() else { return };
        for j in 0..W {
            largest[j] = largest[j].max(exponent + row[j]);
        }
    }
    // 2^(F - e_max); a power that no f64 has belongs to a zero sum or to a special value.
    let mut scale = [0.0; W];
    let mut sum = [0.0; W];
    for j in 0..W {
        scale[j] = power(adder.fraction as i32 - largest[j].clamp(-900, 900));
        sum[j] = (f64::from(out[j]) * scale[j]).trunc();
    }
    for (row, &value) in b.0.chunks(columns).zip(a.0) {
        let Some(row) = row.first_chunk::<W>() else { return };
        for j in 0..W {
            sum[j] += (f64::from(value) * f64::from(row[j]) * scale[j]).trunc();
        }
    }
    let before = *out;
    for j in 0..W {
        sum[j] *= power(largest[j].clamp(-900, 900) - adder.fraction as i32);
    }
    match adder.rounding {
        Rounding::Single => (0..W).for_each(|j| out[j] = toward_zero(sum[j])),
        Rounding::Single13 => (0..W).for_each(|j| out[j] = f32::from_bits(toward_zero(sum[j]).to_bits() & !0x3ff)),
        Rounding::Half => (0..W).for_each(|j| out[j] = half::f16::from_f64(sum[j]).to_f32()),
    }
    if largest.iter().any(|&largest| largest > SPECIAL / 2) {
        for j in (0..W).filter(|&j| largest[j] > SPECIAL / 2) {
            out[j] = special(a.0, b.0, columns, j, before[j]);
        }
    }
}

/// The last columns of a row, fewer than a strip.
#[inline(always)]
fn add_short<const W: usize>(adder: Adder, a: (&[f32], &[i32]), b: (&[f32], &[i32]), columns: usize, out: &mut [f32]) {
    let (depth, width) = (a.0.len(), out.len());
    let mut values = vec![0.0; depth * W];
    let mut exponents = vec![ZERO; depth * W];
    for k in 0..depth {
        let (from, to) = (k * columns..k * columns + width, k * W..k * W + width);
        values[to.clone()].copy_from_slice(&b.0[from.clone()]);
        exponents[to].copy_from_slice(&b.1[from]);
    }
    let mut padded = [0.0; W];
    padded[..width].copy_from_slice(out);
    add_group(adder, a, (&values, &exponents), W, &mut padded);
    out.copy_from_slice(&padded[..width]);
}

/// 2^n for n of a normal f64.
#[inline(always)]
pub(super) fn power(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// A sum with an infinity or a NaN in it.
#[cold]
fn special(a: &[f32], b: &[f32], columns: usize, j: usize, c: f32) -> f32 {
    let products = a.iter().enumerate().map(|(k, &value)| value * b[k * columns + j]);
    match products.fold(c, |sum, product| sum + product) {
        nan if nan.is_nan() => f32::from_bits(0x7fff_ffff),
        sum if sum.is_infinite() => sum,
        // The infinity was multiplied by zero, which the fold has seen as a NaN; anything else is finite overflow.
        sum => sum,
    }
}

/// 2^128: an H200's tensor cores give infinity from here on, and cut everything below.
const OVERFLOW: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;

#[inline(always)]
pub(super) fn toward_zero(sum: f64) -> f32 {
    let nearest = sum as f32;
    let away = f64::from(nearest).abs() > sum.abs() && sum.abs() < OVERFLOW;
    f32::from_bits(nearest.to_bits() - u32::from(away))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BF16: i32 = -126;
    const E4M3: i32 = -6;

    /// One output of one instruction whose operands are 1 except for these products (as `a` against `b` = 1).
    fn one(adder: Adder, lowest: i32, products: &[f32], c: f32) -> f32 {
        let mut a = vec![0.0; adder.group];
        a[..products.len()].copy_from_slice(products);
        let b = vec![1.0; adder.group];
        let mut out = [c];
        multiply(adder, &Tile::new(a, lowest), &Tile::new(b, lowest), 1, &mut out);
        out[0]
    }

    fn two(power: i32) -> f32 {
        2f32.powi(power)
    }

    #[test]
    fn bf16_keeps_what_an_h200_keeps() {
        let adder = Adder::F16;
        assert_eq!(one(adder, BF16, &[1.0, two(-25), -1.0], 0.0), two(-25));
        assert_eq!(one(adder, BF16, &[1.0, two(-26), -1.0], 0.0), 0.0);
        assert_eq!(one(adder, BF16, &[two(-23)], 1.0), 1.0 + two(-23));
        assert_eq!(one(adder, BF16, &[two(-24)], 1.0), 1.0);
        assert_eq!(one(adder, BF16, &[1.0, -1.0], two(-25)), two(-25));
        assert_eq!(one(adder, BF16, &[1.0, -1.0], two(-26)), 0.0);
        assert_eq!(one(adder, BF16, &[], 1.0 + two(-23)), 1.0 + two(-23));
    }

    #[test]
    fn fp8_keeps_what_an_h200_keeps() {
        let adder = Adder::HOPPER_F8;
        // A product of 2^-j needs two factors: the operands of this helper are exact for any power of two.
        assert_eq!(one(adder, -100, &[1.0, two(-13), -1.0], 0.0), two(-13));
        assert_eq!(one(adder, -100, &[1.0, two(-14), -1.0], 0.0), 0.0);
        assert_eq!(one(adder, -100, &[two(-13)], 1.0), 1.0 + two(-13));
        assert_eq!(one(adder, -100, &[two(-14)], 1.0), 1.0);
        assert_eq!(one(adder, E4M3, &[], 1.0 + two(-13) + two(-14)), 1.0 + two(-13));
        assert_eq!(one(adder, E4M3, &[], 1.0 + two(-23)), 1.0);
    }

    #[test]
    fn all_ones_stick_where_an_h200_sticks() {
        let sum = |adder: Adder, k: usize| {
            let (a, b) = (Tile::new(vec![1.0; k], E4M3), Tile::new(vec![1.0; k], E4M3));
            let mut out = [0.0];
            multiply(adder, &a, &b, 1, &mut out);
            out[0]
        };
        assert_eq!(sum(Adder::HOPPER_F8, 16384), 16384.0);
        assert_eq!(sum(Adder::HOPPER_F8, 65536), 16384.0);
        assert_eq!(sum(Adder::F16, 65536), 65536.0);
    }

    #[test]
    fn special_values_come_through() {
        assert_eq!(one(Adder::F16, BF16, &[f32::INFINITY], 1.0), f32::INFINITY);
        assert!(one(Adder::F16, BF16, &[f32::INFINITY, f32::NEG_INFINITY], 1.0).is_nan());
        assert_eq!(one(Adder::F16, BF16, &[f32::NAN], 0.0).to_bits(), 0x7fff_ffff);
        assert_eq!(one(Adder::F16, BF16, &[1.0], f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert_eq!(one(Adder::F16, BF16, &[], 0.0), 0.0);
        let (a, b) = (Tile::new(vec![f32::INFINITY; 16], BF16), Tile::new(vec![0.0; 16], BF16));
        let mut out = [1.0];
        multiply(Adder::F16, &a, &b, 1, &mut out);
        assert!(out[0].is_nan());
    }

    #[test]
    fn a_half_accumulator_rounds_to_nearest() {
        let adder = Adder::F16.to_half();
        assert_eq!(one(adder, BF16, &[2049.0], 0.0), 2048.0);
        assert_eq!(one(adder, BF16, &[2048.0, 2.0, 1.0], 0.0), 2052.0);
    }

    /// The definition, one addend after the other in integers.
    fn reference(adder: Adder, a: &[f32], b: &[f32], c: f32, lowest: i32) -> f32 {
        let mut out = c;
        for (a, b) in a.chunks(adder.group).zip(b.chunks(adder.group)) {
            let addends: Vec<(f64, i32)> = std::iter::once((f64::from(out), exponent(out, -126)))
                .chain(
                    a.iter()
                        .zip(b)
                        .map(|(&a, &b)| (f64::from(a) * f64::from(b), exponent(a, lowest) + exponent(b, lowest))),
                )
                .filter(|(value, _)| *value != 0.0)
                .collect();
            let Some(largest) = addends.iter().map(|(_, exponent)| *exponent).max() else { continue };
            let unit = 2f64.powi(largest - adder.fraction as i32);
            let sum: i128 = addends.iter().map(|(value, _)| (value / unit).trunc() as i128).sum();
            out = toward_zero(sum as f64 * unit);
        }
        out
    }

    proptest! {
        #[test]
        fn strips_equal_the_definition(
            rows in 1usize..4, columns in 1usize..40, groups in 1usize..3, seed in any::<u64>(), wide in any::<bool>(),
        ) {
            let adder = Adder::F16;
            let depth = groups * adder.group;
            let mut state = seed | 1;
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let bits = (state >> 33) as u32;
                let spread = if wide { bits % 40 } else { bits % 4 };
                let magnitude = f32::from_bits((107 + spread) << 23 | (bits >> 8 & 0x7f) << 16);
                if bits & 0x8000 != 0 { 0.0 } else if bits & 0x4000 != 0 { -magnitude } else { magnitude }
            };
            let a: Vec<f32> = (0..rows * depth).map(|_| next()).collect();
            let b: Vec<f32> = (0..depth * columns).map(|_| next()).collect();
            let c: Vec<f32> = (0..rows * columns).map(|_| next()).collect();
            let mut out = c.clone();
            multiply(adder, &Tile::new(a.clone(), BF16), &Tile::new(b.clone(), BF16), columns, &mut out);
            for i in 0..rows {
                for j in 0..columns {
                    let column: Vec<f32> = (0..depth).map(|k| b[k * columns + j]).collect();
                    let expected = reference(adder, &a[i * depth..(i + 1) * depth], &column, c[i * columns + j], BF16);
                    prop_assert_eq!(out[i * columns + j].to_bits(), expected.to_bits());
                }
            }
        }
    }
}
