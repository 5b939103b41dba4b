//! From what a run showed to an answer.

mod agreement;
mod assumption;
mod claim;
mod context;
mod ladder;
mod next_step;
mod scope;
mod shown;
mod units;

pub use assumption::rests_on;
pub use context::{Backend, Context, NoAnswer};
pub use ladder::ladder;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod ladder_tests;
