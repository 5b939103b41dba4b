//! Physical lines of a stream, in bounded memory.

use std::collections::VecDeque;
use std::io::{self, BufRead};

/// A line longer than this is cut, and says so.
pub const LONGEST_LINE: usize = 4 << 20;

/// A physical line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub number: usize,
    /// Offset of its first byte in the stream.
    pub offset: u64,
    /// Without its newline.
    pub bytes: Vec<u8>,
    /// Whether it was longer than [`LONGEST_LINE`].
    pub cut: bool,
}

/// Reads lines one after another.
pub struct Lines<R> {
    reader: R,
    number: usize,
    offset: u64,
    back: VecDeque<Line>,
}

impl<R: BufRead> Lines<R> {
    /// From the start of a stream.
    pub fn new(reader: R) -> Self {
        Lines { reader, number: 0, offset: 0, back: VecDeque::new() }
    }

    /// The next line into `line`; false at the end.
    ///
    /// # Errors
    /// The stream's own.
    pub fn next_into(&mut self, line: &mut Line) -> io::Result<bool> {
        if let Some(back) = self.back.pop_front() {
            *line = back;
            return Ok(true);
        }
        line.bytes.clear();
        line.cut = false;
        line.offset = self.offset;
        loop {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            if buffer.is_empty() {
                break;
            }
            let newline = memchr::memchr(b'\n', buffer);
            let part = &buffer[..newline.unwrap_or(buffer.len())];
            let room = LONGEST_LINE.saturating_sub(line.bytes.len());
            line.cut |= part.len() > room;
            line.bytes.extend_from_slice(&part[..part.len().min(room)]);
            let used = part.len() + usize::from(newline.is_some());
            self.reader.consume(used);
            self.offset += used as u64;
            if newline.is_some() {
                break;
            }
        }
        if self.offset == line.offset {
            return Ok(false);
        }
        self.number += 1;
        line.number = self.number;
        Ok(true)
    }
}

impl<R: BufRead> Lines<R> {
    /// The line `ahead` lines on (0 for the next), which stays to be read.
    ///
    /// # Errors
    /// The stream's own.
    pub fn peek(&mut self, ahead: usize) -> io::Result<Option<&Line>> {
        while self.back.len() <= ahead {
            let kept = std::mem::take(&mut self.back);
            let mut line = Line::default();
            let read = self.next_into(&mut line);
            self.back = kept;
            if !read? {
                return Ok(None);
            }
            self.back.push_back(line);
        }
        Ok(self.back.get(ahead))
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::{LONGEST_LINE, Line, Lines};

    #[test]
    fn lines_know_their_number_and_offset() {
        let mut lines = Lines::new(BufReader::with_capacity(3, &b"ab\n\ncdefg"[..]));
        let mut line = Line::default();
        let mut seen = vec![];
        while lines.next_into(&mut line).unwrap() {
            seen.push((line.number, line.offset, String::from_utf8(line.bytes.clone()).unwrap()));
        }
        assert_eq!(seen, [(1, 0, "ab".into()), (2, 3, String::new()), (3, 4, "cdefg".into())]);
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let text = vec![b'x'; LONGEST_LINE + 10];
        let mut lines = Lines::new(&text[..]);
        let mut line = Line::default();
        assert!(lines.next_into(&mut line).unwrap());
        assert!(line.cut && line.bytes.len() == LONGEST_LINE);
    }
}
