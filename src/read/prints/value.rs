//! Printed values of names.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Line;
use crate::model::Fact;
use crate::source::Source;

/// Notes `NAME=VALUE`, `NAME = VALUE` and `NAME: VALUE`, where NAME is spelled as C++ spells a name, member or element and
/// VALUE is a number, `true` or `false`.
pub(super) fn values(source: &Arc<Source>, line: &Line<'_>, out: &mut BTreeMap<String, Vec<Fact<String>>>) {
    let bytes = line.text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let single = *byte == b'='
            && bytes.get(at + 1) != Some(&b'=')
            && !matches!(at.checked_sub(1).map(|i| bytes[i]), Some(b'=' | b'<' | b'>' | b'!'));
        let colon = *byte == b':' && bytes.get(at + 1) == Some(&b' ');
        if !single && !colon {
            continue;
        }
        let name_end = line.text[..at].trim_end().len();
        let name_start = start_of_name(&bytes[..name_end]);
        let value_start = at + 1 + bytes[at + 1..].iter().take_while(|b| **b == b' ').count();
        let value_end = value_start
            + bytes[value_start..]
                .iter()
                .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+'))
                .count();
        let (name, value) = (&line.text[name_start..name_end], line.text[value_start..value_end].trim_end_matches('.'));
        let named = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        let valued = matches!(value, "true" | "false") || value.parse::<f64>().is_ok_and(f64::is_finite);
        if named && valued {
            let fact =
                Fact::transcribed(value.to_owned(), line.spot(source, value_start, value_start + value.len()).place());
            let known = out.entry(name.to_owned()).or_default();
            if known.iter().all(|other| other.value != fact.value) {
                known.push(fact);
            }
        }
    }
}

/// Where the name that ends here begins: letters, digits, `_`, `.`, `->`, `::` and balanced brackets.
fn start_of_name(bytes: &[u8]) -> usize {
    let mut at = bytes.len();
    let mut depth = 0usize;
    while let Some(before) = at.checked_sub(1) {
        match bytes[before] {
            b']' | b')' => depth += 1,
            b'[' | b'(' if depth > 0 => depth -= 1,
            b'[' | b'(' => break,
            byte if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') => {}
            b'>' if before > 0 && bytes[before - 1] == b'-' => at -= 1,
            b':' if before > 0 && bytes[before - 1] == b':' => at -= 1,
            _ if depth > 0 => {}
            _ => break,
        }
        at -= 1;
    }
    at
}
