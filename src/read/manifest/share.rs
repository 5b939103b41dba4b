//! Split-K and groups in a manifest.

use serde::Deserialize;

use super::Expression;
use crate::model::{ElementType, GroupIndex, SplitOrder, SplitThrough};

/// How several CTAs share the reduction.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitRule {
    /// How many splits; below 2 there are none.
    pub count: Expression,
    /// k of each but the last; whole tiles spread evenly when absent.
    pub length: Option<Expression>,
    /// Where their sums meet.
    pub through: SplitThrough,
    /// What a sum is rounded to before it is added.
    pub partial: ElementType,
    /// What each addition is rounded to.
    pub sum: ElementType,
    /// In which order.
    pub order: SplitOrder,
    /// Whether the instantiation has it.
    pub when: Option<Expression>,
}

/// Which rows multiply with which rows of b.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupsRule {
    /// Rows of each group.
    pub rows: Vec<Expression>,
    /// A group begins at a multiple of this, after the one before; directly after it when absent.
    pub align: Option<Expression>,
    /// Or: each group begins this many rows after the one before began.
    pub stride: Option<Expression>,
    /// What the operand `groups` holds.
    pub index: Option<GroupIndex>,
    /// Whether the instantiation has them.
    pub when: Option<Expression>,
}
