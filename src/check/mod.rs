//! Static checks: what can be known before nvcc or a GPU is asked.
//!
//! One file a family of rules. A rule whose fact is missing is skipped, by name. Only what cannot be rendered, built or
//! launched is refused; a defect that a run can show is predicted, and the reproducer is made.

mod alignment;
mod bytes;
mod descriptor;
mod encoding;
mod launch;
mod number;
mod operand;
mod shared_memory;
mod suffix;
mod target;
mod template;

pub use target::Target;

use crate::model::{ArchLimits, Checked, Findings, Reproducer};

/// What the checks know beside the reproducer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// Limits of the architectures known.
    pub architectures: &'a [ArchLimits],
}

impl<'a> Context<'a> {
    /// Limits of a target.
    fn limits(&self, target: &Target) -> Option<&'a ArchLimits> {
        self.architectures.iter().find(|limits| limits.number == target.number)
    }
}

/// Runs every rule.
///
/// # Errors
/// Gives the reproducer back, with all findings, when one of them refuses.
pub fn check(reproducer: Reproducer, context: &Context<'_>) -> Result<Checked, Box<(Reproducer, Findings)>> {
    let findings = findings(&reproducer, context);
    Checked::new(reproducer, findings)
}

/// The findings alone, in the order of the rules' families.
pub fn findings(reproducer: &Reproducer, context: &Context<'_>) -> Findings {
    let mut out = Findings::default();
    let targets = target::of(&reproducer.compile);
    template::check(reproducer, &mut out);
    for pair in &reproducer.descriptors {
        let map = pair.chosen(reproducer.descriptor_source);
        descriptor::check(&pair.name, map, &mut out);
        encoding::check(&pair.name, map, &mut out);
        alignment::check(pair, map, reproducer, &mut out);
        operand::check(pair, map, reproducer, &mut out);
    }
    bytes::check(reproducer, &mut out);
    suffix::check(reproducer, &targets, &mut out);
    shared_memory::check(reproducer, context, &targets, &mut out);
    launch::check(reproducer, context, &targets, &mut out);
    out
}
