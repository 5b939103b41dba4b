//! From an answer to text for a person or JSON for a program.

mod details;
mod heat;
mod json;
mod rungs;
mod sequence;
mod table;
mod text;

pub use json::json;
pub use text::text;
