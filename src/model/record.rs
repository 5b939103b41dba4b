//! A [`Reproducer`] as the text of `repro.toml`, made to be read and edited: facts on one line, C++ as it looks.

use std::fmt::Write as _;

use toml::{Table, Value};

use super::Reproducer;

const HEADER: &str = "\
# A krepro reproducer. Edit it and run `krepro render DIR` to write the .cu and build.sh again.
# Every value says where it is from: transcribed (a byte-equal slice), read (computed from an expression), given (said by you),
# assumed (nobody said it: a rung that fails only under it gives a draft). After an edit write from = \"given\", by = \"edit\".
# [leaves] and [[inputs]] only record what was read: for another instantiation run `krepro new` again.

";

impl Reproducer {
    /// The text of `repro.toml`; [`crate::read::record::parse`] reads it back to an equal value.
    ///
    /// # Errors
    /// An integer that TOML cannot hold (above 2^63 - 1).
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let table = Table::try_from(self)?;
        let mut text = HEADER.to_owned();
        write_table(&mut text, &[], &table);
        Ok(text)
    }
}

/// Scalars and facts first, then tables, then arrays of tables.
fn write_table(text: &mut String, path: &[&str], table: &Table) {
    let is_block = |value: &Value| match value {
        Value::Table(table) => !is_line(table),
        Value::Array(list) => !list.is_empty() && list.iter().all(|v| matches!(v, Value::Table(t) if !is_line(t))),
        _ => false,
    };
    for (key, value) in table.iter().filter(|(_, value)| !is_block(value)) {
        let _ = writeln!(text, "{} = {}", quoted_key(key), inline(value, true));
    }
    for (key, value) in table.iter().filter(|(_, value)| is_block(value)) {
        let path: Vec<&str> = path.iter().copied().chain([key.as_str()]).collect();
        let name = path.iter().map(|part| quoted_key(part)).collect::<Vec<_>>().join(".");
        match value {
            Value::Table(inner) => {
                let _ = writeln!(text, "\n[{name}]");
                write_table(text, &path, inner);
            }
            Value::Array(list) => {
                for entry in list.iter().filter_map(Value::as_table) {
                    let _ = writeln!(text, "\n[[{name}]]");
                    write_table(text, &path, entry);
                }
            }
            _ => {}
        }
    }
}

/// Whether a table stands on one line: a fact, or a small record without tables in it.
fn is_line(table: &Table) -> bool {
    table.contains_key("from")
        || (table.len() <= 3 && table.values().all(|v| !v.is_table() && !v.is_array()) && !table.is_empty())
}

fn quoted_key(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { key.to_owned() } else { Value::from(key).to_string() }
}

fn inline(value: &Value, may_break: bool) -> String {
    match value {
        Value::String(text) if may_break && text.contains('\n') && literal_block(text) => format!("'''\n{text}'''"),
        Value::Array(list) if may_break && list.len() > 1 && list.iter().any(|v| v.is_table() || v.is_str()) => {
            let lines: String = list.iter().map(|v| format!("  {},\n", inline(v, false))).collect();
            format!("[\n{lines}]")
        }
        Value::Array(list) => {
            format!("[{}]", list.iter().map(|v| inline(v, false)).collect::<Vec<_>>().join(", "))
        }
        Value::Table(table) => {
            let parts: Vec<_> =
                table.iter().map(|(k, v)| format!("{} = {}", quoted_key(k), inline(v, false))).collect();
            format!("{{ {} }}", parts.join(", "))
        }
        Value::String(text) => basic_string(text),
        other => other.to_string(),
    }
}

/// Whether a literal block holds the text unchanged.
fn literal_block(text: &str) -> bool {
    !text.contains("''") && !text.ends_with('\'') && text.chars().all(|c| c == '\n' || c == '\t' || !c.is_control())
}

/// A one-line basic string.
fn basic_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use toml::{Table, Value};

    use super::write_table;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(Value::Integer),
            any::<bool>().prop_map(Value::Boolean),
            "[ -~\n\t'\"\\\\\u{1}é]{0,12}".prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map("[a-z. \"]{1,5}", inner, 0..5)
                    .prop_map(|m| Value::Table(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read_back(map in prop::collection::btree_map("[a-z_]{1,6}", value(), 0..6)) {
            let table: Table = map.into_iter().collect();
            let mut text = String::new();
            write_table(&mut text, &[], &table);
            let back: Table = toml::from_str(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
            prop_assert_eq!(back, table, "{}", text);
        }
    }
}
