//! The whole record: `repro.toml`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Awaited, CompileCommand, Contract, DescriptorPair, DescriptorSource, Fact, HarnessText, Instantiation,
    KernelSignature, Launch, Origin, Prologue, Role,
};
use crate::source::Place;

/// A copy under `inputs/` of something that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputFile {
    /// `site`, `header`, `manifest` or `log`.
    pub what: String,
    /// Where it was read, and its first line there.
    pub at: Place,
    /// Path of the copy, relative to the reproducer's folder.
    pub copy: String,
    /// blake3 of the copied bytes, hex.
    pub hash: String,
}

/// Which kernel, and how its header is included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelRef {
    /// The header as the user named it.
    pub header: String,
    /// The text of each `#include` (with `<…>` or `"…"`), in production order.
    pub includes: Vec<String>,
    /// The signature.
    pub signature: KernelSignature,
    /// Instructions in the header's text that not every target has, by the names of `build-flags/arch/`. A header that it
    /// includes may use more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<Fact<String>>,
    /// Macros of which the headers demand one, with the text of the `#error` that says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demands: Vec<Fact<Vec<String>>>,
    /// Names of the emission that its headers do not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_names: Vec<UnknownName>,
    /// Macros that only annotate its declaration, as they were given: `NAME` or `NAME=KEYWORDS`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotation_macros: Vec<String>,
    /// Production's symbol of it, mangled or not: what proves which instantiation production runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub production_symbol: Option<Fact<String>>,
}

/// A qualified name whose namespace the headers open, and whose last part stands nowhere in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownName {
    /// The name, where it is emitted.
    pub name: Fact<String>,
    /// Names of the headers that are like it, the nearest first.
    pub near: Vec<String>,
}

impl Reproducer {
    /// Launch facts that nobody said and without which a right kernel can crash, with the reason of the assumption. A cluster matters
    /// only to a header that uses one.
    pub fn assumed_launch(&self) -> Vec<(String, String)> {
        let launch = &self.launch;
        if launch.kind.value.decides_its_launch() {
            return Vec::new();
        }
        let clusters =
            self.kernel.uses.iter().any(|used| used.value.contains("cluster") || used.value.contains("multicast"));
        let facts = [("launch.threads", &launch.threads.extents[0]), ("launch.shared_memory", &launch.shared_memory)]
            .into_iter();
        let grid = launch.grid.iter().map(|fact| ("launch.grid", fact));
        let cluster = launch.cluster.iter().filter(|_| clusters).map(|fact| ("launch.cluster", fact));
        let mut list: Vec<(String, String)> = Vec::new();
        for (name, fact) in facts.chain(grid).chain(cluster) {
            if let Origin::Assumed { why } = &fact.origin
                && !list.iter().any(|(known, _)| known == name)
            {
                list.push((name.to_owned(), why.clone()));
            }
        }
        list
    }

    /// Roles that a launch reads: every operand but the output.
    pub fn inputs_of_launch(&self) -> impl Iterator<Item = Role> {
        self.contract.operands.iter().map(|operand| operand.role.value).filter(|role| *role != Role::Out)
    }
}

/// What is known of production's toolchain, and what was found here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolchainFacts {
    /// nvcc of the log, as it names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub production_nvcc: Option<Fact<String>>,
    /// Version of the nvcc here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvcc: Option<Fact<String>>,
    /// CUTLASS version found first on the include path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cutlass: Option<Fact<String>>,
}

/// Everything that a reproducer is made of. Editable; `krepro render` writes the `.cu` again from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reproducer {
    /// Version of this format: 1.
    pub version: u32,
    /// Stem of the generated files.
    pub name: String,
    /// Name of the scaffold manifest.
    pub scaffold: String,
    /// Which of the two descriptors is encoded.
    #[serde(default)]
    pub descriptor_source: DescriptorSource,
    /// Kernel and header.
    pub kernel: KernelRef,
    /// The emitted text.
    pub instantiation: Instantiation,
    /// Leaves that the site was evaluated with.
    #[serde(default)]
    pub leaves: BTreeMap<String, Fact<String>>,
    /// What the kernel promises.
    pub contract: Contract,
    /// TMA descriptors.
    #[serde(default)]
    pub descriptors: Vec<DescriptorPair>,
    /// Bytes that the kernel awaits on its barriers.
    #[serde(default)]
    pub awaited: Vec<Awaited>,
    /// How it is launched.
    pub launch: Launch,
    /// Launches before it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prologue: Vec<Prologue>,
    /// The C++ that the scaffold puts around the instantiation.
    #[serde(default)]
    pub harness: HarnessText,
    /// How it is compiled.
    pub compile: CompileCommand,
    /// Compilers and libraries.
    #[serde(default)]
    pub toolchain: ToolchainFacts,
    /// What was read, kept under `inputs/`.
    #[serde(default)]
    pub inputs: Vec<InputFile>,
}
