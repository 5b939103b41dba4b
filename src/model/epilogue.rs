//! What happens between accumulator and output, in order, with every rounding.

use serde::{Deserialize, Serialize};

use super::{ElementType, Role};

/// Which two accumulator columns a gated activation takes for output column c of n.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatePairs {
    /// gate c, up c + n.
    Halves,
    /// gate 2c, up 2c + 1.
    Interleaved,
}

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
    /// v = v + factor\[0\] · operand\[index of its role\], for beta · C.
    AddProduct {
        /// `residual` or `bias`.
        operand: Role,
        /// `beta`.
        factor: Role,
    },
    /// v = max(v, 0).
    Relu,
    /// v = v · Φ(v), with the error function.
    Gelu,
    /// v = v / 2 · (1 + tanh(√(2/π) · (v + 0.044715 · v³))).
    GeluTanh,
    /// v = v / (1 + e^-v).
    Silu,
    /// silu(gate) · up: `b` has 2 · n rows, and the steps before this one act on both halves. The steps after it act on the product.
    SiluGate {
        /// Which of them make column n of the output.
        pairs: GatePairs,
    },
}
