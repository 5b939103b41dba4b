//! The C++ that a scaffold puts around the instantiation.

use serde::{Deserialize, Serialize};

/// What kind of text a site emits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Emitted {
    /// Statements that call or name the kernel.
    #[default]
    Statements,
    /// A whole translation unit: it stands as it is before the launch.
    Unit,
}

/// Text pieces of the generated file, already filled in. Host statements may use `buffers.address("ROLE")` (a device `void*`),
/// `buffers.map("NAME")` (a `CUtensorMap const&` of a descriptor), `buffers.map_on_device("NAME")` (a `CUtensorMap*` in
/// global memory) and `buffers.workspace()`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarnessText {
    /// What the instantiation's lines are.
    #[serde(default)]
    pub emitted: Emitted,
    /// Declarations before the wrapper kernel, for example the struct behind `task_desc`.
    #[serde(default)]
    pub declarations: String,
    /// Parameter list of the wrapper kernel; empty for a `__global__` kernel, which is launched itself.
    #[serde(default)]
    pub parameters: String,
    /// Statements at the top of the wrapper kernel.
    #[serde(default)]
    pub prologue: String,
    /// Host statements before the launch.
    #[serde(default)]
    pub host: String,
    /// Argument expressions of the launch, in order.
    #[serde(default)]
    pub arguments: Vec<String>,
}
