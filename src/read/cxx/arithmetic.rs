//! Operators on values, as C++ defines them.

use super::integer::{Integer, IntegerType};
use super::value::Value;

/// Why an operator has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoResult {
    /// Undefined by the standard; the text says what is wrong.
    Undefined(String),
    /// Not for these operands.
    Unsupported,
}

/// `left operator right`, for every operator but `&&` and `||`.
pub fn binary(operator: &str, left: &Value, right: &Value) -> Result<Value, NoResult> {
    if let Some(equal) = equality(left, right) {
        match operator {
            "==" => return Ok(Value::Bool(equal)),
            "!=" => return Ok(Value::Bool(!equal)),
            _ => {}
        }
    }
    match (left, right) {
        (Value::Text(a), Value::Text(b)) if operator == "+" => Ok(Value::Text(format!("{a}{b}"))),
        (Value::Text(a), Value::Char(b)) if operator == "+" => Ok(Value::Text(format!("{a}{}", char::from(*b)))),
        (Value::Float { .. }, _) | (_, Value::Float { .. }) => floats(operator, left, right),
        _ => match (left.as_integer(), right.as_integer()) {
            (Some(a), Some(b)) => integers(operator, a, b),
            _ => Err(NoResult::Unsupported),
        },
    }
}

/// `operator value`.
pub fn unary(operator: &str, value: &Value) -> Result<Value, NoResult> {
    if let Value::Float { value, single } = value {
        match operator {
            "-" => return Ok(Value::Float { value: -value, single: *single }),
            "+" => return Ok(Value::Float { value: *value, single: *single }),
            _ => {}
        }
    }
    if operator == "!" || operator == "not" {
        return value.as_bool().map(|b| Value::Bool(!b)).ok_or(NoResult::Unsupported);
    }
    let Some(Integer { value, of }) = value.as_integer() else { return Err(NoResult::Unsupported) };
    match operator {
        "-" => fit(-value, of),
        "+" => fit(value, of),
        "~" => Ok(Value::Integer(Integer::converted(!value, of))),
        _ => Err(NoResult::Unsupported),
    }
}

fn equality(left: &Value, right: &Value) -> Option<bool> {
    match (left, right) {
        (Value::Text(a), Value::Text(b)) => Some(a == b),
        (Value::Symbol(a), Value::Symbol(b)) => Some(same_enumerator(a, b)),
        (Value::Type(a), Value::Type(b)) => Some(a == b),
        (Value::Null, Value::Null) => Some(true),
        _ => None,
    }
}

/// Enumerators are the same when the shorter path ends the longer one.
fn same_enumerator(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
}

fn floats(operator: &str, left: &Value, right: &Value) -> Result<Value, NoResult> {
    let double = |v: &Value| matches!(v, Value::Float { single: false, .. });
    let single = !(double(left) || double(right));
    let (Some(a), Some(b)) = (left.as_float(), right.as_float()) else { return Err(NoResult::Unsupported) };
    let (a, b) = if single { (f64::from(a as f32), f64::from(b as f32)) } else { (a, b) };
    let value = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        _ => return compare(operator, a.partial_cmp(&b)),
    };
    Ok(Value::Float { value: if single { f64::from(value as f32) } else { value }, single })
}

fn compare(operator: &str, order: Option<std::cmp::Ordering>) -> Result<Value, NoResult> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    Ok(Value::Bool(match operator {
        "<" => order == Some(Less),
        ">" => order == Some(Greater),
        "<=" => matches!(order, Some(Less | Equal)),
        ">=" => matches!(order, Some(Greater | Equal)),
        "==" => order == Some(Equal),
        "!=" => order != Some(Equal),
        _ => return Err(NoResult::Unsupported),
    }))
}

fn integers(operator: &str, left: Integer, right: Integer) -> Result<Value, NoResult> {
    if matches!(operator, "<<" | ">>") {
        return shift(operator, left, right.value);
    }
    let of = left.common(right);
    let (a, b) = (of.wrap(left.value), of.wrap(right.value));
    match operator {
        "+" => fit(a + b, of),
        "-" => fit(a - b, of),
        "*" => match a.checked_mul(b) {
            Some(product) => fit(product, of),
            None => fit_product(a, b, of),
        },
        "/" | "%" if b == 0 => Err(NoResult::Undefined(format!("`{a} {operator} 0` divides by zero"))),
        "/" => fit(a / b, of),
        "%" => fit(a % b, of),
        "&" => fit(a & b, of),
        "|" => fit(a | b, of),
        "^" => fit(a ^ b, of),
        _ => compare(operator, Some(a.cmp(&b))),
    }
}

