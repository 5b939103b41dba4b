//! A log, line by line, to the compiler commands in it.

use std::collections::HashMap;
use std::io::{self, BufRead};

use super::argument;
use super::found::Found;
use super::kind;
use super::lines::{Line, Lines};
use super::locate::{self, Located};
use super::table::OptionTable;
use super::word::{Mapped, Position};
use crate::source::Source;

/// More distinct commands than this are counted and not kept.
const MOST_COMMANDS: usize = 20_000;

/// A command whose lines are longer than this together is cut.
const LONGEST_COMMAND: usize = 8 << 20;

/// What was seen in a log.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// The commands, in the order of the log, without repetitions.
    pub commands: Vec<Found>,
    /// Commands that were not kept.
    pub beyond: usize,
    /// Lines read.
    pub lines: usize,
    /// Bytes read.
    pub bytes: u64,
}

/// Reads a log to its end.
///
/// # Errors
/// The stream's own.
pub fn scan<R: BufRead>(stream: R, name: &str) -> io::Result<Scan> {
    let mut scanner = Scanner { name, table: OptionTable::nvcc(), seen: HashMap::new(), out: Scan::default() };
    let mut lines = Lines::new(stream);
    let mut line = Line::default();
    let mut group: Vec<Line> = vec![];
    let mut size = 0;
    while lines.next_into(&mut line)? {
        scanner.out.lines = line.number;
        scanner.out.bytes = line.offset + line.bytes.len() as u64;
        let continues = continues(&line.bytes);
        if group.is_empty() && !continues && !interesting(&line.bytes) {
            continue;
        }
        size += line.bytes.len();
        group.push(std::mem::take(&mut line));
        if !continues || size > LONGEST_COMMAND {
            scanner.group(&group);
            group.clear();
            size = 0;
        }
    }
    if !group.is_empty() {
        scanner.group(&group);
    }
    Ok(scanner.out)
}

fn interesting(bytes: &[u8]) -> bool {
    super::anchor::anchors(bytes).next().is_some()
}

/// Whether a shell would read on: an odd number of backslashes at the end.
fn continues(bytes: &[u8]) -> bool {
    bytes.iter().rev().skip_while(|b| **b == b'\r').take_while(|b| **b == b'\\').count() % 2 == 1
}

struct Scanner<'n> {
    name: &'n str,
    table: &'static OptionTable,
    seen: HashMap<blake3::Hash, usize>,
    out: Scan,
}

impl Scanner<'_> {
    fn group(&mut self, lines: &[Line]) {
        let mut text = Mapped::new();
        for line in lines {
            let bytes = line.bytes.as_slice();
            let bytes =
                if continues(bytes) { bytes.trim_ascii_end().strip_suffix(b"\\").unwrap_or(bytes) } else { bytes };
            text.push(bytes, Position { line: line.number, column: 1, offset: line.offset });
        }
        for located in locate::commands(&text, 0) {
            self.command(located, lines);
        }
    }

    fn command(&mut self, located: Located, lines: &[Line]) {
        let arguments = argument::parse(&located.arguments, self.table);
        let Some(kind) = kind::kind(located.family, &arguments) else {
            return;
        };
        let mut hasher = blake3::Hasher::new();
        for word in std::iter::once(&located.compiler).chain(&located.arguments) {
            hasher.update(word.text.as_bytes()).update(&[0]);
        }
        let hash = hasher.finalize();
        let line = located.compiler.at.line;
        if let Some(index) = self.seen.get(&hash) {
            self.out.commands[*index].duplicates.push(line);
            return;
        }
        if self.out.commands.len() >= MOST_COMMANDS {
            self.out.beyond += 1;
            return;
        }
        self.seen.insert(hash, self.out.commands.len());
        let (first, offset) = lines.first().map_or((1, 0), |l| (l.number, l.offset));
        let bytes = lines.iter().map(|l| l.bytes.as_slice()).collect::<Vec<_>>().join(&b'\n');
        self.out.commands.push(Found {
            family: located.family,
            kind,
            style: located.style,
            compiler: located.compiler,
            before: located.before,
            arguments,
            cut: located.cut || lines.iter().any(|l| l.cut),
            directory: None,
            duplicates: vec![],
            excerpt: Source::excerpt(self.name, bytes, first, offset),
            excerpt_offset: offset,
        });
    }
}
