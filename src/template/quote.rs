//! How text becomes a literal of the language it stands in.

use std::fmt::Write as _;

/// A C++ string literal, quotes included. Everything but printable ASCII becomes three octal digits, which no following
/// digit can extend; `?` too, where a trigraph could begin.
pub fn cpp_string(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(byte));
            }
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b' '..=b'~' if byte != b'?' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
    out
}

/// A word of a POSIX shell: bare where nothing in it means anything, else in single quotes.
pub fn shell(text: &str) -> String {
    if !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c)) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Text after `// ` or `# `: one line, no control or direction-changing characters, no backslash at its end (it would
/// join the next line to the comment).
pub fn comment(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        let hidden =
            c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
        if c == '\t' {
            out.push(' ');
        } else if hidden {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out.truncate(out.trim_end().len());
    if out.ends_with('\\') {
        out.push('.');
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{comment, cpp_string, shell};

    #[test]
    fn a_cpp_string_ends_where_it_should() {
        assert_eq!(cpp_string("a\"b\\c"), r#""a\"b\\c""#);
        assert_eq!(cpp_string("\u{1}7??/\n"), r#""\0017\077\077/\n""#);
    }

    #[test]
    fn a_comment_stays_one_line() {
        assert_eq!(comment("a\nb\\"), "a\\nb\\.");
        assert_eq!(comment("x\u{202e}y"), "x\\u{202e}y");
    }

    proptest! {
        #[test]
        fn a_shell_word_is_one_word(text in "\\PC{0,20}") {
            prop_assert_eq!(shlex::split(&shell(&text)), Some(vec![text]));
        }

        #[test]
        fn a_comment_never_continues(text in ".{0,20}\\\\?\n?") {
            let line = comment(&text);
            prop_assert!(!line.contains('\n') && !line.ends_with('\\'));
        }
    }
}
