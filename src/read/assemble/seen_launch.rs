//! The launch as production itself says it: a print, else its host text, else the `<<<…>>>` of its text.

use std::collections::BTreeMap;

use regex::Regex;

use super::Facts;
use super::launch::{split_top_level, three};
use super::terms::Terms;
use crate::model::{Block, Fact, Instantiation, Origin};

/// What is said; an extent that cannot be evaluated leaves its whole entry unsaid.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) grid: Option<[Fact<u64>; 3]>,
    pub(super) block: Option<[Fact<u64>; 3]>,
    pub(super) shared_memory: Option<Fact<u64>>,
    pub(super) cluster: Option<[Fact<u64>; 3]>,
}

pub(super) fn seen(facts: &Facts<'_>, host: &BTreeMap<&'static str, Vec<Fact<u64>>>, terms: &Terms<'_>) -> Seen {
    if let Some(print) = &facts.printed_launch {
        let along_x = |fact: &Fact<u64>| [fact.clone(), fact.clone().map(|_| 1), fact.clone().map(|_| 1)];
        return Seen {
            grid: Some(print.grid.clone()),
            block: Some(Block::along_x(print.threads.clone()).extents),
            shared_memory: Some(print.shared_memory.clone()),
            cluster: print.cluster.as_ref().map(along_x),
        };
    }
    let extents = |name: &str, index: usize| host.get(name).cloned().or_else(|| extents(facts, index, terms));
    Seen {
        grid: extents("grid", 0).map(|list| three(&list)),
        block: extents("block", 1).map(|list| three(&list)),
        shared_memory: extents("shared_memory", 2).and_then(|list| list.into_iter().next()),
        cluster: host.get("cluster").map(|list| three(list)),
    }
}

/// The extents at `index` of the text's `<<<…>>>`.
fn extents(facts: &Facts<'_>, index: usize, terms: &Terms<'_>) -> Option<Vec<Fact<u64>>> {
    let instantiation = &facts.instantiation;
    let piece = instantiation.launch.get(index)?;
    let text = initialiser(instantiation, piece.value.trim())?.unwrap_or_else(|| piece.value.clone());
    let read = |part: &str| {
        let value = terms.given(&resolved(instantiation, part.trim(), 8)?, String::new()).ok()?.value;
        let origin = match &piece.origin {
            Origin::Transcribed { at } | Origin::Read { at, .. } => {
                Origin::Read { at: at.clone(), expr: Some(text.clone()) }
            }
            other => other.clone(),
        };
        Some(Fact { value, origin })
    };
    split_top_level(within_dim3(&text)).into_iter().map(read).collect()
}

/// What the object of this name is made from: `dim3(16, 1)`, `64`. `Some(None)` where no such object stands before the launch,
/// nothing where the text may change it, or where its type may not hold the value.
fn initialiser(instantiation: &Instantiation, name: &str) -> Option<Option<String>> {
    // Of several the last one hides the others.
    let Some(object) = instantiation.objects.iter().rfind(|object| object.name == name) else { return Some(None) };
    let text = object.text.value.trim();
    let assigned = text.split_once('=').map(|(_, value)| value.trim());
    let declared = text.split(['=', '(', '{']).next().unwrap_or_default().replace("const", "");
    let holds =
        ["dim3", "auto", "int", "unsigned", "unsigned int", "long", "size_t", "std::size_t", "int32_t", "uint32_t"];
    let wide = ["int64_t", "uint64_t", "std::uint32_t", "std::int32_t", "std::uint64_t", "std::int64_t", "long long"];
    let fits = holds.iter().chain(&wide).any(|of| *of == declared.trim());
    let kept = !may_change(&instantiation.lines.join("\n"), name, assigned.is_some());
    (fits && kept).then(|| Some(assigned.unwrap_or(text).to_owned()))
}

