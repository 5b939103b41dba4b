//! A reduction that several CTAs share: which k each has, where their sums meet, and in what type and order they are added.

use serde::{Deserialize, Serialize};

use super::{ElementType, Fact};

/// Where the sums of the splits meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitThrough {
    /// Each split stores its sum in a place of its own; one reader adds them, then the epilogue runs once.
    Workspace,
    /// Each split adds its sum to one place that was zeroed; then the epilogue runs once.
    Atomics,
    /// Each split adds its sum into the output; there is no reader. The first split alone makes the additions of the epilogue, all make
    /// its factors.
    ReduceAdd,
}

impl SplitThrough {
    /// In a sentence, after "through".
    pub fn words(self) -> &'static str {
        match self {
            SplitThrough::Workspace => "a workspace",
            SplitThrough::Atomics => "atomics",
            SplitThrough::ReduceAdd => "additions to the output",
        }
    }
}

/// In which order the splits are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitOrder {
    /// Split 0 first.
    Ascending,
    /// Any: it may change from launch to launch.
    Any,
}

/// Split-K.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitK {
    /// How many splits.
    pub count: Fact<u64>,
    /// k of each split but the last, which has the rest; where absent, as many whole tiles of k as spread evenly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Fact<u64>>,
    /// Where the sums meet.
    pub through: Fact<SplitThrough>,
    /// What the sum of a split is rounded to before it is added.
    pub partial: Fact<ElementType>,
    /// What each addition is rounded to.
    pub sum: Fact<ElementType>,
    /// In which order.
    pub order: Fact<SplitOrder>,
}

impl SplitK {
    /// k of each split but the last, for a reduction of length `k` in tiles of `tile_k`.
    pub fn length(&self, k: u64, tile_k: u64) -> u64 {
        let (count, tile) = (self.count.value.max(1), tile_k.max(1));
        let even = k.div_ceil(tile).div_ceil(count).saturating_mul(tile);
        self.length.as_ref().map_or(even, |length| length.value).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::{SplitK, SplitOrder, SplitThrough};
    use crate::model::{ElementType, Fact};

    #[test]
    fn a_split_has_whole_tiles_unless_its_length_is_said() {
        let mut split = SplitK {
            count: Fact::given(3, "test"),
            length: None,
            through: Fact::given(SplitThrough::Workspace, "test"),
            partial: Fact::given(ElementType::F32, "test"),
            sum: Fact::given(ElementType::F32, "test"),
            order: Fact::given(SplitOrder::Ascending, "test"),
        };
        assert_eq!(split.length(1000, 64), 384);
        split.length = Some(Fact::given(200, "test"));
        assert_eq!(split.length(1000, 64), 200);
    }
}
