//! Text to facts. Everything read keeps its place.

pub mod cxx;
pub mod manifest;
pub mod signature;
