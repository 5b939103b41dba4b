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
    /// Leaves whose value cannot be taken.
    pub unfit: Vec<Unfit>,
    /// Leaves that are read otherwise than their digits look: name, value, what it means, place.
    pub octal: Vec<(String, String, String, Spot)>,
    /// Objects that code which is not followed may have changed: name, that code, and whether more than parts of it.
    changed: Vec<(String, Spot, bool)>,
    /// Leaves that are taken though something before may have given them another value: name, and what that is.
    pub stale: Vec<(String, Spot)>,
}

/// A leaf whose value cannot be taken.
#[derive(Debug)]
pub struct Unfit {
    /// Its name.
    pub name: String,
    /// What is wrong with its value.
    pub what: String,
    /// Where the site takes it.
    pub at: Spot,
}

impl Leaves {
    /// Takes what was given; blanks in names do not count.
    pub fn new(given: &BTreeMap<String, String>) -> Self {
        let given = given.iter().map(|(name, value)| (compact(name), (name.clone(), value.clone()))).collect();
        Leaves { given, ..Leaves::default() }
    }

    /// Whether a value was given for `name`.
    pub fn has(&self, name: &str) -> bool {
        self.given.contains_key(&compact(name))
    }

    /// The name and the text given for `name`, which is used now.
    pub fn text(&mut self, name: &str, expr: Option<String>, at: &Spot) -> Option<(String, String)> {
        let (given_name, text) = self.given.get(&compact(name))?.clone();
        let again = self.used.iter().find(|leaf| leaf.name == given_name).and_then(|leaf| leaf.expr.clone());
        let other = again.zip(expr.clone()).is_some_and(|(before, now)| before != now);
        let wanted = compact(name);
        let touches =
            |(object, _, whole): &&(String, Spot, bool)| is_part(&wanted, object) || *whole && wanted == *object;
        let changed = self.changed.iter().find(touches).map(|(_, by, _)| by.clone());
        if let Some(by) = changed.or_else(|| other.then(|| at.clone())) {
            self.grown_stale(&BTreeSet::from([given_name.clone()]), &by);
        }
        if !self.used.iter().any(|leaf| leaf.name == given_name) {
            let leaf = UsedLeaf { name: given_name.clone(), given: text.clone(), expr, at: at.clone() };
            self.used.push(leaf);
            if let Some(what) = unreadable(&text) {
                self.unfit(&given_name, what, at);
            }
            if let (true, Value::Integer(value)) = (is_octal(&text), parse(&text)) {
                self.octal.push((given_name.clone(), text.clone(), value.to_string(), at.clone()));
            }
        }
        Some((given_name, text))
    }

    /// The value given for `name`, converted to `declared`.
    pub fn take(&mut self, name: &str, declared: &str, expr: Option<String>, at: &Spot) -> Option<Evaluated> {
        let (given_name, text) = self.text(name, expr, at)?;
        let given = parse(&text);
        let value = given.clone().converted_to(declared);
        if !fits(&value, declared) {
            self.unfit(&given_name, format!("`{text}` is no value for `{given_name}`, which is `{declared}`"), at);
        } else if changes(&given, &value, declared) {
            let what = format!("`{text}` becomes {value} in `{given_name}`, which is `{declared}`");
            self.unfit(&given_name, what, at);
        }
        Some(Evaluated { value, leaves: BTreeSet::from([given_name]) })
    }

    /// Notes leaves that are taken though something may have given them another value.
    pub fn grown_stale(&mut self, names: &BTreeSet<String>, by: &Spot) {
        for name in names {
            if !self.stale.iter().any(|(known, _)| known == name) {
                self.stale.push((name.clone(), by.clone()));
            }
        }
    }

    /// From here on parts of `object`, with `whole` the object itself, may hold other values than on entry.
    pub fn may_change(&mut self, object: &str, by: &Spot, whole: bool) {
        let change = (compact(object), by.clone(), whole);
        if !self.changed.contains(&change) {
            self.changed.push(change);
        }
    }

    fn unfit(&mut self, name: &str, what: String, at: &Spot) {
        if !self.unfit.iter().any(|known| known.name == name) {
            self.unfit.push(Unfit { name: name.to_owned(), what, at: at.clone() });
        }
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

/// Whether `name` is a member or an element of `object`.
pub fn is_part(name: &str, object: &str) -> bool {
    name.strip_prefix(object).is_some_and(|rest| rest.starts_with(['.', '[']) || rest.starts_with("->"))
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

/// Why a text is no value at all.
fn unreadable(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return Some("an empty value is none; write `\"\"` for empty text".to_owned());
    }
    let quoted = text.starts_with(['"', '\'']);
    let foreign = text.chars().find(|c| !quoted && (!c.is_ascii() || c.is_ascii_control()));
    foreign
        .map(|c| format!("`{}` holds U+{:04X}, which is in no number and no name", text.escape_debug(), u32::from(c)))
}

/// Whether C++ reads these digits to the base of 8.
fn is_octal(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['-', '+']);
    digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Whether the conversion to the declared type gives another number.
fn changes(given: &Value, converted: &Value, declared: &str) -> bool {
    if declared.trim() == "bool" {
        return given.as_float().is_some_and(|number| number != 0.0 && number != 1.0);
    }
    match (given, converted) {
        (Value::Float { value, .. }, Value::Integer(whole)) => *value != whole.value as f64,
        (Value::Float { value, .. }, Value::Float { value: rounded, .. }) => value.is_finite() != rounded.is_finite(),
        (given, Value::Integer(whole)) => given.as_integer().is_some_and(|given| given.value != whole.value),
        (given, Value::Float { value, .. }) => given.as_integer().is_some_and(|given| given.value as f64 != *value),
        _ => false,
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
    use std::collections::BTreeMap;

    use super::{Leaves, parse};
    use crate::read::cxx::value::Value;
    use crate::source::{Source, Spot};

    fn taken(declared: &str, text: &str) -> (String, Vec<String>, usize) {
        let mut leaves = Leaves::new(&BTreeMap::from([("m".to_owned(), text.to_owned())]));
        let at = Spot::new(&Source::new("s", "m"), 0..1);
        let value = leaves.take("m", declared, None, &at).unwrap();
        (value.value.to_string(), leaves.unfit.into_iter().map(|u| u.what).collect(), leaves.octal.len())
    }

    #[test]
    fn a_value_that_its_type_would_change_is_told() {
        for (declared, text) in [
            ("int", "4294967312"),
            ("int", "2.9"),
            ("uint8_t", "256"),
            ("size_t", "-1"),
            ("bool", "2"),
            ("float", "16777217"),
            ("float", "1e60"),
            ("int", "many"),
            ("int", "09"),
            ("", ""),
            ("", "\u{661}"),
            ("int", "\u{661}"),
        ] {
            assert_eq!(taken(declared, text).1.len(), 1, "{declared} {text}");
        }
        for (declared, text) in [
            ("int", "16"),
            ("int", "true"),
            ("bool", "1"),
            ("float", "0.1"),
            ("", "a::b"),
            ("", "\"\u{661}\""),
            ("int", "2.0"),
        ] {
            assert_eq!(taken(declared, text).1, Vec::<String>::new(), "{declared} {text}");
        }
        assert_eq!(taken("int", "0400"), ("256".to_owned(), vec![], 1));
        assert_eq!(taken("int", "0").2, 0);
    }

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
