//! The dependency file that `-MD` writes.

use camino::Utf8PathBuf;

/// The files after the colon of the first rule, in order; `\` joins lines and escapes blanks, `$$` is a dollar.
pub fn parse(text: &str) -> Vec<Utf8PathBuf> {
    let joined = text.replace("\\\n", " ").replace("\\\r\n", " ");
    let Some((_, list)) = joined.split_once(" : ").or_else(|| joined.split_once(": ")) else { return vec![] };
    let mut files = vec![];
    let mut current = String::new();
    let mut chars = list.lines().next().unwrap_or_default().chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(' ' | '#')) | ('$', Some('$')) => current.extend(chars.next()),
            (' ' | '\t', _) => files.push(std::mem::take(&mut current)),
            _ => current.push(c),
        }
    }
    files.push(current);
    files.into_iter().filter(|file| !file.is_empty()).map(Utf8PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn nvcc_writes_a_blank_before_the_colon() {
        let text = "t3 : ../t2.cu \\\n    /usr/include/a.h \\\n    /with\\ blank/b$$c.h\n";
        assert_eq!(parse(text), ["../t2.cu", "/usr/include/a.h", "/with blank/b$c.h"]);
        assert_eq!(parse("x.o: a.h b.h\n\na.h:\n"), ["a.h", "b.h"]);
        assert!(parse("").is_empty());
    }
}
