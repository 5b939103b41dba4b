//! Number formats: codes to values and back, with one rounding to nearest even.

use crate::model::ElementType;

/// A value cut to `bits` significant bits, toward zero.
pub fn cut(x: f64, bits: u32) -> f64 {
    if x == 0.0 || !x.is_finite() { x } else { f64::from_bits(x.to_bits() & !((1_u64 << (53 - bits)) - 1)) }
}

/// Layout of a small floating type: mantissa bits (without the hidden one), exponent bias, largest finite value, has infinity.
struct Layout {
    bits: u32,
    mantissa: u32,
    bias: i32,
    max: f64,
    infinity: bool,
}

fn layout(element: ElementType) -> Option<Layout> {
    let (bits, mantissa, bias, max, infinity) = match element {
        ElementType::Bf16 => (16, 7, 127, 3.389_531_389_251_535_5e38, true),
        ElementType::F16 => (16, 10, 15, 65504.0, true),
        ElementType::E4m3 => (8, 3, 7, 448.0, false),
        ElementType::E5m2 => (8, 2, 15, 57344.0, true),
        ElementType::E2m1 => (4, 1, 1, 6.0, false),
        ElementType::Ue4m3 => (7, 3, 7, 448.0, false),
        _ => return None,
    };
    Some(Layout { bits, mantissa, bias, max, infinity })
}

/// The value of a storage code.
pub fn value(element: ElementType, code: u32) -> f64 {
    match element {
        ElementType::F32 | ElementType::Tf32 => f64::from(f32::from_bits(code)),
        ElementType::S8 => f64::from(code as u8 as i8),
        ElementType::U8 => f64::from(code as u8),
        ElementType::S32 => f64::from(code as i32),
        ElementType::Ue8m0 if code & 0xff == 0xff => f64::NAN,
        ElementType::Ue8m0 => 2_f64.powi((code & 0xff) as i32 - 127),
        ElementType::Ue4m3 if code & 0x7f == 0x7f => f64::NAN,
        ElementType::E4m3 if code & 0x7f == 0x7f => f64::NAN,
        _ => small(element, code),
    }
}

fn small(element: ElementType, code: u32) -> f64 {
    let Some(l) = layout(element) else { return f64::NAN };
    let signed = element != ElementType::Ue4m3;
    let sign = if signed && code >> (l.bits - 1) & 1 == 1 { -1.0 } else { 1.0 };
    let magnitude = code & ((1 << (l.bits - u32::from(signed))) - 1);
    let exponent = (magnitude >> l.mantissa) as i32;
    let fraction = magnitude & ((1 << l.mantissa) - 1);
    let top = (1 << (l.bits - u32::from(signed) - l.mantissa)) - 1;
    if l.infinity && exponent == top {
        return if fraction == 0 { sign * f64::INFINITY } else { f64::NAN };
    }
    let unit = 2_f64.powi(exponent.max(1) - l.bias - l.mantissa as i32);
    let hidden = if exponent == 0 { 0 } else { 1 << l.mantissa };
    sign * f64::from(hidden + fraction) * unit
}

/// How a conversion rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rounding {
    /// To nearest, ties to even.
    #[default]
    NearestEven,
    /// Toward zero.
    TowardZero,
    /// To nearest, ties away from zero.
    NearestAway,
    /// To nearest, ties upward: floor(x + 0.5).
    NearestUp,
    /// x + 0.5, cut toward zero: one too much for most negative values.
    HalfThenCut,
}

fn to_integer(x: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::NearestEven => x.round_ties_even(),
        Rounding::TowardZero => x.trunc(),
        Rounding::NearestAway => x.round(),
        Rounding::NearestUp => (x + 0.5).floor(),
        Rounding::HalfThenCut => (x + 0.5).trunc(),
    }
}

