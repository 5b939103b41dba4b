//! S12 and S13c: what the driver demands of a data type.

use super::descriptor::refuse;
use super::number::{down, up};
use crate::model::{Findings, OutOfBounds, Swizzle, TensorMap};

pub(super) fn check(name: &str, map: &TensorMap, out: &mut Findings) {
    if map.data_type.contains("ALIGN16B") {
        packed_wide(name, map, out);
    }
    if map.data_type.contains("16U4_ALIGN8B")
        && let Some(inner) = map.global_dim.first()
        && !inner.value.is_multiple_of(2)
    {
        out.push(
            refuse(
                "K-S12",
                format!(
                    "globalDim[0] of descriptor `{name}` is {}; {} packs two elements a byte, so it must be even",
                    inner.value, map.data_type
                ),
            )
            .of("globalDim[0]", &inner.origin)
            .help(format!("nearest legal extents: {} and {}", inner.value - 1, inner.value + 1)),
        );
    }
    nan_fill(name, map, out);
}

/// `16U4_ALIGN16B` and `16U6_ALIGN16B`: 16 elements take 16 bytes of shared memory, whatever they take in global memory.
fn packed_wide(name: &str, map: &TensorMap, out: &mut Findings) {
    if let Some(inner) = map.global_dim.first()
        && !inner.value.is_multiple_of(128)
    {
        out.push(
            refuse(
                "K-S12",
                format!(
                    "globalDim[0] of descriptor `{name}` is {}; {} needs a multiple of 128",
                    inner.value, map.data_type
                ),
            )
            .of("globalDim[0]", &inner.origin)
            .help(format!(
                "nearest legal extents: {} and {}",
                down(inner.value, 128),
                up(inner.value, 128)
            )),
        );
    }
    if let Some(inner) = map.box_dim.first()
        && inner.value != 128
    {
        out.push(
            refuse(
                "K-S12",
                format!("boxDim[0] of descriptor `{name}` is {}; {} takes 128 only", inner.value, map.data_type),
            )
            .of("boxDim[0]", &inner.origin)
            .help("128 elements, which is 128 bytes of shared memory"),
        );
    }
    if !matches!(map.swizzle.value, Swizzle::None | Swizzle::B128) {
        out.push(
            refuse(
                "K-S12",
                format!(
                    "descriptor `{name}` asks for {}; {} takes no swizzle or 128B",
                    map.swizzle.value.driver_name(),
                    map.data_type
                ),
            )
            .of("swizzle", &map.swizzle.origin)
            .help("CU_TENSOR_MAP_SWIZZLE_128B or CU_TENSOR_MAP_SWIZZLE_NONE"),
        );
    }
}

fn nan_fill(name: &str, map: &TensorMap, out: &mut Findings) {
    let floating = ["FLOAT", "TFLOAT"].iter().any(|word| map.data_type.contains(word));
    if map.out_of_bounds == OutOfBounds::Nan && !floating {
        out.push(
            refuse(
                "K-S13c",
                format!("descriptor `{name}` asks for NaN outside the tensor, but {} has none", map.data_type),
            )
            .help("CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, or a floating data type"),
        );
    }
}
