//! PTX literals.

/// A literal's bits and whether it is a floating-point one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// Integer.
    Integer(u64),
    /// `0f` and 8 hexadecimal digits.
    Single(u32),
    /// `0d` and 16 hexadecimal digits, or decimal with a point.
    Double(u64),
}

/// Reads a literal without its sign.
pub(super) fn number(text: &str) -> Option<Number> {
    let bytes = text.as_bytes();
    if bytes.len() > 2 && bytes[0] == b'0' {
        let digits = text.get(2..)?;
        match bytes[1] {
            b'f' | b'F' => return u32::from_str_radix(digits, 16).ok().map(Number::Single),
            b'd' | b'D' => return u64::from_str_radix(digits, 16).ok().map(Number::Double),
            b'x' | b'X' => return u64::from_str_radix(digits.trim_end_matches('U'), 16).ok().map(Number::Integer),
            b'b' | b'B' => return u64::from_str_radix(digits.trim_end_matches('U'), 2).ok().map(Number::Integer),
            _ => {}
        }
    }
    if text.contains('.') || text.contains(['e', 'E']) {
        return text.parse::<f64>().ok().map(|v| Number::Double(v.to_bits()));
    }
    let digits = text.trim_end_matches('U');
    if digits.len() > 1 && digits.starts_with('0') {
        return u64::from_str_radix(digits, 8).ok().map(Number::Integer);
    }
    digits.parse().ok().map(Number::Integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling() {
        assert_eq!(number("42U"), Some(Number::Integer(42)));
        assert_eq!(number("0"), Some(Number::Integer(0)));
        assert_eq!(number("0x1fU"), Some(Number::Integer(31)));
        assert_eq!(number("017"), Some(Number::Integer(15)));
        assert_eq!(number("0b101"), Some(Number::Integer(5)));
        assert_eq!(number("0f3F800000"), Some(Number::Single(0x3f80_0000)));
        assert_eq!(number("0d3FF0000000000000"), Some(Number::Double(1f64.to_bits())));
        assert_eq!(number("1.5"), Some(Number::Double(1.5f64.to_bits())));
        assert_eq!(number("18446744073709551615"), Some(Number::Integer(u64::MAX)));
        for bad in ["0xg", "12k", "99999999999999999999", "0f1ffffffff"] {
            assert_eq!(number(bad), None, "{bad}");
        }
    }
}
