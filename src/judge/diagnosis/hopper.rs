//! The adder of Hopper's fp8 wgmma: what a sum that nothing promotes becomes.
//!
//! From MMA-Sim (arXiv 2511.10909) and measured on an H200: of 2^-j beside 1 and -1, products and accumulator keep j up to 13.

use crate::model::ElementType;

use super::format::cut;

/// Fraction bits below the largest exponent that each addend keeps, and the sum.
const FRACTION: i32 = 13;

/// Exponent of the smallest normal number of fp8 types: subnormal ones count with that exponent. None for other types.
pub fn lowest_exponent(element: ElementType) -> Option<i32> {
    match element {
        ElementType::E4m3 => Some(-6),
        ElementType::E5m2 => Some(-14),
        _ => None,
    }
}

fn exponent(value: f64, lowest: i32) -> i32 {
    ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(lowest)
}

/// `sum` and the products of one instruction: each is cut toward zero at 2^-13 of the largest exponent among them (that of a product is
/// the sum of its factors'), and the exact sum of what is left to 13 fraction bits.
pub fn add(sum: f64, a: &[f64], b: &[f64], lowest: (i32, i32)) -> f64 {
    let products = || a.iter().zip(b).map(|(x, y)| x * y);
    let exponents = a.iter().zip(b).filter(|(x, y)| **x != 0.0 && **y != 0.0);
    let exponents = exponents.map(|(x, y)| exponent(*x, lowest.0) + exponent(*y, lowest.1));
    let Some(largest) = exponents.chain((sum != 0.0).then(|| exponent(sum, -126))).max() else {
        return sum + products().sum::<f64>();
    };
    let unit = 2_f64.powi(largest - FRACTION);
    let total = (sum / unit).trunc() + products().map(|product| (product / unit).trunc()).sum::<f64>();
    if total.is_finite() { cut(total * unit, FRACTION as u32 + 1) } else { sum + products().sum::<f64>() }
}

#[cfg(test)]
mod tests {
    use super::add;

    #[test]
    fn sums_keep_what_an_h200_keeps() {
        let two = |power: i32| 2_f64.powi(power);
        let sum = |sum: f64, products: &[f64]| add(sum, products, &vec![1.0; products.len()], (-100, -100));
        assert_eq!(sum(0.0, &[1.0, two(-13), -1.0]), two(-13));
        assert_eq!(sum(0.0, &[1.0, two(-14), -1.0]), 0.0);
        assert_eq!(sum(1.0, &[two(-13)]), 1.0 + two(-13));
        assert_eq!(sum(1.0, &[two(-14)]), 1.0);
        assert_eq!(sum(1.0 + two(-13) + two(-14), &[0.0]), 1.0 + two(-13));
        let ones = (0..1024).fold(0.0, |total, _| sum(total, &[1.0; 32]));
        assert_eq!(ones, 16384.0);
        assert!(sum(1.0, &[f64::INFINITY]).is_infinite() && sum(1.0, &[f64::NAN]).is_nan());
        // A product's exponent is the sum of its factors', though 1.5 · 1.5 reaches the next one.
        let beside = |small: f64| add(0.0, &[1.5, small, -1.5], &[1.5, 1.0, 1.5], (-100, -100));
        assert_eq!((beside(two(-13)), beside(two(-14))), (two(-13), 0.0));
        // A subnormal factor counts with the exponent of the smallest normal one.
        assert_eq!(
            (add(0.0, &[two(-9)], &[two(-9)], (-3, -2)), add(0.0, &[two(-9)], &[two(-9)], (-3, -1))),
            (two(-18), 0.0)
        );
    }
}
