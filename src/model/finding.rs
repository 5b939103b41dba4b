//! What the checks say.

use serde::{Deserialize, Serialize};

use super::Origin;
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

impl Finding {
    /// Of the rule `code`; `message` names the value and the limit.
    pub fn new(code: &str, weight: Weight, message: impl Into<String>) -> Self {
        Finding {
            code: code.to_owned(),
            weight,
            message: message.into(),
            places: vec![],
            consequence: String::new(),
            help: vec![],
            at: None,
        }
    }

    /// Adds where `what` comes from; the first one in a readable source becomes the place of the finding.
    #[must_use]
    pub fn of(mut self, what: impl Into<String>, origin: &Origin) -> Self {
        self.places.push((what.into(), format!("{}: {}", origin.word(), origin.detail())));
        if self.at.is_none() {
            self.at = origin.place().cloned();
        }
        self
    }

    /// What happens at run time (or at build time).
    #[must_use]
    pub fn then(mut self, consequence: impl Into<String>) -> Self {
        self.consequence = consequence.into();
        self
    }

    /// Adds a remedy.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
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
    /// Adds a finding.
    pub fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// A rule that could not be checked because `fact` is not known.
    pub fn skip(&mut self, code: &str, fact: impl Into<String>) {
        self.skipped.push((code.to_owned(), fact.into()));
    }

    /// Whether one of them refuses.
    pub fn refuses(&self) -> bool {
        self.findings.iter().any(|f| f.weight == Weight::Refuse)
    }
}
