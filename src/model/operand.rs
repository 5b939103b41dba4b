//! Operands of a kernel: the tensors it reads and writes.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ElementType, Fact};

/// What a tensor is to the GEMM `out[m, n] = epilogue(sum over k of a[m, k] · b[n, k])`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// m × k, usually the activation.
    A,
    /// n × k, usually the weight.
    B,
    /// m × n, written.
    Out,
    /// m × n, added by the epilogue.
    Residual,
    /// n elements, added by the epilogue.
    Bias,
    /// One factor for each row m (or for a block of A).
    ScaleA,
    /// One factor for each column n (or for a block of B).
    ScaleB,
    /// One factor for everything.
    Alpha,
    /// One number, subtracted from every element of a: v - zero_point · Σ_k b[n, k].
    ZeroPoint,
    /// One factor for the residual: alpha · A·Bᵀ + beta · C.
    Beta,
    /// 32-bit integers that tell a grouped kernel which rows belong together ([`super::GroupIndex`]); never filled by a probe.
    Groups,
}

impl Role {
    /// All of them.
    pub const ALL: [Role; 11] = [
        Role::A,
        Role::B,
        Role::Out,
        Role::Residual,
        Role::Bias,
        Role::ScaleA,
        Role::ScaleB,
        Role::Alpha,
        Role::ZeroPoint,
        Role::Beta,
        Role::Groups,
    ];

    /// The name used in files, options and the harness.
    pub fn name(self) -> &'static str {
        match self {
            Role::A => "a",
            Role::B => "b",
            Role::Out => "out",
            Role::Residual => "residual",
            Role::Bias => "bias",
            Role::ScaleA => "scale_a",
            Role::ScaleB => "scale_b",
            Role::Alpha => "alpha",
            Role::ZeroPoint => "zero_point",
            Role::Beta => "beta",
            Role::Groups => "groups",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which index is contiguous in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Major {
    /// k is contiguous: row-major a[m, k], b[n, k].
    K,
    /// m or n is contiguous: a stored as [k, m], b stored as [k, n].
    Mn,
}

/// How logical elements lie in storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layout {
    /// By the leading dimension.
    #[serde(rename = "rows")]
    Rows,
    /// Block scales as tensor cores take them (cuBLAS, "1D block scaling factors layout"): tiles of 128 rows by 4 columns, 512 elements
    /// each, one after another along the columns; within a tile (r, c) lies at `r % 32 · 16 + r / 32 · 4 + c`.
    #[serde(rename = "128x4")]
    Swizzled128x4,
    /// Packed scales whose rows are contiguous: four columns of a row beside each other, (r, c) at `(c / 4 · ld + r) · 4 + c % 4`.
    #[serde(rename = "packed4")]
    Packed4,
}

impl Layout {
    /// The name in files and options.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Rows => "rows",
            Layout::Swizzled128x4 => "128x4",
            Layout::Packed4 => "packed4",
        }
    }
}

/// One tensor. Extents and strides count elements.
///
/// Its logical index is (row, column): (m, k) for `a`, (n, k) for `b`, (m, n) for `out` and `residual`, (0, n) for `bias`,
/// (m, 0) for `scale_a`, (n, 0) for `scale_b`, (0, 0) for `alpha`, `beta` and `zero_point`. With [`Major::K`] (and for all roles but a and b) element
/// (r, c) lies at `r · ld + c`; with [`Major::Mn`] at `c · ld + r`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operand {
    /// What it is.
    pub role: Fact<Role>,
    /// Type of one element.
    pub element: Fact<ElementType>,
    /// Logical rows.
    pub rows: Fact<u64>,
    /// Logical columns.
    pub columns: Fact<u64>,
    /// Elements from one row to the next (columns, for [`Major::Mn`]).
    pub leading_dimension: Fact<u64>,
    /// Which index is contiguous.
    pub major: Fact<Major>,
    /// How elements lie in storage; by the leading dimension when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Fact<Layout>>,
    /// Whether the kernel takes powers of two only, in whatever type they lie.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub powers_of_two: bool,
    /// How the kernel gets its address: an expression of the harness context, for example `input 0`, `output 0`, or the name
    /// of a kernel parameter.
    pub binding: String,
}

impl Operand {
    /// Elements of storage from the first to the last logical element.
    pub fn storage(&self) -> u64 {
        if self.is_swizzled() {
            return self.rows.value.div_ceil(128).saturating_mul(self.columns.value.div_ceil(4)).saturating_mul(512);
        }
        if self.layout.as_ref().is_some_and(|layout| layout.value == Layout::Packed4) {
            let packs = self.columns.value.div_ceil(4).saturating_sub(1);
            return packs
                .saturating_mul(self.leading_dimension.value)
                .saturating_add(self.rows.value)
                .saturating_mul(4);
        }
        let (slow, fast) = match self.major.value {
            Major::K => (self.rows.value, self.columns.value),
            Major::Mn => (self.columns.value, self.rows.value),
        };
        slow.saturating_sub(1).saturating_mul(self.leading_dimension.value).saturating_add(fast)
    }

    /// Whether it lies in 128 × 4 tiles.
    pub fn is_swizzled(&self) -> bool {
        self.layout.as_ref().is_some_and(|layout| layout.value == Layout::Swizzled128x4)
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, Major, Operand, Role};
    use crate::model::{ElementType, Fact};

    #[test]
    fn packed_scales_take_whole_words() {
        let given = |value: u64| Fact::given(value, "test");
        let mut operand = Operand {
            role: Fact::given(Role::ScaleA, "test"),
            element: Fact::given(ElementType::Ue8m0, "test"),
            rows: given(5),
            columns: given(6),
            leading_dimension: given(8),
            major: Fact::given(Major::Mn, "test"),
            layout: Some(Fact::given(Layout::Packed4, "test")),
            powers_of_two: false,
            binding: "input 1".into(),
        };
        assert_eq!(operand.storage(), (8 + 5) * 4);
        operand.layout = None;
        assert_eq!(operand.storage(), 5 * 8 + 5);
    }
}
