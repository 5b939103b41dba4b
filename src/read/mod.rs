//! Text to facts. Everything read keeps its place.

pub mod assemble;
pub mod backtrace;
pub mod constant;
pub mod cxx;
pub mod demand;
pub mod fill;
pub mod instantiation;
pub mod instruction;
pub mod log;
pub mod manifest;
pub mod name;
pub mod observation;
pub mod prints;
pub mod ptx;
pub mod record;
pub mod sanitizer;
pub mod signature;
pub mod site;
