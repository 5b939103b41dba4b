//! Code-generation sites: what a generator prints, and where every byte of it comes from.

mod change;
mod conditional;
mod declarator;
mod deduce;
mod effect;
mod emission;
mod emit;
mod evaluate;
mod expression;
mod flow;
mod format;
mod interpreter;
mod jinja;
mod language;
mod leaves;
mod line;
mod poison;
mod pure;
mod python;
mod refer;
mod report;
mod rust;
mod scope;
mod spread;
mod statement;
pub mod task_graph;
#[cfg(test)]
mod tests;
mod text;
mod text_site;
#[cfg(test)]
mod value_tests;

pub use emission::{Emission, EmittedLine, Segment, SegmentOrigin, UsedLeaf};
pub use evaluate::{emits, evaluate};
pub use language::{Language, read, read_with};
pub use leaves::parse as leaf_value;
