//! Python's format specifications.

use super::value::Py;

/// A value as `format(value, spec)` prints it; none for a specification or a value that is not known.
pub fn print(value: &Py, spec: &str) -> Option<String> {
    if spec.is_empty() {
        return value.printed();
    }
    let chars: Vec<char> = spec.chars().collect();
    let mut at = 0;
    let is_align = |c: Option<&char>| matches!(c, Some('<' | '>' | '^' | '='));
    let (mut fill, mut align) = (' ', None);
    if is_align(chars.get(1)) {
        (fill, align) = (chars[0], Some(chars[1]));
        at = 2;
    } else if is_align(chars.first()) {
        align = Some(chars[0]);
        at = 1;
    }
    let mut take = |wanted: &[char]| {
        let found = chars.get(at).copied().filter(|c| wanted.contains(c));
        at += usize::from(found.is_some());
        found
    };
    let sign = take(&['+', '-', ' ']);
    let prefixed = take(&['#']).is_some();
    if take(&['0']).is_some() && align.is_none() {
        (fill, align) = ('0', Some('='));
    }
    let rest: String = chars[at..].iter().collect();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let width: usize = if digits == 0 { 0 } else { rest[..digits].parse().ok().filter(|w| *w <= 4096)? };
    let rest = &rest[digits..];
    let (comma, rest) = match rest.strip_prefix(',') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let (precision, kind) = match rest.strip_prefix('.') {
        Some(rest) => {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            (Some(rest[..digits].parse::<usize>().ok().filter(|p| *p <= 64)?), &rest[digits..])
        }
        None => (None, rest),
    };
    let (negative, body, numeric) = body(value, kind, precision, prefixed, comma)?;
    if !numeric && (sign.is_some() || align == Some('=')) {
        return None;
    }
    let sign = match (negative, sign) {
        (true, _) => "-",
        (false, Some('+')) => "+",
        (false, Some(' ')) => " ",
        _ => "",
    };
    let missing = width.saturating_sub(sign.len() + body.chars().count());
    let pad = |n: usize| fill.to_string().repeat(n);
    Some(match align.unwrap_or(if numeric { '>' } else { '<' }) {
        '<' => format!("{sign}{body}{}", pad(missing)),
        '^' => format!("{}{sign}{body}{}", pad(missing / 2), pad(missing - missing / 2)),
        '=' => format!("{sign}{}{body}", pad(missing)),
        _ => format!("{}{sign}{body}", pad(missing)),
    })
}

/// Whether it is negative, the text without its sign, and whether it is a number.
fn body(value: &Py, kind: &str, precision: Option<usize>, prefixed: bool, comma: bool) -> Option<(bool, String, bool)> {
    let prefix = |text: &str| if prefixed { text } else { "" }.to_owned();
    match (value, kind) {
        (Py::Text(pieces), "" | "s") if !comma && !prefixed => {
            let text = pieces.text();
            Some((false, precision.map_or(text.clone(), |p| text.chars().take(p).collect()), false))
        }
        (Py::Float(f), "" | "f" | "F" | "e" | "g") | (Py::Float(f), "%") => real(*f, kind, precision, comma),
        (Py::Bool(_) | Py::Int(_), "f" | "F" | "%") => real(value.float()?, kind, precision, comma),
        (Py::Bool(_) | Py::Int(_), _) if precision.is_none() => {
            let whole = value.int()?;
            let size = whole.unsigned_abs();
            let text = match kind {
                "" | "d" | "n" if comma => grouped(&size.to_string()),
                "" | "d" => size.to_string(),
                _ if comma => return None,
                "x" => prefix("0x") + &format!("{size:x}"),
                "X" => prefix("0X") + &format!("{size:X}"),
                "o" => prefix("0o") + &format!("{size:o}"),
                "b" => prefix("0b") + &format!("{size:b}"),
                _ => return None,
            };
            Some((whole < 0, text, true))
        }
        _ => None,
    }
}

fn real(value: f64, kind: &str, precision: Option<usize>, comma: bool) -> Option<(bool, String, bool)> {
    let size = value.abs();
    let text = match (kind, precision) {
        ("", None) => super::value::float(size),
        ("f" | "F", _) => format!("{size:.*}", precision.unwrap_or(6)),
        ("%", _) => format!("{:.*}%", precision.unwrap_or(6), size * 100.0),
        _ => return None,
    };
    if comma {
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let point = if fraction.is_empty() { "" } else { "." };
        return Some((value.is_sign_negative(), format!("{}{point}{fraction}", grouped(whole)), true));
    }
    Some((value.is_sign_negative(), text, true))
}

fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::print;
    use crate::read::site::python::value::Py;

    #[test]
    fn specifications_print_as_python_prints_them() {
        for (value, spec, text) in [
            (Py::Int(7), ">4", "   7"),
            (Py::Int(7), "04d", "0007"),
            (Py::Int(-7), "04d", "-007"),
            (Py::Int(255), "#x", "0xff"),
            (Py::Int(255), "08b", "11111111"),
            (Py::Int(1234567), ",", "1,234,567"),
            (Py::Int(3), "*^5", "**3**"),
            (Py::Bool(true), "d", "1"),
            (Py::Bool(true), "", "True"),
            (Py::Float(2.5), ".2f", "2.50"),
            (Py::Float(-2.5), "+.1f", "-2.5"),
            (Py::Int(2), ".1f", "2.0"),
        ] {
            assert_eq!(print(&value, spec).as_deref(), Some(text), "{spec}");
        }
        for (value, spec) in [(Py::None, ">4"), (Py::Int(1), ".2"), (Py::Int(1), "s"), (Py::Float(1.0), "d")] {
            assert_eq!(print(&value, spec), None, "{spec}");
        }
    }
}
