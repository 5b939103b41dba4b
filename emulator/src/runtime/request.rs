//! What to run, and why it may not run.

use super::shim::ShimError;
use crate::gpu::SimulatedGpu;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Where the executable's output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Into the outcome.
    Capture,
    /// Where the caller's own goes.
    Inherit,
}

/// An executable to run on the CPU.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The executable, built by nvcc with `-cudart shared` and PTX.
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Environment variables to set besides the caller's.
    pub environment: Vec<(OsString, OsString)>,
    /// Where to run it; the caller's folder if none.
    pub working_dir: Option<PathBuf>,
    /// A C or C++ compiler with GCC's options, for the shim.
    pub host_compiler: PathBuf,
    /// Where built shims are kept.
    pub cache_dir: PathBuf,
    /// The GPU to simulate; the newest one that the executable has PTX for if none.
    pub gpu: Option<SimulatedGpu>,
    /// How kernels are executed (`stop` is set by the run itself).
    pub options: crate::exec::Options,
    /// A file for what every matrix instruction reads and adds up to, a JSON object a line.
    pub trace: Option<PathBuf>,
    /// Run every launch twice, with other bytes in memory that nobody initialised, and tell what depends on them.
    pub uninitialised: bool,
    /// Stop the executable after this long.
    pub deadline: Option<Duration>,
    /// Where its output goes.
    pub output: Output,
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The shim cannot be built.
    #[error(transparent)]
    Shim(#[from] ShimError),
    /// The executable cannot be read or started.
    #[error("{path}: {source}")]
    Start {
        /// The executable.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The shim's path has a character that separates paths.
    #[error("the dynamic linker cannot take {path}: choose a cache folder without spaces, colons and semicolons")]
    CacheDir {
        /// The shim's folder.
        path: PathBuf,
    },
    /// The trace cannot be written.
    #[error("{path}: {source}")]
    Trace {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A socket or temporary folder cannot be made.
    #[error("the CPU backend cannot listen for the executable: {0}")]
    Listen(io::Error),
    /// The CUDA runtime is inside the executable.
    #[error(
        "{path} has the CUDA runtime linked in statically (nvcc's default), so its calls cannot be intercepted: \
         link it with -cudart shared"
    )]
    StaticRuntime {
        /// The executable.
        path: PathBuf,
    },
    /// Another major version of the CUDA runtime.
    #[error(
        "{path} needs {library}, and the CPU backend stands in for libcudart.so.12 and .13: build it with nvcc 12 or 13"
    )]
    OtherRuntime {
        /// The executable.
        path: PathBuf,
        /// The library it needs.
        library: String,
    },
    /// The executable's device images are for no GPU that can be simulated.
    #[error("the CPU backend has no numbers for {arch}, the newest architecture in {path}; known are {known}")]
    UnknownGpu {
        /// The executable.
        path: PathBuf,
        /// The architecture.
        arch: String,
        /// Those that have numbers.
        known: String,
    },
    /// The executable carries no device code from which a GPU could be chosen, and none was given.
    #[error("{path} carries no device code, so the GPU to simulate must be given (for example sm_90a)")]
    NoDeviceCode {
        /// The executable.
        path: PathBuf,
    },
    /// It ran without the shim seeing a single call.
    #[error(
        "{path} ended ({end:?}) without one call reaching the CPU backend{hint}; its standard error was:\n{stderr}"
    )]
    NotIntercepted {
        /// The executable.
        path: PathBuf,
        /// How it ended.
        end: super::End,
        /// What to look at.
        hint: &'static str,
        /// What it printed, when it was captured.
        stderr: String,
    },
}
