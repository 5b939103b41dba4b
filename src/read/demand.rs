//! Macros that headers demand: an `#error` that is passed only when one of some names is defined.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use regex::Regex;

use crate::model::Fact;
use crate::source::{Source, Spot};

/// What one `#if … #endif` has tested so far.
#[derive(Default)]
struct Open {
    /// Names whose absence leads to the branch that is open: those of `!defined` in it, or of all branches before an `#else`.
    absent: Vec<String>,
    /// Names tested by the branches so far.
    tested: Vec<String>,
    /// A condition that is about something else than names.
    other: bool,
}

/// The demands of headers, each once, by the `#error`'s text. Names that a header defines itself, and names of compilers (`__…`), are
/// no demand.
pub fn demands(sources: &[Arc<Source>]) -> Vec<Fact<Vec<String>>> {
    let own: BTreeSet<String> = sources.iter().flat_map(|source| defined(&source.text())).collect();
    let mut out: Vec<Fact<Vec<String>>> = vec![];
    for source in sources {
        let text = source.text();
        let mut stack: Vec<Open> = vec![];
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let begin = start;
            start += line.len();
            let Some(directive) = line.trim().strip_prefix('#').map(str::trim) else { continue };
            step(&mut stack, directive);
            let Some(said) = directive.strip_prefix("error") else { continue };
            let names: Vec<String> = stack.last().map(|open| open.absent.clone()).unwrap_or_default();
            let foreign = |name: &String| name.starts_with('_') || own.contains(name);
            // Around it may stand the header's own guard, and nothing else.
            let guard = |open: &Open| {
                !open.other && !open.absent.is_empty() && open.absent.iter().all(|name| own.contains(name))
            };
            let (last, outer) = stack.split_last().map_or((true, &[][..]), |(last, outer)| (last.other, outer));
            if names.is_empty() || last || !outer.iter().all(guard) || names.iter().any(foreign) {
                continue;
            }
            let place = Spot::new(source, begin..begin + line.trim_end().len()).place();
            let fact = Fact::read(names, place, said.trim().to_owned());
            if !out.iter().any(|known| known.value == fact.value) {
                out.push(fact);
            }
        }
    }
    out
}

fn step(stack: &mut Vec<Open>, directive: &str) {
    let (word, rest) = directive.split_once(|c: char| !c.is_ascii_alphabetic()).unwrap_or((directive, ""));
    match word {
        "if" | "ifdef" | "ifndef" => {
            let condition = match word {
                "ifdef" => format!("defined({})", rest.trim()),
                "ifndef" => format!("!defined({})", rest.trim()),
                // `#if !defined…` splits at the mark.
                _ => directive[2..].trim().to_owned(),
            };
            let mut open = Open::default();
            branch(&mut open, &condition);
            stack.push(open);
        }
        "elif" => {
            if let Some(open) = stack.last_mut() {
                let condition = directive[4..].trim().to_owned();
                branch(open, &condition);
                open.absent.clear();
            }
        }
        "else" => {
            if let Some(open) = stack.last_mut() {
                open.absent = open.tested.clone();
            }
        }
        "endif" => {
            stack.pop();
        }
        _ => {}
    }
}

/// `defined(A)`, `!defined(A) && !defined(B)`; anything else makes the whole block another matter.
fn branch(open: &mut Open, condition: &str) {
    static TERM: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^(?P<not>!\s*)?defined\s*\(?\s*(?P<name>\w+)\s*\)?$").ok());
    let Some(term) = TERM.as_ref() else { return };
    open.absent.clear();
    // The guard of a header: `#ifndef NAME` around all of it is followed by a definition, and has no `#error` of its own.
    for part in condition.split("//").next().unwrap_or_default().split("&&").flat_map(|part| part.split("||")) {
        match term.captures(part.trim().trim_matches(['(', ')', ' ']).trim()).or_else(|| term.captures(part.trim())) {
            Some(found) if found.name("not").is_some() => open.absent.push(found["name"].to_owned()),
            Some(found) => open.tested.push(found["name"].to_owned()),
            None => open.other = true,
        }
    }
}

fn defined(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let rest = line.trim().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        let name = rest.trim_start().split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
        (!name.is_empty()).then(|| name.to_owned())
    };
    text.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::demands;
    use crate::source::Source;

    fn of(text: &str) -> Vec<Vec<String>> {
        demands(&[Source::new("h.cuh", text.as_bytes().to_vec())]).into_iter().map(|fact| fact.value).collect()
    }

    #[test]
    fn a_choice_of_macros_is_a_demand() {
        let words = |list: &[&str]| list.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let either = "#if defined(ON_HOPPER)\nint a;\n#elif defined(ON_AMPERE)\nint b;\n#else\n#error \"define a back end\"\n#endif\n";
        assert_eq!(of(either), [words(&["ON_HOPPER", "ON_AMPERE"])]);
        assert_eq!(of("#if !defined(A) && !defined(B)\n#error no\n#endif\n"), [words(&["A", "B"])]);
        assert_eq!(of("#ifndef MODE\n  #error \"MODE\"\n#endif\n"), [words(&["MODE"])]);
        let found = demands(&[Source::new("h.cuh", b"int x;\n#ifndef MODE\n#error \"choose\"\n#endif\n".to_vec())]);
        assert_eq!(found[0].origin.detail(), "h.cuh:3:1 `\"choose\"`");
    }

    #[test]
    fn what_headers_define_and_what_compilers_define_is_none() {
        for text in [
            "#define MODE 1\n#ifndef MODE\n#error no\n#endif\n",
            "#ifndef __CUDACC__\n#error nvcc\n#endif\n",
            "#if VERSION < 3\n#error old\n#endif\n",
            "#if defined(A) && VERSION < 3\n#error old\n#endif\n",
            "#ifdef A\n#error not with A\n#endif\n",
            "#error always\n",
        ] {
            assert!(of(text).is_empty(), "{text}");
        }
    }
}
