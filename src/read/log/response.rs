//! Response files: their grammar, and their text in the place of `--options-file`.

use super::argument::{self, Argument};
use super::context::PastedFile;
use super::table::OptionTable;
use super::word::{Mapped, Position, Word};

/// Response files name each other at most this deep.
const DEEPEST: usize = 8;

/// Words of a response file as nvcc 13.0.88 reads it: a newline is a blank, double quotes group, single quotes and `#` are
/// text, a backslash goes, and takes a double quote or a backslash behind it along.
pub fn words(text: &Mapped) -> Vec<Word> {
    let bytes = text.bytes();
    let mut out = vec![];
    let mut word = vec![];
    let (mut quoted, mut open, mut start) = (false, false, 0);
    let mut at = 0;
    while at <= bytes.len() {
        let byte = bytes.get(at).copied();
        if !quoted && byte.is_none_or(|b| b.is_ascii_whitespace()) || byte.is_none() {
            if open {
                out.push(Word::new(&word, text.position(start)));
                word.clear();
                open = false;
            }
            at += 1;
            continue;
        }
        if !open {
            open = true;
            start = at;
        }
        match byte {
            Some(b'"') => quoted = !quoted,
            Some(b'\\') => at += usize::from(matches!(bytes.get(at + 1), Some(b'"' | b'\\'))),
            Some(b) => word.push(b),
            None => {}
        }
        at += 1;
    }
    out
}

/// Puts the texts of response files in the place of `--options-file`; gives the ones that are not there.
pub fn expand(
    arguments: Vec<Argument>,
    files: &Files<'_>,
    table: &'static OptionTable,
) -> (Vec<Argument>, Vec<String>) {
    let mut missing = vec![];
    let arguments = level(arguments, files, table, 0, &mut missing);
    (arguments, missing)
}

fn level(
    arguments: Vec<Argument>,
    files: &Files<'_>,
    table: &'static OptionTable,
    depth: usize,
    missing: &mut Vec<String>,
) -> Vec<Argument> {
    let mut out = Vec::with_capacity(arguments.len());
    for argument in arguments {
        if !argument.is("-optf") || argument.value.is_none() {
            out.push(argument);
            continue;
        }
        let names: Vec<&str> = argument.value_or_empty().split(',').collect();
        let texts: Vec<Option<Mapped>> = names.iter().map(|name| files.find(name)).collect();
        if depth >= DEEPEST || texts.iter().any(Option::is_none) {
            missing.extend(names.iter().zip(&texts).filter(|(_, t)| t.is_none()).map(|(n, _)| (*n).to_owned()));
            out.push(argument);
            continue;
        }
        for text in texts.into_iter().flatten() {
            out.extend(level(argument::parse(&words(&text), table), files, table, depth + 1, missing));
        }
    }
    out
}

/// Where the texts of response files are.
pub struct Files<'f> {
    /// Pasted in the log.
    pub pasted: &'f [PastedFile],
    /// Named by the user.
    pub given: &'f [(String, Vec<u8>)],
}

impl Files<'_> {
    fn find(&self, name: &str) -> Option<Mapped> {
        let same = |path: &str| same_file(path, name);
        let given = self.given.iter().find(|(path, _)| same(path));
        given
            .map(|(_, bytes)| Mapped::of(bytes, Position { line: 1, column: 1, offset: 0 }))
            .or_else(|| self.pasted.iter().rev().find(|f| same(&f.path)).map(|f| f.text.clone()))
    }
}

/// Whether two paths can name one file: the same, or one the end of the other.
fn same_file(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let short = short.strip_prefix("./").unwrap_or(short);
    long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::{same_file, words};
    use crate::read::log::word::{Mapped, Position};

    #[test]
    fn the_grammar_is_nvccs_own() {
        let text = b"-I\"a b\" -DA=\\\"q\\\" -DB=\"x\ny\"\n-DC='z # -DE=a\\b -DF=\"p\\\"q\" -DJ=\\\\x";
        let text = Mapped::of(text, Position { line: 1, column: 1, offset: 0 });
        let words: Vec<String> = words(&text).into_iter().map(|w| w.text).collect();
        assert_eq!(words, ["-Ia b", "-DA=q", "-DB=x\ny", "-DC='z", "#", "-DE=ab", "-DF=pq", "-DJ=x"]);
    }

    #[test]
    fn a_file_is_found_by_the_end_of_its_path() {
        assert!(same_file("CMakeFiles/k.dir/a.rsp", "a.rsp"));
        assert!(same_file("a.rsp", "/b/CMakeFiles/a.rsp"));
        assert!(!same_file("ba.rsp", "a.rsp"));
    }
}
