//! Python sites: f-strings, `str.format`, `%`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::emission::{Emission, SegmentOrigin};
use super::expression::Expressions;
use super::format::{self, Part};
use super::leaves::Leaves;
use super::line::Pieces;
use super::text_site;
use crate::diag::{Diagnostic, Diagnostics};
use crate::read::cxx::value::Value;
use crate::source::{Source, Span, Spot};

/// A string literal in Python text.
#[derive(Debug, Clone)]
struct Literal {
    formatted: bool,
    raw: bool,
    /// What stands between the quotes.
    body: Span,
    /// One past the closing quotes.
    end: usize,
}

/// Evaluates the longest formatted string of a pasted Python text under the given leaves.
///
/// # Errors
///
/// No string is formatted; leaves are unknown (all at once); a construct is not evaluated.
pub fn evaluate(source: &Arc<Source>, leaves: &BTreeMap<String, String>) -> Result<Emission, Diagnostics> {
    let text = source.text().into_owned();
    let literals = literals(&text);
    let formatted = |l: &&Literal| l.formatted || arguments(&text, l.end).is_some();
    let Some(chosen) = literals.iter().filter(formatted).max_by_key(|l| l.body.end - l.body.start) else {
        return Err(Diagnostic::error("K-SITE-EMPTY", "the text formats no string")
            .at(Spot::new(source, 0..text.find('\n').unwrap_or(text.len())), "begins here")
            .help("paste an f-string, `\"…\".format(…)` or `\"…\" % (…)`")
            .into());
    };
    let mut expressions = Expressions::new(source, Leaves::new(leaves));
    let mut pieces = Pieces::default();
    let body = decoded(source, &text, chosen);
    let call = arguments(&text, chosen.end);
    if let (false, Some((b'%', span))) = (chosen.formatted, &call) {
        percent(&mut expressions, &body, *span, &mut pieces);
    } else {
        braces(&mut expressions, &body, call.map(|(_, span)| span), &mut pieces);
    }
    text_site::finish(source, expressions, pieces)
}

fn braces(expressions: &mut Expressions, body: &Pieces, call: Option<Span>, out: &mut Pieces) {
    let parts = match format::parse(&body.text()) {
        Ok(parts) => parts,
        Err(what) => return expressions.refuse(body, &what),
    };
    let given = call.map(|span| expressions.arguments(span));
    let mut next = 0;
    for part in parts {
        match part {
            Part::Literal(range) => out.0.extend(body.slice(range).0),
            Part::Field(field) => {
                let name = if field.name.is_empty() { next.to_string() } else { field.name.clone() };
                next += 1;
                let printed = match &given {
                    Some(given) => match given.iter().find(|(key, _)| *key == name) {
                        Some((_, span)) => expressions.span(*span),
                        None => expressions.leaf(&name, body),
                    },
                    None => expressions.text(&field.name, body),
                };
                if let Some((value, origin)) = printed {
                    match format::print(&pythonic(value), &field.spec) {
                        Some(text) => out.0.push((text, origin)),
                        None => expressions.refuse(body, &format!("the format `{{:{}}}` of such a value", field.spec)),
                    }
                }
            }
        }
    }
}

/// `%s`, `%d`, `%%` and `%(name)s`.
fn percent(expressions: &mut Expressions, body: &Pieces, call: Span, out: &mut Pieces) {
    let text = body.text();
    let given = expressions.arguments(call);
    let (mut from, mut next) = (0, 0usize);
    while let Some(at) = text[from..].find('%').map(|at| from + at) {
        out.0.extend(body.slice(from..at).0);
        let rest = &text[at + 1..];
        let (name, length) = match rest.strip_prefix('(').and_then(|r| r.split_once(')')) {
            Some((name, _)) => (name.to_owned(), name.len() + 2),
            None => (next.to_string(), 0),
        };
        match rest[length..].chars().next() {
            Some('%') if length == 0 => out.0.extend(body.slice(at..at + 1).0),
            Some('s' | 'd' | 'i') => {
                next += 1;
                let printed = match given.iter().find(|(key, _)| *key == name) {
                    Some((_, span)) => expressions.span(*span),
                    None => expressions.leaf(&name, body),
                };
                out.0.extend(printed.map(|(value, origin)| (pythonic(value).to_string(), origin)));
            }
            other => {
                let what = format!("the conversion `%{}`", other.map(String::from).unwrap_or_default());
                expressions.refuse(body, &what);
            }
        }
        from = at + 2 + length;
        if !text.is_char_boundary(from.min(text.len())) {
            return;
        }
    }
    out.0.extend(body.slice(from..text.len()).0);
}

/// A truth value as Python prints it.
fn pythonic(value: Value) -> Value {
    match value {
        Value::Bool(true) => Value::Text("True".to_owned()),
        Value::Bool(false) => Value::Text("False".to_owned()),
        Value::Null => Value::Text("None".to_owned()),
        other => other,
    }
}

