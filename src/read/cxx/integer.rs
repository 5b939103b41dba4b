//! Integers with the types, promotions and wrapping of C++ (LP64).

use std::fmt;

/// An integer type, after promotion of the small ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntegerType {
    /// `int`, and everything narrower.
    Int,
    /// `unsigned int`.
    UnsignedInt,
    /// `long` and `long long`.
    Long,
    /// `unsigned long`, `size_t`.
    UnsignedLong,
}

impl IntegerType {
    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            IntegerType::Int | IntegerType::UnsignedInt => 32,
            IntegerType::Long | IntegerType::UnsignedLong => 64,
        }
    }

    /// Whether it has a sign.
    pub fn signed(self) -> bool {
        matches!(self, IntegerType::Int | IntegerType::Long)
    }

    /// The value as this type holds it after a conversion.
    pub fn wrap(self, value: i128) -> i128 {
        let low = value & ((1i128 << self.bits()) - 1);
        let negative = self.signed() && low >> (self.bits() - 1) != 0;
        if negative { low - (1i128 << self.bits()) } else { low }
    }

    /// The type that a declared type's text names: its promoted type, and the bits and sign it stores.
    pub fn of(text: &str) -> Option<(IntegerType, u32, bool)> {
        let words: Vec<&str> =
            text.split_whitespace().filter(|w| !matches!(*w, "const" | "constexpr" | "static" | "inline")).collect();
        let text = words.join(" ");
        Some(match text.trim_start_matches("std::").trim_start_matches("cuda::std::") {
            "int" | "signed" | "signed int" | "int32_t" => (IntegerType::Int, 32, true),
            "unsigned" | "unsigned int" | "uint32_t" | "uint" => (IntegerType::UnsignedInt, 32, false),
            "long" | "long int" | "long long" | "long long int" | "int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" => {
                (IntegerType::Long, 64, true)
            }
            "unsigned long" | "unsigned long long" | "unsigned long int" | "uint64_t" | "size_t" | "uintptr_t" => {
                (IntegerType::UnsignedLong, 64, false)
            }
            "short" | "short int" | "int16_t" => (IntegerType::Int, 16, true),
            "unsigned short" | "uint16_t" => (IntegerType::Int, 16, false),
            "signed char" | "int8_t" => (IntegerType::Int, 8, true),
            "unsigned char" | "uint8_t" => (IntegerType::Int, 8, false),
            _ => return None,
        })
    }
}

/// An integer of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Integer {
    /// The value, within the type's range.
    pub value: i128,
    /// The type.
    pub of: IntegerType,
}

impl Integer {
    /// An `int`, or the first wider type that holds the value.
    pub fn new(value: i128) -> Self {
        let of = [IntegerType::Int, IntegerType::Long].into_iter().find(|t| t.wrap(value) == value);
        let of = of.unwrap_or(IntegerType::UnsignedLong);
        Integer { value: of.wrap(value), of }
    }

    /// The value converted to a type.
    pub fn converted(value: i128, of: IntegerType) -> Self {
        Integer { value: of.wrap(value), of }
    }

    /// The common type of two operands.
    pub fn common(self, other: Integer) -> IntegerType {
        self.of.max(other.of)
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{Integer, IntegerType};

    #[test]
    fn conversions_wrap() {
        assert_eq!(IntegerType::UnsignedInt.wrap(-1), 0xffff_ffff);
        assert_eq!(IntegerType::Int.wrap(1 << 31), -(1 << 31));
        assert_eq!(IntegerType::Long.wrap(i128::from(i64::MAX) + 1), i128::from(i64::MIN));
    }

    #[test]
    fn the_common_type_is_the_wider_and_then_the_unsigned_one() {
        let size = Integer::converted(2, IntegerType::UnsignedLong);
        assert_eq!(Integer::new(1).common(size), IntegerType::UnsignedLong);
        assert_eq!(Integer::new(1 << 40).of, IntegerType::Long);
    }
}
