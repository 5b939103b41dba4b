//! What a manifest says of one kernel.

use std::str::FromStr;

use serde::Deserialize;
use toml::Spanned;

use super::{GroupsRule, SplitRule};
use crate::model::{Accumulator, ElementType, Layout, Major, Prepares, Role};

/// A C++ constant expression over template parameters, `TYPE_ALIAS::PARAMETER`, `defined(MACRO)` and literals.
pub type Expression = Spanned<String>;

/// One of several values: the first whose condition holds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// Condition; absent means always.
    pub when: Option<Expression>,
    /// The value.
    pub value: Expression,
}

/// A place in the context that the kernel's text reads, for example `input 1`, or a parameter by name or by number (from 0),
/// `parameter a`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Slot {
    /// Input number.
    Input(usize),
    /// Output number.
    Output(usize),
    /// Kernel parameter, by name or by its number from 0.
    Parameter(String),
}

impl TryFrom<String> for Slot {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Slot {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no slot: write `input N`, `output N` or `parameter NAME`");
        let (word, rest) = text.split_once(' ').ok_or_else(wrong)?;
        match word {
            "input" => rest.parse().map(Slot::Input).map_err(|_| wrong()),
            "output" => rest.parse().map(Slot::Output).map_err(|_| wrong()),
            "parameter" if is_identifier(rest) || rest.parse::<usize>().is_ok() => Ok(Slot::Parameter(rest.to_owned())),
            _ => Err(wrong()),
        }
    }
}

impl std::fmt::Display for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Slot::Input(index) => write!(f, "input {index}"),
            Slot::Output(index) => write!(f, "output {index}"),
            Slot::Parameter(name) => write!(f, "parameter {name}"),
        }
    }
}

/// Whether the text can be a C++ identifier.
fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// An operand of the kernel. Extents default to those of its role and `leading_dimension` to the contiguous extent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperandRule {
    /// What it is.
    pub role: Spanned<Role>,
    /// Its type; for a pointer parameter it is read from the signature when absent.
    pub element: Option<ElementType>,
    /// A template parameter, or `ALIAS::PARAMETER`, that holds its C++ type.
    pub element_type: Option<Spanned<String>>,
    /// How the kernel gets its address.
    pub slot: Slot,
    /// Logical rows.
    pub rows: Option<Expression>,
    /// Logical columns.
    pub columns: Option<Expression>,
    /// Elements from row to row.
    pub leading_dimension: Option<Expression>,
    /// Which index is contiguous; k when absent.
    pub major: Option<Major>,
    /// When m or n is contiguous and not k, where that depends on the instantiation.
    pub mn_when: Option<Expression>,
    /// Whether the kernel takes powers of two only.
    #[serde(default)]
    pub powers_of_two: bool,
    /// How elements lie in storage; by the leading dimension when absent.
    pub layout: Option<Layout>,
    /// Whether the instantiation has it.
    pub when: Option<Expression>,
}

/// A step of the epilogue.
#[derive(Debug, Clone, Deserialize)]
pub struct EpilogueRule {
    /// The step.
    #[serde(flatten)]
    pub step: crate::model::EpilogueStep,
    /// Whether the instantiation has it.
    pub when: Option<Expression>,
}

/// What a launch before the kernel reads. Extents are those of what it writes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceRule {
    /// Type of an element; that of what it writes when absent.
    pub element: Option<ElementType>,
    /// Elements from row to row; dense when absent.
    pub leading_dimension: Option<Expression>,
    /// Which index is contiguous; k when absent.
    pub major: Option<Major>,
    /// How elements lie; by the leading dimension when absent.
    pub layout: Option<Layout>,
}

/// A launch before the kernel's that prepares an operand.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrologueRule {
    /// Its name, a C++ identifier.
    pub name: Spanned<String>,
    /// The header that holds it, with delimiters; absent where the kernel's does.
    pub include: Option<String>,
    /// The function as production writes it; `{=EXPRESSION}` stands for a value.
    pub entry: Expression,
    /// Whether it is a host function that launches it.
    #[serde(default)]
    pub host: bool,
    /// What it makes.
    pub does: Option<Prepares>,
    /// What it reads.
    #[serde(default)]
    pub source: SourceRule,
    /// What it writes: a role, or `NAME.source` of a later launch.
    pub writes: Option<Spanned<String>>,
    /// Where a quantiser writes the scales.
    pub scales: Option<Spanned<String>>,
    /// Whether the caller zeroes what it writes before.
    #[serde(default)]
    pub zeroed: bool,
    /// Blocks in x, y, z.
    #[serde(default, deserialize_with = "super::file::three")]
    pub grid: Option<[Expression; 3]>,
    /// Threads of a block that all lie along x.
    pub threads: Option<Expression>,
    /// Threads of a block in x, y, z.
    #[serde(default, deserialize_with = "super::file::three")]
    pub block: Option<[Expression; 3]>,
    /// Bytes of dynamic shared memory; none when absent.
    pub shared_memory: Option<Expression>,
    /// In order: `source`, `target`, `scales`, a role or `NAME.source` for its address, or an expression for its value.
    pub arguments: Option<Vec<Expression>>,
    /// Whether the instantiation has it.
    pub when: Option<Expression>,
}

