//! `FILE:NAME` on the command line.

use camino::Utf8PathBuf;

use crate::diag::{Diagnostic, Diagnostics};

/// A file and a name in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) file: Utf8PathBuf,
    pub(super) name: Option<String>,
}

impl Named {
    /// Splits at the first single colon; NAME may be qualified (`ns::kernel`).
    pub(super) fn parse(option: &str, text: &str, needs_name: bool, problems: &mut Diagnostics) -> Option<Self> {
        let bytes = text.as_bytes();
        let single = |i: usize| bytes.get(i + 1) != Some(&b':') && (i == 0 || bytes[i - 1] != b':');
        let colon = (0..bytes.len()).find(|i| bytes[*i] == b':' && single(*i));
        let (file, name) = match colon {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let plain =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':');
        let wrong = match name {
            _ if file.is_empty() => Some("the file is missing".to_owned()),
            Some(name) if !plain(name) => Some(format!("`{name}` is no C++ name")),
            None if needs_name => Some("the name is missing".to_owned()),
            _ => None,
        };
        if let Some(wrong) = wrong {
            problems.push(
                Diagnostic::error("K-OPTION", format!("`{option} {text}`: {wrong}"))
                    .help(format!("write {option} FILE:NAME")),
            );
            return None;
        }
        Some(Named { file: file.into(), name: name.map(str::to_owned) })
    }
}

#[cfg(test)]
mod tests {
    use super::Named;
    use crate::diag::Diagnostics;

    fn parse(text: &str) -> Option<Named> {
        Named::parse("--kernel", text, true, &mut Diagnostics::new())
    }

    #[test]
    fn the_first_single_colon_splits_and_names_may_be_qualified() {
        let named = parse("a/b.cuh:kernel::linear").expect("a name");
        assert_eq!((named.file.as_str(), named.name.as_deref()), ("a/b.cuh", Some("kernel::linear")));
    }

    #[test]
    fn metacharacters_are_no_name() {
        for text in ["a.cuh:k;rm -rf /", "a.cuh:$(x)", "a.cuh:", ":k", "a.cuh", "a.cuh:k\"<int>"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
