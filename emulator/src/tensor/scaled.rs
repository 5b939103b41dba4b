//! Products of block-scaled operands.
//!
//! After the published bit-accurate models: 32 products along K are single addends, each with the exponents of its factors
//! and of both scales, 25 bits below the largest; 64 products are summed exactly in groups of 16 and each sum, times the
//! significands of its scales, is an addend with the exponents of the scales alone, 35 bits below the largest. Nothing of
//! this has been compared with silicon here.

use super::accumulate::{power, toward_zero};
use super::format::E4M3;

/// A scale factor: significand and exponent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    significand: f64,
    exponent: i32,
}

impl Scale {
    /// From a UE8M0 code.
    pub fn power(code: u8) -> Scale {
        Scale { significand: if code == 0xff { f64::NAN } else { 1.0 }, exponent: i32::from(code) - 127 }
    }

    /// From a UE4M3 code; the sign bit is not looked at.
    pub fn ue4m3(code: u8) -> Scale {
        let exponent = i32::from(code >> 3 & 15).max(1) - 7;
        Scale { significand: f64::from(E4M3.decode(code & 0x7f)) / 2f64.powi(exponent), exponent }
    }

    /// Its value.
    pub fn value(self) -> f32 {
        (self.significand * 2f64.powi(self.exponent)) as f32
    }
}

/// An operand line by line (rows of A, columns of B).
#[derive(Debug, Clone, Copy)]
pub struct Scaled<'a> {
    /// The values.
    pub values: &'a [f32],
    /// Exponent that subnormal values count with.
    pub lowest: i32,
    /// The scales, as many a line as there are blocks along K.
    pub scales: &'a [Scale],
}

/// Exponent that a zero counts with.
const ZERO: i32 = -126;

struct Addends {
    /// Values, without what is in the exponent beside them.
    list: Vec<(f64, i32, i32)>,
}

impl Addends {
    /// `value` times 2^`shift`, which counts with `exponent` among the others.
    fn push(&mut self, value: f64, shift: i32, exponent: i32) {
        self.list.push((value, shift, if value == 0.0 { ZERO } else { exponent }));
    }

    /// The sum, cut `fraction` bits below the largest exponent.
    fn sum(&self, fraction: i32) -> f32 {
        let largest = self.list.iter().map(|a| a.2).max().unwrap_or(ZERO);
        let cut = |&(value, shift, _): &(f64, i32, i32)| {
            (value * power((shift + fraction - largest).clamp(-1000, 1000))).trunc()
        };
        let sum: f64 = self.list.iter().map(cut).sum();
        toward_zero(sum * power(largest - fraction))
    }
}

fn exponent(value: f32, lowest: i32) -> i32 {
    ((value.to_bits() >> 23 & 0xff) as i32 - 127).max(lowest)
}

