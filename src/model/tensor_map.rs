//! TMA descriptors, with the fields of `cuTensorMapEncodeTiled`.

use serde::{Deserialize, Serialize};

use super::Fact;

/// Shared-memory swizzle of a tile (`CUtensorMapSwizzle`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Swizzle {
    /// None.
    None,
    /// 16-byte chunks permuted within 32 bytes.
    B32,
    /// Within 64 bytes.
    B64,
    /// Within 128 bytes.
    B128,
}

impl Swizzle {
    /// Bytes within which chunks are permuted; the inner box may not be wider.
    pub fn span(self) -> Option<u64> {
        match self {
            Swizzle::None => None,
            Swizzle::B32 => Some(32),
            Swizzle::B64 => Some(64),
            Swizzle::B128 => Some(128),
        }
    }

    /// The driver's enumerator.
    pub fn driver_name(self) -> &'static str {
        match self {
            Swizzle::None => "CU_TENSOR_MAP_SWIZZLE_NONE",
            Swizzle::B32 => "CU_TENSOR_MAP_SWIZZLE_32B",
            Swizzle::B64 => "CU_TENSOR_MAP_SWIZZLE_64B",
            Swizzle::B128 => "CU_TENSOR_MAP_SWIZZLE_128B",
        }
    }
}

/// What a load puts where the box overhangs the tensor (`CUtensorMapFloatOOBfill`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutOfBounds {
    /// Zeros.
    #[default]
    Zeros,
    /// A NaN whose products are taken as zero by the tensor core; floating types only.
    Nan,
}

impl OutOfBounds {
    /// The driver's enumerator.
    pub fn driver_name(self) -> &'static str {
        match self {
            OutOfBounds::Zeros => "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE",
            OutOfBounds::Nan => "CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA",
        }
    }
}

/// One descriptor. Dimension 0 is the contiguous one. Extents and boxes count elements, strides count bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorMap {
    /// `CUtensorMapDataType` enumerator, for example `CU_TENSOR_MAP_DATA_TYPE_BFLOAT16`.
    pub data_type: String,
    /// Bytes of one element of that type.
    pub element_bytes: u64,
    /// globalDim, 1 to 5 entries.
    pub global_dim: Vec<Fact<u64>>,
    /// globalStrides in bytes, of dimensions 1 and up.
    pub global_strides: Vec<Fact<u64>>,
    /// boxDim in elements.
    pub box_dim: Vec<Fact<u64>>,
    /// elementStrides.
    pub element_strides: Vec<u64>,
    /// Swizzle.
    pub swizzle: Fact<Swizzle>,
    /// `CUtensorMapL2promotion` enumerator.
    pub l2_promotion: String,
    /// Fill of what lies outside the tensor.
    #[serde(default)]
    pub out_of_bounds: OutOfBounds,
}

impl TensorMap {
    /// Bytes that one load completes on its mbarrier: always the full box, also where it overhangs the tensor (measured on
    /// an H200). An element stride above 1 thins its dimension out, except dimension 0.
    pub fn box_bytes(&self) -> u64 {
        self.box_dim.iter().enumerate().fold(self.element_bytes, |bytes, (dim, extent)| {
            let step = if dim == 0 { 1 } else { self.element_strides.get(dim).map_or(1, |s| (*s).max(1)) };
            bytes.saturating_mul(extent.value.div_ceil(step))
        })
    }
}

/// Which text a descriptor is taken from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DescriptorSource {
    /// The code that fills the descriptor at run time.
    #[default]
    Production,
    /// The emitted type's own constructor.
    Type,
}

/// One descriptor argument of the kernel, from both sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DescriptorPair {
    /// Name at the call, for example `tma_a`.
    pub name: String,
    /// Role (name) of the operand whose address it holds.
    pub operand: String,
    /// How the kernel gets at it: a slot of the context, for example `input 1`, or a parameter name.
    pub binding: String,
    /// How many loads (along dimension 0) the kernel issues for one barrier phase.
    pub copies: Fact<u64>,
    /// As production fills it.
    pub production: TensorMap,
    /// As the emitted type builds it, where there is such a type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_type: Option<TensorMap>,
}

impl DescriptorPair {
    /// The descriptor of a source; production's where the type gives none.
    pub fn chosen(&self, source: DescriptorSource) -> &TensorMap {
        match source {
            DescriptorSource::Type => self.from_type.as_ref().unwrap_or(&self.production),
            DescriptorSource::Production => &self.production,
        }
    }
}
