//! Input from a file or from standard input.

use std::io::{self, BufRead, BufReader};

use camino::Utf8Path;

use super::System;

/// A stream with the name its user knows it by.
pub struct Input<'s> {
    /// The path, or `-`.
    pub name: String,
    /// The bytes.
    pub stream: Box<dyn BufRead + 's>,
}

/// Opens a path, or standard input for `-`.
///
/// # Errors
/// The file's, with its name in the text.
pub fn open<'s>(system: &'s dyn System, path: &Utf8Path) -> io::Result<Input<'s>> {
    let stream = if path == "-" { system.stdin() } else { system.stream(path)? };
    Ok(Input { name: path.to_string(), stream: Box::new(BufReader::with_capacity(1 << 16, stream)) })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use camino::Utf8Path;

    use super::super::Fake;
    use super::open;

    #[test]
    fn a_dash_is_standard_input() {
        let fake = Fake { input: b"in".to_vec(), ..Fake::new() }.file("a.log", "file");
        let read = |path: &str| {
            let mut text = String::new();
            open(&fake, Utf8Path::new(path)).unwrap().stream.read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!((read("-"), read("a.log")), ("in".to_owned(), "file".to_owned()));
        assert!(open(&fake, Utf8Path::new("b.log")).is_err());
    }
}
