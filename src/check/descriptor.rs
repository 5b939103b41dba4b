//! S01 to S06: what `cuTensorMapEncodeTiled` demands of shape and strides (cuda.h of CUDA 13.0).

use super::number::{down, up};
use crate::model::{Finding, Findings, Swizzle, TensorMap, Weight};

/// The driver's answer to a breach.
pub(super) const REFUSED: &str = "cuTensorMapEncodeTiled returns CUDA_ERROR_INVALID_VALUE (1) without naming the field; a \
                                  descriptor built on the device is never validated and fails at its load instead (715)";

pub(super) fn refuse(code: &str, message: impl Into<String>) -> Finding {
    Finding::new(code, Weight::Refuse, message).then(REFUSED)
}

pub(super) fn check(name: &str, map: &TensorMap, out: &mut Findings) {
    rank(name, map, out);
    strides(name, map, out);
    boxes(name, map, out);
    swizzle_span(name, map, out);
    overhang(name, map, out);
}

fn rank(name: &str, map: &TensorMap, out: &mut Findings) {
    let rank = map.global_dim.len();
    if !(1..=5).contains(&rank) {
        out.push(
            refuse("K-S01", format!("descriptor `{name}` has rank {rank}; legal is 1 to 5"))
                .help("fold dimensions that are contiguous to each other into one"),
        );
    }
    let lengths = [
        ("globalStrides", map.global_strides.len(), rank.saturating_sub(1)),
        ("boxDim", map.box_dim.len(), rank),
        ("elementStrides", map.element_strides.len(), rank),
    ];
    for (field, got, wanted) in lengths.into_iter().filter(|(_, got, wanted)| got != wanted) {
        out.push(
            refuse("K-S01", format!("{field} of descriptor `{name}` has {got} entries; rank {rank} takes {wanted}"))
                .help("globalStrides leaves dimension 0 out: its elements are contiguous"),
        );
    }
    for (dim, extent) in map.global_dim.iter().enumerate() {
        if extent.value == 0 || extent.value > 1 << 32 {
            let help = if extent.value == 0 {
                "an empty tensor has no descriptor and no launch; the nearest legal extent is 1"
            } else {
                "the nearest legal extent is 4294967296: split the tensor over two dimensions"
            };
            out.push(
                refuse(
                    "K-S01",
                    format!("globalDim[{dim}] of descriptor `{name}` is {}; legal is 1 to 2^32", extent.value),
                )
                .of(format!("globalDim[{dim}]"), &extent.origin)
                .help(help),
            );
        }
    }
}

fn strides(name: &str, map: &TensorMap, out: &mut Findings) {
    let unit = if map.data_type.contains("ALIGN16B") { 32 } else { 16 };
    for (index, stride) in map.global_strides.iter().enumerate() {
        let dim = index + 1;
        let what = format!("globalStrides of dimension {dim}");
        if !stride.value.is_multiple_of(unit) {
            let element = map.element_bytes.max(1);
            out.push(
                refuse(
                    "K-S03",
                    format!(
                        "the stride of dimension {dim} of descriptor `{name}` is {} bytes; it must be a multiple of {unit} \
                         ({} % {unit} = {})",
                        stride.value,
                        stride.value,
                        stride.value % unit
                    ),
                )
                .of(what.clone(), &stride.origin)
                .help(format!(
                    "nearest legal strides: {} and {} bytes ({} and {} elements); pad the rows to one of them",
                    down(stride.value, unit),
                    up(stride.value, unit),
                    down(stride.value, unit) / element,
                    up(stride.value, unit) / element
                )),
            );
        }
        if stride.value >= 1 << 40 {
            out.push(
                refuse(
                    "K-S03",
                    format!(
                        "the stride of dimension {dim} of descriptor `{name}` is {} bytes; it must be below 2^40",
                        stride.value
                    ),
                )
                .of(what.clone(), &stride.origin)
                .help(format!("the nearest legal stride is {} bytes", (1_u64 << 40) - unit)),
            );
        }
        if let Some(extent) = map.global_dim.get(index) {
            let inner = if dim == 1 { map.element_bytes } else { map.global_strides[index - 1].value };
            let least = extent.value.saturating_mul(inner);
            if stride.value < least && stride.value != 0 {
                out.push(
                    Finding::new(
                        "K-S03",
                        Weight::Predict,
                        format!(
                            "the stride of dimension {dim} of descriptor `{name}` is {} bytes, less than the {least} bytes \
                             that dimension {index} spans ({} x {inner})",
                            stride.value, extent.value
                        ),
                    )
                    .of(what, &stride.origin)
                    .of(format!("globalDim[{index}]"), &extent.origin)
                    .then("rows overlap: row r reads elements of row r + 1; row 0 is right and the others are not")
                    .help(format!("a packed tensor has the stride {least} bytes")),
                );
            }
        }
    }
}

