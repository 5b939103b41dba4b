//! Scaffold manifests: what a framework's kernels expect around them, as data. The format is told in `docs/scaffolds.md`.
//!
//! Every quantity is a C++ constant expression over the kernel's template parameters, kept with its span so that a wrong one
//! can be shown.

mod file;
mod rule;
mod share;

pub use file::{Bind, HarnessRule, LaunchRule, Manifest, parse};
pub use rule::{
    DescriptorType, EpilogueRule, Expression, FillRule, KernelRule, OperandRule, PrologueRule, Slot, SourceRule, When,
};
pub use share::{GroupsRule, SplitRule};
