//! The hash in a generated file's banner, by which a later edit is noticed.

const MARK: &str = "krepro-hash: ";

/// What stands for the hash while it is computed.
pub(super) const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Puts the hash where the template left [`BLANK`].
pub(super) fn seal(text: &str) -> String {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    text.replacen(&format!("{MARK}{BLANK}"), &format!("{MARK}{hash}"), 1)
}

/// The text with a line that seals it, after its first line; `comment` begins the line.
pub fn sealed(text: &str, comment: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    seal(&format!("{first}\n{comment} {MARK}{BLANK}\n{rest}"))
}

/// The hash that a banner names; `None` where there is none.
pub fn rendered_hash(text: &str) -> Option<&str> {
    let start = text.find(MARK)? + MARK.len();
    text.get(start..start + BLANK.len()).filter(|hash| hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Whether a generated file is as it was rendered; `None` when it has no hash (it is somebody else's file).
pub fn is_as_rendered(text: &str) -> Option<bool> {
    let hash = rendered_hash(text)?;
    let blank = text.replacen(&format!("{MARK}{hash}"), &format!("{MARK}{BLANK}"), 1);
    Some(blake3::hash(blank.as_bytes()).to_hex().as_str() == hash)
}

#[cfg(test)]
mod tests {
    use super::{BLANK, is_as_rendered, seal};

    #[test]
    fn an_edit_is_noticed_and_its_absence_too() {
        let sealed = seal(&format!("// krepro-hash: {BLANK}\nint x;\n"));
        assert_eq!(is_as_rendered(&sealed), Some(true));
        assert_eq!(is_as_rendered(&sealed.replace("int x", "int y")), Some(false));
        assert_eq!(is_as_rendered("int x;\n"), None);
    }
}
