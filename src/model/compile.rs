//! The compile command that production used.

use serde::{Deserialize, Serialize};

use crate::source::Place;

/// One argument as nvcc received it, after the decoding of its shell, list or file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerArgument {
    /// Exactly as nvcc received it; an option and its separate value are two arguments.
    pub text: String,
    /// Where it stood in the log.
    pub at: Place,
}

/// Something that was left out, changed or added, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentChange {
    /// The arguments concerned, as they were; empty for an addition.
    pub was: Vec<String>,
    /// What stands in their place; empty when dropped.
    pub now: Vec<String>,
    /// Why, in one sentence.
    pub why: String,
    /// Whether krepro does it only because it builds and links the executable itself; the command alone would not ask for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// Where they stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
}

/// A compile command turned into the flags of an executable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileCommand {
    /// The compiler as the log names it.
    pub compiler: String,
    /// What is kept, in order, with duplicates and spelling: no inputs, no output, nothing that krepro itself adds.
    pub arguments: Vec<CompilerArgument>,
    /// What was dropped or changed, and why.
    pub changes: Vec<ArgumentChange>,
    /// The folder it ran in, where the log says so; relative paths are relative to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The source files of the command.
    pub sources: Vec<String>,
    /// Where the command begins.
    pub at: Place,
    /// What a careful reader should know (truncation, missing paths, flags that differ from production's).
    pub warnings: Vec<String>,
}