/// Unsigned 64-bit products can pass 128 signed bits.
fn fit_product(a: i128, b: i128, of: IntegerType) -> Result<Value, NoResult> {
    if of.signed() {
        return Err(NoResult::Undefined(format!("`{a} * {b}` overflows")));
    }
    let product = (a as u128).wrapping_mul(b as u128) & u128::from(u64::MAX);
    Ok(Value::Integer(Integer { value: product as i128, of }))
}

fn shift(operator: &str, left: Integer, by: i128) -> Result<Value, NoResult> {
    let of = left.of;
    let Some(by) = u32::try_from(by).ok().filter(|by| *by < of.bits()) else {
        return Err(NoResult::Undefined(format!("the shift by {by} is not within {} bits", of.bits())));
    };
    if operator == ">>" {
        fit(left.value >> by, of)
    } else {
        Ok(Value::Integer(Integer::converted(left.value << by, of)))
    }
}

fn fit(value: i128, of: IntegerType) -> Result<Value, NoResult> {
    let wrapped = of.wrap(value);
    if of.signed() && wrapped != value {
        return Err(NoResult::Undefined(format!("{value} overflows {} bits", of.bits())));
    }
    Ok(Value::Integer(Integer { value: wrapped, of }))
}

#[cfg(test)]
mod tests {
    use super::{NoResult, binary, unary};
    use crate::read::cxx::integer::{Integer, IntegerType};
    use crate::read::cxx::value::Value;

    fn int(value: i128) -> Value {
        Value::int(value)
    }

    #[test]
    fn division_truncates_to_zero_and_zero_is_an_error() {
        assert_eq!(binary("/", &int(-7), &int(2)), Ok(int(-3)));
        assert_eq!(binary("%", &int(-7), &int(2)), Ok(int(-1)));
        assert!(matches!(binary("/", &int(1), &int(0)), Err(NoResult::Undefined(_))));
    }

    #[test]
    fn signed_overflow_is_undefined_and_unsigned_wraps() {
        assert!(matches!(binary("*", &int(1 << 20), &int(1 << 20)), Err(NoResult::Undefined(_))));
        let one = Value::Integer(Integer { value: 1, of: IntegerType::UnsignedInt });
        let minus = binary("-", &int(0), &one);
        assert_eq!(minus.unwrap().to_string(), "4294967295");
        let big = Value::size(u64::MAX);
        assert_eq!(binary("*", &big, &big).unwrap().to_string(), "1");
    }

    #[test]
    fn a_sign_is_lost_beside_a_size() {
        assert_eq!(binary("<", &int(-1), &Value::size(1)), Ok(Value::Bool(false)));
    }

    #[test]
    fn single_precision_rounds_after_each_step() {
        let third = binary("/", &Value::Float { value: 1.0, single: true }, &int(3)).unwrap();
        assert_eq!(third, Value::Float { value: f64::from(1.0f32 / 3.0), single: true });
    }

    #[test]
    fn enumerators_compare_by_their_last_parts() {
        let (long, short) = (Value::Symbol("deep::Kind::Normal".into()), Value::Symbol("Kind::Normal".into()));
        assert_eq!(binary("==", &long, &short), Ok(Value::Bool(true)));
        assert_eq!(binary("!=", &long, &Value::Symbol("Kind::Other".into())), Ok(Value::Bool(true)));
    }

    #[test]
    fn shifts_and_complements() {
        assert_eq!(binary("<<", &int(1), &int(4)), Ok(int(16)));
        assert!(binary("<<", &int(1), &int(32)).is_err());
        assert_eq!(unary("~", &int(0)), Ok(int(-1)));
        assert_eq!(unary("!", &int(3)), Ok(Value::Bool(false)));
        assert_eq!(unary("-", &Value::Text("a".into())), Err(NoResult::Unsupported));
    }
}
