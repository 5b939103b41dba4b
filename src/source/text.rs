//! Sources, spans and spots.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::Place;

/// A byte range within one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`; an end before the start is taken as empty.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end: end.max(start) }
    }

    /// The same as a `Range`.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Span::new(range.start, range.end)
    }
}

/// Text that was read, or an excerpt of it.
///
/// An excerpt of a stream keeps the absolute position of its first byte (`first_line`, `first_offset`), so that places in
/// it are places in the whole.
#[derive(Debug)]
pub struct Source {
    name: String,
    bytes: Vec<u8>,
    line_starts: Vec<usize>,
    first_line: usize,
    first_column: usize,
    first_offset: u64,
}

impl Source {
    /// A whole text under the name its user knows it by (`-` for standard input).
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Arc<Self> {
        Self::excerpt(name, bytes, 1, 0)
    }

    /// Part of a text: its first byte stands at `first_offset` (bytes from 0) in line `first_line` (from 1), at the line's
    /// start.
    pub fn excerpt(
        name: impl Into<String>,
        bytes: impl Into<Vec<u8>>,
        first_line: usize,
        first_offset: u64,
    ) -> Arc<Self> {
        Self::piece(name, bytes, (first_line, 1), first_offset)
    }

    /// An excerpt whose first byte stands at this line and byte column, both from 1.
    pub fn piece(
        name: impl Into<String>,
        bytes: impl Into<Vec<u8>>,
        (first_line, first_column): (usize, usize),
        first_offset: u64,
    ) -> Arc<Self> {
        let bytes = bytes.into();
        let line_starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', &bytes).map(|i| i + 1)).collect();
        Arc::new(Source { name: name.into(), bytes, line_starts, first_line, first_column, first_offset })
    }

    /// The name the user gave.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All text; broken UTF-8 is replaced, so offsets into it are not offsets into [`Source::bytes`].
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// The text of a span, clipped to the source; broken UTF-8 is replaced.
    pub fn slice(&self, span: Span) -> Cow<'_, str> {
        let end = span.end.min(self.bytes.len());
        String::from_utf8_lossy(&self.bytes[span.start.min(end)..end])
    }

    /// Offset in the whole text of a byte of this excerpt.
    pub fn absolute(&self, offset: usize) -> u64 {
        self.first_offset + offset as u64
    }

    /// Line (from 1, in the whole text) and byte column (from 1) of an offset.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let index = self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let before = if index == 0 { self.first_column } else { 1 };
        (self.first_line + index, offset - self.line_starts[index] + before)
    }

    /// The span of the line (from 1, in the whole text), without its newline.
    pub fn line_span(&self, line: usize) -> Option<Span> {
        let index = line.checked_sub(self.first_line)?;
        let start = *self.line_starts.get(index)?;
        let end = self.line_starts.get(index + 1).map_or(self.bytes.len(), |next| next - 1);
        Some(Span::new(start, end))
    }

    /// Line number (from 1) of the first byte.
    pub fn first_line(&self) -> usize {
        self.first_line
    }
}

/// A span together with the source that it is in.
#[derive(Debug, Clone)]
pub struct Spot {
    /// The text.
    pub source: Arc<Source>,
    /// The bytes meant.
    pub span: Span,
}

impl Spot {
    /// `span` of `source`.
    pub fn new(source: &Arc<Source>, span: impl Into<Span>) -> Self {
        Spot { source: Arc::clone(source), span: span.into() }
    }

    /// The text meant.
    pub fn text(&self) -> Cow<'_, str> {
        self.source.slice(self.span)
    }

    /// File, line and column of its first byte.
    pub fn place(&self) -> Place {
        let (line, column) = self.source.line_column(self.span.start);
        Place { file: self.source.name().to_owned(), line, column }
    }
}

impl PartialEq for Spot {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.source, &other.source) && self.span == other.span
    }
}

impl Eq for Spot {}

#[cfg(test)]
mod tests {
    use super::{Source, Span, Spot};

    #[test]
    fn lines_and_columns_count_from_one() {
        let source = Source::new("x", "ab\ncd\n");
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(4), (2, 2));
        assert_eq!(source.line_span(2), Some(Span::new(3, 5)));
        assert_eq!(source.line_span(9), None);
    }

    #[test]
    fn an_excerpt_keeps_the_places_of_the_whole() {
        let source = Source::excerpt("log", "one\ntwo", 100, 5000);
        let spot = Spot::new(&source, 4..7);
        assert_eq!(spot.place().to_string(), "log:101:1");
        assert_eq!(source.absolute(4), 5004);
        assert_eq!(spot.text(), "two");
        let piece = Source::piece("log", "two\nthree", (100, 8), 5007);
        assert_eq!((piece.line_column(2), piece.line_column(5)), ((100, 10), (101, 2)));
    }

    #[test]
    fn a_span_outside_is_clipped() {
        let source = Source::new("x", "ab");
        assert_eq!(source.slice(Span::new(1, 9)), "b");
        assert_eq!(source.slice(Span::new(7, 9)), "");
    }
}
