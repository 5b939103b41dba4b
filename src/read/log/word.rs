//! Text that was put together from pieces of a log, and the words in it, with their places.

/// A place in the log: line from 1, byte column from 1, byte offset from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position {
    /// Line from 1.
    pub line: usize,
    /// Byte column from 1.
    pub column: usize,
    /// Offset in the whole log.
    pub offset: u64,
}

impl Position {
    /// `bytes` further in the same line.
    #[must_use]
    pub fn after(self, bytes: usize) -> Self {
        Position { line: self.line, column: self.column + bytes, offset: self.offset + bytes as u64 }
    }
}

/// Bytes that were joined, peeled or decoded from a log, and where each of them stood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapped {
    bytes: Vec<u8>,
    pieces: Vec<(usize, Position)>,
}

/// Places are kept for this many pieces; the bytes of later ones are placed behind the last.
const MOST_PIECES: usize = 1 << 16;

impl Mapped {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes that stand together at `at`.
    pub fn of(bytes: &[u8], at: Position) -> Self {
        Mapped { bytes: bytes.to_vec(), pieces: vec![(0, at)] }
    }

    /// Adds bytes that stand together at `at`.
    pub fn push(&mut self, bytes: &[u8], at: Position) {
        let contiguous = self.pieces.len() >= MOST_PIECES
            || self.pieces.last().is_some_and(|(start, from)| {
                let gap = self.bytes.len() - start;
                from.line == at.line && from.offset + gap as u64 == at.offset
            });
        if !contiguous && !bytes.is_empty() {
            self.pieces.push((self.bytes.len(), at));
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds bytes `range` of another text.
    pub fn push_range(&mut self, from: &Mapped, range: std::ops::Range<usize>) {
        let mut start = range.start;
        while start < range.end {
            let index = from.pieces.partition_point(|(at, _)| *at <= start);
            let end = from.pieces.get(index).map_or(range.end, |(at, _)| (*at).min(range.end)).max(start + 1);
            self.push(&from.bytes[start..end], from.position(start));
            start = end;
        }
    }

    /// Adds another text.
    pub fn append(&mut self, from: &Mapped) {
        self.push_range(from, 0..from.bytes.len());
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, without their places.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The first byte that stood at a place or behind it in the same piece.
    pub fn offset_of(&self, at: Position) -> Option<usize> {
        let ends = self.pieces.iter().skip(1).map(|(start, _)| *start).chain(std::iter::once(self.bytes.len()));
        self.pieces.iter().zip(ends).find_map(|((start, from), end)| {
            let gap = usize::try_from(at.offset.checked_sub(from.offset)?).ok()?;
            (gap < end - start).then_some(start + gap)
        })
    }

    /// Where a byte stood.
    pub fn position(&self, offset: usize) -> Position {
        let index = self.pieces.partition_point(|(at, _)| *at <= offset).saturating_sub(1);
        match self.pieces.get(index) {
            Some((at, from)) => {
                let gap = offset.saturating_sub(*at);
                from.after(gap)
            }
            None => Position { line: 1, column: 1, offset: 0 },
        }
    }
}

/// One decoded word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Its text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Where it began.
    pub at: Position,
    /// Whether bytes were replaced.
    pub replaced: bool,
    /// Whether it was cut: a quote that never closes, or an ellipsis.
    pub cut: bool,
}

impl Word {
    /// From decoded bytes.
    pub fn new(bytes: impl Into<Vec<u8>>, at: Position) -> Self {
        match String::from_utf8(bytes.into()) {
            Ok(text) => Word { text, at, replaced: false, cut: false },
            Err(e) => Word { text: String::from_utf8_lossy(e.as_bytes()).into_owned(), at, replaced: true, cut: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Mapped, Position};

    #[test]
    fn a_byte_keeps_its_place_through_joins() {
        let mut text = Mapped::of(b"nvcc ", Position { line: 3, column: 7, offset: 100 });
        text.push(b"-c", Position { line: 4, column: 9, offset: 120 });
        assert_eq!(text.position(1), Position { line: 3, column: 8, offset: 101 });
        assert_eq!(text.position(6), Position { line: 4, column: 10, offset: 121 });
        assert_eq!((text.offset_of(text.position(6)), text.offset_of(text.position(2))), (Some(6), Some(2)));
        assert_eq!(text.offset_of(Position { line: 9, column: 1, offset: 900 }), None);
        let mut again = Mapped::new();
        again.push_range(&text, 3..7);
        assert_eq!(again.bytes(), b"c -c");
        assert_eq!(again.position(3), text.position(6));
    }
}
