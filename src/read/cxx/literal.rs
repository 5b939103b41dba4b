//! Number, character and string literals.

use super::arithmetic;
use super::integer::{Integer, IntegerType};
use super::value::Value;

/// The value of a number literal; a sign in front belongs to it, as the grammar has it.
pub fn number(text: &str) -> Option<Value> {
    if let Some(positive) = text.strip_prefix('-') {
        return number(positive).and_then(|value| arithmetic::unary("-", &value).ok());
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let digits = text.replace('\'', "");
    let lower = digits.to_ascii_lowercase();
    let hexadecimal = lower.strip_prefix("0x");
    let float = match hexadecimal {
        Some(rest) => rest.contains(['.', 'p']),
        None => lower.contains(['.', 'e']),
    };
    if float {
        return floating(&lower, hexadecimal.is_some());
    }
    let body = lower.trim_end_matches(['u', 'l', 'z']);
    let suffix = &lower[body.len()..];
    let (radix, body) = match (hexadecimal, body.strip_prefix("0b")) {
        (Some(_), _) => (16, &body[2..]),
        (None, Some(binary)) => (2, binary),
        (None, None) if body.len() > 1 && body.starts_with('0') => (8, &body[1..]),
        (None, None) => (10, body),
    };
    let value = i128::from(u64::from_str_radix(body, radix).ok()?);
    let unsigned = suffix.contains('u');
    let long = suffix.contains(['l', 'z']);
    let candidates = match (unsigned, long, radix) {
        (true, false, _) => &[IntegerType::UnsignedInt, IntegerType::UnsignedLong][..],
        (true, true, _) => &[IntegerType::UnsignedLong],
        (false, true, 10) => &[IntegerType::Long],
        (false, true, _) => &[IntegerType::Long, IntegerType::UnsignedLong],
        (false, false, 10) => &[IntegerType::Int, IntegerType::Long],
        (false, false, _) => {
            &[IntegerType::Int, IntegerType::UnsignedInt, IntegerType::Long, IntegerType::UnsignedLong]
        }
    };
    let of = candidates.iter().copied().find(|of| of.wrap(value) == value)?;
    Some(Value::Integer(Integer { value, of }))
}

fn floating(lower: &str, hexadecimal: bool) -> Option<Value> {
    let single = lower.ends_with('f') && (!hexadecimal || lower.contains('p'));
    let body = if single || lower.ends_with('l') { &lower[..lower.len() - 1] } else { lower };
    let value = if hexadecimal { hex_float(&body[2..])? } else { body.parse().ok()? };
    Some(Value::Float { value: if single { f64::from(value as f32) } else { value }, single })
}

fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let bits = u64::from_str_radix(&digits, 16).ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    Some(bits as f64 * f64::powi(2.0, exponent.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?))
}

/// A decoded string literal and, for each byte of it, the byte of the literal it came from.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// The text.
    pub text: String,
    /// Runs of equal bytes: offset in the text, offset in the literal, length. An escape is a run of its own.
    pub runs: Vec<(usize, usize, usize)>,
}

/// Decodes a string literal, prefix and quotes included; none when it is not one.
pub fn string(literal: &str) -> Option<Decoded> {
    let open = literal.find('"')?;
    if literal[..open].ends_with('R') {
        let parenthesis = open + literal[open..].find('(')?;
        let close = format!("){}\"", &literal[open + 1..parenthesis]);
        let body = literal[parenthesis + 1..].strip_suffix(close.as_str())?;
        return Some(Decoded { text: body.to_owned(), runs: vec![(0, parenthesis + 1, body.len())] });
    }
    let body = literal[open + 1..].strip_suffix('"')?;
    let mut out = Decoded::default();
    let mut rest = body.char_indices().peekable();
    let mut run = (0, open + 1);
    while let Some((index, c)) = rest.next() {
        if c != '\\' {
            out.text.push(c);
            continue;
        }
        close_run(&mut out, run);
        let at = out.text.len();
        escape(&mut rest, &mut out.text)?;
        let next = rest.peek().map_or(body.len(), |(next, _)| *next);
        out.runs.push((at, open + 1 + index, out.text.len() - at));
        run = (out.text.len(), open + 1 + next);
    }
    close_run(&mut out, run);
    Some(out)
}

