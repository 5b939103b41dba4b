//! Python's operators.

use super::value::Py;
use crate::read::site::line::Pieces;

/// Longest text that a repetition makes.
const LONGEST: usize = 1 << 20;

/// `left operator right` on numbers and text; the error says what is wrong.
pub fn binary(operator: &str, left: &Py, right: &Py) -> Result<Py, String> {
    let unfit = || format!("`{operator}` on {} and {}", left.kind(), right.kind());
    match (operator, left, right) {
        ("+", Py::Text(a), Py::Text(b)) => Ok(Py::Text(Pieces(a.0.iter().chain(&b.0).cloned().collect()))),
        ("*", Py::Text(a), n) | ("*", n, Py::Text(a)) => {
            let times = usize::try_from(n.int().ok_or_else(unfit)?.max(0)).map_err(|_| unfit())?;
            if times.saturating_mul(a.text().len()) > LONGEST {
                return Err("a repetition this long".to_owned());
            }
            Ok(Py::Text(Pieces(a.0.iter().cycle().take(a.0.len() * times).cloned().collect())))
        }
        ("+", Py::Tuple(a), Py::Tuple(b)) => Ok(Py::Tuple(a.iter().chain(b).cloned().collect())),
        _ => match (left.int(), right.int()) {
            (Some(a), Some(b)) => whole(operator, a, b),
            _ => match (left.float(), right.float()) {
                (Some(a), Some(b)) => real(operator, a, b),
                _ => Err(unfit()),
            },
        },
    }
}

fn whole(operator: &str, a: i128, b: i128) -> Result<Py, String> {
    let large = || format!("`{a} {operator} {b}`, which needs more than 128 bits,");
    let zero = || format!("`{a} {operator} 0` divides by zero");
    let out = match operator {
        "+" => a.checked_add(b).ok_or_else(large)?,
        "-" => a.checked_sub(b).ok_or_else(large)?,
        "*" => a.checked_mul(b).ok_or_else(large)?,
        "//" | "%" | "/" if b == 0 => return Err(zero()),
        "/" => return Ok(Py::Float(a as f64 / b as f64)),
        "//" => a.checked_div(b).ok_or_else(large)? - i128::from(a % b != 0 && (a < 0) != (b < 0)),
        "%" => a.checked_rem_euclid(b).map(|r| if b < 0 && r != 0 { r + b } else { r }).ok_or_else(large)?,
        "**" if b < 0 => return real(operator, a as f64, b as f64),
        "**" => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)).ok_or_else(large)?,
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        "<<" => {
            let by = u32::try_from(b).ok().filter(|by| *by < 100).ok_or_else(large)?;
            a.checked_mul(1 << by).ok_or_else(large)?
        }
        ">>" => a >> u32::try_from(b).ok().filter(|by| *by < 127).ok_or_else(large)?,
        _ => return Err(format!("`{operator}`")),
    };
    Ok(Py::Int(out))
}

fn real(operator: &str, a: f64, b: f64) -> Result<Py, String> {
    if matches!(operator, "/" | "//" | "%") && b == 0.0 {
        return Err(format!("`{a} {operator} 0.0` divides by zero"));
    }
    Ok(Py::Float(match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "//" => (a / b).floor(),
        "**" => a.powf(b),
        _ => return Err(format!("`{operator}` on floats")),
    }))
}

/// Whether two values are equal; none where that is not known.
pub fn equal(left: &Py, right: &Py) -> Option<bool> {
    Some(match (left, right) {
        (Py::Text(a), Py::Text(b)) => a.text() == b.text(),
        (Py::None, Py::None) => true,
        (Py::Tuple(a), Py::Tuple(b)) => {
            let mut all = a.len() == b.len();
            for (a, b) in a.iter().zip(b) {
                all &= equal(&a.value, &b.value)?;
            }
            all
        }
        (Py::Object(a), Py::Object(b)) if a == b => true,
        (Py::Object(_), Py::Object(_)) => return None,
        _ => match (left.int(), right.int(), left.float(), right.float()) {
            (Some(a), Some(b), ..) => a == b,
            (.., Some(a), Some(b)) => a == b,
            _ => false,
        },
    })
}

/// `left operator right` for `==`, `!=`, `<` and their like.
pub fn compare(operator: &str, left: &Py, right: &Py) -> Result<bool, String> {
    let unfit = || format!("`{operator}` on {} and {}", left.kind(), right.kind());
    match operator {
        "==" => return equal(left, right).ok_or_else(unfit),
        "!=" | "<>" => return equal(left, right).map(|e| !e).ok_or_else(unfit),
        "is" | "is not" => {
            let same = match (left, right) {
                (Py::None, _) | (_, Py::None) | (Py::Bool(_), Py::Bool(_)) => equal(left, right),
                (Py::Bool(_), _) | (_, Py::Bool(_)) => Some(false),
                _ => None,
            };
            return same.map(|same| same == (operator == "is")).ok_or_else(unfit);
        }
        _ => {}
    }
    let order = match (left, right) {
        (Py::Text(a), Py::Text(b)) => Some(a.text().cmp(&b.text())),
        _ => match (left.int(), right.int(), left.float(), right.float()) {
            (Some(a), Some(b), ..) => Some(a.cmp(&b)),
            (.., Some(a), Some(b)) => a.partial_cmp(&b),
            _ => None,
        },
    };
    let order = order.ok_or_else(unfit)?;
    match operator {
        "<" => Ok(order.is_lt()),
        "<=" => Ok(order.is_le()),
        ">" => Ok(order.is_gt()),
        ">=" => Ok(order.is_ge()),
        _ => Err(format!("`{operator}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::{binary, compare};
    use crate::read::site::python::value::Py;

    #[test]
    fn division_and_remainder_round_down() {
        let whole = |op, a, b| binary(op, &Py::Int(a), &Py::Int(b)).ok().and_then(|v| v.int());
        assert_eq!([whole("//", -7, 2), whole("%", -7, 2), whole("%", 7, -2)], [Some(-4), Some(1), Some(-1)]);
        assert_eq!([whole("//", 7, -2), whole("**", 2, 10), whole("<<", 1, 4)], [Some(-4), Some(1024), Some(16)]);
        assert!(matches!(binary("/", &Py::Int(7), &Py::Int(2)), Ok(Py::Float(3.5))));
        assert!(binary("//", &Py::Int(1), &Py::Int(0)).is_err() && binary("**", &Py::Int(9), &Py::Int(999)).is_err());
    }

    #[test]
    fn comparisons_know_truth_none_and_numbers() {
        assert_eq!(compare("==", &Py::Bool(true), &Py::Int(1)), Ok(true));
        assert_eq!(compare("is", &Py::Int(1), &Py::None), Ok(false));
        assert_eq!(compare("<", &Py::Int(1), &Py::Float(1.5)), Ok(true));
        assert!(compare("<", &Py::None, &Py::Int(1)).is_err());
    }
}
