//! What a sequence of launches showed: each launch before the kernel alone, and all of them together.

use serde::{Deserialize, Serialize};

use super::{Number, RungResult, RungStatus};

/// Rows or columns with a wrong element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PrologueLines {
    /// How many there are.
    pub of: u64,
    /// How many have one.
    pub count: u64,
    /// The first of those.
    pub first: u64,
    /// The last of those.
    pub last: u64,
}

/// One wrong element.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PrologueFailure {
    /// Logical row.
    pub row: u64,
    /// Logical column.
    pub column: u64,
    /// Storage code that was found.
    pub observed: u64,
    /// Storage code that should stand there.
    pub expected: u64,
    /// What the first means.
    pub observed_value: Number,
    /// What the second means.
    pub expected_value: Number,
}

/// What one launch before the kernel left, alone, in one tensor, on the values of one rung. Counts are of elements over the probes of
/// the rung, bytes for the hits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrologueResult {
    /// The launch.
    pub name: String,
    /// The rung whose values it had.
    pub rung: String,
    /// What it wrote: an operand, or `NAME.source` of a later launch.
    pub writes: String,
    /// How it ended; never skipped.
    pub status: RungStatus,
    /// In what it fails.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// How many launches.
    pub launches: u32,
    /// Whether launches on equal sources gave equal bits.
    pub deterministic: bool,
    /// Whether all elements should have been equal.
    pub uniform: bool,
    /// Compared.
    pub elements: u64,
    /// Not what the host says.
    pub wrong: u64,
    /// Of these, never written.
    pub unwritten: u64,
    /// Bytes changed outside the buffers.
    pub guard_hits: u64,
    /// Bytes of its source that changed.
    pub source_hits: u64,
    /// Elements of the storage that the contract does not name.
    pub padding: u64,
    /// Of these, written.
    pub padding_written: u64,
    /// Rows with a wrong element.
    pub rows: PrologueLines,
    /// Columns with a wrong element.
    pub columns: PrologueLines,
    /// The first wrong elements.
    #[serde(default)]
    pub failures: Vec<PrologueFailure>,
}

/// An element that lies in the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrologueMove {
    /// Row of the place.
    pub row: u64,
    /// Column of the place.
    pub column: u64,
    /// Row of the element in the source.
    pub from_row: u64,
    /// Column of the element in the source.
    pub from_column: u64,
}

/// Where the elements come from that a failing launch leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrologueMap {
    /// The launch.
    pub name: String,
    /// What it wrote.
    pub writes: String,
    /// Elements of that.
    pub elements: u64,
    /// In their place.
    pub right: u64,
    /// Another element of the source.
    pub moved: u64,
    /// Never written.
    pub unwritten: u64,
    /// No element of the source.
    pub foreign: u64,
    /// Whether every element of the source lies somewhere, once.
    pub permutation: bool,
    /// The first that lie elsewhere.
    #[serde(default)]
    pub moves: Vec<PrologueMove>,
}

/// All that is known of the launches before the kernel. Empty where there are none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sequence {
    /// Each alone, in the order of the run.
    pub alone: Vec<PrologueResult>,
    /// Of those that fail.
    pub maps: Vec<PrologueMap>,
    /// All launches, the kernel's last, rung by rung.
    pub together: Vec<RungResult>,
}

impl PrologueResult {
    /// Whether it failed.
    pub fn failed(&self) -> bool {
        self.status == RungStatus::Fail
    }
}

impl Sequence {
    /// Names of the launches, in order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = vec![];
        for result in &self.alone {
            if !names.contains(&result.name.as_str()) {
                names.push(&result.name);
            }
        }
        names
    }
}
