//! `cvt` between any two types: exact through a wide intermediate value, one rounding at the end.

use super::float::{Direction, NAN, narrow};
use super::half::{Bf16, F16, Half, half_to_single, single_to_bf16, single_to_half};

/// A value type of PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Type {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    F16,
    Bf16,
    F32,
    F64,
}

impl Type {
    /// From its PTX name; `b` types count as unsigned.
    pub fn parse(name: &str) -> Option<Type> {
        Some(match name {
            "b8" | "u8" => Type::U8,
            "s8" => Type::S8,
            "b16" | "u16" => Type::U16,
            "s16" => Type::S16,
            "b32" | "u32" | "f16x2" | "bf16x2" => Type::U32,
            "s32" => Type::S32,
            "b64" | "u64" => Type::U64,
            "s64" => Type::S64,
            "f16" => Type::F16,
            "bf16" => Type::Bf16,
            "f32" => Type::F32,
            "f64" => Type::F64,
            _ => return None,
        })
    }

    /// Size in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Type::U8 | Type::S8 => 1,
            Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
            Type::U32 | Type::S32 | Type::F32 => 4,
            Type::U64 | Type::S64 | Type::F64 => 8,
        }
    }

    /// Whether it is a signed integer.
    pub fn signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// Whether it is a floating type.
    pub fn float(self) -> bool {
        matches!(self, Type::F16 | Type::Bf16 | Type::F32 | Type::F64)
    }
}

/// Rounding of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// Toward zero.
    Zero,
    /// Toward minus infinity.
    Down,
    /// Toward plus infinity.
    Up,
}

/// One `cvt` form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convert {
    /// Source type.
    pub from: Type,
    /// Destination type.
    pub to: Type,
    /// Rounding.
    pub rounding: Rounding,
    /// Round to an integral value even if the result is a float (`.rni` and its kind).
    pub integral: bool,
    /// `.sat`
    pub saturate: bool,
    /// Subnormal single-precision inputs and results become zero.
    pub flush: bool,
}

enum Value {
    Integer(i128),
    Float(f64),
}

impl Convert {
    /// Converts one lane; the source is zero-extended, so is the result.
    pub fn apply(&self, bits: u64) -> u64 {
        let value = match self.from {
            Type::U8 => Value::Integer(bits as u8 as i128),
            Type::S8 => Value::Integer(bits as i8 as i128),
            Type::U16 => Value::Integer(bits as u16 as i128),
            Type::S16 => Value::Integer(bits as i16 as i128),
            Type::U32 => Value::Integer(bits as u32 as i128),
            Type::S32 => Value::Integer(bits as i32 as i128),
            Type::U64 => Value::Integer(bits as i128),
            Type::S64 => Value::Integer(bits as i64 as i128),
            Type::F16 => Value::Float(half_to_single(bits as u16).into()),
            Type::Bf16 => Value::Float(Bf16::wide(bits as u16).into()),
            Type::F32 => Value::Float(self.flushed(f32::from_bits(bits as u32)).into()),
            Type::F64 => Value::Float(f64::from_bits(bits)),
        };
        if self.to.float() { self.float(value) } else { self.integer(value) }
    }

    fn flushed(&self, value: f32) -> f32 {
        if self.flush && value.is_subnormal() { value * 0.0 } else { value }
    }

    fn round(&self, value: f64) -> f64 {
        match self.rounding {
            Rounding::Nearest => value.round_ties_even(),
            Rounding::Zero => value.trunc(),
            Rounding::Down => value.floor(),
            Rounding::Up => value.ceil(),
        }
    }

    fn integer(&self, value: Value) -> u64 {
        let bits = self.to.bytes() * 8;
        let (least, most) = if self.to.signed() {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        } else {
            (0, (1i128 << bits) - 1)
        };
        let integer = match value {
            // Float to integer always clamps.
            Value::Float(v) => (self.round(v) as i128).clamp(least, most),
            Value::Integer(v) if self.saturate => v.clamp(least, most),
            Value::Integer(v) => v,
        };
        // A destination register may be wider than the type: signed results are sign-extended to 32 bits.
        match self.to {
            Type::S8 => integer as i8 as i32 as u32 as u64,
            Type::U8 => integer as u8 as u64,
            Type::U16 | Type::S16 => integer as u16 as u64,
            Type::U32 | Type::S32 => integer as u32 as u64,
            _ => integer as u64,
        }
    }

