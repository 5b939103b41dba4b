//! Which commands of a log are kept, so that memory is bounded by what can be chosen and not by the log.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use super::choose;
use super::found::Found;
use super::locate::Style;
use super::options::Select;

/// Bytes of kept commands, as text; each byte of text costs about three of memory.
const MOST_BYTES: usize = 8 << 20;

/// What a word costs besides its text.
const WORD: usize = 64;

/// Commands whose repetitions are recognised.
const MOST_KNOWN: usize = 100_000;

/// Repetitions whose line is kept.
const MOST_DUPLICATES: usize = 64;

/// The kept commands.
#[derive(Debug, Clone, Default)]
pub struct Retained {
    /// In the order of the log.
    pub commands: Vec<Found>,
    /// Commands that were not kept.
    pub beyond: usize,
    known: HashMap<u64, Option<usize>>,
    joined: Vec<u8>,
    bytes: usize,
    best: Option<(u8, u8, bool)>,
}

impl Retained {
    /// Keeps a command, or counts it: a repetition, or one that is neither selected nor better than those kept.
    pub fn add(&mut self, found: Found, raw: &[u8], select: Option<&Select>) {
        self.joined.clear();
        for word in found.argv() {
            self.joined.extend_from_slice(word.as_bytes());
            self.joined.push(b' ');
        }
        self.joined.pop();
        let keys = [fingerprint(&self.joined), fingerprint(raw)];
        let keys = if raw.is_empty() || raw == self.joined { &keys[..1] } else { &keys[..] };
        match keys.iter().find_map(|key| self.known.get(key)) {
            Some(Some(index)) => return repeat(&mut self.commands[*index], found),
            Some(None) => return,
            None => {}
        }
        let size = found.excerpt.bytes().len() + found.argv().map(|a| a.len() + WORD).sum::<usize>();
        let wanted = select.is_some_and(|s| choose::selects(s, &found));
        let better = self.best.is_none_or(|best| choose::rank(&found) < best);
        let keep = self.bytes + size <= MOST_BYTES || ((wanted || better) && self.bytes <= 4 * MOST_BYTES);
        if self.known.len() < MOST_KNOWN {
            self.known.extend(keys.iter().map(|key| (*key, keep.then_some(self.commands.len()))));
        }
        if !keep {
            self.beyond += 1;
            return;
        }
        self.bytes += size;
        self.best = Some(self.best.map_or(choose::rank(&found), |best| best.min(choose::rank(&found))));
        self.commands.push(found);
    }
}

/// Notes a repetition. A list is exact where the same words printed with blanks between are not, and takes their place.
fn repeat(kept: &mut Found, found: Found) {
    if kept.duplicates.len() < MOST_DUPLICATES {
        kept.duplicates.push(found.line());
    }
    let exact = matches!(found.style, Style::List | Style::Quoted | Style::Nul);
    if exact && kept.style == Style::Shell && !kept.argv().eq(found.argv()) {
        kept.style = found.style;
        kept.compiler.text.clone_from(&found.compiler.text);
        kept.arguments = found.arguments;
    }
}

/// Two commands are the same when their words, joined by blanks, are: so does a framework print its list a second time.
fn fingerprint(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text);
    hasher.finish()
}
