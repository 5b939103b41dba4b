//! Code-generation sites: what a generator prints, and where every byte of it comes from.

mod emission;
mod emit;
mod evaluate;
mod format;
mod interpreter;
mod leaves;
mod line;
mod poison;
mod report;
mod scope;
mod statement;
#[cfg(test)]
mod tests;
mod text;

pub use emission::{Emission, EmittedLine, Segment, SegmentOrigin, UsedLeaf};
pub use evaluate::{emits, evaluate};
