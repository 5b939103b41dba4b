//! S13b and S31: what does not fit into 32 bits.

use crate::model::{Finding, Findings, Reproducer, TensorMap, Weight};

const MOST: u64 = i32::MAX as u64;

/// S31: offsets of elements. Which type the kernel computes them in is not known, so this is a note.
pub(super) fn offsets(reproducer: &Reproducer, out: &mut Findings) {
    for operand in &reproducer.contract.operands {
        let last = operand.storage().saturating_sub(1);
        if last > MOST {
            out.push(
                Finding::new(
                    "K-S31",
                    Weight::Note,
                    format!(
                        "the last element of `{}` has the offset {last}, beyond int32 ({MOST})",
                        operand.role.value
                    ),
                )
                .of("rows", &operand.rows.origin)
                .of("columns", &operand.columns.origin)
                .of("leading dimension", &operand.leading_dimension.origin)
                .then(
                    "an index product in int wraps: rows from about the middle on are read or written elsewhere, or error 700 \
                     (illegal address). Small shapes cannot show it",
                )
                .help("compute row * leading dimension in 64 bits"),
            );
        }
    }
}

/// S13b: TMA coordinates are signed 32-bit numbers.
pub(super) fn coordinates(name: &str, map: &TensorMap, out: &mut Findings) {
    for (dim, extent) in map.global_dim.iter().enumerate().filter(|(_, extent)| extent.value > MOST + 1) {
        out.push(
            Finding::new(
                "K-S13b",
                Weight::Predict,
                format!(
                    "globalDim[{dim}] of descriptor `{name}` is {}, and a coordinate of a load is a signed 32-bit number",
                    extent.value
                ),
            )
            .of(format!("globalDim[{dim}]"), &extent.origin)
            .then("elements from 2^31 on cannot be addressed: a wrapped coordinate is outside, and the load gives zeros")
            .help("the largest extent that can be addressed is 2147483648; split the tensor over two dimensions"),
        );
    }
}
