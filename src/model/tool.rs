//! What tools beside a run say: compute-sanitizer's findings, and warps that a debugger shows.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A tool of compute-sanitizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SanitizerTool {
    /// Accesses outside of allocations, misaligned ones, tensor operations.
    Memcheck,
    /// Hazards between threads on shared memory.
    Racecheck,
    /// Misuse of barriers.
    Synccheck,
    /// Reads of global memory that nobody wrote.
    Initcheck,
}

impl SanitizerTool {
    /// All, in the order in which they are run.
    pub const ALL: [SanitizerTool; 4] =
        [SanitizerTool::Memcheck, SanitizerTool::Racecheck, SanitizerTool::Synccheck, SanitizerTool::Initcheck];

    /// As `--tool` takes it.
    pub fn name(self) -> &'static str {
        match self {
            SanitizerTool::Memcheck => "memcheck",
            SanitizerTool::Racecheck => "racecheck",
            SanitizerTool::Synccheck => "synccheck",
            SanitizerTool::Initcheck => "initcheck",
        }
    }
}

impl fmt::Display for SanitizerTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One kind of error at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SanitizerFinding {
    /// What it says, without addresses and threads.
    pub text: String,
    /// `FILE:LINE` of the device code, where it is known; a hazard has two.
    pub places: Vec<String>,
    /// The first thread it happened in, as printed.
    pub thread: Option<String>,
    /// How often it was reported.
    pub count: u64,
    /// Whether the tool calls it a warning.
    pub warning: bool,
}

/// What one tool found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SanitizerReport {
    /// The tool.
    pub tool: SanitizerTool,
    /// What it found, the first first.
    pub findings: Vec<SanitizerFinding>,
    /// Why its silence means nothing: it did not get to the end.
    pub trouble: Option<String>,
}

/// A warp that a debugger shows where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedWarp {
    /// Its threads in the block, as `96-127`.
    pub threads: String,
    /// `FILE` and line of its frames, innermost first.
    pub frames: Vec<(String, usize)>,
}
