//! Source lines from `.loc` directives.

use std::collections::HashMap;

/// One place of the source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// Path as the compiler wrote it.
    pub file: String,
    /// Line from 1.
    pub line: u32,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.file.rsplit('/').next().unwrap_or(&self.file);
        write!(f, "{name}:{}", self.line)
    }
}

/// One `.loc`: a place, and where the function around it was inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// Number of a `.file`.
    pub file: u32,
    /// Line from 1.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// Index of the location of the call that was inlined.
    pub inlined_at: Option<u32>,
}

/// Collects locations while a module is read.
#[derive(Default)]
pub(super) struct Locations {
    pub(super) all: Vec<Location>,
    latest: HashMap<(u32, u32, u32), u32>,
}

impl Locations {
    /// Adds a location; `call` is the file, line and column after `inlined_at`.
    pub(super) fn add(&mut self, at: (u32, u32, u32), call: Option<(u32, u32, u32)>) -> u32 {
        let inlined_at = call.map(|call| match self.latest.get(&call) {
            Some(&index) => index,
            None => self.push(call, None),
        });
        self.push(at, inlined_at)
    }

    fn push(&mut self, at: (u32, u32, u32), inlined_at: Option<u32>) -> u32 {
        if let Some(&index) = self.latest.get(&at)
            && self.all[index as usize].inlined_at == inlined_at
        {
            return index;
        }
        let index = self.all.len() as u32;
        self.all.push(Location { file: at.0, line: at.1, column: at.2, inlined_at });
        self.latest.insert(at, index);
        index
    }
}
