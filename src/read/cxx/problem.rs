//! Why an expression has no value.

use crate::source::Spot;

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// A name whose value is not known.
    Unknown(Unknown),
    /// A construct that is not evaluated.
    Unsupported {
        /// What it is, for example "a lambda".
        what: String,
        /// Where.
        at: Spot,
    },
    /// An operation without a defined result: a division by zero, a signed overflow.
    Undefined {
        /// What is wrong.
        what: String,
        /// Where.
        at: Spot,
    },
}

/// A name whose value is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The name, as it would be given.
    pub name: String,
    /// Where it is used.
    pub used: Spot,
    /// The expression it was assigned from, with its place.
    pub assigned: Option<(String, Spot)>,
    /// Whether that expression only may have changed it.
    pub changed: bool,
}

impl Problem {
    /// In one phrase.
    pub fn phrase(&self) -> String {
        match self {
            Problem::Unknown(unknown) => format!("`{}` is not known", unknown.name),
            Problem::Unsupported { what, .. } => format!("{what} is not evaluated"),
            Problem::Undefined { what, .. } => what.clone(),
        }
    }

    /// Where it was met.
    pub fn spot(&self) -> &Spot {
        match self {
            Problem::Unknown(unknown) => &unknown.used,
            Problem::Unsupported { at, .. } | Problem::Undefined { at, .. } => at,
        }
    }
}

/// All reasons of one expression; never empty.
pub type Problems = Vec<Problem>;
