//! Replacement fields in braces, as `fmt`, Python and Rust write them.

use std::ops::Range;

use crate::read::cxx::value::Value;

/// A part of a format text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Bytes that are printed as they stand.
    Literal(Range<usize>),
    /// A replacement field.
    Field(Field),
}

/// A replacement field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// What stands before the colon.
    pub name: String,
    /// What stands after it.
    pub spec: String,
}

/// Cuts a format text into parts; `{{` and `}}` are braces.
///
/// # Errors
///
/// A brace that is never closed, or closes nothing.
pub fn parse(text: &str) -> Result<Vec<Part>, String> {
    let bytes = text.as_bytes();
    let mut out = vec![];
    let (mut from, mut at) = (0, 0);
    while let Some(length) = bytes[at..].iter().position(|b| matches!(b, b'{' | b'}')) {
        let brace = at + length;
        if bytes.get(brace + 1) == Some(&bytes[brace]) {
            out.push(Part::Literal(from..brace + 1));
            from = brace + 2;
            at = from;
            continue;
        }
        if bytes[brace] == b'}' {
            return Err(format!("a single `}}` at byte {brace} of the format"));
        }
        out.push(Part::Literal(from..brace));
        let end = field_end(&bytes[brace..])
            .ok_or_else(|| format!("the `{{` at byte {brace} of the format is not closed"))?;
        out.push(Part::Field(field(&text[brace + 1..brace + end])));
        from = brace + end + 1;
        at = from;
    }
    out.push(Part::Literal(from..text.len()));
    out.retain(|part| !matches!(part, Part::Literal(range) if range.is_empty()));
    Ok(out)
}

/// The offset of the brace that closes the field at the start; quotes and brackets within it count.
fn field_end(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut quote) = (0usize, None);
    for (index, byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (Some(open), b) if *b == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(*byte),
            (None, b'{' | b'[' | b'(') => depth += 1,
            (None, b'}' | b']' | b')') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// A field's name and specification: cut at the first colon outside brackets, quotes and `::`.
fn field(text: &str) -> Field {
    let bytes = text.as_bytes();
    let (mut depth, mut quote) = (0usize, None);
    let mut index = 0;
    while index < bytes.len() {
        let byte = bytes[index];
        match (quote, byte) {
            (Some(open), b) if b == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'[' | b'(' | b'{') => depth += 1,
            (None, b']' | b')' | b'}') => depth = depth.saturating_sub(1),
            (None, b':') if bytes.get(index + 1) == Some(&b':') => index += 1,
            (None, b':') if depth == 0 => {
                return Field { name: text[..index].trim().to_owned(), spec: text[index + 1..].to_owned() };
            }
            _ => {}
        }
        index += 1;
    }
    Field { name: text.trim().to_owned(), spec: String::new() }
}

/// A value as a specification prints it; none for a specification that is not known.
pub fn print(value: &Value, spec: &str) -> Option<String> {
    if let Some((fill, side, width, rest)) = aligned(spec) {
        let text = print(value, rest)?;
        let gap = width.saturating_sub(text.chars().count());
        let (before, after) = match side {
            '<' => (0, gap),
            '>' => (gap, 0),
            _ => (gap / 2, gap - gap / 2),
        };
        let blanks = |count| std::iter::repeat_n(fill, count).collect::<String>();
        return Some(blanks(before) + &text + &blanks(after));
    }
    let integer = value.as_integer().map(|i| i.value);
    match (spec, value) {
        ("", Value::Float { value, single }) => shortest(*value, *single),
        ("" | "s", _) => Some(value.to_string()),
        ("a", Value::Float { value, .. }) => Some(hexadecimal(*value)),
        _ => {
            let kind = spec.chars().next_back()?;
            let body = spec.strip_suffix(|c: char| c.is_ascii_alphabetic()).unwrap_or(spec);
            if let (Value::Float { value, .. }, 'f', Some(precision)) = (value, kind, body.strip_prefix('.')) {
                return Some(format!("{value:.*}", precision.parse().ok()?));
            }
            let digits = match (kind, integer?) {
                ('x', n) => format!("{n:x}"),
                ('X', n) => format!("{n:X}"),
                (c, n) if c == 'd' || c.is_ascii_digit() => n.to_string(),
                _ => return None,
            };
            let width: usize = if body.is_empty() { 0 } else { body.parse().ok()? };
            Some(if body.starts_with('0') { format!("{digits:0>width$}") } else { format!("{digits:>width$}") })
        }
    }
}

