//! What the kernel promises. A wrong contract looks exactly like a kernel fault, so every field says where it is from.

use serde::{Deserialize, Serialize};

use super::{EpilogueStep, Fact, GatePairs, Groups, Operand, Role, SplitK};

/// How the products are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Accumulator {
    /// f32 fused multiply-adds in SIMT code, round to nearest even.
    F32Simt,
    /// f32 accumulator of a tensor core: products aligned and cut at 25 fraction bits, result truncated
    /// (bf16, f16, tf32 on sm_90 and later).
    F32TensorCore,
    /// f16 accumulator of a tensor core: rounded to nearest at every step.
    F16TensorCore,
    /// fp8 on Hopper: products and accumulator cut to 13 fraction bits.
    Fp8Hopper,
    /// Exact 32-bit integer.
    S32,
}

/// What a launch does to the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputRole {
    /// Overwrites it.
    Out,
    /// Adds to what is there (split-K by reduce-add).
    Accumulate,
}

/// The tiling, where it could be read; zero where not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tile {
    /// Rows (m) of a CTA's tile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub m: Option<Fact<u64>>,
    /// Columns (n) of a CTA's tile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<Fact<u64>>,
    /// Depth (k) of one pipeline stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<Fact<u64>>,
    /// Pipeline stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Fact<u64>>,
    /// Depth (k) after which a narrow accumulator is added to an f32 one (fp8 on Hopper).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promotion: Option<Fact<u64>>,
}

/// `out[m, n] = epilogue(sum over k of a[m, k] · b[n, k])`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Rows of the output.
    pub m: Fact<u64>,
    /// Columns of the output.
    pub n: Fact<u64>,
    /// Length of the reduction.
    pub k: Fact<u64>,
    /// How products are summed.
    pub accumulator: Fact<Accumulator>,
    /// Overwritten or added to.
    pub output: Fact<OutputRole>,
    /// Whether the caller promises that storage between and beyond the logical elements is zero. If not, it is poisoned.
    pub padding_zero: Fact<bool>,
    /// What happens to the accumulator, in order; the last step rounds to the output's type.
    pub epilogue: Vec<Fact<EpilogueStep>>,
    /// All tensors, each role at most once; `a`, `b` and `out` are always there.
    pub operands: Vec<Operand>,
    /// The tiling.
    #[serde(default)]
    pub tile: Tile,
    /// How several CTAs share the reduction, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_k: Option<SplitK>,
    /// Which rows multiply with which rows of b, where not all do with all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Groups>,
}

impl Contract {
    /// The tensor of a role.
    pub fn operand(&self, role: Role) -> Option<&Operand> {
        self.operands.iter().find(|o| o.role.value == role)
    }

    /// The gated activation of the epilogue, if it has one: then `b` has twice n rows.
    pub fn gate(&self) -> Option<GatePairs> {
        self.epilogue.iter().find_map(|step| match step.value {
            EpilogueStep::SiluGate { pairs } => Some(pairs),
            _ => None,
        })
    }

    /// Whether the scale of this role belongs to blocks of its operand and acts within the sum: it has more than one column, or
    /// fewer rows than its operand, or no step of the epilogue multiplies by it.
    pub fn is_block_scale(&self, role: Role) -> bool {
        let side = match role {
            Role::ScaleA => Role::A,
            Role::ScaleB => Role::B,
            _ => return false,
        };
        let (Some(scale), Some(side)) = (self.operand(role), self.operand(side)) else { return false };
        let named = |step: &Fact<EpilogueStep>| step.value == EpilogueStep::Multiply { operand: role };
        scale.columns.value > 1 || scale.rows.value < side.rows.value || !self.epilogue.iter().any(named)
    }

    /// Names of the fields behind which stands no more than an assumption, with the reason.
    pub fn assumed(&self) -> Vec<(String, String)> {
        let mut list = Vec::new();
        let mut look = |name: &str, origin: &super::Origin| {
            if let super::Origin::Assumed { why } = origin {
                list.push((name.to_owned(), why.clone()));
            }
        };
        look("m", &self.m.origin);
        look("n", &self.n.origin);
        look("k", &self.k.origin);
        look("accumulator", &self.accumulator.origin);
        look("output", &self.output.origin);
        look("padding_zero", &self.padding_zero.origin);
        for (index, step) in self.epilogue.iter().enumerate() {
            look(&format!("epilogue[{index}]"), &step.origin);
        }
        if let Some(split) = &self.split_k {
            look("split_k.count", &split.count.origin);
            split.length.iter().for_each(|length| look("split_k.length", &length.origin));
            look("split_k.through", &split.through.origin);
            look("split_k.partial", &split.partial.origin);
            look("split_k.sum", &split.sum.origin);
            look("split_k.order", &split.order.origin);
        }
        if let Some(groups) = &self.groups {
            look("groups.first", &groups.first.origin);
            look("groups.rows", &groups.rows.origin);
            groups.index.iter().for_each(|index| look("groups.index", &index.origin));
        }
        for operand in &self.operands {
            let name = operand.role.value.name();
            look(&format!("{name}.role"), &operand.role.origin);
            look(&format!("{name}.element"), &operand.element.origin);
            look(&format!("{name}.rows"), &operand.rows.origin);
            look(&format!("{name}.columns"), &operand.columns.origin);
            look(&format!("{name}.leading_dimension"), &operand.leading_dimension.origin);
            look(&format!("{name}.major"), &operand.major.origin);
            if let Some(layout) = &operand.layout {
                look(&format!("{name}.layout"), &layout.origin);
            }
        }
        list
    }
}
