//! The headers that a header includes, as far as they can be found without a preprocessor.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::System;
use crate::source::Source;

/// At most this many headers are read: constants that a kernel uses stand near it.
const MOST: usize = 400;

/// The header itself and the headers that it includes, nearest first.
///
/// `"…"` is looked for beside the including file and then in `folders`; `<…>` in `folders`, and followed only into the folder
/// that holds the first header, so that a kernel's own tree is read and a whole library is not. Both kinds of
/// conditional branches are followed; what is not found is left out.
pub fn closure(system: &dyn System, header: &Utf8Path, folders: &[Utf8PathBuf]) -> Vec<Arc<Source>> {
    let real = system.real_path(header);
    let home = folders.iter().map(|folder| system.real_path(folder)).find(|folder| real.starts_with(folder));
    let mut queue = VecDeque::from([header.to_owned()]);
    let mut seen = BTreeSet::from([real]);
    let mut sources = Vec::new();
    while let Some(path) = queue.pop_front() {
        if sources.len() == MOST {
            break;
        }
        let Ok(bytes) = system.read(&path) else { continue };
        let source = Source::new(path.as_str(), bytes);
        for (name, quoted) in includes(&source.text()) {
            let beside = path.parent().map(|folder| folder.join(name)).filter(|_| quoted);
            let found = beside
                .into_iter()
                .chain(folders.iter().map(|folder| folder.join(name)))
                .find(|candidate| system.is_file(candidate));
            let Some(found) = found else { continue };
            let real = system.real_path(&found);
            let follow = quoted || home.as_ref().is_some_and(|home| real.starts_with(home));
            if follow && seen.insert(real) {
                queue.push_back(found);
            }
        }
        sources.push(source);
    }
    sources
}

/// Names that a text includes, and whether in quotes.
fn includes(text: &str) -> Vec<(&str, bool)> {
    text.lines()
        .filter_map(|line| {
            let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
            let (close, quoted) = match rest.chars().next()? {
                '"' => ('"', true),
                '<' => ('>', false),
                _ => return None,
            };
            let name = &rest[1..];
            Some((&name[..name.find(close)?], quoted))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use camino::{Utf8Path, Utf8PathBuf};

    use super::closure;
    use crate::sys::Fake;

    #[test]
    fn own_headers_are_followed_and_a_library_is_not() {
        let fake = Fake::new()
            .file(
                "/own/k/a.cuh",
                "#include \"b.cuh\"\n #  include <k/c.cuh>\n#include <lib/x.hpp>\n#include \"gone.h\"\n",
            )
            .file("/own/k/b.cuh", "#include \"a.cuh\"\n")
            .file("/own/k/c.cuh", "")
            .file("/other/lib/x.hpp", "");
        let folders = [Utf8PathBuf::from("/own"), Utf8PathBuf::from("/other")];
        let names: Vec<_> =
            closure(&fake, Utf8Path::new("/own/k/a.cuh"), &folders).iter().map(|s| s.name().to_owned()).collect();
        assert_eq!(names, ["/own/k/a.cuh", "/own/k/b.cuh", "/own/k/c.cuh"]);
    }
}
