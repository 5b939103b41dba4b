//! S02 and S07: addresses in global and in shared memory.

use super::number::up;
use crate::model::{DescriptorPair, Finding, Findings, Reproducer, Role, TensorMap, Weight};

pub(super) fn check(pair: &DescriptorPair, map: &TensorMap, reproducer: &Reproducer, out: &mut Findings) {
    base(pair, reproducer, out);
    destination(pair, map, reproducer, out);
}

/// S02: a descriptor of a tensor that is not there would get a null address. All others are allocated by the harness,
/// which aligns them to 256 bytes.
fn base(pair: &DescriptorPair, reproducer: &Reproducer, out: &mut Findings) {
    if reproducer.contract.operands.iter().any(|operand| operand.role.value.name() == pair.operand) {
        return;
    }
    out.push(
        Finding::new(
            "K-S02",
            Weight::Refuse,
            format!(
                "descriptor `{}` describes the operand `{}`, which the contract does not have: its base address would be null",
                pair.name, pair.operand
            ),
        )
        .then("cuTensorMapEncodeTiled refuses a null or misaligned address with CUDA_ERROR_INVALID_VALUE (1)")
        .help(format!("leave descriptor `{}` out, or add the operand `{}` to the contract", pair.name, pair.operand)),
    );
}

/// S07: where the pipeline's buffers lie is not known before the build, but boxes that follow each other without a gap must
/// each end on the alignment of the next.
fn destination(pair: &DescriptorPair, map: &TensorMap, reproducer: &Reproducer, out: &mut Findings) {
    // A store reads its one buffer; the stages are those of the loads.
    let store = pair.operand == Role::Out.name();
    let stages = reproducer.contract.tile.stages.as_ref().filter(|_| !store);
    if pair.copies.value <= 1 && stages.is_none_or(|stages| stages.value <= 1) {
        if stages.is_none() && !store {
            out.skip("K-S07", format!("stages of the pipeline that descriptor `{}` loads for", pair.name));
        }
        return;
    }
    let bytes = map.box_bytes();
    let swizzled = map.swizzle.value.span().map(|span| span * 8);
    let (alignment, weight, consequence) = if !bytes.is_multiple_of(128) {
        (
            128,
            Weight::Predict,
            "a buffer that follows without padding begins at a misaligned address: error 716 (misaligned address) at the load",
        )
    } else {
        (
            swizzled.unwrap_or(128),
            Weight::Note,
            "buffers that follow without padding begin in the middle of the swizzle pattern: right only if the reader \
             swizzles absolute addresses; all-ones inputs cannot see it, a one-hot input can",
        )
    };
    if bytes.is_multiple_of(alignment) {
        return;
    }
    let mut finding = Finding::new(
        "K-S07",
        weight,
        format!(
            "one box of descriptor `{}` takes {bytes} bytes of shared memory, no multiple of {alignment} ({bytes} % \
             {alignment} = {})",
            pair.name,
            bytes % alignment
        ),
    );
    for (dim, extent) in map.box_dim.iter().enumerate() {
        finding = finding.of(format!("boxDim[{dim}]"), &extent.origin);
    }
    out.push(
        finding
            .of("swizzle", &map.swizzle.origin)
            .then(consequence)
            .help(format!("give each buffer {} bytes, with alignas({alignment}) on the first", up(bytes, alignment))),
    );
}
