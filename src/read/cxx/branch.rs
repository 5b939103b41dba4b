//! Preprocessor branches, chosen by definitions.

use std::collections::{BTreeSet, HashMap};

use super::condition::Condition;
use super::lex::{Token, TokenKind, Tokens};
use super::standalone::words_of;
use crate::source::Span;

/// Macros a CUDA compiler always defines.
const ALWAYS: &[(&str, &str)] = &[("__CUDACC__", "1"), ("__NVCC__", "1"), ("__cplusplus", "201703")];

struct Level {
    taken: bool,
    any_taken: bool,
    parent: bool,
    /// Around the part that is looked at: all of its branches are taken.
    around: bool,
}

/// The spans that the definitions leave out, the directives included.
pub fn dropped(text: &[u8], tokens: &Tokens, defines: &[(String, Option<String>)]) -> Vec<Span> {
    let mut macros: HashMap<String, String> =
        ALWAYS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    for (name, value) in defines {
        macros.insert(name.clone(), value.clone().unwrap_or_else(|| "1".to_owned()));
    }
    let mut out = tokens.directives.clone();
    let mut levels: Vec<Level> = vec![];
    let mut inactive_from: Option<usize> = None;
    for directive in &tokens.directives {
        let words = words_of(&tokens.tokens, *directive);
        apply(text, words, &mut levels, &mut macros);
        let active = levels.last().is_none_or(|level| level.taken && level.parent);
        match (active, inactive_from) {
            (false, None) => inactive_from = Some(directive.end),
            (true, Some(from)) => {
                out.push(Span::new(from, directive.start));
                inactive_from = None;
            }
            _ => {}
        }
    }
    if let Some(from) = inactive_from {
        out.push(Span::new(from, text.len()));
    }
    out
}

/// What no definition brings to life: behind `#if 0`, and the branches after one like `#if 1`.
pub fn dead(text: &[u8], tokens: &Tokens) -> Vec<Span> {
    #[derive(Clone, Copy, PartialEq)]
    enum Chain {
        /// No branch is taken so far.
        Waiting,
        /// One is taken for sure.
        Taken,
        /// A macro decides.
        Open,
    }
    let none = HashMap::new();
    let said = |rest: &[Token]| {
        let named = |token: &&Token| token.kind == TokenKind::Word;
        let fixed = |token: &Token| matches!(token.bytes(text), b"true" | b"false" | b"and" | b"or" | b"not");
        let known = !rest.is_empty() && rest.iter().filter(named).all(fixed);
        known.then(|| Condition::new(text, rest, &none).holds())
    };
    let mut out = vec![];
    let mut levels: Vec<(Chain, bool)> = vec![];
    let mut from = None;
    for directive in &tokens.directives {
        let words = words_of(&tokens.tokens, *directive);
        let Some((first, rest)) = words.split_first() else { continue };
        let decide = |chain| match (chain, said(rest)) {
            (Chain::Taken, _) => (Chain::Taken, true),
            (Chain::Open, _) | (_, None) => (Chain::Open, false),
            (_, Some(true)) => (Chain::Taken, false),
            (_, Some(false)) => (Chain::Waiting, true),
        };
        match first.bytes(text) {
            b"if" => levels.push(decide(Chain::Waiting)),
            b"ifdef" | b"ifndef" => levels.push((Chain::Open, false)),
            b"elif" => {
                if let Some(level) = levels.last_mut() {
                    *level = decide(level.0);
                }
            }
            b"elifdef" | b"elifndef" | b"else" => {
                let open = if first.bytes(text) == b"else" { Chain::Taken } else { Chain::Open };
                if let Some(level) = levels.last_mut() {
                    *level = if level.0 == Chain::Taken { (Chain::Taken, true) } else { (open, false) };
                }
            }
            b"endif" => {
                levels.pop();
            }
            _ => {}
        }
        let is_dead = levels.iter().any(|level| level.1);
        match (is_dead, from) {
            (true, None) => from = Some(directive.end),
            (false, Some(start)) => {
                out.push(Span::new(start, directive.start));
                from = None;
            }
            _ => {}
        }
    }
    out.extend(from.map(|start| Span::new(start, text.len())));
    out
}

/// What is known of the macros of a text that this compile command did not compile.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Macros with their texts.
    pub defined: HashMap<String, String>,
    /// Macros that are not defined.
    pub undefined: BTreeSet<String>,
}

/// The branches within one part of a text.
#[derive(Debug, Default)]
pub struct Decision {
    /// What is left out, the directives included.
    pub dropped: Vec<Span>,
    /// Conditions that are not known, each with the macros that decide it: `defined(NAME)`, or `NAME` for its value.
    pub open: Vec<(Span, Vec<String>)>,
}

