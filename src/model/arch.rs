//! Limits of an architecture.

use serde::{Deserialize, Serialize};

/// What one GPU architecture allows; the tables are in `build-flags/arch/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchLimits {
    /// Compute capability without the dot, for example 90.
    pub number: u32,
    /// Bytes of dynamic shared memory that a block may opt in to.
    pub shared_memory: u64,
    /// Bytes of static shared memory that ptxas accepts for a target without suffix, or with the family suffix `f`.
    pub static_shared_memory: u64,
    /// The same for a target with the suffix `a`; `None` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_shared_memory_suffixed: Option<u64>,
    /// CTAs of a cluster that every device of the architecture takes; 0 before clusters.
    pub portable_cluster: u64,
    /// CTAs of a cluster with the non-portable attribute.
    pub largest_cluster: u64,
}