/// `sums[i][j] += Σ a[i][k] · b[j][k]` with every factor times its scale. `depth` is 32 or 64.
pub fn multiply(depth: usize, a: Scaled, b: Scaled, sums: &mut [f32]) {
    let (rows, columns) = (a.values.len() / depth, b.values.len() / depth);
    let blocks = a.scales.len() / rows.max(1);
    let block = depth / blocks.max(1);
    let mut addends = Addends { list: Vec::with_capacity(depth + 1) };
    for (i, out) in sums.chunks_exact_mut(columns).enumerate() {
        let left = &a.values[i * depth..][..depth];
        for (j, out) in out.iter_mut().enumerate() {
            let right = &b.values[j * depth..][..depth];
            let products = left.iter().zip(right).map(|(&x, &y)| f64::from(x) * f64::from(y));
            let scale = |k: usize| (a.scales[i * blocks + k / block], b.scales[j * blocks + k / block]);
            let significands = |k: usize| scale(k).0.significand * scale(k).1.significand;
            let shift = |k: usize| scale(k).0.exponent + scale(k).1.exponent;
            let everything: f64 = products.clone().enumerate().map(|(k, product)| product * significands(k)).sum();
            if !everything.is_finite() || !out.is_finite() {
                let sum = everything + f64::from(*out);
                *out = if sum.is_nan() { f32::from_bits(0x7fff_ffff) } else { sum as f32 };
                continue;
            }
            addends.list.clear();
            addends.push(f64::from(*out), 0, exponent(*out, -126));
            if depth == 64 {
                let exact: Vec<f64> = products.collect();
                for (group, products) in exact.chunks(16).enumerate() {
                    let k = 16 * group;
                    addends.push(products.iter().sum::<f64>() * significands(k), shift(k), shift(k));
                }
                *out = addends.sum(35);
            } else {
                for (k, product) in products.enumerate() {
                    let factors = exponent(left[k], a.lowest) + exponent(right[k], b.lowest);
                    addends.push(product * significands(k), shift(k), factors + shift(k));
                }
                *out = addends.sum(25);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_the_values_of_their_formats() {
        assert_eq!(Scale::power(127).value(), 1.0);
        assert_eq!(Scale::power(0).value(), 2f32.powi(-127));
        assert!(Scale::power(255).value().is_nan());
        for code in 0..=255u8 {
            let wanted = E4M3.decode(code & 0x7f);
            let got = Scale::ue4m3(code).value();
            assert!(got == wanted || got.is_nan() && wanted.is_nan(), "{code:#x}");
        }
    }

    #[test]
    fn scaled_sums_are_those_of_the_scaled_values() {
        for (depth, blocks) in [(32, 1), (64, 2), (64, 4)] {
            let a: Vec<f32> = (0..2 * depth).map(|i| (i % 7) as f32 - 3.0).collect();
            let b: Vec<f32> = (0..3 * depth).map(|i| (i % 5) as f32 - 2.0).collect();
            let scale = |count: usize| (0..count).map(|i| Scale::power(125 + (i % 5) as u8)).collect::<Vec<_>>();
            let (sa, sb) = (scale(2 * blocks), scale(3 * blocks));
            let mut sums = vec![0.5; 6];
            let of = |values, scales| Scaled { values, lowest: 0, scales };
            multiply(depth, of(&a, &sa), of(&b, &sb), &mut sums);
            for (i, got) in sums.into_iter().enumerate() {
                let (row, column) = (i / 3, i % 3);
                let factor = |k: usize| {
                    let block = k * blocks / depth;
                    sa[row * blocks + block].value() * sb[column * blocks + block].value()
                };
                let wanted: f32 = (0..depth).map(|k| a[row * depth + k] * b[column * depth + k] * factor(k)).sum();
                assert_eq!(got, wanted + 0.5, "{depth} {blocks} {i}");
            }
        }
    }

    #[test]
    fn small_products_are_cut_unless_their_group_is_summed_exactly() {
        let one = |depth: usize| {
            let (mut a, mut b) = (vec![0.0; depth], vec![0.0; depth]);
            let small = 2f32.powi(-13);
            a[..3].copy_from_slice(&[1.0, small, -1.0]);
            b[..3].copy_from_slice(&[1.0, small, 1.0]);
            let scales = vec![Scale::power(127); (depth / 32).max(1)];
            let mut sums = [0.0];
            let of = |values| Scaled { values, lowest: -126, scales: &scales };
            multiply(depth, of(&a), of(&b), &mut sums);
            sums[0]
        };
        assert_eq!(one(32), 0.0);
        assert_eq!(one(64), 2f32.powi(-26));
    }

    #[test]
    fn a_scale_that_is_nan_makes_nan() {
        let (a, nan, one) = ([0.0; 32], [Scale::power(255)], [Scale::power(127)]);
        let mut sums = [1.0];
        let of = |values, scales| Scaled { values, lowest: 0, scales };
        multiply(32, of(&a, &nan), of(&a, &one), &mut sums);
        assert_eq!(sums[0].to_bits(), 0x7fff_ffff);
    }
}
