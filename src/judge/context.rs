//! What the judge must know of a run besides its events.

use thiserror::Error;

use crate::exit::Exit;

/// What executed the launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// A GPU.
    #[default]
    Gpu,
    /// The CPU backend, because the user asked for it.
    CpuAsked,
    /// The CPU backend, because no GPU was found.
    CpuFallback,
}

/// Facts of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// What executed the launches.
    pub backend: Backend,
    /// Whether the CPU backend was compared with silicon for this architecture; meaningless on a GPU.
    pub arch_validated: bool,
    /// Descriptors that were built from the emitted type and differ from production's, by name.
    pub type_descriptors: Vec<String>,
    /// The executable's exit code; none when a signal ended it.
    pub exit: Option<i32>,
    /// Only these rungs were asked for; all when empty.
    pub chosen: Vec<String>,
    /// Whether production's own values were given for every input.
    pub production_inputs: bool,
    /// Launch facts behind which stands no more than an assumption, with the reason.
    pub assumed_launch: Vec<(String, String)>,
    /// The same of launches before the kernel: the launch, the field, the reason.
    pub assumed_prologue: Vec<(String, String, String)>,
}

impl Default for Context {
    fn default() -> Self {
        Context {
            backend: Backend::Gpu,
            arch_validated: true,
            type_descriptors: vec![],
            exit: Some(0),
            chosen: vec![],
            production_inputs: false,
            assumed_launch: vec![],
            assumed_prologue: vec![],
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum NoAnswer {
    /// No fit device, driver or module.
    #[error("{0}")]
    CannotTest(String),
    /// The executable refused its options or files.
    #[error("the executable refused its input: {0}")]
    Input(String),
    /// The executable could not write a file.
    #[error("the executable could not write a file: {0}")]
    File(String),
    /// The executable and krepro judge the same figures differently.
    #[error("a bug in krepro: {0}; please report it with the output of `krepro run --json`")]
    Disagreement(String),
}

impl NoAnswer {
    /// The exit code.
    pub fn exit(&self) -> Exit {
        match self {
            NoAnswer::CannotTest(_) => Exit::CannotTest,
            NoAnswer::Input(_) => Exit::Input,
            NoAnswer::File(_) => Exit::File,
            NoAnswer::Disagreement(_) => Exit::Bug,
        }
    }
}
