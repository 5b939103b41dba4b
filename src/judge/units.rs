//! Spacing of floating types: what an exact figure can resolve.

use crate::model::ElementType;

/// Distance from |x| to the next larger value of a floating type, subnormals aside; 1 for integers.
pub(super) fn ulp(element: ElementType, x: f64) -> f64 {
    let Some(bits) = element.significant_bits() else { return 1.0 };
    if x == 0.0 || !x.is_finite() {
        return 0.0;
    }
    2_f64.powi(x.abs().log2().floor() as i32 + 1 - bits as i32)
}

/// `x` rounded to `bits` significant bits, to nearest even; exponents are unbounded.
pub(super) fn rounded(x: f64, bits: u32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let unit = 2_f64.powi(x.abs().log2().floor() as i32 + 1 - bits as i32);
    (x / unit).round_ties_even() * unit
}

/// How many terms of value 1 may be missing from a sum of `k` without changing the sum rounded to `element`.
pub(super) fn blind_terms(element: ElementType, k: u64) -> u64 {
    let Some(bits) = element.significant_bits() else { return 0 };
    let target = rounded(k as f64, bits);
    let below = ulp(element, target * (1.0 - 2_f64.powi(-30)));
    let tie = target - below / 2.0;
    let reach = k as f64 - tie;
    let terms = if rounded(tie, bits) == target { reach.floor() } else { reach.ceil() - 1.0 };
    terms.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::{blind_terms, ulp};
    use crate::model::ElementType::{Bf16, F16, F32, S32};

    #[test]
    fn all_ones_resolves_half_an_ulp() {
        for (element, expected) in [(Bf16, [1, 2, 8, 16, 16, 16, 32]), (F16, [0, 0, 1, 2, 2, 2, 4])] {
            let found = [512, 1024, 4096, 6144, 7168, 8192, 16384].map(|k| blind_terms(element, k));
            assert_eq!(found, expected);
        }
        assert_eq!((blind_terms(F32, 16384), blind_terms(S32, 16384)), (0, 0));
        assert_eq!(ulp(Bf16, 1.0), 2_f64.powi(-7));
    }
}
