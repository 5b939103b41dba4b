//! From what a run showed to an answer.

mod agreement;
mod assumption;
mod claim;
mod context;
mod diagnosed;
pub mod diagnosis;
mod isolation;
mod ladder;
mod next_step;
pub mod oracle;
pub mod peers;
mod scope;
mod sequence;
mod shown;
pub mod spread;
mod structure;
pub mod tensor_file;
mod tools;
mod units;

pub use assumption::rests_on;
pub use context::{Backend, Context, NoAnswer};
pub use diagnosed::diagnosed;
pub use ladder::ladder;
pub use next_step::look_for_the_stage;
pub use tools::{Waiting, sanitized, waiting};

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod ladder_tests;
