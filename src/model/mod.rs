//! The facts every stage shares: what was read, what will be rendered, what was observed, what was concluded.
//!
//! No stage's code is needed to understand these types, and no type here does input or output.

mod arch;
mod architecture;
mod awaited;
mod build_line;
mod checked;
mod claim;
mod compile;
mod contract;
mod element;
mod epilogue;
mod fact;
mod finding;
mod gpu_arch;
mod harness;
mod instantiation;
mod launch;
mod number;
mod observation;
mod operand;
mod plan;
mod record;
mod reproducer;
mod signature;
mod structure;
mod target;
mod tensor_map;
mod verdict;

pub use arch::ArchLimits;
pub use architecture::{Architecture, Needs};
pub use awaited::Awaited;
pub use build_line::{Addition, BuildLine, LINK_FOLDER, Replacement, STUB_FOLDER};
pub use checked::Checked;
pub use claim::Claim;
pub use compile::{ArgumentChange, CompileCommand, CompilerArgument};
pub use contract::{Accumulator, Contract, OutputRole, Tile};
pub use element::ElementType;
pub use epilogue::{EpilogueStep, GatePairs};
pub use fact::{Fact, Origin};
pub use finding::{Finding, Findings, Weight};
pub use gpu_arch::GpuArch;
pub use harness::{Emitted, HarnessText};
pub use instantiation::{Binding, Instantiation, Piece};
pub use launch::{Launch, LaunchKind};
pub use number::Number;
pub use observation::{Event, Failure, Metrics, RawLaunch, RungResult, RungStatus, Start};
pub use operand::{Layout, Major, Operand, Role};
pub use plan::{Fill, OutFill, Padding, Plan, Probe};
pub use reproducer::{InputFile, KernelRef, Reproducer, ToolchainFacts};
pub use signature::{KernelSignature, Parameter, TemplateParameter, TemplateParameterKind};
pub use structure::{Heat, Slab, Structure};
pub use target::Target;
pub use tensor_map::{DescriptorPair, DescriptorSource, OutOfBounds, Swizzle, TensorMap};
pub use verdict::{Answer, Confound, NextStep, ObservedComparison, Outcome, Scope, Stage, Verdict};
