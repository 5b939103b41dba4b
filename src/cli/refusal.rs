//! A stop of the pipeline as a failure.

use super::Failure;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::Weight;
use crate::pipeline::Stop;

/// What the user is told when there is nothing to write or to run.
pub(super) fn refusal(stop: Stop) -> Failure {
    match stop {
        Stop::Unrenderable(problems) => Failure::input(problems),
        Stop::Refused(both) => {
            let refused = both.1.findings.iter().filter(|finding| finding.weight == Weight::Refuse);
            let problems: Diagnostics = refused
                .map(|finding| {
                    let mut diagnostic = Diagnostic::error(&finding.code, finding.message.clone());
                    for (what, place) in &finding.places {
                        diagnostic = diagnostic.because(format!("{what}: {place}"));
                    }
                    if !finding.consequence.is_empty() {
                        diagnostic = diagnostic.because(format!("at run time: {}", finding.consequence));
                    }
                    finding.help.iter().fold(diagnostic, |diagnostic, help| diagnostic.help(help.clone()))
                })
                .collect();
            Failure::input(problems)
        }
    }
}