/// How production fills the descriptor of a slot at run time. Dimension 0 is the contiguous one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FillRule {
    /// Whose descriptor.
    pub slot: Slot,
    /// Whether this rule is the instantiation's.
    pub when: Option<Expression>,
    /// Extents in elements.
    pub global_dim: Vec<Expression>,
    /// Strides of dimensions 1 and up, in bytes.
    pub global_strides: Vec<Expression>,
    /// Box in elements.
    pub box_dim: Vec<Expression>,
    /// 0 none, 1, 2, 3: 32, 64, 128 bytes.
    pub swizzle_bits: Expression,
    /// Loads for one barrier phase; those of the emitted type when absent.
    pub copies: Option<Expression>,
    /// `CUtensorMapDataType` enumerator; from the operand's type when absent.
    pub data_type: Option<String>,
    /// Bytes of one element of that type; those of the operand's type when absent.
    pub element_bytes: Option<u64>,
    /// `CUtensorMapL2promotion` enumerator; none when absent.
    pub l2_promotion: Option<String>,
}

/// How an emitted descriptor type builds its own descriptor, in terms of its template parameters.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescriptorType {
    /// Unqualified name of the class template.
    pub template: String,
    /// Its parameters in order.
    pub parameters: Vec<String>,
    /// Defaults of the last parameters.
    #[serde(default)]
    pub defaults: Vec<String>,
    /// Loads for one barrier phase.
    pub copies: Expression,
    /// `CUtensorMapDataType` enumerator.
    pub data_type: String,
    /// Bytes of one element.
    pub element_bytes: u64,
    /// Extents in elements.
    pub global_dim: Vec<Expression>,
    /// Strides of dimensions 1 and up, in bytes.
    pub global_strides: Vec<Expression>,
    /// Box in elements.
    pub box_dim: Vec<Expression>,
    /// 0 none, 1, 2, 3: 32, 64, 128 bytes.
    pub swizzle_bits: Expression,
}

/// What a kernel promises.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelRule {
    /// Its name, qualified as far as tells it from others.
    pub name: String,
    /// Includes that its header needs before it, with their delimiters; they come before those of the manifest.
    #[serde(default)]
    pub includes: Vec<String>,
    /// Rows of the output.
    pub m: Option<Expression>,
    /// Columns of the output.
    pub n: Option<Expression>,
    /// Length of the reduction.
    pub k: Option<Expression>,
    /// How products are summed.
    pub accumulator: Option<Accumulator>,
    /// When it adds to the output instead of overwriting it; never, when absent.
    pub accumulate_when: Option<Expression>,
    /// Whether the caller promises zero padding.
    #[serde(default)]
    pub padding_zero: bool,
    /// Rows of a CTA's tile.
    pub tile_m: Option<Expression>,
    /// Columns of a CTA's tile.
    pub tile_n: Option<Expression>,
    /// Depth of a pipeline stage.
    pub tile_k: Option<Expression>,
    /// Pipeline stages.
    pub stages: Option<Expression>,
    /// Depth after which a narrow accumulator is added to an f32 one.
    pub promotion: Option<Expression>,
    /// How several CTAs share the reduction: the first whose condition holds.
    #[serde(default)]
    pub split_k: Vec<SplitRule>,
    /// Which rows multiply with which rows of b: the first whose condition holds.
    #[serde(default)]
    pub groups: Vec<GroupsRule>,
    /// Tensors.
    #[serde(default)]
    pub operand: Vec<OperandRule>,
    /// Whether the epilogue is one rounding to the output's type and nothing else.
    #[serde(default)]
    pub rounds_once: bool,
    /// Steps from accumulator to output.
    #[serde(default)]
    pub epilogue: Vec<EpilogueRule>,
    /// Descriptors as production fills them.
    #[serde(default)]
    pub fill: Vec<FillRule>,
    /// Launches before it, in order.
    #[serde(default)]
    pub prologue: Vec<PrologueRule>,
    /// Values of the kernel's scalar parameters, by name.
    #[serde(default)]
    pub scalar: std::collections::BTreeMap<String, Expression>,
    /// C++ that is passed for a parameter, by name.
    #[serde(default)]
    pub argument: std::collections::BTreeMap<String, String>,
    /// Host statements before the launch, or that launch it; after those of the manifest.
    #[serde(default)]
    pub host: String,
    /// Launch facts that differ from the manifest's.
    pub launch: Option<super::LaunchRule>,
}
