//! The narrow number formats of matrix operands and scale factors.

/// A float format of at most 8 bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Narrow {
    /// Exponent bits.
    pub exponent: u32,
    /// Fraction bits.
    pub fraction: u32,
    /// Exponent bias.
    pub bias: i32,
    /// Largest finite magnitude.
    pub maximum: f32,
    /// What the codes of the top exponent mean.
    pub special: Special,
}

/// What lies beyond the largest finite value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// Nothing: every code is finite.
    None,
    /// All ones is NaN, the others are finite.
    NanOnly,
    /// As in IEEE 754: infinity, then NaN.
    Ieee,
}

/// 4 exponent and 3 fraction bits, largest value 448.
pub const E4M3: Narrow = Narrow { exponent: 4, fraction: 3, bias: 7, maximum: 448.0, special: Special::NanOnly };
/// 5 exponent and 2 fraction bits, largest value 57344.
pub const E5M2: Narrow = Narrow { exponent: 5, fraction: 2, bias: 15, maximum: 57344.0, special: Special::Ieee };
/// 2 exponent bits and 1 fraction bit: 0, 0.5, 1, 1.5, 2, 3, 4, 6.
pub const E2M1: Narrow = Narrow { exponent: 2, fraction: 1, bias: 1, maximum: 6.0, special: Special::None };
/// 2 exponent and 3 fraction bits, largest value 7.5.
pub const E2M3: Narrow = Narrow { exponent: 2, fraction: 3, bias: 1, maximum: 7.5, special: Special::None };
/// 3 exponent and 2 fraction bits, largest value 28.
pub const E3M2: Narrow = Narrow { exponent: 3, fraction: 2, bias: 3, maximum: 28.0, special: Special::None };

impl Narrow {
    /// The value of a code; bits above the format's are ignored.
    pub fn decode(self, code: u8) -> f32 {
        let magnitude = u32::from(code) & ((1 << (self.exponent + self.fraction)) - 1);
        let negative = u32::from(code) >> (self.exponent + self.fraction) & 1 != 0;
        let top = (1 << (self.exponent + self.fraction)) - 1;
        let exponent = magnitude >> self.fraction;
        let fraction = magnitude & ((1 << self.fraction) - 1);
        let value = match self.special {
            Special::NanOnly if magnitude == top => f32::NAN,
            Special::Ieee if exponent == (1 << self.exponent) - 1 => {
                if fraction == 0 {
                    f32::INFINITY
                } else {
                    f32::NAN
                }
            }
            _ => {
                let unit = 2f32.powi(exponent.max(1) as i32 - self.bias - self.fraction as i32);
                (fraction + if exponent > 0 { 1 << self.fraction } else { 0 }) as f32 * unit
            }
        };
        if negative { -value } else { value }
    }

    /// The code nearest to a value, ties to even; what is too large becomes the largest finite value (`.satfinite`).
    /// NaN becomes the NaN code, or the largest value where there is none.
    pub fn encode(self, value: f32) -> u8 {
        let sign_bit = self.exponent + self.fraction;
        let top = (1u32 << sign_bit) - 1;
        if value.is_nan() {
            return match self.special {
                Special::None => self.encode(self.maximum),
                _ => top as u8,
            };
        }
        let magnitude = value.abs().min(self.maximum);
        let exponent = if magnitude == 0.0 { -1000 } else { (magnitude.to_bits() >> 23) as i32 - 127 };
        let exponent = exponent.max(1 - self.bias);
        let scaled = f64::from(magnitude) * 2f64.powi(self.fraction as i32 - exponent);
        let steps = scaled.round_ties_even() as u32;
        // A subnormal has no implicit bit; a carry out of the fraction moves into the exponent by itself.
        let code = (((exponent + self.bias) as u32 - 1) << self.fraction) + steps;
        (code | u32::from(value.is_sign_negative()) << sign_bit) as u8
    }
}

/// UE8M0: a power of two, 0xff is NaN.
pub fn ue8m0(code: u8) -> f32 {
    match code {
        0xff => f32::NAN,
        0 => 2f32.powi(-127),
        _ => f32::from_bits(u32::from(code) << 23),
    }
}

/// The UE8M0 code of a value: exponent rounded up or toward zero, saturated to finite.
pub fn to_ue8m0(value: f32, up: bool) -> u8 {
    if value.is_nan() {
        return 0xff;
    }
    let bits = value.abs().to_bits();
    let exponent = (bits >> 23) + u32::from(up && bits & 0x7f_ffff != 0);
    exponent.min(0xfe) as u8
}

/// tf32: single precision with 10 fraction bits, ties away from zero (`.rna`) or to even (`.rn`).
pub fn tf32(bits: u32, away: bool) -> u32 {
    if f32::from_bits(bits).is_nan() {
        return 0x7fff_ffff;
    }
    let half = if away { 0x1000 } else { 0xfff + (bits >> 13 & 1) };
    (bits & 0x7fff_ffff).wrapping_add(half) & 0x7fff_e000 | bits & 0x8000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_code_survives() {
        for format in [E4M3, E5M2, E2M1, E2M3, E3M2] {
            for code in 0..1u32 << (1 + format.exponent + format.fraction) {
                let value = format.decode(code as u8);
                if value.is_finite() {
                    assert!(value.abs() <= format.maximum);
                    assert_eq!(format.encode(value), code as u8, "{format:?} {code:#x} {value}");
                }
            }
        }
    }

    #[test]
    fn known_values() {
        assert_eq!(E4M3.decode(0x38), 1.0);
        assert_eq!(E4M3.decode(0x7e), 448.0);
        assert!(E4M3.decode(0x7f).is_nan());
        assert_eq!(E5M2.decode(0x7b), 57344.0);
        assert_eq!((0..8).map(|c| E2M1.decode(c)).collect::<Vec<_>>(), [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
        assert_eq!(E4M3.encode(1e9), 0x7e);
        assert_eq!(E4M3.encode(-17.0), E4M3.encode(-16.0));
        assert_eq!(E4M3.encode(f32::NAN), 0x7f);
        assert_eq!(ue8m0(0x7f), 1.0);
        assert_eq!(to_ue8m0(1.5, true), 0x80);
        assert_eq!(to_ue8m0(1.5, false), 0x7f);
        assert_eq!(tf32(0x3f80_1000, true), 0x3f80_2000);
        assert_eq!(tf32(0x3f80_1000, false), 0x3f80_0000);
    }

    #[test]
    fn encoding_is_to_nearest() {
        for format in [E4M3, E5M2, E2M1, E2M3, E3M2] {
            let values: Vec<f32> = (0..1u32 << (format.exponent + format.fraction))
                .map(|c| format.decode(c as u8))
                .filter(|v| v.is_finite())
                .collect();
            for pair in values.windows(2) {
                let middle = (pair[0] + pair[1]) / 2.0;
                assert_eq!(format.decode(format.encode(middle.next_down())), pair[0]);
                assert_eq!(format.decode(format.encode(middle.next_up())), pair[1]);
                assert_eq!(format.encode(middle) % 2, 0);
            }
        }
    }
}