    fn float(&self, value: Value) -> u64 {
        if let Value::Float(v) = value
            && v.is_nan()
        {
            return match self.to {
                _ if self.saturate => 0,
                Type::F16 | Type::Bf16 => 0x7fff,
                Type::F32 => NAN.into(),
                _ => 0x7fff_ffff_ffff_ffff,
            };
        }
        // Integers above 2^53 are split, so that the sum of both parts is exact.
        let (mut high, mut low) = match value {
            Value::Float(v) => (v, 0.0),
            Value::Integer(v) => {
                let high = v as f64;
                (high, (v - high as i128) as f64)
            }
        };
        if self.integral {
            high = self.round(high);
        }
        if self.saturate {
            high = high.clamp(0.0, 1.0);
            low = 0.0;
        }
        let direction = match self.rounding {
            Rounding::Nearest => None,
            Rounding::Zero => Some(Direction::Zero),
            Rounding::Down => Some(Direction::Down),
            Rounding::Up => Some(Direction::Up),
        };
        match (self.to, direction) {
            (Type::F64, _) => high.to_bits(),
            (Type::F32, None) => match value {
                Value::Integer(v) if !self.saturate => u64::from((v as f32).to_bits()),
                _ => u64::from(self.flushed(high as f32).to_bits()),
            },
            (Type::F32, Some(direction)) => u64::from(self.flushed(narrow(high, low, direction)).to_bits()),
            (Type::F16, None) => F16::narrow_double(high).into(),
            (Type::Bf16, None) => Bf16::narrow_double(high).into(),
            (to, Some(direction)) => directed_half(high, low, direction, to == Type::F16),
            (_, None) => 0,
        }
    }
}

/// A 16-bit float rounded away from "to nearest": the nearest value, moved by one step where it is on the wrong side.
fn directed_half(value: f64, error: f64, direction: Direction, f16: bool) -> u64 {
    let wide = |bits: u16| f64::from(if f16 { half_to_single(bits) } else { Bf16::wide(bits) });
    let single = value as f32;
    let near = if f16 { single_to_half(single) } else { single_to_bf16(single) };
    let above = wide(near) > value || wide(near) == value && error < 0.0;
    let below = wide(near) < value || wide(near) == value && error > 0.0;
    let shrink = match direction {
        Direction::Zero => above && value > 0.0 || below && value < 0.0,
        Direction::Down => above && near & 0x8000 == 0,
        Direction::Up => below && near & 0x8000 != 0,
    };
    let grow = match direction {
        Direction::Zero => false,
        Direction::Down => above && near & 0x8000 != 0,
        Direction::Up => below && near & 0x8000 == 0,
    };
    u64::from(if shrink { near - 1 } else { near + u16::from(grow) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(from: Type, to: Type, rounding: Rounding, bits: u64) -> u64 {
        Convert { from, to, rounding, integral: false, saturate: false, flush: false }.apply(bits)
    }

    #[test]
    fn floats_to_integers_clamp_and_round() {
        use Rounding::*;
        let from = |v: f32, to, rounding| convert(Type::F32, to, rounding, v.to_bits().into());
        assert_eq!(from(2.5, Type::S32, Nearest), 2);
        assert_eq!(from(-2.5, Type::S32, Zero) as u32 as i32, -2);
        assert_eq!(from(-2.5, Type::S32, Down) as u32 as i32, -3);
        assert_eq!(from(1e20, Type::S32, Zero), i32::MAX as u64);
        assert_eq!(from(-5.0, Type::U32, Zero), 0);
        assert_eq!(from(f32::NAN, Type::S64, Zero), 0);
        assert_eq!(from(300.0, Type::U8, Zero), 255);
    }

    #[test]
    fn wide_integers_round_once() {
        let value = (1u64 << 62) + (1 << 38) + 1;
        assert_eq!(convert(Type::U64, Type::F32, Rounding::Nearest, value), u64::from((value as f32).to_bits()));
        let up = f32::from_bits(convert(Type::U64, Type::F32, Rounding::Up, (1 << 62) + 1) as u32);
        assert_eq!(up, (2f32.powi(62)).next_up());
        assert_eq!(convert(Type::S8, Type::S32, Rounding::Nearest, 0xff), 0xffff_ffff);
        assert_eq!(convert(Type::S32, Type::S64, Rounding::Nearest, 0xffff_ffff), u64::MAX);
    }

    #[test]
    fn directed_halves() {
        let value = (1.0f64 + 2f64.powi(-20)).to_bits();
        let one = 0x3c00;
        assert_eq!(convert(Type::F64, Type::F16, Rounding::Zero, value), one);
        assert_eq!(convert(Type::F64, Type::F16, Rounding::Up, value), one + 1);
        assert_eq!(convert(Type::F64, Type::Bf16, Rounding::Up, value), 0x3f81);
        assert_eq!(convert(Type::F64, Type::Bf16, Rounding::Down, (-1.001f64).to_bits()), 0xbf81);
    }
}
