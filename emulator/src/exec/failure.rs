//! Why a launch ended early.

use thiserror::Error;

use super::deadlock::Deadlock;
use crate::memory::MemoryFault;
use crate::ptx::Place;

/// Where in the kernel and the grid something happened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Site {
    /// The CTA.
    pub cta: [u32; 3],
    /// Warp in the CTA.
    pub warp: u32,
    /// Lanes concerned.
    pub lanes: u32,
    /// Line of the PTX text.
    pub ptx_line: u32,
    /// The instruction's opcode.
    pub opcode: String,
    /// Source places, innermost first; each further one is where the one before was inlined.
    pub places: Vec<Place>,
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.cta;
        write!(f, "`{}` at PTX line {}", self.opcode, self.ptx_line)?;
        for (i, place) in self.places.iter().enumerate() {
            write!(f, "{} {place}", if i == 0 { "," } else { " inlined at" })?;
        }
        write!(f, ", CTA ({x},{y},{z}) warp {}", self.warp)?;
        if self.lanes.count_ones() == 1 {
            write!(f, " lane {}", self.lanes.trailing_zeros())?;
        } else if self.lanes != u32::MAX {
            write!(f, " lanes {:#010x}", self.lanes)?;
        }
        Ok(())
    }
}

/// Which space an access meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Shared memory of a CTA of the cluster.
    Shared,
    /// Local memory of the thread.
    Local,
    /// The kernel's parameters.
    Parameter,
    /// Tensor memory.
    Tensor,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Cause {
    /// The launch cannot be made.
    #[error("{0}")]
    Launch(String),
    /// The program has no such kernel.
    #[error("no kernel `{0}` in this program")]
    NoKernel(String),
    /// The kernel's code cannot be prepared.
    #[error("the code cannot be prepared: {0}")]
    Code(String),
    /// An instruction the emulator does not know.
    #[error("this instruction is not emulated: {0}")]
    Unsupported(String),
    /// An access to device memory.
    #[error("{0}")]
    Memory(#[from] MemoryFault),
    /// An access outside of shared, local, parameter or tensor memory.
    #[error("{bytes} bytes at {window:?} offset {offset:#x} are outside of its {size:#x} bytes")]
    Window {
        /// Which memory.
        window: Window,
        /// Offset of the access.
        offset: u64,
        /// Its size in bytes.
        bytes: u64,
        /// Size of that memory in bytes.
        size: u64,
    },
    /// Operands that the instruction does not allow.
    #[error("{0}")]
    Operand(String),
    /// `trap`.
    #[error("the kernel executed `trap`")]
    Trap,
    /// A failed device assertion.
    #[error("device assertion `{message}` failed in {function} ({file}:{line})")]
    Assert {
        /// Its text.
        message: String,
        /// Source file.
        file: String,
        /// Source line.
        line: u32,
        /// Function.
        function: String,
    },
    /// More instructions than allowed.
    #[error("more than {limit} warp instructions")]
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// Many instructions without any effect.
    #[error(
        "{instructions} warp instructions without a store, an arrival or an end: an endless loop, or a wait for something that no CTA does"
    )]
    NoProgress {
        /// How many.
        instructions: u64,
    },
    /// [`super::Stop::pull`].
    #[error("stopped before its end")]
    Stopped,
    /// Everything waits.
    #[error("{0}")]
    Deadlock(Box<Deadlock>),
}

/// A failed launch.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{cause}{}", site.as_ref().map(|s| format!(": {s}")).unwrap_or_default())]
pub struct Failure {
    /// What went wrong.
    pub cause: Cause,
    /// Where, unless it is the launch itself.
    pub site: Option<Box<Site>>,
    /// What the kernel printed until then.
    pub output: String,
    /// With [`super::Options::trace`], the matrix instructions of the failed cluster until then.
    pub trace: Vec<super::trace::Step>,
    /// As [`super::Report::findings`].
    pub findings: Vec<String>,
}

impl From<Cause> for Failure {
    fn from(cause: Cause) -> Self {
        Self { cause, site: None, output: String::new(), trace: Vec::new(), findings: Vec::new() }
    }
}
