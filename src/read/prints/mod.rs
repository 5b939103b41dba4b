//! What production prints while it instantiates, fills descriptors and launches: debug output, as leaves and as evidence.

mod code;
mod launch;
mod map;
mod symbol;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use launch::PrintedLaunch;
pub use map::{PrintedMap, element_bytes};

use crate::model::Fact;
use crate::source::{Source, Span, Spot};

/// Everything that is known in a debug output, in its order.
#[derive(Debug, Clone, Default)]
pub struct Prints {
    /// Generated kernel texts; their lines are those of the output.
    pub code: Vec<Arc<Source>>,
    /// Launches.
    pub launches: Vec<PrintedLaunch>,
    /// Descriptors.
    pub maps: Vec<PrintedMap>,
    /// Mangled kernel symbols.
    pub symbols: Vec<Fact<String>>,
    /// `NAME=VALUE` and `NAME: VALUE`, every value of a name once.
    pub values: BTreeMap<String, Vec<Fact<String>>>,
}

impl Prints {
    /// Values that one name has only one of.
    pub fn leaves(&self) -> BTreeMap<String, Fact<String>> {
        let only = self.values.iter().filter(|(_, values)| values.len() == 1);
        only.map(|(name, values)| (name.clone(), values[0].clone())).collect()
    }

    /// The descriptors that were filled for the launch at this index: those between it and the launch before; all, when no
    /// launch is printed.
    pub fn maps_of(&self, launch: Option<usize>) -> Vec<&PrintedMap> {
        let Some(index) = launch.filter(|index| *index < self.launches.len()) else {
            return self.maps.iter().collect();
        };
        let until = self.launches[index].line;
        let from = index.checked_sub(1).map_or(0, |before| self.launches[before].line);
        self.maps.iter().filter(|map| (from..until).contains(&map.line)).collect()
    }
}

/// Reads a debug output. Unknown lines are passed over.
pub fn read(source: &Arc<Source>) -> Prints {
    let mut prints = Prints { code: code::generated(source), ..Prints::default() };
    let inside: Vec<(usize, usize)> = prints.code.iter().map(|text| lines_of(text)).collect();
    let lines: Vec<Line<'_>> = lines(source)
        .into_iter()
        .filter(|line| !inside.iter().any(|(first, last)| (*first..=*last).contains(&line.number)))
        .collect();
    prints.maps = map::maps(source, &lines);
    for line in &lines {
        prints.launches.extend(launch::launch(source, line));
        prints.symbols.extend(symbol::symbols(source, line));
        value::values(source, line, &mut prints.values);
    }
    prints
}

/// One line of the output.
pub(super) struct Line<'t> {
    /// From 1.
    pub number: usize,
    /// Offset of its first byte.
    pub start: usize,
    /// Without its newline.
    pub text: &'t str,
}

impl Line<'_> {
    /// Part of it.
    pub fn spot(&self, source: &Arc<Source>, from: usize, until: usize) -> Spot {
        Spot::new(source, Span::new(self.start + from, self.start + until))
    }

    /// All of it.
    pub fn whole(&self, source: &Arc<Source>) -> Spot {
        self.spot(source, 0, self.text.len())
    }
}

fn lines(source: &Source) -> Vec<Line<'_>> {
    let mut out = vec![];
    let mut start = 0;
    for (index, bytes) in source.bytes().split(|byte| *byte == b'\n').enumerate() {
        // A line that is no text holds nothing that is printed.
        if let Ok(text) = std::str::from_utf8(bytes) {
            out.push(Line { number: source.first_line() + index, start, text });
        }
        start += bytes.len() + 1;
    }
    out
}

fn lines_of(text: &Source) -> (usize, usize) {
    let count = text.bytes().iter().filter(|byte| **byte == b'\n').count();
    (text.first_line(), text.first_line() + count)
}
