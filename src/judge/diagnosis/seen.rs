//! What a launch left in the output, decoded.

use crate::model::RawLaunch;

use super::format;
use super::function::Range;
use super::predicted::{ANY, Predicted};

/// One launch.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// Value of each element of storage.
    pub values: Vec<f64>,
    /// Whether it was written.
    pub written: Vec<bool>,
    /// Bytes changed outside the storage.
    pub guard_hits: u64,
    /// Whether a CUDA error ended it.
    pub crashed: bool,
    /// Whether shared memory was overwritten before it.
    pub shared_filled: bool,
    /// Whether with other bytes than before most launches: the third of a probe and every fourth after it (docs/harness.md, Launches).
    pub other_shared: bool,
}

/// Equal, or both NaN.
pub fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

/// Every value that is not finite.
pub const NOT_FINITE: Range = (f64::NAN, f64::INFINITY);

/// Whether `x` may be what is predicted.
pub fn within(x: f64, (low, high): Range) -> bool {
    same(x, low) || (low <= x && x <= high) || (low.is_nan() && high.is_infinite() && x.is_infinite())
}

/// Whether two predictions have no value in common.
pub fn apart(a: Range, b: Range) -> bool {
    !(same(a.0, b.0) || (a.0 <= b.1 && b.0 <= a.1))
}

impl Seen {
    /// Decodes the first `elements` of a launch's storage, or as many as there are; those of four bits are taken low nibble first.
    pub fn new(raw: &RawLaunch, elements: usize) -> Self {
        let bits = raw.element.bits() as usize;
        let count = elements.min(raw.storage.len() * 8 / bits);
        let code = |i: usize| -> u32 {
            if bits == 4 {
                return u32::from(raw.storage[i / 2] >> (i % 2 * 4) & 0xf);
            }
            let bytes = bits / 8;
            raw.storage[i * bytes..(i + 1) * bytes].iter().rev().fold(0, |code, byte| code << 8 | u32::from(*byte))
        };
        Seen {
            values: (0..count).map(|i| format::value(raw.element, code(i))).collect(),
            written: (0..count).map(|i| raw.mask.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1)).collect(),
            guard_hits: raw.guard_hits,
            crashed: raw.cuda_error,
            shared_filled: raw.shared_filled,
            other_shared: raw.shared_filled && raw.launch % 4 == 2,
        }
    }

    /// Whether two launches left the same.
    pub fn equals(&self, other: &Seen) -> bool {
        self.written == other.written
            && self.guard_hits.min(1) == other.guard_hits.min(1)
            && self
                .values
                .iter()
                .zip(&other.values)
                .zip(&self.written)
                .all(|((a, b), written)| !written || same(*a, *b))
    }

    /// Whether it agrees at one address with a prediction (value, writes).
    pub fn agrees_at(&self, address: usize, (value, writes): (Range, u8)) -> bool {
        if writes == ANY {
            return true;
        }
        let written = self.written.get(address).copied().unwrap_or(false);
        written == (writes > 0) && (writes != 1 || within(self.values[address], value))
    }

    /// Addresses at which it disagrees; elements written twice are not compared.
    pub fn disagreements<'s>(&'s self, predicted: &'s Predicted) -> impl Iterator<Item = usize> + 's {
        (0..predicted.writes.len())
            .filter(|address| !self.agrees_at(*address, (predicted.range(*address), predicted.writes[*address])))
    }

    /// Whether it agrees everywhere, guards included.
    pub fn agrees(&self, predicted: &Predicted) -> bool {
        !self.crashed && (self.guard_hits > 0) == predicted.beyond && self.disagreements(predicted).next().is_none()
    }

    /// Whether the written elements are the predicted ones, and the finite ones are finite.
    pub fn resembles(&self, predicted: &Predicted) -> bool {
        let finite = |(x, (p, writes)): (&f64, (&f64, &u8))| *writes != 1 || x.is_finite() == p.is_finite();
        self.written_as(predicted) && self.values.iter().zip(predicted.values.iter().zip(&predicted.writes)).all(finite)
    }

    /// Whether the written elements are the predicted ones.
    pub fn written_as(&self, predicted: &Predicted) -> bool {
        (self.guard_hits > 0) == predicted.beyond
            && self.written.iter().zip(&predicted.writes).all(|(w, p)| *p == ANY || *w == (*p > 0))
    }
}