/// Chooses branches within `part`. Every branch around it is taken; what the text itself defines before counts.
pub fn decide(text: &[u8], tokens: &Tokens, known: &Known, part: Span) -> Decision {
    let mut known = known.clone();
    let mut out = Decision::default();
    let mut levels: Vec<Level> = vec![];
    let mut inactive_from: Option<usize> = None;
    for (index, directive) in tokens.directives.iter().enumerate() {
        if directive.start >= part.end {
            break;
        }
        let words = words_of(&tokens.tokens, *directive);
        let Some((first, rest)) = words.split_first() else { continue };
        let outside = directive.start < part.start;
        match first.bytes(text) {
            b"if" | b"ifdef" | b"ifndef" if outside => push(&mut levels, true, true),
            b"elif" | b"else" if levels.last().is_some_and(|level| level.around) => {}
            word => {
                let asked = match word {
                    b"if" | b"ifdef" | b"ifndef" => levels.iter().all(|level| level.taken),
                    b"elif" => levels.last().is_some_and(|level| level.parent && !level.any_taken),
                    _ => false,
                };
                let guard = word == b"ifndef" && defines_next(text, tokens, index, rest);
                if asked && !guard {
                    let missing = unknown(text, word, rest, &known);
                    if !missing.is_empty() {
                        out.open.push((*directive, missing));
                    }
                }
                apply(text, words, &mut levels, &mut known.defined);
            }
        }
        if outside {
            if let Some(level) = levels.last_mut() {
                level.around = true;
            }
            continue;
        }
        out.dropped.push(*directive);
        let active = levels.last().is_none_or(|level| level.taken && level.parent);
        match (active, inactive_from) {
            (false, None) => inactive_from = Some(directive.end),
            (true, Some(from)) => {
                out.dropped.push(Span::new(from, directive.start));
                inactive_from = None;
            }
            _ => {}
        }
    }
    out
}

/// Whether the next directive defines the macro: `#ifndef X`, `#define X`.
fn defines_next(text: &[u8], tokens: &Tokens, index: usize, rest: &[Token]) -> bool {
    let Some(next) = tokens.directives.get(index + 1) else { return false };
    match (words_of(&tokens.tokens, *next), rest) {
        ([define, name, ..], [wanted, ..]) => define.bytes(text) == b"define" && name.bytes(text) == wanted.bytes(text),
        _ => false,
    }
}

/// What decides a condition and is not known.
fn unknown(text: &[u8], word: &[u8], rest: &[Token], known: &Known) -> Vec<String> {
    let mut out = vec![];
    for (index, token) in rest.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word) {
        let name = String::from_utf8_lossy(token.bytes(text)).into_owned();
        let operator = matches!(&*name, "defined" | "and" | "or" | "not" | "true" | "false");
        if operator || known.defined.contains_key(&name) || known.undefined.contains(&name) {
            continue;
        }
        let before = index.checked_sub(1).map(|at| rest[at]);
        let before =
            before.filter(|token| token.is(b'(')).and_then(|_| rest.get(index.checked_sub(2)?).copied()).or(before);
        let tested = word != b"if" && word != b"elif" || before.is_some_and(|token| token.bytes(text) == b"defined");
        out.push(if tested { format!("defined({name})") } else { name });
        if tested && !matches!(word, b"if" | b"elif") {
            break;
        }
    }
    out.dedup();
    out
}

fn apply(text: &[u8], words: &[Token], levels: &mut Vec<Level>, macros: &mut HashMap<String, String>) {
    let Some((first, rest)) = words.split_first() else { return };
    let parent = levels.iter().all(|level| level.taken);
    let name = || rest.first().map(|t| String::from_utf8_lossy(t.bytes(text)).into_owned()).unwrap_or_default();
    let holds = |macros: &HashMap<String, String>| Condition::new(text, rest, macros).holds();
    match first.bytes(text) {
        b"if" => push(levels, parent, parent && holds(macros)),
        b"ifdef" => push(levels, parent, parent && macros.contains_key(&name())),
        b"ifndef" => push(levels, parent, parent && !macros.contains_key(&name())),
        b"elif" => {
            if let Some(level) = levels.last_mut() {
                level.taken = level.parent && !level.any_taken && holds(macros);
                level.any_taken |= level.taken;
            }
        }
        b"else" => {
            if let Some(level) = levels.last_mut() {
                level.taken = level.parent && !level.any_taken;
                level.any_taken = true;
            }
        }
        b"endif" => {
            levels.pop();
        }
        b"define" if parent => {
            let function_like = rest.len() > 1 && rest[1].is(b'(') && rest[1].span.start == rest[0].span.end;
            if !function_like && rest.first().is_some_and(|t| t.kind == TokenKind::Word) {
                let value: Vec<_> = rest[1..].iter().map(|t| String::from_utf8_lossy(t.bytes(text))).collect();
                macros.insert(name(), value.join(" "));
            }
        }
        b"undef" if parent => {
            macros.remove(&name());
        }
        _ => {}
    }
}

