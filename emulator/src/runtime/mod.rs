//! The runtime: runs one executable against the simulated device by serving its CUDA calls.
//!
//! The executable finds the [`shim`] instead of libcudart and libcuda. The shim turns each call into a message on a Unix
//! socket; a session here answers it. Device memory, modules and kernels live on this side only.

mod child;
mod elf;
mod errors;
mod link;
mod operations;
mod outcome;
mod request;
mod run;
mod server;
mod session;
pub mod shim;
mod wire;

pub use outcome::{End, LaunchSummary, Report, ReportKind, RunOutcome};
pub use request::{Output, RunError, RunRequest};
pub use run::run;
