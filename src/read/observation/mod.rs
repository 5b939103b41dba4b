//! What the executable wrote: JSON lines, and the binary file of raw outputs. Both are untrusted.

mod file;
mod lines;

pub use file::{FileError, observation_file};
pub use lines::{Lines, json_lines};
