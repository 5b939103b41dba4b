//! S13d and S30: the tensors in global memory.

use super::number::{down, up};
use crate::model::{Finding, Findings, Major, Reproducer, Role, Target, Weight};

/// Below this, some drivers handled TMA operands of sm_100 and later wrongly.
const SMALL: u64 = 128 * 1024;

pub(super) fn check(reproducer: &Reproducer, targets: &[Target], out: &mut Findings) {
    for operand in &reproducer.contract.operands {
        let role = operand.role.value;
        let described = reproducer.descriptors.iter().any(|pair| pair.operand == role.name());
        let matrix = matches!(role, Role::A | Role::B | Role::Out | Role::Residual);
        let bits = u64::from(operand.element.value.bits());
        let row = operand.leading_dimension.value.saturating_mul(bits);
        // A descriptor's own strides are checked with it (S03).
        if matrix && !described && !row.is_multiple_of(128) {
            let unit = 128 / bits;
            let ld = operand.leading_dimension.value;
            let index = if operand.major.value == Major::K { "row" } else { "column" };
            out.push(
                Finding::new(
                    "K-S30",
                    Weight::Note,
                    format!("a {index} of `{role}` takes {ld} elements = {} bytes, no multiple of 16", row / 8),
                )
                .of("leading dimension", &operand.leading_dimension.origin)
                .of("element", &operand.element.origin)
                .then(
                    "16-byte vector loads and stores of odd rows are misaligned (716), and libraries refuse the shape \
                     (CUTLASS: Misaligned Operand); element-wise code does not mind",
                )
                .help(format!(
                    "nearest legal leading dimensions: {} and {}",
                    down(ld, unit),
                    up(ld, unit)
                )),
            );
        }
        let bytes = operand.element.value.bytes(operand.storage());
        let blackwell = targets.iter().find(|target| target.arch.number >= 100);
        if described
            && bytes < SMALL
            && let Some(target) = blackwell
        {
            out.push(
                Finding::new(
                    "K-S13d",
                    Weight::Note,
                    format!("`{role}` takes {bytes} bytes on {target}; a release note tells of wrong TMA results below {SMALL}"),
                )
                .of("rows", &operand.rows.origin)
                .of("columns", &operand.columns.origin)
                .then("with an affected driver a correct kernel looks faulty, in the reproducer alone")
                .help(format!("let the buffer have {SMALL} bytes, or compare with a newer driver before blaming the kernel")),
            );
        }
    }
}
