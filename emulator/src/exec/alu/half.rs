//! Half precision (f16, bf16) on one lane, alone and in pairs.

use half::{bf16, f16};

use super::float::fma_odd;

/// A 16-bit float format.
pub(super) trait Half {
    fn wide(bits: u16) -> f32;
    fn narrow(value: f32) -> u16;
    fn narrow_double(value: f64) -> u16;
}

/// IEEE half precision.
pub(super) struct F16;
/// bfloat16.
pub(super) struct Bf16;

impl Half for F16 {
    #[inline(always)]
    fn wide(bits: u16) -> f32 {
        half_to_single(bits)
    }
    #[inline(always)]
    fn narrow(value: f32) -> u16 {
        single_to_half(value)
    }
    fn narrow_double(value: f64) -> u16 {
        if value.is_nan() { 0x7fff } else { f16::from_f64(value).to_bits() }
    }
}

impl Half for Bf16 {
    #[inline(always)]
    fn wide(bits: u16) -> f32 {
        f32::from_bits(u32::from(bits) << 16)
    }
    #[inline(always)]
    fn narrow(value: f32) -> u16 {
        single_to_bf16(value)
    }
    fn narrow_double(value: f64) -> u16 {
        if value.is_nan() { 0x7fff } else { bf16::from_f64(value).to_bits() }
    }
}

/// bf16 to nearest even; NaN as the device writes it.
#[inline(always)]
pub(crate) fn single_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() { 0x7fff } else { (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16 }
}

/// f16 to nearest even, without branches that a vectoriser minds.
#[inline(always)]
pub(crate) fn single_to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + (magnitude >> 13 & 1)) >> 13;
    // Below 2^-14 the addition of 0.5 lets the hardware round to multiples of 2^-24.
    let small = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let out = if magnitude > 0x7f80_0000 {
        return 0x7fff;
    } else if magnitude >= 0x477f_f000 {
        0x7c00
    } else if magnitude < 113 << 23 {
        small
    } else {
        normal
    };
    sign | out as u16
}

/// f16 as single precision.
#[inline(always)]
pub(crate) fn half_to_single(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7fff) << 13;
    let sign = u32::from(bits & 0x8000) << 16;
    let exponent = magnitude & 0x0f80_0000;
    let value = if exponent == 0x0f80_0000 {
        magnitude + (224 << 23)
    } else if exponent == 0 {
        (f32::from_bits(magnitude + (113 << 23)) - f32::from_bits(113 << 23)).to_bits()
    } else {
        magnitude + (112 << 23)
    };
    f32::from_bits(value | sign)
}

/// A function of two values, computed in single precision (exact for +, -, * before the one rounding).
#[inline(always)]
pub(super) fn two<H: Half>(x: u32, y: u32, f: impl Fn(f32, f32) -> f32) -> u32 {
    H::narrow(f(H::wide(x as u16), H::wide(y as u16))).into()
}

/// A function of bits applied to both halves.
#[inline(always)]
pub(super) fn pair(x: u32, y: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    f(x & 0xffff, y & 0xffff) & 0xffff | f(x >> 16, y >> 16) << 16
}

/// Fused multiply-add with one rounding.
pub(super) fn fma<H: Half>(x: u32, y: u32, z: u32) -> u32 {
    let wide = |bits: u32| f64::from(H::wide(bits as u16));
    H::narrow_double(fma_odd(wide(x), wide(y), wide(z))).into()
}

/// Fused multiply-add of which what is negative becomes zero.
pub(super) fn fma_relu<H: Half>(x: u32, y: u32, z: u32) -> u32 {
    let sum = fma::<H>(x, y, z);
    if H::wide(sum as u16).is_nan() || sum & 0x8000 == 0 { sum } else { 0 }
}

/// Fused multiply-add of both halves.
pub(super) fn fma_pair<H: Half>(x: u32, y: u32, z: u32) -> u32 {
    fma::<H>(x & 0xffff, y & 0xffff, z & 0xffff) | fma::<H>(x >> 16, y >> 16, z >> 16) << 16
}

/// Minimum or maximum by the rules of single precision, on bits.
#[inline(always)]
pub(super) fn extreme<H: Half>(x: u32, y: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    H::narrow(f32::from_bits(f(H::wide(x as u16).to_bits(), H::wide(y as u16).to_bits()))).into()
}

/// As [`extreme`]; NaN where an operand is.
#[inline(always)]
pub(super) fn extreme_nan<H: Half>(x: u32, y: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    if H::wide(x as u16).is_nan() || H::wide(y as u16).is_nan() { 0x7fff } else { extreme::<H>(x, y, f) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_round_trip_and_equals_the_half_crate() {
        for bits in 0..=u16::MAX {
            let ours = half_to_single(bits);
            let theirs = f16::from_bits(bits).to_f32();
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{bits:#x}");
            if !ours.is_nan() {
                assert_eq!(single_to_half(ours), bits);
            }
        }
    }

    #[test]
    fn rounding_equals_the_half_crate() {
        let mut state = 1u32;
        for _ in 0..200_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            for value in [f32::from_bits(state), f32::from_bits(state & 0x807f_ffff | (100 + state % 40) << 23)] {
                if !value.is_nan() {
                    assert_eq!(single_to_half(value), f16::from_f32(value).to_bits(), "{value:e}");
                    assert_eq!(single_to_bf16(value), bf16::from_f32(value).to_bits(), "{value:e}");
                }
            }
        }
        assert_eq!(single_to_half(f32::NAN), 0x7fff);
    }

    #[test]
    fn fma_rounds_once() {
        // 1 + 2^-8 squared is a tie for bf16 that a tiny addend must break.
        let x = u32::from(bf16::from_f32(1.0 + 1.0 / 128.0).to_bits());
        let tiny = u32::from(bf16::from_f32(1e-30).to_bits());
        let wanted = bf16::from_f64((1.0 + 1.0 / 128.0f64).powi(2) + 1e-12).to_bits();
        assert_eq!(fma::<Bf16>(x, x, tiny), u32::from(wanted));
    }
}
