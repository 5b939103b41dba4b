//! How the kernel is launched.

use serde::{Deserialize, Serialize};

use super::{Block, Fact};

/// What kind of thing is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchKind {
    /// A `__device__` function, called from a wrapper kernel that supplies its context.
    Wrapped,
    /// A `__global__` function.
    Global,
    /// A class whose call operator is the kernel, run by a `__global__` template such as `cutlass::device_kernel<S>`.
    Struct,
    /// A host function that launches the kernel.
    Host,
}

impl LaunchKind {
    /// Whether grid, block and shared memory are decided by production's own host code, which the harness calls.
    pub fn decides_its_launch(self) -> bool {
        matches!(self, LaunchKind::Struct | LaunchKind::Host)
    }
}

/// Launch facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// What is launched.
    pub kind: Fact<LaunchKind>,
    /// Threads of a block.
    pub threads: Block,
    /// Blocks in x, y, z.
    pub grid: [Fact<u64>; 3],
    /// CTAs of a cluster in x, y, z.
    pub cluster: [Fact<u64>; 3],
    /// Bytes of dynamic shared memory.
    pub shared_memory: Fact<u64>,
    /// The arguments of `__launch_bounds__`, copied exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_bounds: Option<Fact<String>>,
    /// The first of them as a number, where it could be evaluated: the most threads that the kernel was compiled for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_threads: Option<Fact<u64>>,
    /// The arguments of the header's `__cluster_dims__` as numbers, where they could be evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_cluster: Option<[Fact<u64>; 3]>,
    /// Bytes of workspace, zeroed before each launch unless `workspace_fill` says otherwise.
    pub workspace: Fact<u64>,
    /// The byte that the workspace is filled with before each launch.
    pub workspace_fill: Fact<u8>,
}
