//! Text to facts. Everything read keeps its place.

pub mod assemble;
pub mod manifest;
pub mod record;
