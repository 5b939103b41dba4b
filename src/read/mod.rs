//! Text to facts. Everything read keeps its place.

pub mod assemble;
pub mod constant;
pub mod cxx;
pub mod instantiation;
pub mod instruction;
pub mod log;
pub mod manifest;
pub mod observation;
pub mod record;
pub mod signature;
pub mod site;
