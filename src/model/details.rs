//! What a report tells beside its answer.

use serde::{Deserialize, Serialize};

use super::{Metrics, Number};

/// One part of the data path, tested apart from the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// The part, and what holds the others still.
    pub what: String,
    /// Whether it is right; none where no probe tests it here.
    pub right: Option<bool>,
    /// The figures.
    pub shows: String,
}

/// The smallest sum that comes out wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Smallest {
    /// The probe.
    pub probe: String,
    /// Row of the output.
    pub row: u64,
    /// Column of the output.
    pub column: u64,
    /// How many products that are not zero are in its sum.
    pub terms: u64,
    /// First and last k of them; none for an empty sum.
    pub k: Option<(u64, u64)>,
    /// What the kernel wrote; NaN where it wrote nothing.
    pub observed: Number,
    /// Whether it wrote nothing there.
    #[serde(default)]
    pub unwritten: bool,
    /// What it should have written.
    pub expected: Number,
}

/// How the magnitudes of an operand are spread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// The operand's role.
    pub operand: String,
    /// Values.
    pub count: u64,
    /// NaN or infinite.
    pub non_finite: u64,
    /// Zero.
    pub zeros: u64,
    /// Largest magnitude.
    pub largest: Number,
    /// Root of the mean square.
    pub rms: Number,
    /// Values by |x| / rms: below 1/8, 1/2, 1, 2, 4, 8, 16, 64, and above.
    pub histogram: [u64; 9],
    /// Largest magnitude of a row, over the median of all rows' largest magnitudes.
    pub row_spread: Number,
}

/// A shape that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// The leaves that differ, as they are typed.
    pub leaves: String,
    /// m, n, k.
    pub shape: [u64; 3],
    /// `fails`, `passes`, or why there is no answer.
    pub answer: String,
}

/// The smallest shape that still fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shrunk {
    /// Its leaves, as they are typed; empty when nothing smaller fails.
    pub leaves: String,
    /// m, n, k.
    pub shape: [u64; 3],
    /// Its folder, a reproducer of its own.
    pub folder: String,
    /// Everything that was tried, in order.
    pub tried: Vec<Tried>,
}

/// The run beside another reproducer's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OracleRung {
    /// The probe.
    pub probe: String,
    /// This kernel against the other one.
    pub against: Metrics,
    /// Elements in which this kernel is not what the host GEMM gives.
    pub wrong_here: u64,
    /// The same of the other kernel.
    pub wrong_there: u64,
}

/// All of it; empty where it was not asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// The parts, one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub isolation: Vec<Isolation>,
    /// The smallest failing set of elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest: Option<Smallest>,
    /// The smallest failing shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<Shrunk>,
    /// Real operands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<Distribution>,
    /// The other reproducer's folder and what the two give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oracle: Option<(String, Vec<OracleRung>)>,
}
