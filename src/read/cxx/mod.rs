//! C++ and CUDA text: tokens, the masking pass, the syntax tree and the values of expressions.

pub mod annotation;
pub mod arithmetic;
pub mod branch;
pub mod callee;
pub mod condition;
pub mod defaults;
pub mod document;
pub mod evaluate;
pub mod functions;
pub mod integer;
pub mod lex;
pub mod literal;
pub mod mask;
pub mod nearest;
pub mod problem;
pub mod standalone;
pub mod typing;
pub mod value;
