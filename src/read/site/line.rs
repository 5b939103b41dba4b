//! The emitter: placeholders, indentation, lines.

use super::emission::{EmittedLine, Segment, SegmentOrigin};

/// Blanks a level of indentation.
const INDENT: usize = 2;

/// Text under construction: pieces with their origins.
#[derive(Debug, Clone, Default)]
pub struct Pieces(pub Vec<(String, SegmentOrigin)>);

impl Pieces {
    /// The whole text.
    pub fn text(&self) -> String {
        self.0.iter().map(|(text, _)| text.as_str()).collect()
    }

    /// The number of placeholders.
    pub fn placeholders(&self) -> usize {
        self.0.iter().map(|(text, _)| text.matches('$').count()).sum()
    }

    /// Puts a value in place of the first `$`, as the emitter does: one within an earlier value counts too.
    pub fn fill(&mut self, value: &str, origin: SegmentOrigin) {
        let Some(at) = self.text().find('$') else { return };
        let mut out = self.slice(0..at);
        out.0.push((value.to_owned(), origin));
        out.0.extend(self.slice(at + 1..usize::MAX).0);
        *self = out;
    }

    /// The pieces of a byte range of the text.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Pieces {
        let mut out = Pieces::default();
        let mut start = 0;
        for (text, from) in &self.0 {
            let (begin, end) = (range.start.max(start), range.end.min(start + text.len()));
            if begin < end {
                let within = begin - start..end - start;
                out.0.push((text[within.clone()].to_owned(), part(from, within, text.len())));
            }
            start += text.len();
        }
        out
    }

    /// The lines of the text, and whether the last one has its newline.
    pub fn lines(&self) -> (Vec<EmittedLine>, bool) {
        let text = self.text();
        let mut lines = vec![];
        let mut from = 0;
        for line in text.split_inclusive('\n') {
            let length = line.strip_suffix('\n').unwrap_or(line).len();
            lines.push(join(self.slice(from..from + length).0));
            from += line.len();
        }
        (lines, text.is_empty() || text.ends_with('\n'))
    }
}

/// The origin of a part of a piece.
fn part(from: &SegmentOrigin, within: std::ops::Range<usize>, length: usize) -> SegmentOrigin {
    match from {
        SegmentOrigin::Literal { at } if at.span.end - at.span.start == length => {
            let mut part = at.clone();
            part.span = (at.span.start + within.start..at.span.start + within.end).into();
            SegmentOrigin::Literal { at: part }
        }
        other => other.clone(),
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
        assert_eq!(text.text(), "a <x> b $");
        let (lines, terminated) = pieces("a\n\nb").lines();
        assert_eq!(lines.iter().map(|l| l.text.as_str()).collect::<Vec<_>>(), ["a", "", "b"]);
        assert!(!terminated);
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
