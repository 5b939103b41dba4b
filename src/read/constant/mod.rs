//! Constant expressions of a kernel under one instantiation: template parameters, the constexpr locals of its body,
//! namespace constants, members of types, and the bytes that its barriers await.

mod cute;
mod element;
mod expected;
mod function;
mod index;
mod lexical;
mod member;
mod resolver;
mod scope;
#[cfg(test)]
mod tests;
mod type_name;

pub use element::size as element_size;
pub use expected::{Copy, ExpectedBytes, expected_bytes};
pub use scope::Scope;
