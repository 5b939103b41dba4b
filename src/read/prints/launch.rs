//! Printed launches.

use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::Line;
use crate::model::Fact;
use crate::source::Source;

/// A launch as production printed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedLaunch {
    /// The line, from 1.
    pub line: usize,
    /// Blocks in x, y, z.
    pub grid: [Fact<u64>; 3],
    /// Threads of a block.
    pub threads: Fact<u64>,
    /// Bytes of dynamic shared memory.
    pub shared_memory: Fact<u64>,
    /// CTAs of a cluster, all in x.
    pub cluster: Option<Fact<u64>>,
}

/// `Launch kernel with {132, 1} x 384, shared memory: 212992 bytes, cluster: 2, …`: extents of the grid, threads, bytes.
static DEEPGEMM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"Launch kernel with \{(\d+)(?:, *(\d+))?(?:, *(\d+))?\} x (\d+), shared memory: (\d+) bytes(?:, cluster: (\d+))?")
        .ok()
});

pub(super) fn launch(source: &Arc<Source>, line: &Line<'_>) -> Option<PrintedLaunch> {
    if !line.text.contains("Launch kernel with") {
        return None;
    }
    let found = DEEPGEMM.as_ref()?.captures(line.text)?;
    let number = |index: usize| -> Option<Fact<u64>> {
        let text = found.get(index)?;
        let value = text.as_str().parse().ok()?;
        Some(Fact::transcribed(value, line.spot(source, text.start(), text.end()).place()))
    };
    let one = || Fact::read(1, line.whole(source).place(), Some("no more extents are printed".to_owned()));
    Some(PrintedLaunch {
        line: line.number,
        grid: [number(1)?, number(2).unwrap_or_else(one), number(3).unwrap_or_else(one)],
        threads: number(4)?,
        shared_memory: number(5)?,
        // A cluster of 0 is printed for none.
        cluster: number(6).map(|fact| fact.map(|extent| extent.max(1))),
    })
}
