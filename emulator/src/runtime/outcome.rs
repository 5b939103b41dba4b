//! What a run gives back.

use crate::arch::Arch;
use std::time::Duration;

/// How the executable ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was stopped because the run's deadline passed.
    Stopped,
}

/// One kernel launch.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchSummary {
    /// The kernel's name as in the PTX (mangled).
    pub kernel: String,
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y, z.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub dynamic_shared: u64,
    /// Warp instructions executed.
    pub warp_instructions: u64,
    /// How long it took here; says nothing about a GPU.
    pub took: Duration,
    /// The `cudaError_t` it gave, 0 for none.
    pub status: i32,
}

/// Something that the executable's own output does not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What kind of finding it is.
    pub kind: ReportKind,
    /// The kernel's name (mangled); empty when no kernel is concerned.
    pub kernel: String,
    /// The finding in words, source lines included; several lines.
    pub text: String,
}

/// Kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReportKind {
    /// A launch that can never end: who waits on what, and why nobody will wake them.
    Deadlock,
    /// A launch that did not end within the limits of the run.
    Endless,
    /// An access outside every allocation, a misaligned one, or another fault of the kernel.
    Fault,
    /// A kernel's `assert` failed.
    Assert,
    /// An instruction or feature that the CPU backend does not have.
    Unsupported,
    /// The driver would have refused: a tensor map, a launch configuration.
    Refused,
    /// Something that went well here and need not on a GPU: no fence between a store and the asynchronous read of it.
    Race,
    /// A store to the device or a branch that depends on memory that nobody initialised.
    Uninitialised,
    /// A function of the CUDA interface that the CPU backend does not have.
    MissingFunction,
    /// The executable's device code cannot be used (no PTX, damaged).
    Image,
}

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOutcome {
    /// How the executable ended.
    pub end: End,
    /// Its standard output when it was captured.
    pub stdout: Vec<u8>,
    /// Its standard error when it was captured.
    pub stderr: Vec<u8>,
    /// The simulated GPU's name.
    pub gpu: String,
    /// Its architecture.
    pub arch: Arch,
    /// Every launch, in order.
    pub launches: Vec<LaunchSummary>,
    /// Findings, in order.
    pub reports: Vec<Report>,
    /// Matrix instructions written to [`super::RunRequest::trace`].
    pub traced: usize,
}