fn push(levels: &mut Vec<Level>, parent: bool, taken: bool) {
    levels.push(Level { taken, any_taken: taken, parent, around: false });
}

#[cfg(test)]
mod tests {
    use super::{Known, decide};
    use crate::read::cxx::lex::tokenize;
    use crate::read::cxx::mask::{MaskOptions, mask};
    use crate::source::Span;

    fn kept(text: &str, defines: &[(&str, Option<&str>)]) -> String {
        let branches = defines.iter().map(|(n, v)| ((*n).to_owned(), v.map(str::to_owned))).collect();
        let out = mask(text.as_bytes(), &MaskOptions { branches: Some(branches), ..MaskOptions::default() });
        String::from_utf8(out.text).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn one_branch_of_a_chain_is_kept() {
        let text = "#if defined(A) and (B >= 1000)\none\n#elif B\ntwo\n#else\nthree\n#endif\nfour\n";
        assert_eq!(kept(text, &[("A", None), ("B", Some("1000"))]), "one four");
        assert_eq!(kept(text, &[("B", Some("2"))]), "two four");
        assert_eq!(kept(text, &[]), "three four");
    }

    #[test]
    fn nested_branches_and_definitions_in_the_text_count() {
        let text = "#define N 3\n#ifdef N\n#if N == 3\na\n#else\nb\n#endif\n#else\n#if 1\nc\n#endif\n#endif\n";
        assert_eq!(kept(text, &[]), "a");
    }

    #[test]
    fn conditions_within_a_part_are_asked_for_where_they_are_not_known() {
        let text = "#ifndef GUARD\n#define GUARD\n#define N 3\n#ifdef HOST\nvoid f() {\n#if N == 3 && defined(FAST) && LEVEL > 2\na\n#elif OLD\nb\n\
                    #else\nc\n#endif\n}\n#else\nvoid f() {}\n#endif\n#endif\n";
        let tokens = tokenize(text.as_bytes());
        let part = Span::new(text.find("void").unwrap(), text.find("}\n").unwrap());
        let of = |defined: &[(&str, &str)], undefined: &[&str]| {
            let known = Known {
                defined: defined.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
                undefined: undefined.iter().map(|n| (*n).to_owned()).collect(),
            };
            let out = decide(text.as_bytes(), &tokens, &known, part);
            let open: Vec<String> = out.open.into_iter().flat_map(|(_, names)| names).collect();
            let mut kept: Vec<char> = text[part.range()].char_indices().map(|(_, c)| c).collect();
            for span in out.dropped {
                kept[span.start - part.start..span.end - part.start].fill(' ');
            }
            (open, kept.into_iter().filter(|c| "abc".contains(*c)).collect::<String>())
        };
        assert_eq!(of(&[], &[]).0, ["defined(FAST)", "LEVEL", "OLD"]);
        assert_eq!(of(&[("FAST", "1"), ("LEVEL", "3")], &[]), (vec![], "a".to_owned()));
        assert_eq!(of(&[("LEVEL", "3")], &["FAST"]).0, ["OLD"]);
        assert_eq!(of(&[("LEVEL", "3"), ("OLD", "1")], &["FAST"]), (vec![], "b".to_owned()));
        assert_eq!(of(&[], &["FAST", "OLD", "LEVEL"]), (vec![], "c".to_owned()));
    }

    #[test]
    fn only_what_no_macro_decides_is_dead() {
        let left = |text: &str| {
            let mut kept = text.as_bytes().to_vec();
            for span in super::dead(text.as_bytes(), &tokenize(text.as_bytes())) {
                kept[span.start..span.end].fill(b' ');
            }
            String::from_utf8(kept).unwrap().chars().filter(|c| "PQRS".contains(*c)).collect::<String>()
        };
        for (text, kept) in [
            ("#if 0\nP\n#else\nQ\n#endif\n", "Q"),
            ("#if 1\nP\n#else\nQ\n#endif\nR", "PR"),
            ("#if 0\nP\n#elif 1\nQ\n#else\nR\n#endif\nS", "QS"),
            ("#if 0\nP\n#if 1\nQ\n#endif\n#else\nR\n#endif\n", "R"),
            ("#if !1 || 0x0\nP\n#endif\nQ", "Q"),
            ("#if W\nP\n#else\nQ\n#endif\n", "PQ"),
            ("#if 0\nP\n#elif W\nQ\n#else\nR\n#endif\n", "QR"),
            ("#ifdef W\nP\n#else\nQ\n#endif\n", "PQ"),
            ("#if 0\nP", ""),
        ] {
            assert_eq!(left(text), kept, "{text}");
        }
    }

    #[test]
    fn a_chain_without_end_reaches_the_end() {
        assert_eq!(kept("x\n#if 0\ny", &[]), "x");
        assert_eq!(kept("#endif\nx\n#else\n", &[]), "x");
    }
}
