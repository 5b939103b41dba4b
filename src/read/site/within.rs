//! One function of a Python or a Rust site.

use std::sync::Arc;

use crate::diag::{Diagnostic, Diagnostics};
use crate::source::{Source, Span, Spot};

/// The text of `def NAME` with its body: the lines that are indented deeper, strings over several lines whole.
pub fn python(source: &Arc<Source>, name: Option<&str>) -> Result<Arc<Source>, Diagnostics> {
    let Some(name) = name else { return Ok(Arc::clone(source)) };
    let text = source.text().into_owned();
    let lines: Vec<(usize, &str)> = offsets(&text).collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let heads = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("async ").unwrap_or(line);
        line.strip_prefix("def ").is_some_and(|rest| rest.trim_start().strip_prefix(last(name)).is_some_and(opens))
    };
    let Some(first) = lines.iter().position(|(_, line)| heads(line)) else { return Err(missing(source, "def", name)) };
    let mut quoted = None;
    let mut until = first;
    for (index, (_, line)) in lines.iter().enumerate().skip(first) {
        let inside = quoted.is_some();
        if index > first && !inside && !line.trim().is_empty() && indent(line) <= indent(lines[first].1) {
            break;
        }
        quoted = after(line, quoted);
        until = index;
    }
    Ok(excerpt(source, lines[first].0, lines[until].0 + lines[until].1.len()))
}

/// The text of `fn NAME` with its body.
pub fn rust(source: &Arc<Source>, name: Option<&str>) -> Result<Arc<Source>, Diagnostics> {
    let Some(name) = name else { return Ok(Arc::clone(source)) };
    let text = source.text().into_owned();
    let head = offsets(&text).find(|(_, line)| {
        line.split_once("fn ").is_some_and(|(_, rest)| rest.strip_prefix(last(name)).is_some_and(opens))
    });
    let Some((start, _)) = head else { return Err(missing(source, "fn", name)) };
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Ok(excerpt(source, start, at + 1));
                }
            }
            _ => {}
        }
    }
    Ok(excerpt(source, start, text.len()))
}

fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Whether a parameter list, or a list of generic parameters, begins here.
fn opens(rest: &str) -> bool {
    rest.trim_start().starts_with(['(', '<'])
}

/// Each line with its offset, without its newline.
fn offsets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split('\n').map(move |line| {
        let start = at;
        at += line.len() + 1;
        (start, line)
    })
}

/// The quotes of the string over several lines that is open after a line.
fn after<'q>(line: &str, before: Option<&'q str>) -> Option<&'q str> {
    let mut open = before;
    let mut rest = line;
    loop {
        let found = match open {
            Some(quotes) => rest.find(quotes).map(|at| (at, quotes)),
            None => ["\"\"\"", "'''"].iter().filter_map(|quotes| Some((rest.find(quotes)?, *quotes))).min(),
        };
        let Some((at, quotes)) = found else { return open };
        open = if open.is_some() { None } else { Some(quotes) };
        rest = &rest[at + quotes.len()..];
    }
}

/// Whole lines of a source, in their place.
fn excerpt(source: &Arc<Source>, start: usize, end: usize) -> Arc<Source> {
    let bytes = source.bytes();
    let (start, end) = (start.min(bytes.len()), end.min(bytes.len()));
    let (line, _) = source.line_column(start);
    Source::excerpt(source.name(), bytes[start..end].to_vec(), line, source.absolute(start))
}

fn missing(source: &Arc<Source>, keyword: &str, name: &str) -> Diagnostics {
    let first = source.line_span(source.first_line()).unwrap_or(Span::new(0, 0));
    Diagnostic::error("K-SITE-FUNCTION", format!("`{}` defines no `{keyword} {}`", source.name(), last(name)))
        .at(Spot::new(source, first), "in this text")
        .help("name a function of the text, or leave the name out")
        .into()
}

#[cfg(test)]
mod tests {
    use super::{python, rust};
    use crate::source::Source;

    #[test]
    fn a_function_keeps_its_lines() {
        let text = "x = 1\nclass C:\n    def a(self):\n        return f\"\"\"\ntext\n\"\"\"\n\n    def ab(self):\n        return 2\n";
        let source = Source::new("s.py", text);
        let found = python(&source, Some("C::a")).unwrap();
        assert_eq!(found.first_line(), 3);
        assert!(found.text().contains("text\n\"\"\"") && !found.text().contains("def ab"), "{}", found.text());
        assert!(python(&source, Some("b")).is_err());
        assert_eq!(python(&source, None).unwrap().bytes(), source.bytes());
    }

    #[test]
    fn a_rust_function_ends_with_its_brace() {
        let source =
            Source::new("s.rs", "fn x() {}\npub fn y<T>(a: T) -> String { format!(\"{a} {{}}\") }\nfn z() {}\n");
        let found = rust(&source, Some("y")).unwrap();
        assert_eq!((found.first_line(), found.text().trim_end().ends_with(") }")), (2, true));
        assert!(!found.text().contains("fn z"));
        assert!(rust(&source, Some("w")).is_err());
    }
}