fn boxes(name: &str, map: &TensorMap, out: &mut Findings) {
    for (dim, extent) in map.box_dim.iter().enumerate() {
        if !(1..=256).contains(&extent.value) {
            let copies = extent.value.div_ceil(256);
            let help = if extent.value == 0 {
                "the nearest legal box is 1".to_owned()
            } else {
                format!(
                    "the nearest legal box is 256: {copies} copies of {} keep the tile",
                    extent.value.div_ceil(copies)
                )
            };
            out.push(
                refuse("K-S05", format!("boxDim[{dim}] of descriptor `{name}` is {}; legal is 1 to 256", extent.value))
                    .of(format!("boxDim[{dim}]"), &extent.origin)
                    .help(help),
            );
        }
    }
    if let Some(inner) = map.box_dim.first() {
        let bytes = inner.value.saturating_mul(map.element_bytes);
        if !bytes.is_multiple_of(16) {
            let element = map.element_bytes.max(1);
            out.push(
                refuse(
                    "K-S05",
                    format!("boxDim[0] of descriptor `{name}` is {} elements = {bytes} bytes; the inner box must be a multiple of 16 bytes", inner.value),
                )
                .of("boxDim[0]", &inner.origin)
                .help(format!(
                    "nearest legal inner boxes: {} and {} elements",
                    down(bytes, 16) / element,
                    up(bytes, 16) / element
                )),
            );
        }
    }
    for (dim, stride) in map.element_strides.iter().enumerate().filter(|(_, s)| !(1..=8).contains(*s)) {
        out.push(
            refuse("K-S05", format!("elementStrides[{dim}] of descriptor `{name}` is {stride}; legal is 1 to 8"))
                .help(format!("the nearest legal value is {}", (*stride).clamp(1, 8))),
        );
    }
}

fn swizzle_span(name: &str, map: &TensorMap, out: &mut Findings) {
    let (Some(span), Some(inner)) = (map.swizzle.value.span(), map.box_dim.first()) else { return };
    let bytes = inner.value.saturating_mul(map.element_bytes);
    if bytes <= span {
        return;
    }
    let legal = (span / map.element_bytes.max(1)).max(1);
    let copies = inner.value.div_ceil(legal);
    let others = [Swizzle::B32, Swizzle::B64, Swizzle::B128]
        .into_iter()
        .find(|wider| wider.span().is_some_and(|s| bytes <= s))
        .map(|wider| format!("; or use {}, which allows it", wider.driver_name()));
    out.push(
        refuse(
            "K-S06",
            format!(
                "the inner box of descriptor `{name}` is {} elements = {bytes} bytes; {} allows {span}",
                inner.value,
                map.swizzle.value.driver_name()
            ),
        )
        .of("boxDim[0]", &inner.origin)
        .of("swizzle", &map.swizzle.origin)
        .help(format!(
            "largest legal inner box: {legal} elements; {copies} copies for each barrier phase keep the tile of {}, and \
             their bytes add up in expect_tx{}",
            inner.value,
            others.unwrap_or_default()
        )),
    );
}

/// S04: legal, and measured to be accepted, zero-filled and counted in full on an H200.
fn overhang(name: &str, map: &TensorMap, out: &mut Findings) {
    for (dim, (extent, tensor)) in map.box_dim.iter().zip(&map.global_dim).enumerate() {
        if extent.value > tensor.value {
            out.push(
                Finding::new(
                    "K-S04",
                    Weight::Note,
                    format!(
                        "boxDim[{dim}] of descriptor `{name}` is {}, more than the {} elements of the tensor there",
                        extent.value, tensor.value
                    ),
                )
                .of(format!("boxDim[{dim}]"), &extent.origin)
                .of(format!("globalDim[{dim}]"), &tensor.origin)
                .then(
                    "legal: a load fills the rest with zeros and a store drops it, but the barrier counts the full box \
                     (measured on an H200)",
                )
                .help("bytes awaited must be those of the full box, unless the box is clamped too (K-S09)"),
            );
        }
    }
}
