//! Diagnostics: what is wrong, where, and what to type instead.
//!
//! A stage gathers all its diagnostics and returns them together; it never stops at the first. Codes are stable: `K`
//! and the number of the rule where the rule has one (`K-S09`), else `K` and an area (`K-SITE-LEAF`).

mod diagnostic;
mod draw;

pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use draw::draw;