/// The largest width of a field.
const WIDEST: usize = 4096;

/// Fill, side and width of a specification that aligns, and what is left of it.
fn aligned(spec: &str) -> Option<(char, char, usize, &str)> {
    let side = |c: char| matches!(c, '<' | '>' | '^');
    let mut chars = spec.chars();
    let (first, second) = (chars.next()?, chars.next());
    let (fill, side, rest) = match second.filter(|c| side(*c)) {
        Some(second) => (first, second, chars.as_str()),
        None if side(first) => (' ', first, &spec[first.len_utf8()..]),
        None => return None,
    };
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let width = if digits == 0 { 0 } else { rest[..digits].parse().ok().filter(|width| *width <= WIDEST)? };
    Some((fill, side, width, &rest[digits..]))
}

/// The shortest digits that read back as the same number, where no exponent is printed.
fn shortest(value: f64, single: bool) -> Option<String> {
    if value == 0.0 || (1e-4..1e7).contains(&value.abs()) {
        return Some(if single { (value as f32).to_string() } else { value.to_string() });
    }
    if value.is_infinite() {
        return Some(if value > 0.0 { "inf" } else { "-inf" }.to_owned());
    }
    None
}

/// Six significant digits without trailing zeros, where no exponent is printed.
pub fn general(value: f64) -> Option<String> {
    if value == 0.0 {
        return Some("0".to_owned());
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..6.0).contains(&magnitude) {
        return None;
    }
    let decimals = (5.0 - magnitude) as usize;
    let text = format!("{value:.decimals$}");
    Some(if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text })
}

/// C's `%a`.
fn hexadecimal(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}inf");
    }
    if value == 0.0 || value.is_nan() {
        return format!("{sign}{}", if value.is_nan() { "nan" } else { "0x0p+0" });
    }
    let bits = value.to_bits();
    let (mantissa, exponent) = (bits & ((1 << 52) - 1), ((bits >> 52) & 0x7ff) as i64);
    let (lead, exponent) = if exponent == 0 { (0, -1022) } else { (1, exponent - 1023) };
    let digits = format!("{mantissa:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("{sign}0x{lead}{point}{digits}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::{Field, Part, general, parse, print};
    use crate::read::cxx::value::Value;

    #[test]
    fn braces_fields_and_specifications() {
        let field = |name: &str, spec: &str| Part::Field(Field { name: name.into(), spec: spec.into() });
        assert_eq!(
            parse("a{{ {} }}{x[\"}\"]:d}"),
            Ok(vec![
                Part::Literal(0..2),
                Part::Literal(3..4),
                field("", ""),
                Part::Literal(6..8),
                field("x[\"}\"]", "d")
            ])
        );
        assert_eq!(parse("{a::b:>4}"), Ok(vec![field("a::b", ">4")]));
        assert!(parse("a}").is_err());
        assert!(parse("{a").is_err());
    }

    #[test]
    fn numbers_print_as_the_libraries_print_them() {
        let single = |value| Value::Float { value, single: true };
        assert_eq!(print(&single(0.5), "a").as_deref(), Some("0x1p-1"));
        assert_eq!(print(&single(10.0), "a").as_deref(), Some("0x1.4p+3"));
        assert_eq!(print(&single(f64::from(0.1f32)), "").as_deref(), Some("0.1"));
        assert_eq!(print(&single(1.0), "").as_deref(), Some("1"));
        assert_eq!(print(&single(2.0), ".2f").as_deref(), Some("2.00"));
        assert_eq!(print(&Value::int(10), "04x").as_deref(), Some("000a"));
        assert_eq!(print(&Value::int(7), "d").as_deref(), Some("7"));
        assert_eq!(print(&Value::Bool(true), "").as_deref(), Some("true"));
        assert_eq!(print(&Value::int(1), "%Y"), None);
        assert_eq!(print(&Value::int(7), ">3").as_deref(), Some("  7"));
        assert_eq!(print(&Value::int(255), "*<6x").as_deref(), Some("ff****"));
        assert_eq!(print(&Value::Text("ab".into()), "^5").as_deref(), Some(" ab  "));
        assert_eq!(print(&Value::int(7), ">99999999"), None);
        assert_eq!(general(0.125).as_deref(), Some("0.125"));
        assert_eq!(general(1234567.0), None);
        assert_eq!(general(100.0).as_deref(), Some("100"));
    }
}
