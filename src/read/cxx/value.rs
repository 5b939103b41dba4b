//! Values of constant expressions and of a generator's locals.

use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;

use super::integer::{Integer, IntegerType};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Integer(Integer),
    /// A floating-point number; `single` for `float`.
    Float {
        /// The value.
        value: f64,
        /// Whether it is a `float`, rounded to it after each operation.
        single: bool,
    },
    /// One `char`.
    Char(u8),
    /// Text: a `char const *` or a `std::string`.
    Text(String),
    /// A name that stands for itself: an enumerator, text that a leaf was set to.
    Symbol(String),
    /// A type.
    Type(Rc<TypeName>),
    /// Several values in order: a shape, a coordinate, an array.
    Tuple(Vec<Value>),
    /// `nullptr`.
    Null,
}

/// A type after its aliases were resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeName {
    /// Its qualified name, without template arguments and qualifiers.
    pub name: String,
    /// Its template arguments; one that has no value is kept as a [`Value::Symbol`].
    pub arguments: Vec<Value>,
}

impl TypeName {
    /// The name without its qualifiers.
    pub fn last(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or_default()
    }
}

impl Value {
    /// An `int` or the first wider type.
    pub fn int(value: i128) -> Self {
        Value::Integer(Integer::new(value))
    }

    /// A `size_t`.
    pub fn size(value: u64) -> Self {
        Value::Integer(Integer::converted(i128::from(value), IntegerType::UnsignedLong))
    }

    /// As an integer, the way C++ converts it.
    pub fn as_integer(&self) -> Option<Integer> {
        match self {
            Value::Bool(b) => Some(Integer::new(i128::from(*b))),
            Value::Char(c) => Some(Integer::new(i128::from(*c))),
            Value::Integer(i) => Some(*i),
            _ => None,
        }
    }

    /// As a floating-point number.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Value::Float { value, .. } => Some(*value),
            other => other.as_integer().map(|i| i.value as f64),
        }
    }

    /// As a condition.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Float { value, .. } => Some(*value != 0.0),
            Value::Null => Some(false),
            Value::Text(_) => Some(true),
            other => other.as_integer().map(|i| i.value != 0),
        }
    }

    /// Converted to a declared type; unchanged where the type is not arithmetic or the value does not convert.
    pub fn converted_to(self, declared: &str) -> Value {
        let declared = declared.trim();
        if declared == "bool" {
            return self.as_bool().map_or(self, Value::Bool);
        }
        if matches!(declared, "float" | "double") {
            let single = declared == "float";
            let rounded = |v: f64| if single { f64::from(v as f32) } else { v };
            return self.as_float().map_or(self, |value| Value::Float { value: rounded(value), single });
        }
        let Some((of, bits, signed)) = IntegerType::of(declared) else { return self };
        let whole = match &self {
            Value::Float { value, .. } => Some(value.trunc() as i128),
            other => other.as_integer().map(|i| i.value),
        };
        let Some(whole) = whole else { return self };
        let low = whole & ((1i128 << bits) - 1);
        let stored = if signed && low >> (bits - 1) != 0 { low - (1i128 << bits) } else { low };
        Value::Integer(Integer::converted(stored, of))
    }
}

/// The text that `std::to_string` gives, or the text itself.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(b) => b.fmt(f),
            Value::Integer(i) => i.fmt(f),
            Value::Float { value, .. } if value.is_nan() => {
                f.write_str(if value.is_sign_negative() { "-nan" } else { "nan" })
            }
            Value::Float { value, .. } => write!(f, "{value:.6}"),
            Value::Char(c) => write!(f, "{}", char::from(*c)),
            Value::Text(text) | Value::Symbol(text) => f.write_str(text),
            Value::Type(name) => name.fmt(f),
            Value::Tuple(values) => list(f, values),
            Value::Null => f.write_str("nullptr"),
        }
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.arguments.is_empty() {
            f.write_str("<")?;
            list(f, &self.arguments)?;
            f.write_str(">")?;
        }
        Ok(())
    }
}

fn list(f: &mut fmt::Formatter<'_>, values: &[Value]) -> fmt::Result {
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{value}")?;
    }
    Ok(())
}

/// A value and the leaves that it was computed from.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// The value.
    pub value: Value,
    /// The names of the leaves behind it.
    pub leaves: BTreeSet<String>,
}

impl Evaluated {
    /// The same leaves with another value.
    pub fn with(self, value: Value) -> Self {
        Evaluated { value, leaves: self.leaves }
    }

    /// With the leaves of `other` added.
    #[must_use]
    pub fn joined(mut self, other: &Evaluated) -> Self {
        self.leaves.extend(other.leaves.iter().cloned());
        self
    }
}

impl From<Value> for Evaluated {
    fn from(value: Value) -> Self {
        Evaluated { value, leaves: BTreeSet::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn values_print_as_the_standard_library_prints_them() {
        assert_eq!(Value::Bool(true).to_string(), "true");
        assert_eq!(Value::Float { value: 1.0 / 3.0, single: true }.to_string(), "0.333333");
        assert_eq!(Value::Float { value: f64::INFINITY, single: true }.to_string(), "inf");
        assert_eq!(Value::Char(b'x').to_string(), "x");
        assert_eq!(Value::int(-3).to_string(), "-3");
    }

    #[test]
    fn a_declared_type_converts() {
        assert_eq!(Value::int(1).converted_to("bool"), Value::Bool(true));
        assert_eq!(Value::Float { value: -2.9, single: false }.converted_to("int"), Value::int(-2));
        assert_eq!(Value::int(300).converted_to("uint8_t"), Value::int(44));
        assert_eq!(Value::int(-1).converted_to("size_t").to_string(), "18446744073709551615");
        assert_eq!(Value::Text("a".into()).converted_to("int"), Value::Text("a".into()));
    }
}
