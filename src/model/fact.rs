//! A value with the answer to "where does this come from?".

use serde::{Deserialize, Serialize};

use crate::source::Place;

/// Where a value comes from, and so how far it can be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "lowercase")]
pub enum Origin {
    /// A byte-equal slice of a source.
    Transcribed {
        /// Where the slice begins.
        at: Place,
    },
    /// Computed from something that was read.
    Read {
        /// Where the expression stands.
        at: Place,
        /// The expression, as it stands there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expr: Option<String>,
    },
    /// Said by the user: an option, or an edit of `repro.toml`.
    Given {
        /// What was said, for example `--set batch_size=16`.
        by: String,
    },
    /// Nobody said it. A rung that fails only under such a value never gives more than a draft.
    Assumed {
        /// Why this value and no other.
        why: String,
    },
}

impl Origin {
    /// Whether nothing but convention stands behind the value.
    pub fn is_assumed(&self) -> bool {
        matches!(self, Origin::Assumed { .. })
    }

    /// The place in a source, where the value has one.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Origin::Transcribed { at } | Origin::Read { at, .. } => Some(at),
            Origin::Given { .. } | Origin::Assumed { .. } => None,
        }
    }

    /// The one word for tables: transcribed, read, given or assumed.
    pub fn word(&self) -> &'static str {
        match self {
            Origin::Transcribed { .. } => "transcribed",
            Origin::Read { .. } => "read",
            Origin::Given { .. } => "given",
            Origin::Assumed { .. } => "assumed",
        }
    }

    /// The place, the option or the reason, for tables.
    pub fn detail(&self) -> String {
        match self {
            Origin::Transcribed { at } | Origin::Read { at, expr: None } => at.to_string(),
            Origin::Read { at, expr: Some(expr) } => format!("{at} `{expr}`"),
            Origin::Given { by } => by.clone(),
            Origin::Assumed { why } => why.clone(),
        }
    }
}

/// A value and its origin; in TOML `{ value = …, from = "read", at = "FILE:LINE:COLUMN", expr = "…" }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: Origin,
}

impl<T> Fact<T> {
    /// Computed from the expression at `at`.
    pub fn read(value: T, at: Place, expr: impl Into<Option<String>>) -> Self {
        Fact { value, origin: Origin::Read { at, expr: expr.into() } }
    }

    /// A byte-equal slice that begins at `at`.
    pub fn transcribed(value: T, at: Place) -> Self {
        Fact { value, origin: Origin::Transcribed { at } }
    }

    /// Said by the user.
    pub fn given(value: T, by: impl Into<String>) -> Self {
        Fact { value, origin: Origin::Given { by: by.into() } }
    }

    /// Said by nobody.
    pub fn assumed(value: T, why: impl Into<String>) -> Self {
        Fact { value, origin: Origin::Assumed { why: why.into() } }
    }

    /// The same origin with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        Fact { value: f(self.value), origin: self.origin }
    }
}
