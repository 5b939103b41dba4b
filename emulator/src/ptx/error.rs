//! Why a PTX text was refused.

use thiserror::Error;

/// A PTX text that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("PTX line {line}: {message}")]
pub struct PtxError {
    /// Line of the PTX text, from 1.
    pub line: u32,
    /// What is wrong there.
    pub message: String,
}

impl PtxError {
    pub(super) fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}
