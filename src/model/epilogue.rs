//! What happens between accumulator and output, in order, with every rounding.

use serde::{Deserialize, Serialize};

use super::{ElementType, Role};

/// One step on the running value v, which begins as the accumulator. Steps between two roundings are done in f32.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum EpilogueStep {
    /// v = v rounded to nearest even in `to` (clamped, for integers and fp8).
    Round {
        /// The type.
        to: ElementType,
    },
    /// v = v + operand\[index of its role\].
    Add {
        /// `residual` or `bias`.
        operand: Role,
    },
    /// v = v · operand\[index of its role\].
    Multiply {
        /// `scale_a`, `scale_b` or `alpha`.
        operand: Role,
    },
    /// v = max(v, 0).
    Relu,
}
