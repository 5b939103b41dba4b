//! Text that was read, with the places in it.
//!
//! A [`Source`] is bytes (logs hold NULs and broken UTF-8). A [`Spot`] is a byte range of a source, cheap to clone; a
//! [`Place`] is what is left of it in `repro.toml` and in reports: file, line, column.

mod place;
mod text;

pub use place::Place;
pub use text::{Source, Span, Spot};
