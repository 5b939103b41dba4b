//! Single and double precision on one lane.

/// Single precision from bits.
#[inline(always)]
pub(crate) fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// Bits of a single precision value.
#[inline(always)]
pub(crate) fn b(value: f32) -> u32 {
    value.to_bits()
}

/// Double precision from bits.
#[inline(always)]
pub(crate) fn g(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// Bits of a double precision value.
#[inline(always)]
pub(crate) fn c(value: f64) -> u64 {
    value.to_bits()
}

/// The low half of a word.
#[inline(always)]
pub(super) fn low(x: u32) -> u32 {
    x & 0xffff
}

/// The low half of a word as a signed number.
#[inline(always)]
pub(super) fn s16(x: u32) -> i32 {
    x as i16 as i32
}

/// A single-precision function through double precision.
pub(super) fn approximate(x: u32, function: impl Fn(f64) -> f64) -> u32 {
    b(function(f(x).into()) as f32)
}

/// Subnormal values become zero of the same sign.
#[inline(always)]
pub(super) fn flush(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// Clamped to [0, 1]; NaN gives 0.
#[inline(always)]
pub(super) fn saturate(bits: u32) -> u32 {
    let v = f(bits);
    if v >= 1.0 {
        1f32.to_bits()
    } else if v > 0.0 {
        bits
    } else {
        0
    }
}

/// `min.f32`: the other operand when one is NaN; -0 below +0.
#[inline(always)]
pub(super) fn minimum(x: u32, y: u32) -> u32 {
    let (p, q) = (f(x), f(y));
    if p == q {
        x | y
    } else if p < q || q.is_nan() {
        x
    } else {
        y
    }
}

/// `max.f32`: the other operand when one is NaN; +0 above -0.
#[inline(always)]
pub(super) fn maximum(x: u32, y: u32) -> u32 {
    let (p, q) = (f(x), f(y));
    if p == q {
        x & y
    } else if p > q || q.is_nan() {
        x
    } else {
        y
    }
}

/// NaN as the device writes it.
pub(super) const NAN: u32 = 0x7fff_ffff;

/// A minimum or maximum that gives NaN when an operand is NaN.
#[inline(always)]
pub(super) fn or_nan(x: u32, y: u32, value: u32) -> u32 {
    if f(x).is_nan() || f(y).is_nan() { NAN } else { value }
}

/// Direction of a rounding that is not to nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Zero,
    Down,
    Up,
}

/// `product + addend` in single precision, rounded as told. `product` must be exact.
pub(super) fn directed(product: f64, addend: f64, direction: Direction) -> f32 {
    let sum = product + addend;
    if !sum.is_finite() {
        return sum as f32;
    }
    // The part of the exact sum that `sum` does not hold (Knuth's two-sum).
    let back = sum - product;
    let error = (product - (sum - back)) + (addend - back);
    narrow(sum, error, direction)
}

/// A double rounded to nearest, of which the exact result differs by `error`, rounded as told instead. Not for subnormal results,
/// whose error is lost.
pub(super) fn directed_double(near: f64, error: f64, direction: Direction) -> f64 {
    if near.is_nan() || error == 0.0 || error.is_nan() {
        return near;
    }
    match direction {
        Direction::Down if error < 0.0 => near.next_down(),
        Direction::Up if error > 0.0 => near.next_up(),
        Direction::Zero if near > 0.0 && error < 0.0 => near.next_down(),
        Direction::Zero if near < 0.0 && error > 0.0 => near.next_up(),
        _ => near,
    }
}

/// `value + error` (|error| below an ulp of `value`) as single precision, rounded as told.
pub(super) fn narrow(value: f64, error: f64, direction: Direction) -> f32 {
    let near = value as f32;
    let above = f64::from(near) > value || f64::from(near) == value && error < 0.0;
    let below = f64::from(near) < value || f64::from(near) == value && error > 0.0;
    match direction {
        Direction::Down if above => near.next_down(),
        Direction::Up if below => near.next_up(),
        Direction::Zero if value > 0.0 && above => near.next_down(),
        Direction::Zero if value < 0.0 && below => near.next_up(),
        Direction::Down if value == 0.0 && error == 0.0 && near == 0.0 => near,
        _ => near,
    }
}

/// Quotient rounded to nearest, as the device's correctly rounded division.
#[inline(always)]
pub(super) fn divide(x: u32, y: u32) -> u32 {
    b(f(x) / f(y))
}

/// `fma` whose result is not rounded but made odd where inexact, so that a later rounding to fewer bits is correct.
pub(super) fn fma_odd(x: f64, y: f64, z: f64) -> f64 {
    let product = x * y;
    let sum = product + z;
    if !sum.is_finite() || sum == 0.0 {
        return sum;
    }
    let back = sum - product;
    let error = (product - (sum - back)) + (z - back);
    if error == 0.0 {
        return sum;
    }
    let bits = sum.to_bits();
    let toward_zero = if (error < 0.0) == (sum > 0.0) { bits - 1 } else { bits };
    f64::from_bits(toward_zero | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directed_rounding_brackets_the_exact_value() {
        let third = (1.0f64, 2f64.powi(-30));
        assert_eq!(directed(third.0, third.1, Direction::Down), 1.0);
        assert_eq!(directed(third.0, third.1, Direction::Up), 1.0f32.next_up());
        assert_eq!(directed(-third.0, -third.1, Direction::Zero), -1.0);
        assert_eq!(directed(-third.0, -third.1, Direction::Down), (-1.0f32).next_down());
        assert_eq!(directed(1.0, 2f64.powi(-80), Direction::Up), 1.0f32.next_up());
        assert_eq!(directed(1.0, -(2f64.powi(-80)), Direction::Zero), 1.0f32.next_down());
    }

    #[test]
    fn zeros_and_nan_in_minimum_and_maximum() {
        assert_eq!(minimum(b(0.0), b(-0.0)), b(-0.0));
        assert_eq!(maximum(b(-0.0), b(0.0)), b(0.0));
        assert_eq!(minimum(NAN, b(2.0)), b(2.0));
        assert_eq!(maximum(b(2.0), NAN), b(2.0));
        assert_eq!(or_nan(NAN, b(2.0), b(2.0)), NAN);
        assert_eq!(flush(1), 0);
        assert_eq!(saturate(NAN), 0);
    }
}