/// Every string literal, comments passed over.
fn literals(text: &str) -> Vec<Literal> {
    let bytes = text.as_bytes();
    let mut out = vec![];
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'#' => at = text[at..].find('\n').map_or(bytes.len(), |end| at + end),
            quote @ (b'"' | b'\'') => {
                let prefix = bytes[..at].iter().rev().take_while(|b| b.is_ascii_alphabetic()).count();
                let prefix = text[at - prefix..at].to_ascii_lowercase();
                let triple = bytes[at..].starts_with(&[quote; 3]);
                let width = if triple { 3 } else { 1 };
                let end = closing(bytes, at + width, quote, triple);
                out.push(Literal {
                    formatted: prefix.len() <= 2 && prefix.contains('f'),
                    raw: prefix.len() <= 2 && prefix.contains('r'),
                    body: Span::new(at + width, end),
                    end: (end + width).min(bytes.len()),
                });
                at = (end + width).max(at + 1);
            }
            _ => at += 1,
        }
    }
    out
}

fn closing(bytes: &[u8], from: usize, quote: u8, triple: bool) -> usize {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\n' if !triple => return at,
            byte if byte == quote && (!triple || bytes[at..].starts_with(&[quote; 3])) => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// The literal's text; escapes become what they stand for.
fn decoded(source: &Arc<Source>, text: &str, literal: &Literal) -> Pieces {
    let body = &text[literal.body.range()];
    let mut out = Pieces::default();
    let piece = |range: std::ops::Range<usize>| {
        let start = literal.body.start;
        SegmentOrigin::Literal { at: Spot::new(source, start + range.start..start + range.end) }
    };
    let mut from = 0;
    while let Some(at) = body[from..].find('\\').map(|at| from + at).filter(|_| !literal.raw) {
        let Some(c) = body[at + 1..].chars().next() else { break };
        let with = match c {
            'n' => "\n".to_owned(),
            't' => "\t".to_owned(),
            '\n' => String::new(),
            '\\' | '"' | '\'' => c.to_string(),
            other => format!("\\{other}"),
        };
        out.0.push((body[from..at].to_owned(), piece(from..at)));
        let end = at + 1 + c.len_utf8();
        out.0.push((with, piece(at..end)));
        from = end;
    }
    out.0.push((body[from..].to_owned(), piece(from..body.len())));
    out.0.retain(|(text, _)| !text.is_empty());
    out
}

/// What is formatted into the literal that ends at `end`: `.format(…)` or `% …`, with the span within the brackets.
fn arguments(text: &str, end: usize) -> Option<(u8, Span)> {
    let rest = &text[end..];
    let trimmed = rest.trim_start();
    let start = end + rest.len() - trimmed.len();
    let (kind, open) = if trimmed.starts_with(".format(") {
        (b'.', start + ".format".len())
    } else {
        let after = trimmed.strip_prefix('%')?;
        (b'%', start + 1 + after.len() - after.trim_start().len())
    };
    let bytes = text.as_bytes();
    if !matches!(bytes.get(open), Some(b'(' | b'{')) {
        let length = text[open..].find([')', '\n']).unwrap_or(text.len() - open);
        return Some((kind, Span::new(open, open + length)));
    }
    let (mut depth, mut quote) = (0usize, None);
    for (index, byte) in bytes.iter().enumerate().skip(open) {
        match (quote, byte) {
            (Some(mark), b) if b == mark => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => {
                depth -= 1;
                if depth == 0 {
                    return Some((kind, Span::new(open + 1, index)));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::evaluate;
    use crate::diag::draw;
    use crate::source::Source;

    fn run(text: &str, leaves: &[(&str, &str)]) -> Result<String, String> {
        let leaves: BTreeMap<_, _> = leaves.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        evaluate(&Source::new("site.py", text), &leaves)
            .map(|e| e.text())
            .map_err(|e| e.iter().map(|d| draw(d, false) + "\n").collect())
    }

    #[test]
    fn f_strings_with_conditions_and_calls() {
        let text = "code = f\"\"\"\nk<{kwargs[\"M\"] if \"m\" in kwargs[\"DIMS\"] else 0}, {str(wide).lower()}, {{{tile * 2 + 1}}}, {n // 2}>\n\"\"\"";
        let leaves = [
            ("kwargs[\"M\"]", "128"),
            ("\"m\" in kwargs[\"DIMS\"]", "true"),
            ("wide", "False"),
            ("tile", "8"),
            ("n", "7"),
        ];
        assert_eq!(run(text, &leaves).unwrap(), "\nk<128, false, {17}, 3>\n");
        let error = run(text, &leaves[..1]).unwrap_err();
        assert!(error.contains("--set wide=VALUE") && error.contains("--set tile=VALUE"), "{error}");
        assert!(error.contains("site.py:2:"), "{error}");
    }

    #[test]
    fn format_with_names_and_percent_with_tuples() {
        let text = "T = \"template void run<{arch}, {dtype}, {flag}>({{}});\\n\".format(arch=ARCH, dtype=DT[x], flag=str(packed or split).lower())";
        let leaves = [("ARCH", "90"), ("DT[x]", "\"cutlass::half_t\""), ("packed", "False"), ("split", "True")];
        assert_eq!(run(text, &leaves).unwrap(), "template void run<90, cutlass::half_t, true>({});\n");
        assert_eq!(run("'k<%s, %d> %%' % (a, b + 1)", &[("a", "float"), ("b", "2")]).unwrap(), "k<float, 3> %");
        assert_eq!(run("'k<%(a)s>' % {'a': x}", &[("x", "4")]).unwrap(), "k<4>");
        let unformatted = "T = \"template void run<{arch}>();\"\nprint(T.format(arch=3))";
        assert!(run(unformatted, &[]).is_err());
        assert!(run("x = 3", &[]).unwrap_err().contains("formats no string"));
        assert!(run("f'{", &[]).is_err());
    }
}
