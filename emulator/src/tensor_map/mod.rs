//! TMA descriptors: our own 128-byte form of the opaque `CUtensorMap`.
//!
//! Kernels only pass a descriptor's address on, so the bytes behind it are the backend's own. [`TensorMap::encode`] writes
//! what `cuTensorMapEncodeTiled` was given, [`TensorMap::decode`] reads it back when a copy executes, and `tensormap.replace`
//! is decode, change one field, encode. [`TensorMap::check`] holds the rules that the driver enforces at encode time;
//! a descriptor changed on the device is never checked by the driver, so [`TensorMap::decode`] does not apply them either.

mod check;
mod codec;
mod element;

pub use check::Problem;
pub use codec::{NotATensorMap, SIZE};
pub use element::ElementType;

/// The largest number of dimensions a descriptor can hold.
pub const MAX_RANK: usize = 5;

/// A tiled TMA descriptor, fields as in `cuTensorMapEncodeTiled`. Dimension 0 is the innermost one.
///
/// Only the first `rank` entries of the arrays mean anything (`rank - 1` of the strides).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorMap {
    /// Element type.
    pub element: ElementType,
    /// Number of dimensions, 1 to 5.
    pub rank: u8,
    /// Address of the tensor's first element in device memory, in bytes.
    pub address: u64,
    /// Extent of each dimension, in elements; 1 to 2^32.
    pub dims: [u64; MAX_RANK],
    /// Distance between neighbours in dimensions 1 to rank - 1, in bytes (dimension 0 is always dense).
    pub strides: [u64; MAX_RANK - 1],
    /// Extent of the box one copy moves, in elements; 1 to 256.
    pub box_dims: [u32; MAX_RANK],
    /// Step along each dimension, in elements; 1 to 8.
    pub element_strides: [u32; MAX_RANK],
    /// Interleaved layout.
    pub interleave: Interleave,
    /// Permutation of 16-byte chunks in shared memory.
    pub swizzle: Swizzle,
    /// L2 fetch size; without effect on values.
    pub l2_promotion: L2Promotion,
    /// What out-of-bounds elements read as.
    pub fill: OobFill,
}

impl TensorMap {
    /// Number of elements one copy moves along dimension `d`: the box, divided by the element stride and rounded up.
    pub fn box_count(&self, d: usize) -> u32 {
        self.box_dims[d].div_ceil(self.element_strides[d].max(1))
    }

    /// Bytes that one copy of the whole box writes to shared memory, and so the bytes its mbarrier receives, whether or
    /// not the box overhangs the tensor.
    pub fn box_bytes(&self) -> u64 {
        let elements: u64 = (0..usize::from(self.rank)).map(|d| u64::from(self.box_count(d))).product();
        self.element.shared_bytes(elements)
    }
}

macro_rules! driver_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $value:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant),* }

        impl $name {
            /// Every value, in the driver's order.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// The value with this number in `cuda.h`.
            pub fn from_driver(value: u32) -> Option<Self> {
                match value { $($value => Some($name::$variant),)* _ => None }
            }

            /// The number in `cuda.h`.
            pub fn to_driver(self) -> u32 {
                match self { $($name::$variant => $value),* }
            }
        }
    };
}
use driver_enum;

driver_enum! {
    /// `CUtensorMapInterleave`.
    Interleave {
        /// No interleaving.
        None = 0,
        /// NC/8HWC8, 16 bytes per pixel.
        B16 = 1,
        /// NC/16HWC16, 32 bytes per pixel.
        B32 = 2,
    }
}

driver_enum! {
    /// `CUtensorMapSwizzle`.
    Swizzle {
        /// Rows as they are.
        None = 0,
        /// 16-byte chunks within 32 bytes.
        B32 = 1,
        /// 16-byte chunks within 64 bytes.
        B64 = 2,
        /// 16-byte chunks within 128 bytes.
        B128 = 3,
        /// 32-byte chunks within 128 bytes.
        B128Atom32 = 4,
        /// 32-byte chunks within 128 bytes, 8-byte halves swapped in every other row.
        B128Atom32Flip8 = 5,
        /// 64-byte chunks within 128 bytes.
        B128Atom64 = 6,
    }
}

impl Swizzle {
    /// Bytes after which the pattern repeats along a row, and so the widest inner box; `None` without a swizzle.
    pub fn span(self) -> Option<u32> {
        match self {
            Swizzle::None => None,
            Swizzle::B32 => Some(32),
            Swizzle::B64 => Some(64),
            _ => Some(128),
        }
    }
}

driver_enum! {
    /// `CUtensorMapL2promotion`.
    L2Promotion {
        /// None.
        None = 0,
        /// 64 bytes.
        B64 = 1,
        /// 128 bytes.
        B128 = 2,
        /// 256 bytes.
        B256 = 3,
    }
}

driver_enum! {
    /// `CUtensorMapFloatOOBfill`.
    OobFill {
        /// Zero.
        Zero = 0,
        /// The special NaN that an FMA treats as zero.
        Nan = 1,
    }
}
