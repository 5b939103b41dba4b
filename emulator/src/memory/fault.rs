//! What can be wrong with an access to device memory.

use thiserror::Error;

/// The allocation nearest to an address that lies in none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Near {
    /// First address of the allocation.
    pub base: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The faulting address minus `base`: negative before it, at least `bytes` behind it.
    pub offset: i64,
}

/// Why an access was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MemoryFault {
    /// Some byte of the access lies in no allocation.
    #[error("{bytes} bytes at {address:#x} are outside every allocation{}", near.map(|n| n.to_string()).unwrap_or_default())]
    OutOfBounds {
        /// First address of the access.
        address: u64,
        /// Its size in bytes.
        bytes: u64,
        /// The nearest allocation.
        near: Option<Near>,
    },
    /// The access touches memory that was freed.
    #[error("{bytes} bytes at {address:#x} lie in memory that was freed (it was {freed_bytes} bytes at {base:#x})")]
    Freed {
        /// First address of the access.
        address: u64,
        /// Its size in bytes.
        bytes: u64,
        /// First address of the freed allocation.
        base: u64,
        /// Its size in bytes.
        freed_bytes: u64,
    },
    /// The address is not a multiple of the access size.
    #[error("{address:#x} is not a multiple of {alignment} as an access of that size must be")]
    Misaligned {
        /// The address.
        address: u64,
        /// What it should be a multiple of, in bytes.
        alignment: u64,
    },
    /// `free` of something that is not the first address of an allocation.
    #[error("{address:#x} is not the first address of an allocation")]
    NotAllocated {
        /// The address.
        address: u64,
    },
}

impl std::fmt::Display for Near {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Near { base, bytes, offset } = *self;
        if offset < 0 {
            write!(f, "; the nearest begins {} bytes later ({bytes} bytes at {base:#x})", offset.unsigned_abs())
        } else if (offset as u64) < bytes {
            write!(f, "; it begins {} bytes before the end of the {bytes} bytes at {base:#x}", bytes - offset as u64)
        } else {
            write!(f, "; it begins {} bytes past the end of the {bytes} bytes at {base:#x}", offset as u64 - bytes)
        }
    }
}

/// The simulated device has no room left.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{wanted} bytes wanted, {free} of {capacity} bytes free")]
pub struct OutOfMemory {
    /// Bytes asked for.
    pub wanted: u64,
    /// Bytes still free.
    pub free: u64,
    /// Bytes of the simulated device.
    pub capacity: u64,
}
