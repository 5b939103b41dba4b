//! What the kernel waits for on a barrier.

use serde::{Deserialize, Serialize};

use super::Fact;

/// Bytes that one phase of a barrier awaits, and the descriptors whose copies signal it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    /// The barrier, as the kernel names it, for example `weight_barrier[slot]`.
    pub barrier: String,
    /// Bytes given to `expect_tx`: from the kernel's constexprs or its PTX, never from a manifest.
    pub bytes: Fact<u64>,
    /// Names of the descriptors ([`super::DescriptorPair::name`]) whose copies complete on it.
    pub descriptors: Vec<String>,
}
