//! What was concluded.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Claim, Details, Metrics, RungResult, Sequence, Start, Structure};

/// A stage of the kernel's data path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Addresses, tiles, swizzle and decoding of a and b.
    OperandLoad,
    /// The tensor map itself.
    Descriptor,
    /// Which k are summed, and how.
    MmaAccumulate,
    /// Scales of rows and columns, bias, residual, activation, rounding.
    Epilogue,
    /// Block scale factors of quantised operands.
    QuantisationScale,
    /// Where results are written.
    Store,
    /// Order between writers and readers.
    Synchronisation,
    /// A launch before the kernel.
    Prologue,
}

impl Stage {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Stage::OperandLoad => "operand load",
            Stage::Descriptor => "descriptor",
            Stage::MmaAccumulate => "MMA accumulate",
            Stage::Epilogue => "epilogue",
            Stage::QuantisationScale => "quantisation scale",
            Stage::Store => "store",
            Stage::Synchronisation => "synchronisation",
            Stage::Prologue => "prologue",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A reason why the evidence does not decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confound {
    /// Stable word: `assumed_field`, `not_faithful`, `emulated`, `type_descriptor`, `unknown_hang`, `degenerate`, `no_prediction`.
    pub kind: String,
    /// The sentence, with the field, the figure or the reason.
    pub text: String,
    /// Of `assumed_field`: the fields, as [`super::Contract::assumed`] names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

impl Confound {
    /// One that rests on no field.
    pub fn new(kind: &str, text: impl Into<String>) -> Self {
        Confound { kind: kind.to_owned(), text: text.into(), fields: vec![] }
    }
}

/// A stage, or a class, that is established.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The stages that the evidence leaves; one, if it is unique.
    pub stages: Vec<Stage>,
    /// The launches before the kernel that are at fault, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prologues: Vec<String>,
    /// The classes that predict the output bit for bit; empty where measured maps alone name the stage.
    pub classes: Vec<String>,
    /// The cause, in one sentence.
    pub cause: String,
    /// How many values were predicted that no parameter was fitted to.
    pub held_out: u64,
}

/// The answer's kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// No rung fails.
    NotReproduced,
    /// A claim, or production's own output, is contradicted by the run.
    Refuted {
        /// What is refuted, as it was claimed.
        what: String,
    },
    /// Wrong or crashed.
    Reproduced {
        /// The stage at fault, where it is established.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
    },
    /// The evidence does not decide.
    Draft {
        /// Why not.
        confounds: Vec<Confound>,
    },
    /// Does not end, with a named cause.
    Hang {
        /// The rung.
        rung: String,
        /// The cause.
        cause: String,
    },
}

impl Outcome {
    /// The words a report begins with.
    pub fn title(&self) -> &'static str {
        match self {
            Outcome::NotReproduced => "NOT REPRODUCED",
            Outcome::Refuted { .. } => "REFUTED",
            Outcome::Reproduced { .. } => "REPRODUCED",
            Outcome::Draft { .. } => "DRAFT",
            Outcome::Hang { .. } => "HANG",
        }
    }
}

/// What to do next, what it should show, and what decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextStep {
    /// What to do or type.
    pub step: String,
    /// What it should show.
    pub shows: String,
    /// The observation that decides, and how.
    pub gate: String,
}

/// Under which conditions the answer holds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Scope {
    /// Shape, element types and epilogue, in one line.
    pub contract: String,
    /// Device, driver and seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Start>,
    /// What this run cannot see.
    pub unobservable: Vec<String>,
    /// Marks behind the title: `emulated`, `architecture not validated on silicon`.
    pub marks: Vec<String>,
}

/// Production's own output, compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ObservedComparison {
    /// The run's output equals production's bit for bit.
    pub same: bool,
    /// The run's output against production's.
    pub run: Metrics,
    /// Production's output against the host reference.
    pub production: Metrics,
}

/// The whole answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What was concluded.
    pub outcome: Outcome,
    /// What it rests on, one sentence an entry, the strongest first.
    pub evidence: Vec<String>,
    /// Worth knowing and no defect.
    pub notes: Vec<String>,
    /// The stages that failing rungs point at without proving it.
    pub hints: Vec<Stage>,
    /// Every rung.
    pub rungs: Vec<RungResult>,
    /// The launches before the kernel.
    #[serde(default)]
    pub sequence: Sequence,
    /// Where the errors lie, where a diagnosis was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structure: Option<Structure>,
    /// Production's output, where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<ObservedComparison>,
    /// The claim, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// Where it holds.
    pub scope: Scope,
    /// Isolated parts, the smallest failing case, other kernels.
    #[serde(default)]
    pub details: Details,
    /// What to do next.
    pub next: NextStep,
}
