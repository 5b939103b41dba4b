//! Preprocessor branches, chosen by definitions.

use std::collections::HashMap;

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
    levels.push(Level { taken, any_taken: taken, parent });
}

#[cfg(test)]
mod tests {
    use crate::read::cxx::mask::{MaskOptions, mask};

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
    fn a_chain_without_end_reaches_the_end() {
        assert_eq!(kept("x\n#if 0\ny", &[]), "x");
        assert_eq!(kept("#endif\nx\n#else\n", &[]), "x");
    }
}