/// `x` rounded to a value of `element`. `saturate`: out of range gives the largest value (integers wrap without it, floats give
/// infinity or NaN).
pub fn convert(element: ElementType, x: f64, rounding: Rounding, saturate: bool) -> f64 {
    if x.abs() <= whole(element) && x.fract() == 0.0 {
        return x;
    }
    match element {
        ElementType::F32 | ElementType::Tf32 => match rounding {
            Rounding::TowardZero if (x as f32).is_finite() => {
                cut(x, if element == ElementType::Tf32 { 11 } else { 24 })
            }
            _ if element == ElementType::Tf32 => round_to(x, 10, -126),
            _ => f64::from(x as f32),
        },
        ElementType::S8 => integer(x, rounding, saturate, -128.0, 127.0),
        ElementType::U8 => integer(x, rounding, saturate, 0.0, 255.0),
        ElementType::S32 => integer(x, rounding, saturate, -2_147_483_648.0, 2_147_483_647.0),
        ElementType::Ue8m0 => {
            if x.is_nan() || x <= 0.0 {
                return f64::NAN;
            }
            2_f64.powi((x.log2().round() as i32).clamp(-127, 127))
        }
        _ => to_small(element, x, rounding, saturate),
    }
}

/// All integers up to this are values of the type; below zero too, where it has a sign.
fn whole(element: ElementType) -> f64 {
    match element {
        ElementType::F32 | ElementType::S32 => 16_777_216.0,
        ElementType::F16 | ElementType::Tf32 => 2048.0,
        ElementType::Bf16 => 256.0,
        ElementType::S8 => 127.0,
        ElementType::E4m3 => 16.0,
        ElementType::E5m2 => 8.0,
        ElementType::E2m1 => 4.0,
        ElementType::U8 | ElementType::Ue4m3 | ElementType::Ue8m0 => -1.0,
    }
}

fn round_to(x: f64, mantissa: i32, lowest: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let unit = 2_f64.powi(exponent(x).max(lowest) - mantissa);
    (x / unit).round_ties_even() * unit
}

/// The exponent e of a finite x: 2^e ≤ |x| < 2^(e+1).
pub fn exponent(x: f64) -> i32 {
    let bits = (x.to_bits() >> 52) & 0x7ff;
    if bits == 0 { x.abs().log2().floor() as i32 } else { bits as i32 - 1023 }
}

fn to_small(element: ElementType, x: f64, rounding: Rounding, saturate: bool) -> f64 {
    let Some(l) = layout(element) else { return x };
    let x = if element == ElementType::Ue4m3 { x.max(0.0) } else { x };
    if x.is_nan() || x == 0.0 {
        return x;
    }
    let finite = if x.is_finite() {
        let unit = 2_f64.powi(exponent(x).max(1 - l.bias) - l.mantissa as i32);
        to_integer(x / unit, rounding) * unit
    } else {
        x
    };
    if finite.abs() <= l.max {
        return finite;
    }
    let saturate = saturate && !matches!(element, ElementType::Bf16 | ElementType::F16) || element == ElementType::E2m1;
    if saturate || (rounding == Rounding::TowardZero && x.is_finite()) {
        l.max.copysign(x)
    } else if l.infinity {
        f64::INFINITY.copysign(x)
    } else {
        f64::NAN
    }
}

fn integer(x: f64, rounding: Rounding, saturate: bool, low: f64, high: f64) -> f64 {
    if x.is_nan() {
        return 0.0;
    }
    let whole = to_integer(x, rounding);
    if saturate || !whole.is_finite() {
        whole.clamp(low, high)
    } else {
        (whole - low).rem_euclid(high - low + 1.0) + low
    }
}

/// The storage code of `x` rounded to nearest even.
pub fn code(element: ElementType, x: f64) -> u32 {
    let v = convert(element, x, Rounding::NearestEven, true);
    match element {
        ElementType::F32 | ElementType::Tf32 => (v as f32).to_bits(),
        ElementType::S8 => v as i8 as u8 as u32,
        ElementType::U8 => v as u8 as u32,
        ElementType::S32 => v as i32 as u32,
        ElementType::Ue8m0 if v.is_nan() => 0xff,
        ElementType::Ue8m0 => (exponent(v) + 127) as u32,
        _ => small_code(element, v),
    }
}

