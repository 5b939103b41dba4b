//! Response files: their grammar, and their text in the place of `--options-file`.

use super::argument::{self, Argument};
use super::context::PastedFile;
use super::table::OptionTable;
use super::word::{Mapped, Position, Word};

/// Response files name each other at most this deep.
const DEEPEST: usize = 8;

/// Bytes of response files that one command reads.
const MOST_BYTES: usize = 4 << 20;

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
                out.push(Word::new(std::mem::take(&mut word), text.position(start)));
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
    let mut expansion = Expansion { files, table, read: 0, missing: vec![], out: Vec::with_capacity(arguments.len()) };
    expansion.level(arguments, 0);
    (expansion.out, expansion.missing)
}

struct Expansion<'f> {
    files: &'f Files<'f>,
    table: &'static OptionTable,
    read: usize,
    missing: Vec<String>,
    out: Vec<Argument>,
}

impl Expansion<'_> {
    fn level(&mut self, arguments: Vec<Argument>, depth: usize) {
        for argument in arguments {
            if !argument.is("-optf") || argument.value().is_none() {
                self.out.push(argument);
                continue;
            }
            let names: Vec<&str> = argument.value_or_empty().split(',').collect();
            let texts: Vec<Option<Mapped>> = names.iter().map(|name| self.files.find(name)).collect();
            let absent = names.iter().zip(&texts).filter(|(_, text)| text.is_none());
            let mut missing: Vec<String> = absent.map(|(name, _)| (*name).to_owned()).collect();
            self.read += 1 + texts.iter().flatten().map(|text| text.bytes().len()).sum::<usize>();
            if depth >= DEEPEST || self.read > MOST_BYTES {
                missing = names.iter().map(|name| (*name).to_owned()).collect();
            }
            if !missing.is_empty() {
                missing.retain(|name| !self.missing.contains(name));
                self.missing.extend(missing);
                self.out.push(argument);
                continue;
            }
            for text in texts.into_iter().flatten() {
                self.level(argument::parse(words(&text), self.table), depth + 1);
            }
        }
    }
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
