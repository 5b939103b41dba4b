//! Findings on the terminal.

use std::io;

use super::Session;
use crate::model::{Finding, Findings, Weight};

/// Every finding, and what was not checked, on standard error.
pub(super) fn show(session: &mut Session<'_>, findings: &Findings) -> io::Result<()> {
    for finding in &findings.findings {
        write!(session.err(), "{}", text(finding))?;
    }
    for (code, fact) in &findings.skipped {
        writeln!(session.err(), "not checked: {code} ({fact})")?;
    }
    Ok(())
}

/// One finding: what, where the values are from, what will happen, what to type.
pub(super) fn text(finding: &Finding) -> String {
    let word = match finding.weight {
        Weight::Refuse => "refused",
        Weight::Predict => "predicted",
        Weight::Note => "note",
    };
    let mut out = format!("{word}[{}]: {}\n", finding.code, finding.message);
    for (what, place) in &finding.places {
        out.push_str(&format!("  {what}: {place}\n"));
    }
    if !finding.consequence.is_empty() {
        out.push_str(&format!("  at run time: {}\n", finding.consequence));
    }
    for help in &finding.help {
        out.push_str(&format!("  help: {help}\n"));
    }
    out
}
