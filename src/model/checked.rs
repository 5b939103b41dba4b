//! A reproducer that no check refuses.

use super::{Findings, Reproducer};

/// Only `check` makes one, and only one of these can be rendered.
#[derive(Debug, Clone)]
pub struct Checked {
    reproducer: Reproducer,
    findings: Findings,
}

impl Checked {
    /// For `check` alone (the architecture test looks for other callers): `findings` are those of `reproducer`.
    ///
    /// # Errors
    /// Gives both back when a finding refuses.
    pub fn new(reproducer: Reproducer, findings: Findings) -> Result<Self, Box<(Reproducer, Findings)>> {
        if findings.refuses() { Err(Box::new((reproducer, findings))) } else { Ok(Checked { reproducer, findings }) }
    }

    /// The reproducer.
    pub fn reproducer(&self) -> &Reproducer {
        &self.reproducer
    }

    /// What the checks said.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}
