//! A grouped GEMM: rows of a and of the output that multiply with different weights (experts).

use serde::{Deserialize, Serialize};

use super::Fact;

/// What the operand `groups`, of 32-bit integers, tells the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupIndex {
    /// count + 1 numbers: the first row of each group, and the end of the last.
    Offsets,
    /// m numbers: the group of each row, -1 for none.
    OfRow,
    /// count numbers: the rows of each group.
    Counts,
}

/// The groups. `b` has count · n rows, row j of group g is g · n + j; `scale_b` and `bias` likewise; `alpha` has one element, or one for
/// each group. All else is indexed by the row m.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// First row of each group.
    pub first: Fact<Vec<u64>>,
    /// Rows of each group; a row of the output in no group is not compared.
    pub rows: Fact<Vec<u64>>,
    /// How the kernel is told, through the operand `groups`; not at all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Fact<GroupIndex>>,
}

impl Groups {
    /// How many.
    pub fn count(&self) -> usize {
        self.first.value.len().min(self.rows.value.len())
    }

    /// The group of a row of the output.
    pub fn of_row(&self, row: u64) -> Option<usize> {
        let mut groups = self.first.value.iter().zip(&self.rows.value);
        groups.position(|(first, rows)| row.checked_sub(*first).is_some_and(|local| local < *rows))
    }

    /// What the operand `groups` holds, for an output of `m` rows.
    pub fn table(&self, index: GroupIndex, m: u64) -> Vec<i64> {
        let (first, rows) = (&self.first.value, &self.rows.value);
        match index {
            GroupIndex::Offsets => {
                let end = first.iter().zip(rows).map(|(first, rows)| first.saturating_add(*rows)).max().unwrap_or(0);
                first.iter().copied().chain([end]).map(|x| x as i64).collect()
            }
            GroupIndex::OfRow => (0..m).map(|row| self.of_row(row).map_or(-1, |group| group as i64)).collect(),
            GroupIndex::Counts => rows.iter().map(|x| *x as i64).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GroupIndex, Groups};
    use crate::model::Fact;

    #[test]
    fn rows_between_groups_belong_to_none() {
        let groups =
            Groups { first: Fact::given(vec![0, 4], "test"), rows: Fact::given(vec![3, 2], "test"), index: None };
        assert_eq!(groups.table(GroupIndex::OfRow, 7), [0, 0, 0, -1, 1, 1, -1]);
        assert_eq!(groups.table(GroupIndex::Offsets, 7), [0, 4, 6]);
        assert_eq!(groups.table(GroupIndex::Counts, 7), [3, 2]);
    }
}
