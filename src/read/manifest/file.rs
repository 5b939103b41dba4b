//! The manifest file.

use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::rule::{DescriptorType, Expression, KernelRule, When};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Emitted, LaunchKind};
use crate::source::{Source, Spot};

/// Launch facts, each an expression.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchRule {
    /// What is launched.
    pub kind: Option<LaunchKind>,
    /// Threads of a block that lie along x.
    pub threads: Option<Expression>,
    /// Threads of a block in x, y, z.
    #[serde(default, deserialize_with = "three")]
    pub block: Option<[Expression; 3]>,
    /// Blocks in x, y, z.
    #[serde(default, deserialize_with = "three")]
    pub grid: Option<[Expression; 3]>,
    /// CTAs of a cluster in x, y, z.
    #[serde(default, deserialize_with = "three")]
    pub cluster: Option<[Expression; 3]>,
    /// Bytes of dynamic shared memory.
    #[serde(default)]
    pub shared_memory: Vec<When>,
    /// The text within `__launch_bounds__( )` of the wrapper kernel.
    pub launch_bounds: Option<Expression>,
    /// Bytes of workspace.
    pub workspace: Option<Expression>,
    /// The byte it is filled with before each launch.
    #[serde(default)]
    pub workspace_fill: u8,
}

/// Statements that put an address or a descriptor into the context; `{index}`, `{address}` and `{map}` are filled in.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bind {
    /// For an operand at `input N`.
    pub input: Option<String>,
    /// For an operand at `output N`.
    pub output: Option<String>,
    /// For a descriptor at `input N`.
    pub input_descriptor: Option<String>,
    /// For a descriptor at `output N`.
    pub output_descriptor: Option<String>,
}

/// C++ around the instantiation.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarnessRule {
    /// What kind of text the sites emit.
    #[serde(default)]
    pub emitted: Emitted,
    /// Includes before the kernel's header, with their delimiters.
    #[serde(default)]
    pub includes: Vec<String>,
    /// Declarations before the wrapper kernel.
    #[serde(default)]
    pub declarations: String,
    /// The wrapper kernel's parameters.
    #[serde(default)]
    pub parameters: String,
    /// Statements at its top.
    #[serde(default)]
    pub prologue: String,
    /// Host statements before those of `bind`.
    #[serde(default)]
    pub host: String,
    /// Arguments of the launch.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Binding statements.
    #[serde(default)]
    pub bind: Bind,
}

/// Regular expressions that find a slot in the emitted text of a descriptor object; the first group is the number.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlotPatterns {
    /// For inputs.
    pub input_descriptor: Option<Spanned<String>>,
    /// For outputs.
    pub output_descriptor: Option<Spanned<String>>,
}

/// Regular expressions that find launch and descriptors in the host half of a printed unit; `{name}` is the kernel's or the
/// descriptor's name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostTextRule {
    /// With the groups `grid`, `block`, `shared_memory` and `cluster`, each a list of constants.
    pub launch: Option<Spanned<String>>,
    /// For `data_type`, `global_dim`, `global_strides`, `box_dim`, `element_strides`, `swizzle`, `l2_promotion` and
    /// `out_of_bounds`: the first group is a constant or a list of them.
    #[serde(default)]
    pub descriptor: std::collections::BTreeMap<String, Spanned<String>>,
}

/// A class template whose arguments, as an alias of the emitted text gives them, are known by name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownType {
    /// The name under which expressions find them: `NAME::PARAMETER`.
    pub name: String,
    /// The template, qualified as far as tells it from others.
    pub template: String,
    /// Its parameters in order.
    pub parameters: Vec<String>,
}

/// Kernels that no reference is known for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoOracle {
    /// A regular expression that finds them by their unqualified name.
    pub kernel: Spanned<String>,
    /// What they compute, for the message.
    pub computes: String,
}

