//! The formulas of `docs/harness.md`, Fills, evaluated to the bits that the executable gives.

use crate::model::{ElementType, Fill};

use super::format;

/// The 64-bit hash of a logical index.
pub fn hash(seed: u64, r: u64, c: u64) -> u64 {
    let index = (r << 32).wrapping_add(c).wrapping_add(1);
    mixed(seed.wrapping_add(STEP.wrapping_mul(index)))
}

/// What the hash's state moves by from one column to the next.
pub(super) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The last part of the hash.
pub(super) fn mixed(mut x: u64) -> u64 {
    x ^= x >> 30;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn gaussian(seed: u64, scale: f64, r: u64, c: u64) -> f64 {
    let pieces = (0..3).flat_map(|i| {
        let h = hash(seed.wrapping_add(i), r, c);
        [h & 0xffff, h >> 16 & 0xffff, h >> 32 & 0xffff, h >> 48]
    });
    let u: u64 = pieces.sum();
    scale * (u as f64 - 12.0 * 32767.5) / 65536.0
}

fn ranged(seed: u64, low: i64, high: i64, r: u64, c: u64) -> i64 {
    let span = (high - low + 1).max(1) as u64;
    low + ((hash(seed, r, c) >> 32) % span) as i64
}

fn digit(x: u64, base: u64, digit: u32, first: i64) -> f64 {
    let base = base.max(1);
    let place = base.checked_pow(digit);
    (first + place.map_or(0, |place| (x / place % base) as i64)) as f64
}

/// The value at (r, c) of an operand with `columns` logical columns, before it is rounded to the element type. None for
/// files, whose contents are not known here.
pub fn raw(fill: &Fill, element: ElementType, columns: u64, r: u64, c: u64) -> Option<f64> {
    Some(match *fill {
        Fill::Constant { value } => value,
        Fill::Integers { low, high, seed } => ranged(seed, low, high, r, c) as f64,
        Fill::Gaussian { seed, scale } => gaussian(seed, scale, r, c),
        Fill::Uniform { low, high, seed } => low + (high - low) * ((hash(seed, r, c) >> 40) as f64 / 16_777_216.0),
        Fill::Outlier { seed, scale } => {
            let x = gaussian(seed, scale, r, c);
            if hash(seed.wrapping_add(3), r, c).is_multiple_of(200) { x * 64.0 } else { x }
        }
        Fill::OneHot { stride, offset, value } => {
            let hot = (u128::from(r) * u128::from(stride) + u128::from(offset)) % u128::from(columns.max(1));
            if u128::from(c) == hot { value } else { 0.0 }
        }
        Fill::Window { start, value } => {
            if c.checked_sub(r) == Some(start) {
                value
            } else {
                0.0
            }
        }
        Fill::Blocks { width } => {
            let width = width.max(1);
            if c / width == r % columns.div_ceil(width).max(1) { 1.0 } else { 0.0 }
        }
        Fill::Address { base, digit: d, pitch, first } => digit(r.wrapping_mul(pitch).wrapping_add(c), base, d, first),
        Fill::RowDigits { base, digit: d, first } => digit(r, base, d, first),
        Fill::ColumnDigits { base, digit: d, first } => digit(c, base, d, first),
        Fill::Powers { low, high, seed } => 2_f64.powi(ranged(seed, low, high, r, c) as i32),
        Fill::Codes { step } => {
            let bits = if element == ElementType::Ue4m3 { 8 } else { element.bits() };
            let code = step.wrapping_mul(r).wrapping_add(c) & (u64::MAX >> (64 - bits));
            let value = format::value(element, code as u32);
            if value.is_finite() && (element != ElementType::Ue4m3 || code < 0x80) { value } else { 0.0 }
        }
        Fill::File { .. } => return None,
    })
}

/// All logical elements in (r, c) order, rounded to `element`. None for files.
pub fn evaluate(fill: &Fill, element: ElementType, rows: u64, columns: u64) -> Option<Vec<f64>> {
    let round = !matches!(fill, Fill::Codes { .. });
    let convert = |x: f64| if round { format::convert(element, x, format::Rounding::NearestEven, true) } else { x };
    if let Fill::Constant { value } = fill {
        return Some(vec![convert(*value); (rows * columns) as usize]);
    }
    if let Fill::OneHot { stride, offset, value } = fill {
        let mut values = vec![0.0; (rows * columns) as usize];
        for r in 0..rows {
            let hot = (u128::from(r) * u128::from(*stride) + u128::from(*offset)) % u128::from(columns.max(1));
            values[(r * columns) as usize + hot as usize] = convert(*value);
        }
        return Some(values);
    }
    let mut values = Vec::with_capacity((rows * columns) as usize);
    for r in 0..rows {
        for c in 0..columns {
            values.push(convert(raw(fill, element, columns, r, c)?));
        }
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::{evaluate, hash, raw};
    use crate::model::{ElementType, Fill};

    #[test]
    fn the_hash_is_the_documented_one() {
        // index 1 at seed 0: the golden gamma through the finaliser of splitmix64.
        assert_eq!(hash(0, 0, 0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(hash(0, 0, 1), 0x6E78_9E6A_A1B9_65F4);
        assert_ne!(hash(0, 1, 0), hash(0, 0, 1));
    }

    #[test]
    fn formulas_are_followed() {
        let at = |fill: Fill, r, c| raw(&fill, ElementType::F32, 10, r, c).unwrap();
        assert_eq!(at(Fill::OneHot { stride: 7, offset: 3, value: 2.0 }, 1, 0), 2.0);
        assert_eq!(at(Fill::OneHot { stride: 7, offset: 3, value: 2.0 }, 1, 1), 0.0);
        assert_eq!(at(Fill::Window { start: 4, value: 1.0 }, 2, 6), 1.0);
        assert_eq!(at(Fill::Blocks { width: 4 }, 5, 9), 1.0);
        assert_eq!(at(Fill::Address { base: 7, digit: 1, pitch: 12, first: 1 }, 2, 3), 4.0);
        assert_eq!(at(Fill::RowDigits { base: 100, digit: 0, first: 1 }, 205, 0), 6.0);
        assert_eq!(at(Fill::Codes { step: 37 }, 1, 0), f64::from(f32::from_bits(37)));
    }

    #[test]
    fn values_are_rounded_once_to_the_type() {
        let values = evaluate(&Fill::Gaussian { seed: 5, scale: 1.0 }, ElementType::Bf16, 8, 64).unwrap();
        assert!(values.iter().all(|v| f64::from(half::bf16::from_f64(*v)) == *v));
        let spread = (values.iter().map(|v| v * v).sum::<f64>() / 512.0).sqrt();
        assert!((0.9..1.1).contains(&spread), "{spread}");
        assert_eq!(evaluate(&Fill::Constant { value: 300.0 }, ElementType::S8, 1, 1), Some(vec![127.0]));
    }
}
