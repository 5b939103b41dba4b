//! Names of an emission that its headers do not have.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use regex::Regex;

use crate::model::{Fact, Instantiation, UnknownName};
use crate::source::Source;

/// Most names that are offered in place of one.
const MOST: usize = 3;

/// Qualified names in template arguments, aliases, objects and call arguments whose first namespace one of `headers` opens, and whose
/// last part stands in none of them.
pub fn unknown(instantiation: &Instantiation, headers: &[Arc<Source>]) -> Vec<UnknownName> {
    static QUALIFIED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)+").ok());
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[A-Za-z_]\w*").ok());
    static OPENED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bnamespace\s+([A-Za-z_][\w:]*)\s*\{").ok());
    let (Some(qualified), Some(word), Some(opened)) = (QUALIFIED.as_ref(), WORD.as_ref(), OPENED.as_ref()) else {
        return vec![];
    };
    let mut words = BTreeSet::new();
    let mut namespaces = BTreeSet::new();
    for header in headers {
        let text = header.text();
        words.extend(word.find_iter(&text).map(|found| found.as_str().to_owned()));
        namespaces.extend(
            opened.captures_iter(&text).flat_map(|found| found[1].split("::").map(str::to_owned).collect::<Vec<_>>()),
        );
    }
    let bindings = instantiation.aliases.iter().chain(&instantiation.objects);
    let own: BTreeSet<&str> = bindings.clone().map(|binding| binding.name.as_str()).collect();
    let pieces =
        instantiation.template_arguments.iter().chain(bindings.map(|b| &b.text)).chain(&instantiation.arguments);
    let mut out: Vec<UnknownName> = vec![];
    for piece in pieces {
        for found in qualified.find_iter(&piece.value) {
            let parts: Vec<&str> = found.as_str().split("::").map(str::trim).collect();
            let (first, last) = (parts[0], parts[parts.len() - 1]);
            if own.contains(first) || !namespaces.contains(first) || words.contains(last) {
                continue;
            }
            let name = parts.join("::");
            if out.iter().all(|known| known.name.value != name) {
                let name = Fact { value: name, origin: piece.origin.clone() };
                out.push(UnknownName { name, near: near(last, &words) });
            }
        }
    }
    out
}

/// Names at a small distance: at most a third of the letters differ.
fn near(wanted: &str, words: &BTreeSet<String>) -> Vec<String> {
    let close = wanted.len() / 3;
    let mut near: Vec<(usize, &String)> = words
        .iter()
        .filter(|word| word.len().abs_diff(wanted.len()) <= close)
        .map(|word| (distance(wanted, word), word))
        .filter(|(distance, _)| *distance <= close)
        .collect();
    near.sort();
    near.into_iter().take(MOST).map(|(_, word)| word.clone()).collect()
}

/// Insertions, deletions and exchanges from one to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, c) in from.chars().enumerate() {
        let mut corner = row[0];
        row[0] = index + 1;
        for (at, other) in to.iter().enumerate() {
            let exchanged = corner + usize::from(c != *other);
            corner = row[at + 1];
            row[at + 1] = exchanged.min(row[at] + 1).min(corner + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::unknown;
    use crate::model::{Fact, Instantiation};
    use crate::source::{Place, Source};

    fn names(argument: &str) -> Vec<(String, Vec<String>)> {
        let at = Place { file: "site.cc".into(), line: 3, column: 9 };
        let piece = |text: &str| Fact::transcribed(text.to_owned(), at.clone());
        let instantiation = Instantiation {
            lines: vec![],
            kernel: piece("kernel::run"),
            template_arguments: vec![piece(argument)],
            arguments: vec![],
            launch: vec![],
            aliases: vec![],
            objects: vec![],
        };
        let header = "namespace kernel {\nnamespace tma {\ntemplate <class T> struct tile_2d;\n}\nvoid run();\n}\n";
        let headers = [Source::new("k.cuh", header.as_bytes().to_vec())];
        unknown(&instantiation, &headers).into_iter().map(|u| (u.name.value, u.near)).collect()
    }

    #[test]
    fn a_name_of_another_version_is_told_with_its_neighbours() {
        assert_eq!(
            names("kernel::tma::tile_3d<int>"),
            [("kernel::tma::tile_3d".to_owned(), vec!["tile_2d".to_owned()])]
        );
        assert!(names("kernel::tma::tile_2d<int>").is_empty());
        assert!(names("cute::Layout<int>").is_empty(), "a library's headers were not read");
        assert!(names("64").is_empty());
    }
}
