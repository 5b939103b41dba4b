//! Emitted text to an [`Instantiation`](crate::model::Instantiation): kernel, template arguments, call arguments,
//! aliases, objects.

mod angle;
mod arity;
mod candidate;
mod expand;
mod origin;
mod parse;
mod statement;
pub mod symbol;
#[cfg(test)]
mod tests;

pub use arity::check_arity;
pub use expand::{Expanded, expand};
pub use parse::{Select, Variant, parse, parse_block, parse_text};
