//! The long text of krepro's own codes.

use serde::{Deserialize, Serialize};

/// A rule, a diagnostic or an answer, at length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Code {
    /// For example `K-S09`.
    pub code: String,
    /// In one line.
    pub title: String,
    /// What it means, why it is so, what happens, what to do.
    pub text: String,
    /// Where the rule is from, and what of it was measured.
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    code: Vec<Code>,
}

/// All codes.
#[derive(Debug)]
pub struct Codes {
    list: Vec<Code>,
}

impl Codes {
    /// The texts that come with krepro.
    ///
    /// # Errors
    /// When they are damaged, which a test excludes.
    pub fn builtin() -> Result<Self, toml::de::Error> {
        let mut list = Vec::new();
        for text in [include_str!("../../build-flags/codes.toml"), include_str!("../../build-flags/diagnostics.toml")] {
            list.extend(toml::from_str::<File>(text)?.code);
        }
        Ok(Codes { list })
    }

    /// In the order of the file.
    pub fn all(&self) -> &[Code] {
        &self.list
    }

    /// The text of a code, whatever the case of its letters; `S09` is taken for `K-S09`.
    pub fn find(&self, code: &str) -> Option<&Code> {
        let wanted = code.trim().to_ascii_uppercase().replace(' ', "-");
        self.list.iter().find(|entry| {
            let have = entry.code.to_ascii_uppercase();
            have == wanted || have.strip_prefix("K-") == Some(&wanted)
        })
    }

    /// Codes that look like what was typed.
    pub fn near(&self, code: &str) -> Vec<&str> {
        let wanted = code.trim().to_ascii_uppercase();
        let stem = wanted.trim_start_matches("K-").trim_end_matches(|c: char| c.is_ascii_lowercase());
        let digits = stem.get(..2).unwrap_or(stem);
        self.list
            .iter()
            .map(|entry| entry.code.as_str())
            .filter(|have| !digits.is_empty() && have.to_ascii_uppercase().trim_start_matches("K-").starts_with(digits))
            .collect()
    }
}