fn close_run(out: &mut Decoded, (from, literal): (usize, usize)) {
    if out.text.len() > from {
        out.runs.push((from, literal, out.text.len() - from));
    }
}

fn escape(rest: &mut std::iter::Peekable<std::str::CharIndices<'_>>, out: &mut String) -> Option<()> {
    let (_, c) = rest.next()?;
    match c {
        'n' => out.push('\n'),
        't' => out.push('\t'),
        'r' => out.push('\r'),
        'a' => out.push('\x07'),
        'b' => out.push('\x08'),
        'f' => out.push('\x0c'),
        'v' => out.push('\x0b'),
        'x' => out.push(char::from(u8::try_from(digits(rest, 16, 2)?).ok()?)),
        'u' => out.push(char::from_u32(digits(rest, 16, 4)?)?),
        'U' => out.push(char::from_u32(digits(rest, 16, 8)?)?),
        '\n' => {}
        '0'..='7' => {
            let mut value = c.to_digit(8)?;
            for _ in 0..2 {
                let Some(digit) = rest.peek().and_then(|(_, c)| c.to_digit(8)) else { break };
                value = value * 8 + digit;
                rest.next();
            }
            out.push(char::from(u8::try_from(value).ok()?));
        }
        other => out.push(other),
    }
    Some(())
}

fn digits(rest: &mut std::iter::Peekable<std::str::CharIndices<'_>>, radix: u32, most: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..most {
        let Some(digit) = rest.peek().and_then(|(_, c)| c.to_digit(radix)) else { break };
        value = Some(value.unwrap_or(0) * radix + digit);
        rest.next();
    }
    value
}

/// The value of a character literal.
pub fn character(literal: &str) -> Option<u8> {
    let open = literal.find('\'')?;
    let body = literal[open + 1..].strip_suffix('\'')?;
    let decoded = string(&format!("\"{}\"", body.replace('"', "\\\"")))?;
    match decoded.text.as_bytes() {
        [byte] => Some(*byte),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{character, number, string};
    use crate::read::cxx::integer::IntegerType;
    use crate::read::cxx::value::Value;

    #[test]
    fn numbers_have_the_types_of_the_standard() {
        let typed = |text: &str| match number(text) {
            Some(Value::Integer(i)) => Some((i.value, i.of)),
            _ => None,
        };
        assert_eq!(typed("1'000"), Some((1000, IntegerType::Int)));
        assert_eq!(typed("0xFFFFFFFF"), Some((0xffff_ffff, IntegerType::UnsignedInt)));
        assert_eq!(typed("4294967295"), Some((0xffff_ffff, IntegerType::Long)));
        assert_eq!(typed("010"), Some((8, IntegerType::Int)));
        assert_eq!(typed("0b101u"), Some((5, IntegerType::UnsignedInt)));
        assert_eq!(typed("7ull"), Some((7, IntegerType::UnsignedLong)));
        assert_eq!(typed("-7"), Some((-7, IntegerType::Int)));
        assert_eq!(typed("0"), Some((0, IntegerType::Int)));
        assert_eq!(typed("09"), None);
    }

    #[test]
    fn floats_decimal_and_hexadecimal() {
        assert_eq!(number("1.5f"), Some(Value::Float { value: 1.5, single: true }));
        assert_eq!(number("1e3"), Some(Value::Float { value: 1000.0, single: false }));
        assert_eq!(number("0x1.8p+3f"), Some(Value::Float { value: 12.0, single: true }));
    }

    #[test]
    fn a_decoded_string_knows_where_its_bytes_came_from() {
        let decoded = string(r#""ab\"c\x41 ""#).unwrap();
        assert_eq!(decoded.text, "ab\"cA ");
        assert_eq!(decoded.runs, [(0, 1, 2), (2, 3, 1), (3, 5, 1), (4, 6, 1), (5, 10, 1)]);
        let raw = string("R\"x(a\\n)x\"").unwrap();
        assert_eq!((raw.text.as_str(), raw.runs), ("a\\n", vec![(0, 4, 3)]));
        assert_eq!(string("\"a"), None);
    }

    #[test]
    fn characters() {
        assert_eq!(character("'m'"), Some(b'm'));
        assert_eq!(character("'\\n'"), Some(b'\n'));
        assert_eq!(character("'\"'"), Some(b'"'));
        assert_eq!(character("'ab'"), None);
    }
}
