//! Instructions that only touch registers, each a pure function of one lane.
//!
//! [`table`] lists them: name, PTX spellings, function. One macro makes of it the enum, the lookup by spelling and the
//! executor, so an instruction is one line.

mod bits;
mod convert;
mod float;
mod half;
mod shape;
mod table;

pub(crate) use half::half_to_single;
pub use convert::{Convert, Rounding, Type};
pub use table::{Alu, lookup};

/// How to make an instruction from its operands.
pub struct Form {
    /// One letter an operand, destination first: `w`, `d` or `p`.
    pub classes: &'static str,
    /// The instruction, given register indices in that order.
    pub make: fn([u32; 5]) -> Alu,
}

impl Alu {
    /// Whether it is `mov.pred to, from`.
    pub(super) fn is_move(&self, to: u32, from: u32) -> bool {
        lookup("mov.pred").is_some_and(|form| (form.make)([to, from, 0, 0, 0]) == *self)
    }
}
