//! A launch: what to run, how, and what comes back.

use super::Stop;
use super::trace::Step;
use super::watch::{Journal, Watch};

/// A kernel launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// (Mangled) name of the kernel.
    pub kernel: String,
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [u32; 3],
    /// CTAs of a cluster in x, y, z; `[1, 1, 1]` takes the shape that the kernel requires, if any.
    pub cluster: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// The parameter block, laid out as [`crate::ptx::Function::parameters`] says.
    pub parameters: Vec<u8>,
}

/// How to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Threads that run CTAs; 0 takes all cores.
    pub threads: usize,
    /// Most warp instructions of one cluster.
    pub step_limit: u64,
    /// Most warp instructions of one cluster without any effect before it counts as an endless loop.
    pub idle_limit: u64,
    /// With a seed, asynchronous operations complete as late as the kernel's waits allow and warps run in a shuffled
    /// order; without, they complete at once.
    pub schedule: Option<u64>,
    /// Word that shared memory is filled with before a CTA starts; without, what a fill of it left, or zero.
    pub shared_poison: Option<u32>,
    /// The same for local and tensor memory.
    pub other_poison: Option<u32>,
    /// What is done about stores to the device and branches; the CTAs then run one after the other.
    pub watch: Watch,
    /// Record the operands of matrix instructions.
    pub trace: bool,
    /// Ends the launch when it is pulled.
    pub stop: Stop,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 0,
            step_limit: 1 << 40,
            idle_limit: 300_000_000,
            schedule: None,
            shared_poison: None,
            other_poison: None,
            watch: Watch::Off,
            trace: false,
            stop: Stop::default(),
        }
    }
}

/// What a finished launch did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Warp instructions executed.
    pub instructions: u64,
    /// Matrix instructions among them.
    pub matrix_instructions: u64,
    /// What the kernel printed, by CTA in launch order.
    pub output: String,
    /// With [`Options::trace`], the matrix instructions by cluster, in the order of execution.
    pub trace: Vec<Step>,
    /// With [`Options::schedule`] or [`Options::trace`], what only happened to go well: stores that the asynchronous proxy read
    /// without a fence.
    pub findings: Vec<String>,
    /// With [`Watch::Record`], the events.
    pub journal: Journal,
    /// With [`Watch::Compare`], the stores and branches that differ.
    pub uninitialised: Vec<String>,
}
