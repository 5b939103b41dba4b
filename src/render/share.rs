//! Split-K and groups as the templates see them.

use serde::Serialize;

use crate::model::{Contract, GroupIndex, SplitOrder, SplitThrough};

#[derive(Serialize)]
pub(super) struct SplitView {
    count: u64,
    length: u64,
    through: &'static str,
    partial: &'static str,
    sum: &'static str,
    ascending: &'static str,
}

/// No split is told as 0 of them.
pub(super) fn split(contract: &Contract) -> SplitView {
    let Some(split) = &contract.split_k else {
        return SplitView { count: 0, length: 0, through: "workspace", partial: "f32", sum: "f32", ascending: "true" };
    };
    SplitView {
        count: split.count.value,
        length: split.length(contract.k.value, contract.tile.k.as_ref().map_or(1, |tile| tile.value)),
        through: match split.through.value {
            SplitThrough::Workspace => "workspace",
            SplitThrough::Atomics => "atomics",
            SplitThrough::ReduceAdd => "reduce_add",
        },
        partial: split.partial.value.name(),
        sum: split.sum.value.name(),
        ascending: if split.order.value == SplitOrder::Ascending { "true" } else { "false" },
    }
}

/// First row and rows of each group.
pub(super) fn group_rows(contract: &Contract) -> Vec<(u64, u64)> {
    let groups = contract.groups.iter();
    groups.flat_map(|g| g.first.value.iter().copied().zip(g.rows.value.iter().copied())).collect()
}

pub(super) fn group_index(contract: &Contract) -> &'static str {
    match contract.groups.as_ref().and_then(|groups| groups.index.as_ref()).map(|index| index.value) {
        Some(GroupIndex::OfRow) => "of_row",
        Some(GroupIndex::Counts) => "counts",
        Some(GroupIndex::Offsets) | None => "offsets",
    }
}
