//! Instructions that only touch registers, each a pure function of one lane.
//!
//! [`table`] and [`rare`] list them: name, PTX spellings, function. One macro makes of it the enum, the lookup by spelling
//! and the executor, so an instruction is one line.

mod bits;
mod convert;
mod define;
mod float;
mod half;
mod rare;
mod shape;
mod table;

pub use convert::{Convert, Rounding, Type};
pub(crate) use half::half_to_single;
pub use rare::Rare;
pub use table::Alu;

use super::op::Op;

/// How to make an instruction from its operands.
pub struct Form {
    /// One letter an operand, destination first: `w`, `d` or `p`.
    pub classes: &'static str,
    /// The instruction, given register indices in that order.
    pub make: fn([u32; 5]) -> Op,
}

/// The instruction of a normalised spelling.
pub fn lookup(spelling: &str) -> Option<Form> {
    table::find_form(spelling).or_else(|| rare::find_form(spelling))
}

impl Alu {
    /// Whether it is `mov.pred to, from`.
    pub(super) fn is_move(&self, to: u32, from: u32) -> bool {
        matches!(lookup("mov.pred").map(|form| (form.make)([to, from, 0, 0, 0])), Some(Op::Alu(alu)) if alu == *self)
    }
}
