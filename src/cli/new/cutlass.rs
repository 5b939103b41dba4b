//! The CUTLASS version that the command's include path finds first.

use camino::Utf8PathBuf;

use crate::model::Fact;
use crate::source::{Source, Spot};
use crate::sys::System;

/// `MAJOR.MINOR.PATCH` of the first `cutlass/version.h` on the path.
pub(super) fn version(system: &dyn System, folders: &[Utf8PathBuf]) -> Option<Fact<String>> {
    let path = folders.iter().map(|folder| folder.join("cutlass/version.h")).find(|path| system.is_file(path))?;
    let source = Source::new(path.as_str(), system.read(&path).ok()?);
    let text = source.text();
    let number = |name: &str| -> Option<(usize, u32)> {
        let at = text.find(&format!("#define {name} "))?;
        let rest = text[at..].lines().next()?;
        Some((at, rest.split_whitespace().nth(2)?.parse().ok()?))
    };
    let (at, major) = number("CUTLASS_MAJOR")?;
    let (_, minor) = number("CUTLASS_MINOR")?;
    let (_, patch) = number("CUTLASS_PATCH")?;
    Some(Fact::read(format!("{major}.{minor}.{patch}"), Spot::new(&source, at..at + 1).place(), None))
}

#[cfg(test)]
mod tests {
    use super::version;
    use crate::sys::Fake;

    #[test]
    fn the_first_version_on_the_path_counts() {
        let text = |major: u32| {
            format!("#pragma once\n#define CUTLASS_MAJOR {major}\n#define CUTLASS_MINOR 2\n#define CUTLASS_PATCH 0\n")
        };
        let fake = Fake::new().file("/b/cutlass/version.h", text(4)).file("/c/cutlass/version.h", text(3));
        let found = version(&fake, &["/a".into(), "/b".into(), "/c".into()]).expect("a version");
        assert_eq!(found.value, "4.2.0");
        assert_eq!(version(&fake, &["/a".into()]), None);
    }
}
