//! The values that a site cannot know by itself.

use std::collections::{BTreeMap, BTreeSet};

use super::emission::UsedLeaf;
use crate::read::cxx::integer::IntegerType;
use crate::read::cxx::literal;
use crate::read::cxx::value::{Evaluated, Value};
use crate::source::Spot;

/// The leaves that were given, and which of them were used.
#[derive(Debug, Default)]
pub struct Leaves {
    given: BTreeMap<String, (String, String)>,
    /// In the order of first use.
    pub used: Vec<UsedLeaf>,
    /// Leaves whose value does not fit the declared type: name, value, type, place.
    pub unfit: Vec<(String, String, String, Spot)>,
}

impl Leaves {
    /// Takes what was given; blanks in names do not count.
    pub fn new(given: &BTreeMap<String, String>) -> Self {
        let given = given.iter().map(|(name, value)| (compact(name), (name.clone(), value.clone()))).collect();
        Leaves { given, ..Leaves::default() }
    }

    /// The value given for `name`, converted to `declared`.
    pub fn take(&mut self, name: &str, declared: &str, expr: Option<String>, at: &Spot) -> Option<Evaluated> {
        let (given_name, text) = self.given.get(&compact(name))?.clone();
        if !self.used.iter().any(|leaf| leaf.name == given_name) {
            let leaf = UsedLeaf { name: given_name.clone(), given: text.clone(), expr, at: at.clone() };
            self.used.push(leaf);
        }
        let value = parse(&text).converted_to(declared);
        if !fits(&value, declared) && !self.unfit.iter().any(|(n, ..)| *n == given_name) {
            self.unfit.push((given_name.clone(), text, declared.to_owned(), at.clone()));
        }
        Some(Evaluated { value, leaves: BTreeSet::from([given_name]) })
    }

    /// Everything that was given.
    pub fn all(&self) -> BTreeMap<String, String> {
        self.given.values().cloned().collect()
    }

    /// The given names that nothing used.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        self.given.values().map(|(name, _)| name.as_str()).filter(|name| !self.used.iter().any(|u| u.name == *name))
    }
}

/// A name without blanks.
pub fn compact(name: &str) -> String {
    name.split_whitespace().collect()
}

/// The value that a given text means: a truth value, a number, quoted text, or else a name that stands for itself.
pub fn parse(text: &str) -> Value {
    let text = text.trim();
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "nullptr" => Value::Null,
        _ => match literal::number(text) {
            Some(number) => number,
            None => match literal::string(text) {
                Some(decoded) if text.starts_with('"') => Value::Text(decoded.text),
                _ => Value::Symbol(text.to_owned()),
            },
        },
    }
}

fn fits(value: &Value, declared: &str) -> bool {
    match declared.trim() {
        "bool" => matches!(value, Value::Bool(_)),
        "float" | "double" => matches!(value, Value::Float { .. }),
        other => IntegerType::of(other).is_none() || matches!(value, Value::Integer(_)),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::read::cxx::value::Value;

    #[test]
    fn given_texts_are_values() {
        assert_eq!(parse("16"), Value::int(16));
        assert_eq!(parse("-0x10"), Value::int(-16));
        assert_eq!(parse("true"), Value::Bool(true));
        assert_eq!(parse("\"a b\""), Value::Text("a b".into()));
        assert_eq!(parse("0.5f"), Value::Float { value: 0.5, single: true });
        assert_eq!(parse("Major::K"), Value::Symbol("Major::K".into()));
    }
}
