//! S08: dynamic shared memory against the limit of each target.

use super::Context;
use crate::model::{ArchLimits, Finding, Findings, Reproducer, Role, Target, Weight};

const CODE: &str = "K-S08";

pub(super) fn check(reproducer: &Reproducer, context: &Context<'_>, targets: &[Target], out: &mut Findings) {
    if targets.is_empty() {
        out.skip(CODE, "an architecture in the compile command");
    }
    for target in targets {
        match context.architecture(target) {
            Some(architecture) => against(reproducer, target, &architecture.limits, out),
            None => out.skip(CODE, format!("limits of {target}")),
        }
    }
}

fn against(reproducer: &Reproducer, target: &Target, limits: &ArchLimits, out: &mut Findings) {
    let asked = &reproducer.launch.shared_memory;
    let limit = limits.shared_memory;
    if asked.value <= limit {
        return;
    }
    let excess = asked.value - limit;
    let mut finding = Finding::new(
        CODE,
        Weight::Refuse,
        format!(
            "the launch asks for {} bytes of dynamic shared memory; {target} gives a block {limit} ({excess} too many)",
            asked.value
        ),
    )
    .of("dynamic shared memory", &asked.origin)
    .of("architecture", &crate::model::Origin::Transcribed { at: target.at.clone() })
    .then(
        "cudaFuncSetAttribute returns error 1 and, where its return code is not looked at, the launch fails or does nothing",
    );
    if let Some(stages) = &reproducer.contract.tile.stages
        && let Some(fit) = fitting_stages(reproducer, stages.value, excess)
    {
        finding = finding.of("stages", &stages.origin).help(format!(
            "{} bytes a stage: at most {fit} stages fit instead of {}",
            stage_bytes(reproducer),
            stages.value
        ));
    }
    out.push(finding.help(format!("the nearest legal size is {limit} bytes")));
}

/// Bytes of one pipeline stage: what all loading descriptors deliver in one phase.
fn stage_bytes(reproducer: &Reproducer) -> u64 {
    let loads = reproducer.descriptors.iter().filter(|p| p.operand == Role::A.name() || p.operand == Role::B.name());
    loads.map(|p| p.chosen(reproducer.descriptor_source).box_bytes().saturating_mul(p.copies.value)).sum()
}

fn fitting_stages(reproducer: &Reproducer, stages: u64, excess: u64) -> Option<u64> {
    let bytes = stage_bytes(reproducer);
    if bytes == 0 {
        return None;
    }
    stages.checked_sub(excess.div_ceil(bytes)).filter(|fit| *fit > 0)
}
