//! The answer for a person at a terminal.

use std::fmt::Write as _;

use crate::model::{Answer, Outcome, Stage};

use super::details::details;
use super::heat::heat;
use super::rungs::{figures, rungs};
use super::sequence::sequence;

/// Plain text, ending in the next step.
pub fn text(answer: &Answer) -> String {
    let mut out = String::new();
    let marks =
        if answer.scope.marks.is_empty() { String::new() } else { format!(" ({})", answer.scope.marks.join(", ")) };
    let _ = writeln!(out, "{}{marks}{}", answer.outcome.title(), headline(&answer.outcome));
    paragraph(&mut out, "", &answer.evidence);
    rungs(&mut out, &answer.rungs);
    out.push_str(&sequence(&answer.sequence, &answer.rungs));
    if let Some(observed) = &answer.observed {
        let rows =
            [("run against production", "", &observed.run), ("production against reference", "", &observed.production)];
        let _ = write!(out, "\nProduction's output\n{}", figures(rows));
    }
    if let Some(structure) = &answer.structure {
        out.push_str(&heat(structure));
    }
    out.push_str(&details(&answer.details));
    paragraph(&mut out, "Notes", &answer.notes);
    let _ = writeln!(out, "\nHolds for\n  {}", answer.scope.contract);
    if let Some(device) = &answer.scope.device {
        let _ = writeln!(
            out,
            "  {}, compute capability {}, driver {}, seed {}",
            device.device, device.compute_capability, device.driver, device.seed
        );
    }
    paragraph(&mut out, "Not observable here", &answer.scope.unobservable);
    let next = &answer.next;
    let _ = writeln!(out, "\nNext step\n  {}\n  should show: {}\n  gate: {}", next.step, next.shows, next.gate);
    out
}

fn headline(outcome: &Outcome) -> String {
    match outcome {
        Outcome::NotReproduced => ": no rung fails".to_owned(),
        Outcome::Refuted { what } => format!(": {what}"),
        Outcome::Reproduced { verdict: None } => ": wrong; the stage is not established".to_owned(),
        Outcome::Reproduced { verdict: Some(verdict) } => {
            let launches = verdict.prologues.iter().map(|name| format!("prologue `{name}`"));
            let of_kernel = verdict.stages.iter().filter(|stage| **stage != Stage::Prologue).map(|s| s.name());
            let of_kernel = of_kernel.collect::<Vec<_>>().join(" or ");
            let stages: Vec<_> = launches.chain((!of_kernel.is_empty()).then_some(of_kernel)).collect();
            let classes =
                if verdict.classes.is_empty() { String::new() } else { format!(", {}", verdict.classes.join(" or ")) };
            format!("\nVERDICT: {}{classes}\n  {}", stages.join(" and "), verdict.cause)
        }
        Outcome::Draft { confounds } => {
            let lines: Vec<_> = confounds.iter().map(|c| format!("\n  {}", c.text)).collect();
            format!(": the evidence does not decide{}", lines.concat())
        }
        Outcome::Hang { rung, cause } => format!(" in `{rung}`: {cause}"),
    }
}

fn paragraph(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    if title.is_empty() {
        out.push('\n');
    } else {
        let _ = writeln!(out, "\n{title}");
    }
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::model::{Answer, Metrics, NextStep, Number, Outcome, RungResult, RungStatus, Scope};

    #[test]
    fn a_report_begins_with_the_answer_and_ends_with_the_gate() {
        let metrics = Metrics { elements: 4, wrong: 1, rel_l2: Number(0.25), ..Metrics::default() };
        let rung = |name: &str, status, metrics| RungResult {
            name: name.into(),
            status,
            why: "no FILE".into(),
            launches: 2,
            deterministic: true,
            follows_shared: false,
            shared_filled: true,
            metrics,
            failures: vec![],
            milliseconds: 1.0,
        };
        let answer = Answer {
            outcome: Outcome::Reproduced { verdict: None },
            evidence: vec!["one element is wrong".into()],
            notes: vec![],
            hints: vec![],
            rungs: vec![rung("ones", RungStatus::Fail, Some(metrics)), rung("real", RungStatus::Skip, None)],
            sequence: crate::model::Sequence::default(),
            structure: None,
            details: crate::model::Details::default(),
            observed: None,
            claim: None,
            scope: Scope { contract: "out[2, 2]".into(), marks: vec!["emulated".into()], ..Scope::default() },
            next: NextStep { step: "do".into(), shows: "this".into(), gate: "that".into() },
        };
        let text = text(&answer);
        assert!(text.starts_with("REPRODUCED (emulated): wrong"));
        assert!(text.contains("0.250") && text.contains("real skipped: no FILE"), "{text}");
        assert!(text.ends_with("  gate: that\n"));
        let json = crate::report::json(&answer);
        assert_eq!(
            (&json["exit"], &json["title"], &json["outcome"]["kind"]),
            (&1.into(), &"REPRODUCED".into(), &"reproduced".into())
        );
    }
}
