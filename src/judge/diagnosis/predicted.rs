//! What is predicted to lie in the output.

use super::function::Range;

/// In place of a count of writes: whatever is there is right.
pub const ANY: u8 = u8::MAX;

/// Predicted storage of the output.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// Value of each element of storage, the smallest that it may be; meaningless where nothing is written.
    pub values: Vec<f64>,
    /// The largest that each may be; empty where all values are exact.
    pub highest: Vec<f64>,
    /// How often each element is written, or [`ANY`].
    pub writes: Vec<u8>,
    /// Whether something is written outside the storage.
    pub beyond: bool,
}

impl Predicted {
    pub(super) fn new(ranges: Vec<Range>, writes: Vec<u8>, beyond: bool) -> Self {
        let exact = ranges.iter().all(|(low, high)| super::seen::same(*low, *high));
        let highest = if exact { vec![] } else { ranges.iter().map(|range| range.1).collect() };
        Predicted { values: ranges.into_iter().map(|range| range.0).collect(), highest, writes, beyond }
    }

    /// What the element at an address may be.
    pub fn range(&self, address: usize) -> Range {
        let low = self.values[address];
        (low, self.highest.get(address).copied().unwrap_or(low))
    }

    /// The possible values nearest to `seen`: what errors are measured against.
    pub fn nearest(&self, seen: &[f64]) -> Vec<f64> {
        let of = |(address, x): (usize, &f64)| {
            let (low, high) = self.range(address);
            if low < high { x.clamp(low, high) } else { low }
        };
        let all = seen.iter().enumerate().take(self.values.len()).map(of).collect::<Vec<_>>();
        if self.highest.is_empty() { self.values.clone() } else { all }
    }
}