/// A scaffold manifest.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// 1.
    pub version: u32,
    /// Its name.
    pub name: String,
    /// One line for lists.
    #[serde(default)]
    pub about: String,
    /// Launch facts of all its kernels.
    #[serde(default)]
    pub launch: LaunchRule,
    /// C++ around the instantiation.
    #[serde(default)]
    pub harness: HarnessRule,
    /// How emitted text names a slot.
    #[serde(default)]
    pub slot: SlotPatterns,
    /// Descriptor types.
    #[serde(default)]
    pub descriptor_type: Vec<DescriptorType>,
    /// Launch and descriptors in printed host code.
    #[serde(default)]
    pub host_text: HostTextRule,
    /// Types whose arguments expressions may name.
    #[serde(default)]
    pub known_type: Vec<KnownType>,
    /// Kernels.
    #[serde(default)]
    pub kernel: Vec<KernelRule>,
    /// Kernels that are no GEMM.
    #[serde(default)]
    pub no_oracle: Vec<NoOracle>,
}

impl Manifest {
    /// The rule for a kernel; a rule's name is its last part, or qualified as far as tells it from others.
    pub fn kernel(&self, name: &str) -> Option<&KernelRule> {
        let name = name.trim_start_matches("::");
        let same = |wanted: &str| name.strip_suffix(wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"));
        self.kernel.iter().find(|rule| same(&rule.name))
    }
}

/// Reads a manifest.
///
/// # Errors
/// TOML that cannot be read, an unknown key, a version other than 1: located in `source`.
pub fn parse(source: &Arc<Source>) -> Result<Manifest, Diagnostics> {
    let text = std::str::from_utf8(source.bytes()).map_err(|error| {
        Diagnostic::error("K-MANIFEST", "the manifest is not UTF-8")
            .at(Spot::new(source, error.valid_up_to()..error.valid_up_to() + 1), "first broken byte")
    })?;
    let manifest: Manifest = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        Diagnostic::error("K-MANIFEST", error.message().to_owned())
            .at(Spot::new(source, span), "")
            .help("docs/scaffolds.md lists the keys of a manifest")
    })?;
    if manifest.version != 1 {
        return Err(Diagnostic::error("K-MANIFEST", format!("manifest version {} is not known", manifest.version))
            .at(Spot::new(source, 0..0), "")
            .help("write version = 1")
            .into());
    }
    Ok(manifest)
}

/// Three expressions, no more and no fewer.
pub(super) fn three<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<[Expression; 3]>, D::Error> {
    let list = Vec::<Expression>::deserialize(deserializer)?;
    let count = list.len();
    <[Expression; 3]>::try_from(list)
        .map(Some)
        .map_err(|_| serde::de::Error::custom(format!("three expressions are wanted (x, y, z), not {count}")))
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::read::manifest::Slot;
    use crate::source::Source;

    #[test]
    fn the_bundled_manifests_are_read() {
        for text in [
            include_str!("../../../scaffolds/mirage.toml"),
            include_str!("../../../scaffolds/deepgemm.toml"),
            include_str!("../../../scaffolds/cutlass.toml"),
            include_str!("../../../scaffolds/flashinfer.toml"),
            include_str!("../../../scaffolds/tilelang.toml"),
            include_str!("../../../scaffolds/plain.toml"),
        ] {
            let manifest = parse(&Source::new("m.toml", text)).expect("a manifest");
            assert_eq!(manifest.version, 1);
        }
    }

    #[test]
    fn an_unknown_key_is_shown_where_it_stands() {
        let errors = parse(&Source::new("m.toml", "version = 1\nname = \"x\"\nthreds = 3\n")).expect_err("unknown key");
        let first = errors.iter().next().expect("one");
        assert!(first.message.contains("threds"), "{}", first.message);
        assert_eq!(first.labels[0].spot.place().line, 3);
    }

    #[test]
    fn slots_are_words_and_numbers() {
        assert_eq!("input 2".parse(), Ok(Slot::Input(2)));
        assert_eq!("parameter weight".parse(), Ok(Slot::Parameter("weight".into())));
        assert!("input x".parse::<Slot>().is_err());
        assert!("parameter a;b".parse::<Slot>().is_err());
    }
}
