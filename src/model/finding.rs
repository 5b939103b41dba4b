//! What the checks say.

use serde::{Deserialize, Serialize};

use crate::source::Place;

/// What a finding does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// It cannot be rendered, built or launched.
    Refuse,
    /// A defect that a run will show; the reproducer is still made, since showing it is the point.
    Predict,
    /// Worth knowing.
    Note,
}

/// One finding of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// `K` and the number of the rule, for example `K-S09`.
    pub code: String,
    /// What it does.
    pub weight: Weight,
    /// What is wrong, in one sentence, with the value and the limit.
    pub message: String,
    /// Where the values come from: (what, place or origin).
    pub places: Vec<(String, String)>,
    /// What happens at run time.
    pub consequence: String,
    /// What to type or change instead, with the nearest legal value.
    pub help: Vec<String>,
    /// First place in a readable source, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
}

/// All findings of a reproducer, and the checks that had to be skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// In the order of the rules.
    pub findings: Vec<Finding>,
    /// (code, the fact that is missing).
    pub skipped: Vec<(String, String)>,
}

impl Findings {
    /// Whether one of them refuses.
    pub fn refuses(&self) -> bool {
        self.findings.iter().any(|f| f.weight == Weight::Refuse)
    }
}
