//! What tools beside a run add to an answer.

use crate::model::{Answer, Confound, Outcome, SanitizerFinding, SanitizerReport, SanitizerTool};

use super::next_step::next_step;

/// An answer with what compute-sanitizer found.
///
/// An access outside of every allocation and a misused barrier are defects whatever the output was: the answer becomes REPRODUCED.
/// Hazards on shared memory and reads of unwritten memory are weaker evidence, since neither tool sees every order that
/// asynchronous copies make: a clean answer becomes a DRAFT.
#[must_use]
pub fn sanitized(mut answer: Answer, reports: &[SanitizerReport]) -> Answer {
    let mut lines = vec![];
    let (mut hard, mut soft) = (false, vec![]);
    for report in reports {
        for finding in &report.findings {
            lines.push(sentence(report.tool, finding));
            match report.tool {
                SanitizerTool::Memcheck | SanitizerTool::Synccheck if !finding.warning => hard = true,
                _ => soft.push(sentence(report.tool, finding)),
            }
        }
        match (&report.trouble, report.findings.is_empty()) {
            (Some(trouble), _) => answer.notes.push(format!("{}: no result ({trouble})", report.tool)),
            (None, true) => answer.notes.push(format!("{}: nothing found", report.tool)),
            (None, false) => {}
        }
    }
    let clean = matches!(answer.outcome, Outcome::NotReproduced | Outcome::Refuted { .. });
    if clean && hard {
        answer.outcome = Outcome::Reproduced { verdict: None };
    } else if clean && !soft.is_empty() {
        let confounds = soft.into_iter().map(|text| Confound::new("sanitizer", text)).collect();
        answer.outcome = Outcome::Draft { confounds };
    }
    if !lines.is_empty() {
        answer.next = next_step(&answer.outcome, &answer.rungs, &answer.hints, false);
    }
    answer.evidence.splice(0..0, lines);
    answer
}

fn sentence(tool: SanitizerTool, finding: &SanitizerFinding) -> String {
    let at = if finding.places.is_empty() { String::new() } else { format!(" at {}", finding.places.join(" and ")) };
    let thread = finding.thread.as_ref().map_or_else(String::new, |thread| format!(", first by {thread}"));
    let count = if finding.count > 1 { format!(", {} times", finding.count) } else { String::new() };
    format!("{tool}: {}{at}{thread}{count}", finding.text)
}

/// Where a warp waits: threads, place, the line's text, and the barrier that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Its threads in the block.
    pub threads: String,
    /// `FILE:LINE` of the frame that waits.
    pub place: String,
    /// The text of the line, when the file could be read.
    pub text: Option<String>,
    /// The barrier, as the line names it.
    pub barrier: Option<String>,
}

/// The answer to a hang with where each warp waits.
#[must_use]
pub fn waiting(mut answer: Answer, warps: &[Waiting]) -> Answer {
    let line = |warp: &Waiting| {
        let text = warp.text.as_ref().map_or_else(String::new, |text| format!(": `{text}`"));
        let what = match &warp.barrier {
            Some(barrier) => format!("wait for `{barrier}`"),
            None => "stand".to_owned(),
        };
        format!("threads {} of the block {what} at {}{text}", warp.threads, warp.place)
    };
    answer.evidence.extend(warps.iter().map(line));
    answer
}

#[cfg(test)]
mod tests {
    use super::{Waiting, sanitized, waiting};
    use crate::judge::fixture;
    use crate::judge::{Context, ladder};
    use crate::model::{Answer, Findings, Outcome, SanitizerFinding, SanitizerReport, SanitizerTool};

    fn clean() -> Answer {
        let events = fixture::events(vec![fixture::rung("ones", 0)]);
        ladder(&fixture::contract(), &Findings::default(), &events, None, &Context::default()).unwrap()
    }

    fn report(tool: SanitizerTool, found: bool) -> SanitizerReport {
        let finding = SanitizerFinding {
            text: "Invalid __global__ read of size 2 bytes".into(),
            places: vec!["k.cuh:58".into()],
            thread: None,
            count: 3,
            warning: false,
        };
        SanitizerReport { tool, findings: if found { vec![finding] } else { vec![] }, trouble: None }
    }

    #[test]
    fn an_access_outside_is_a_defect_and_a_hazard_leaves_it_open() {
        let answer = sanitized(clean(), &[report(SanitizerTool::Memcheck, true)]);
        assert_eq!(answer.outcome, Outcome::Reproduced { verdict: None });
        assert_eq!(answer.evidence[0], "memcheck: Invalid __global__ read of size 2 bytes at k.cuh:58, 3 times");
        let answer = sanitized(clean(), &[report(SanitizerTool::Racecheck, true)]);
        assert!(matches!(answer.outcome, Outcome::Draft { .. }));
    }

    #[test]
    fn silence_and_trouble_are_notes() {
        let mut broken = report(SanitizerTool::Initcheck, false);
        broken.trouble = Some("no driver".into());
        let answer = sanitized(clean(), &[report(SanitizerTool::Synccheck, false), broken]);
        assert_eq!(answer.outcome, Outcome::NotReproduced);
        assert_eq!(answer.notes, ["synccheck: nothing found", "initcheck: no result (no driver)"]);
    }

    #[test]
    fn waiting_warps_are_evidence() {
        let warp = Waiting {
            threads: "0-127".into(),
            place: "ring.cuh:132".into(),
            text: Some("wait(full[s], p);".into()),
            barrier: Some("full[s]".into()),
        };
        let answer = waiting(clean(), &[warp]);
        assert_eq!(
            answer.evidence.last().unwrap(),
            "threads 0-127 of the block wait for `full[s]` at ring.cuh:132: `wait(full[s], p);`"
        );
    }
}
