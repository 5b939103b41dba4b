//! Text to facts. Everything read keeps its place.

pub mod manifest;
