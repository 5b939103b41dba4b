//! The executable judges by itself; krepro judges again. Both must come to the same.

use super::{Context, NoAnswer};
use crate::model::{Event, RungResult, RungStatus};

/// The rungs that a `pass` contradicts: figures that no rung may have.
fn contradiction(rung: &RungResult) -> Option<String> {
    let metrics = rung.metrics.as_ref()?;
    if rung.status != RungStatus::Pass {
        return None;
    }
    let said = |what: String| Some(format!("the executable passed `{}` with {what}", rung.name));
    if metrics.wrong > 0 {
        return said(format!("{} wrong elements", metrics.wrong));
    }
    if metrics.unwritten > 0 {
        return said(format!("{} unwritten elements", metrics.unwritten));
    }
    if metrics.guard_hits > 0 {
        return said(format!("{} bytes written outside the buffers", metrics.guard_hits));
    }
    if metrics.input_hits > 0 {
        return said(format!("{} bytes of inputs overwritten", metrics.input_hits));
    }
    if metrics.max_err_over_tol.0 > 1.0 {
        return said(format!("an error of {} tolerances", metrics.max_err_over_tol.0));
    }
    if metrics.exact && !rung.deterministic {
        return said("launches that differ".to_owned());
    }
    if metrics.exact && rung.follows_shared {
        return said("launches that differ with what shared memory held".to_owned());
    }
    None
}

/// Errors that leave no answer: exit codes 2, 74 and 125, and a code that the events contradict.
pub(super) fn check(events: &[Event], context: &Context) -> Result<(), NoAnswer> {
    let error_text = || {
        events.iter().find_map(|event| match event {
            Event::Error { text, .. } => Some(text.clone()),
            Event::CudaError { call, name, text, .. } => Some(format!("{call}: {name} ({text})")),
            _ => None,
        })
    };
    let said = || error_text().unwrap_or_else(|| "it says why on standard error".to_owned());
    match context.exit {
        Some(125) => {
            return Err(NoAnswer::CannotTest(
                error_text().unwrap_or_else(|| "no fit device or driver was found".to_owned()),
            ));
        }
        Some(2) => return Err(NoAnswer::Input(said())),
        Some(74) => return Err(NoAnswer::File(said())),
        _ => {}
    }
    let mut failed = false;
    let mut hang = false;
    for event in events {
        match event {
            Event::Rung(rung) => {
                failed |= rung.failed();
                if let Some(text) = contradiction(rung) {
                    return Err(NoAnswer::Disagreement(text));
                }
            }
            Event::Sequence(rung) => {
                failed |= rung.failed();
                if let Some(text) = contradiction(rung) {
                    return Err(NoAnswer::Disagreement(text));
                }
            }
            Event::Prologue(result) => {
                failed |= result.failed();
                let hits = result.wrong + result.guard_hits + result.source_hits;
                if !result.failed() && (hits > 0 || !result.deterministic) {
                    return Err(NoAnswer::Disagreement(format!(
                        "the executable passed prologue `{}` on `{}` with {hits} wrong elements and bytes",
                        result.name, result.rung
                    )));
                }
            }
            Event::CudaError { .. } => failed = true,
            Event::Hang { .. } => hang = true,
            Event::End { exit, .. } => {
                if context.exit.is_some_and(|code| code != *exit) {
                    return Err(NoAnswer::Disagreement(format!(
                        "the executable announced exit code {exit} and ended with {}",
                        context.exit.unwrap_or_default()
                    )));
                }
            }
            Event::Error { .. }
            | Event::Start(_)
            | Event::Descriptor { .. }
            | Event::Observed { .. }
            | Event::PrologueMap(_) => {}
        }
    }
    let expected = if hang { 4 } else { i32::from(failed) };
    match context.exit {
        Some(code) if code != expected => Err(NoAnswer::Disagreement(format!(
            "the executable ended with exit code {code}, but its events say {expected}"
        ))),
        _ => Ok(()),
    }
}
