//! The text around a command that is kept, for diagnostics to draw; values of environment variables are overwritten in it.

use std::sync::Arc;

use super::logical::Logical;
use super::secrets;
use super::word::{Position, Word};
use crate::source::Source;

/// Of a logical line longer than this only the command itself is kept: a database may stand in one line.
const WHOLE: usize = 1 << 14;

/// The text of the command that begins at `at` and whose last word is `last`, and its offset in the log.
pub fn of(line: &Logical, name: &str, at: Position, last: &Word) -> (Arc<Source>, u64) {
    let (Some(first), Some(end)) = (line.lines.first(), line.lines.last()) else {
        return (Source::excerpt(name, vec![], 1, 0), 0);
    };
    let until = end.offset + end.bytes.len() as u64;
    let within = |offset: u64, from: u64| usize::try_from(offset.saturating_sub(from)).unwrap_or(usize::MAX);
    if within(until, first.offset) <= WHOLE || !(first.offset..until).contains(&at.offset) {
        let mut bytes = between(line, first.offset, until.min(first.offset + WHOLE as u64));
        secrets::mask(&mut bytes, within(at.offset, first.offset));
        secrets::mask_behind(&mut bytes, within(last.at.offset, first.offset).saturating_add(last.text.len()));
        return (Source::excerpt(name, bytes, first.number, first.offset), first.offset);
    }
    let length = within(last.at.offset, at.offset).min(until as usize).saturating_add(last.text.len()) as u64;
    let bytes = between(line, at.offset, until.min(at.offset + length));
    (Source::piece(name, bytes, (at.line, at.column), at.offset), at.offset)
}

/// The bytes of a logical line's physical lines from one offset of the log to another.
fn between(line: &Logical, from: u64, to: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(usize::try_from(to.saturating_sub(from)).unwrap_or_default());
    let start = line.lines.partition_point(|l| l.offset + l.bytes.len() as u64 <= from);
    for (index, physical) in line.lines[start.min(line.lines.len())..].iter().enumerate() {
        if physical.offset >= to {
            break;
        }
        if index > 0 {
            out.push(b'\n');
        }
        let at = |offset: u64| {
            usize::try_from(offset.saturating_sub(physical.offset)).unwrap_or(usize::MAX).min(physical.bytes.len())
        };
        out.extend_from_slice(&physical.bytes[at(from)..at(to)]);
    }
    out
}
