//! The emitter: placeholders, indentation, lines.

use super::emission::{EmittedLine, Segment, SegmentOrigin};

/// Blanks a level of indentation.
const INDENT: usize = 2;

/// Text under construction: pieces with their origins.
#[derive(Debug, Clone, Default)]
pub struct Pieces(pub Vec<(String, SegmentOrigin)>);

impl Pieces {
    /// The number of placeholders.
    pub fn placeholders(&self) -> usize {
        self.0.iter().map(|(text, _)| text.matches('$').count()).sum()
    }

    /// Puts a value in place of the first `$`, as the emitter does: one within an earlier value counts too.
    pub fn fill(&mut self, value: &str, origin: SegmentOrigin) {
        let Some(index) = self.0.iter().position(|(text, _)| text.contains('$')) else { return };
        let (text, from) = self.0.remove(index);
        let at = text.find('$').unwrap_or_default();
        let (before, after) = split(from, at, text.len());
        self.0.insert(index, (text[at + 1..].to_owned(), after));
        self.0.insert(index, (value.to_owned(), origin));
        self.0.insert(index, (text[..at].to_owned(), before));
    }
}

/// The origins of the parts before and after the byte at `at`.
fn split(from: SegmentOrigin, at: usize, length: usize) -> (SegmentOrigin, SegmentOrigin) {
    match from {
        SegmentOrigin::Literal { at: spot } if spot.span.end - spot.span.start == length => {
            let part = |start, end| {
                let mut part = spot.clone();
                part.span = (spot.span.start + start..spot.span.start + end).into();
                SegmentOrigin::Literal { at: part }
            };
            (part(0, at), part(at + 1, length))
        }
        other => (other.clone(), other),
    }
}

/// An emitter with its lines and its level of indentation.
#[derive(Debug, Clone, Default)]
pub struct Emitter {
    /// So far.
    pub lines: Vec<EmittedLine>,
    level: usize,
}

impl Emitter {
    /// Emits a line: one level less before a line that ends in `}`, one more after a line that ends in `{`.
    pub fn line(&mut self, pieces: Pieces) {
        let last = pieces.0.iter().rev().find_map(|(text, _)| text.bytes().last());
        if last == Some(b'}') {
            self.dedent();
        }
        let indent = " ".repeat(INDENT * self.level);
        self.lines.push(join(std::iter::once((indent, SegmentOrigin::Indent)).chain(pieces.0)));
        if last == Some(b'{') {
            self.indent();
        }
    }

    /// Puts a line before all others, without indentation.
    pub fn front(&mut self, pieces: Pieces) {
        self.lines.insert(0, join(pieces.0));
    }

    /// One level more.
    pub fn indent(&mut self) {
        self.level += 1;
    }

    /// One level less, never below none.
    pub fn dedent(&mut self) {
        self.level = self.level.saturating_sub(1);
    }
}

fn join(pieces: impl IntoIterator<Item = (String, SegmentOrigin)>) -> EmittedLine {
    let mut line = EmittedLine { text: String::new(), segments: vec![] };
    for (text, from) in pieces {
        if !text.is_empty() {
            let start = line.text.len();
            line.text.push_str(&text);
            line.segments.push(Segment { range: start..line.text.len(), from });
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{Emitter, Pieces, SegmentOrigin};

    fn pieces(text: &str) -> Pieces {
        Pieces(vec![(text.to_owned(), SegmentOrigin::Indent)])
    }

    #[test]
    fn the_first_placeholder_is_filled_even_within_a_value() {
        let mut text = pieces("a $ b $");
        assert_eq!(text.placeholders(), 2);
        text.fill("<$>", SegmentOrigin::Indent);
        text.fill("x", SegmentOrigin::Indent);
        let joined: String = text.0.iter().map(|(t, _)| t.as_str()).collect();
        assert_eq!(joined, "a <x> b $");
    }

    #[test]
    fn braces_at_the_end_of_a_line_indent() {
        let mut emitter = Emitter::default();
        for line in ["f {", "x;", "} ", "}", "}"] {
            emitter.line(pieces(line));
        }
        let lines: Vec<_> = emitter.lines.iter().map(|l| l.text.as_str()).collect();
        assert_eq!(lines, ["f {", "  x;", "  } ", "}", "}"]);
    }
}