fn small_code(element: ElementType, v: f64) -> u32 {
    let Some(l) = layout(element) else { return 0 };
    let signed = element != ElementType::Ue4m3;
    let sign = if signed && v.is_sign_negative() { 1 << (l.bits - 1) } else { 0 };
    let magnitude_bits = l.bits - u32::from(signed);
    let top = ((1_u32 << (magnitude_bits - l.mantissa)) - 1) << l.mantissa;
    if v.is_nan() {
        return sign | if l.infinity { top | 1 << (l.mantissa - 1) } else { (1 << magnitude_bits) - 1 };
    }
    if v.is_infinite() {
        return sign | top;
    }
    if v == 0.0 {
        return sign;
    }
    let e = exponent(v).max(1 - l.bias);
    let whole = (v.abs() / 2_f64.powi(e - l.mantissa as i32)) as u32;
    let field = (e + l.bias) as u32;
    let hidden = 1 << l.mantissa;
    sign | if whole < hidden { whole } else { field << l.mantissa | (whole - hidden) }
}

/// Largest finite value.
pub fn largest(element: ElementType) -> f64 {
    match (element, layout(element)) {
        (_, Some(layout)) => layout.max,
        (ElementType::S8, _) => 127.0,
        (ElementType::U8, _) => 255.0,
        (ElementType::S32, _) => 2_147_483_647.0,
        (ElementType::Ue8m0, _) => 2_f64.powi(127),
        _ => f64::from(f32::MAX),
    }
}

/// Distance between neighbouring values around `x`.
pub fn spacing(element: ElementType, x: f64) -> f64 {
    match layout(element) {
        Some(l) if x != 0.0 => 2_f64.powi(exponent(x).max(1 - l.bias) - l.mantissa as i32),
        Some(l) => 2_f64.powi(1 - l.bias - l.mantissa as i32),
        None => 1.0,
    }
}

/// `x`, or zero where it is a subnormal value of a small floating type.
pub fn flushed(element: ElementType, x: f64) -> f64 {
    match layout(element) {
        Some(l) if x.abs() < 2_f64.powi(1 - l.bias) => 0.0,
        _ => x,
    }
}

/// NaN, or the largest magnitude of a type without one.
pub fn poison(element: ElementType) -> f64 {
    match element {
        ElementType::S8 => 127.0,
        ElementType::U8 => 255.0,
        ElementType::S32 => 2_147_483_647.0,
        ElementType::E2m1 => 6.0,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::{ElementType, Rounding, code, convert, value};

    #[test]
    fn every_code_of_the_small_types_survives_the_round_trip() {
        for element in ElementType::ALL {
            if element.bits() > 16 {
                continue;
            }
            let bits = if element == ElementType::Ue4m3 { 7 } else { element.bits() };
            for c in 0..1_u32 << bits {
                let v = value(element, c);
                // Conversion saturates: an infinity comes back as the largest finite value.
                if v.is_finite() {
                    assert_eq!(code(element, v), c, "{element} {c:#x} {v}");
                }
            }
        }
    }

    #[test]
    fn halves_agree_with_the_half_crate() {
        for i in 0..40_000_u32 {
            let x = f32::from_bits(i.wrapping_mul(104_729).wrapping_add(0x3000_0000));
            if x.is_nan() {
                continue;
            }
            assert_eq!(code(ElementType::Bf16, x.into()), u32::from(half::bf16::from_f32(x).to_bits()), "{x}");
            assert_eq!(code(ElementType::F16, x.into()), u32::from(half::f16::from_f32(x).to_bits()), "{x}");
        }
    }

    #[test]
    fn conversions_round_and_saturate_as_asked() {
        let e4m3 = |x, saturate| convert(ElementType::E4m3, x, Rounding::NearestEven, saturate);
        assert_eq!((e4m3(1000.0, true), e4m3(1.0625, true)), (448.0, 1.0));
        assert!(e4m3(1000.0, false).is_nan());
        let s8 = |x, saturate| convert(ElementType::S8, x, Rounding::NearestEven, saturate);
        assert_eq!((s8(130.0, true), s8(130.0, false), s8(2.5, true)), (127.0, -126.0, 2.0));
        assert_eq!(convert(ElementType::Bf16, 1.0 + 3.0 / 256.0, Rounding::TowardZero, true), 1.0 + 1.0 / 128.0);
        assert_eq!(value(ElementType::E4m3, 0x7e), 448.0);
        assert_eq!((value(ElementType::Ue8m0, 0x7f), value(ElementType::E2m1, 7)), (1.0, 6.0));
    }
}