/// Whether a text may change the object of this name after it is made: assignments, steps, its address or a reference to it, a lambda
/// that captures by reference, or a call that it is an argument of as it stands.
fn may_change(text: &str, name: &str, assigned_once: bool) -> bool {
    let name = regex::escape(name);
    let constant = format!(r"\b(?:const|constexpr)\b[^;(){{}}=&*]*\b{name}\b");
    if Regex::new(&constant).is_ok_and(|constant| constant.is_match(text)) {
        return false;
    }
    let change = format!(
        r"(?x) \b{name}\b \s* (?:\.\s*[xyz]\s*)? (?: =(?:[^=]|$) | [-+*/%&|^]= | <<= | >>= | \+\+ | -- ) | (?:\+\+|--) \s* {name}\b
        | & \s* {name}\b | & \s* \w+ \s* =? \s* [({{]? \s* {name}\b"
    );
    let captured = Regex::new(r"\[\s*&").is_ok_and(|capture| capture.is_match(text));
    let changes = Regex::new(&change).map_or(usize::MAX, |change| change.find_iter(text).count());
    captured || changes > usize::from(assigned_once) || argument(text, &name)
}

/// Whether a name is an argument of a call of something else than a launch, a `dim3` or a function of numbers.
fn argument(text: &str, name: &str) -> bool {
    let Ok(word) = Regex::new(&format!(r"\b{name}\b")) else { return true };
    word.find_iter(text).any(|found| {
        let (before, after) = (text[..found.start()].trim_end(), text[found.end()..].trim_start());
        if !before.ends_with(['(', ',']) || !after.starts_with([')', ',']) {
            return false;
        }
        let mut depth = 0_i32;
        let open = before.char_indices().rev().find(|(_, c)| match c {
            ')' | ']' | '}' => {
                depth += 1;
                false
            }
            '(' | '[' | '{' => {
                depth -= 1;
                depth < 0
            }
            ';' => true,
            _ => false,
        });
        let callee = open.map(|(at, _)| before[..at].trim_end()).unwrap_or_default();
        let last = callee.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        let object = Regex::new(r"\bdim3\s+(?:const\s+)?\w+$").is_ok_and(|object| object.is_match(callee));
        let harmless = object
            || callee.ends_with(">>>")
            || callee.ends_with("<<<")
            || matches!(last, "dim3" | "min" | "max" | "int" | "unsigned" | "ceil_div" | "cdiv");
        !harmless && open.is_some_and(|(_, c)| c != ';')
    })
}

/// An expression whose names of objects that nothing changes are replaced by what they are made from.
fn resolved(instantiation: &Instantiation, expression: &str, depth: u8) -> Option<String> {
    let word = Regex::new(r"[A-Za-z_][A-Za-z0-9_]*").ok()?;
    let mut out = String::new();
    let mut from = 0;
    for found in word.find_iter(expression) {
        out.push_str(&expression[from..found.start()]);
        match initialiser(instantiation, found.as_str())? {
            Some(text) if depth > 0 => {
                out.push('(');
                out.push_str(&resolved(instantiation, &text, depth - 1)?);
                out.push(')');
            }
            Some(_) => return None,
            None => out.push_str(found.as_str()),
        }
        from = found.end();
    }
    out.push_str(&expression[from..]);
    Some(out)
}

/// The extents of `dim3(8, 8, 1)`, `dim3 {8}`, `dim3 const(8, 8)` or `{8, 8}`; any other text as it stands.
pub(super) fn within_dim3(text: &str) -> &str {
    let mut inner = text.trim();
    for word in ["const", "dim3", "const"] {
        inner = inner.strip_prefix(word).map_or(inner, str::trim_start);
    }
    let braced = inner.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
    let called = (inner.len() < text.trim().len()).then(|| inner.strip_prefix('(').and_then(|t| t.strip_suffix(')')));
    braced.or(called.flatten()).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(lines: &str) -> Instantiation {
        use crate::read::instantiation::{Select, parse_text};
        let source = crate::source::Source::new("host.cu", lines);
        parse_text(&source, &Select::default()).unwrap()
    }

    #[test]
    fn objects_that_nothing_changes_stand_for_what_they_are_made_from() {
        let host = |before: &str| made(&format!("void f() {{\n{before}\nk<1><<<grid, block>>>(a);\n}}\n"));
        for (before, grid) in [
            ("dim3 grid(3, 9);", Some(Some("3, 9"))),
            ("dim3 const grid{3, 9};", Some(Some("3, 9"))),
            ("const dim3 grid = dim3(3, 9);", Some(Some("3, 9"))),
            ("auto grid = dim3(3, 9);", Some(Some("3, 9"))),
            ("dim3 grid = {3, 9};", Some(Some("3, 9"))),
            ("int grid = 7;", Some(Some("7"))),
            ("dim3 other(1);", Some(None)),
            ("dim3 grid(3, 9);\ngrid.x = 4;", None),
            ("int grid = 7;\nif (n == 3) grid = 8;", None),
            ("int grid = 7;\nset(&grid);", None),
            ("int grid = 7;\n++grid;", None),
            ("dim3 grid(4);\nauto &other = grid;\nother.x = 7;", None),
            ("dim3 grid(4);\nstd::swap(grid, other);", None),
            ("dim3 grid(4);\nset(1, grid);", None),
            ("dim3 grid(4);\nauto change = [&] { grid = {8}; };", None),
            ("dim3 const grid(4);\nshow(grid);", Some(Some("4"))),
            ("char grid = 256 + 64;", None),
        ] {
            let found = initialiser(&host(before), "grid");
            let extents = found.as_ref().map(|text| text.as_deref().map(within_dim3));
            assert_eq!(extents, grid, "{before}");
        }
        let constants = host("constexpr int tile = 64;\nint const n = 2 * tile;\nint m = 5; m = 6;");
        assert_eq!(resolved(&constants, "(n + tile - 1) / tile", 8).unwrap(), "((2 * (64)) + (64) - 1) / (64)");
        assert_eq!(resolved(&constants, "m", 8), None);
        assert_eq!(resolved(&host("int n = n;"), "n", 8), None);
    }
}
