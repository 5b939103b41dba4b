//! Static checks: what can be known before nvcc or a GPU is asked.
//!
//! One file a family of rules. A rule whose fact is missing is skipped, by name. Only what cannot be rendered, built or
//! launched is refused; a defect that a run can show is predicted, and the reproducer is made.

mod alignment;
mod built;
mod bytes;
mod consistency;
mod descriptor;
mod device;
mod encoding;
mod flags;
mod grouped;
mod index;
mod launch;
mod names;
mod number;
mod operand;
mod parameter;
mod promotion;
mod scale;
mod shared_memory;
mod storage;
mod suffix;
mod template;
mod tile;
mod versions;

pub use built::{MachineCode, built};
pub use device::device;

use crate::model::{Architecture, Checked, Findings, Reproducer, Target};

/// What the checks know beside the reproducer.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The architectures known.
    pub architectures: &'a [Architecture],
}

impl Default for Context<'_> {
    /// The architectures of `build-flags/arch/`.
    fn default() -> Self {
        Context { architectures: Architecture::all() }
    }
}

impl<'a> Context<'a> {
    /// The architecture of a target.
    fn architecture(&self, target: &Target) -> Option<&'a Architecture> {
        self.architectures.iter().find(|architecture| architecture.limits.number == target.arch.number)
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
    let targets = reproducer.compile.targets();
    consistency::check(reproducer, &mut out);
    template::check(reproducer, &mut out);
    parameter::check(reproducer, &mut out);
    for pair in &reproducer.descriptors {
        let map = pair.chosen(reproducer.descriptor_source);
        descriptor::check(&pair.name, map, &mut out);
        encoding::check(&pair.name, map, &mut out);
        index::coordinates(&pair.name, map, &mut out);
        alignment::check(pair, map, reproducer, &mut out);
        operand::check(pair, map, reproducer, &mut out);
    }
    bytes::check(reproducer, &mut out);
    grouped::check(reproducer, &mut out);
    tile::check(reproducer, &mut out);
    promotion::check(reproducer, &mut out);
    suffix::check(reproducer, context, &targets, &mut out);
    shared_memory::check(reproducer, context, &targets, &mut out);
    launch::check(reproducer, context, &targets, &mut out);
    scale::check(reproducer, &mut out);
    storage::check(reproducer, &targets, &mut out);
    index::offsets(reproducer, &mut out);
    flags::check(reproducer, &mut out);
    versions::check(reproducer, &mut out);
    names::check(reproducer, &mut out);
    out
}
