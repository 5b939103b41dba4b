//! PTX text: tokens, the parsed module, and its lowering to the flat instructions that [`crate::exec`] runs.

mod body;
mod error;
mod function;
mod initialiser;
mod kernel;
mod lexer;
mod location;
mod model;
mod number;
mod operand;
mod parser;
mod variable;

pub use error::PtxError;
pub use location::{Location, Place};
pub use model::{
    Body, Call, Class, Directives, Function, Instruction, Label, Module, Operand, Parameter, Reference, Register,
    Space, Symbol, Variable,
};
