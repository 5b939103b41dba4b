//! What to do after an answer, what that should show, and the gate that decides.

use crate::model::{Confound, NextStep, Outcome, RungResult, Stage};

fn step(step: impl Into<String>, shows: impl Into<String>, gate: impl Into<String>) -> NextStep {
    NextStep { step: step.into(), shows: shows.into(), gate: gate.into() }
}

fn after_draft(confound: Option<&Confound>) -> NextStep {
    let Some(confound) = confound else {
        return step("run again with all rungs", "a rung that decides", "a rung that passes or fails");
    };
    match confound.kind.as_str() {
        "assumed_field" => step(
            "look up the field in the kernel's source and set it in repro.toml with from = \"given\"",
            "the same rungs with nothing assumed",
            "still failing: REPRODUCED; passing: the assumption was the fault",
        ),
        "not_faithful" => step(
            "compare launch, leading dimensions, descriptors and the captured inputs with production's",
            "the difference between the reproducer and production",
            "the run gives production's output bit for bit: REPRODUCED; it gives the right one: REFUTED",
        ),
        "type_descriptor" => step(
            "run with --descriptor production",
            "the kernel with the descriptor that production encodes",
            "the same failure: the kernel's; none: the reproducer's descriptor was the fault",
        ),
        "emulated" => step(
            "run the same folder on a GPU: krepro run DIR, or without krepro ./build.sh and the executable that it names",
            "the same rungs on silicon",
            "the executable's exit code: 0 or 1",
        ),
        "unknown_hang" => step(
            "attach cuda-gdb to the executable while it hangs: thread apply all bt",
            "the barrier that the waiting warps spin on",
            "a barrier whose awaited bytes or arrivals no source delivers: HANG with that cause; a barrier of the grid or cluster: the bare launch is at fault",
        ),
        "sanitizer" => step(
            "read both places that the sanitizer names, and whether a barrier or a fence stands between them",
            "the order between the writer and the reader, or that there is none",
            "an order that the source proves: the finding is no defect; none: REPRODUCED with --launches 50, or by the code",
        ),
        "predicted" => step(
            "correct what the finding names, or run with --launches 50",
            "the defect that was predicted, or its absence with the finding gone",
            "any rung that fails or hangs; 0 failures with no finding left",
        ),
        _ => step(
            "run the failing rung alone under compute-sanitizer: --rung NAME",
            "the access or the race behind the failure",
            "a report of the sanitizer, or the same failure without one",
        ),
    }
}

/// The step that follows from an outcome.
pub(super) fn next_step(outcome: &Outcome, rungs: &[RungResult], hints: &[Stage], real: bool) -> NextStep {
    match outcome {
        Outcome::NotReproduced if real => step(
            "sweep the shapes around this one: krepro sweep DIR --vary NAME=A,B,C",
            "a shape at which a rung fails, if there is one",
            "any rung that fails",
        ),
        Outcome::NotReproduced => step(
            "capture production's inputs and output and run with --input a=FILE --input b=FILE --observed FILE",
            "whether production's own wrong output comes from this kernel",
            "the same wrong output: REPRODUCED; the right output: not this kernel in this context",
        ),
        Outcome::Refuted { .. } => step(
            "look at the kernel's inputs and at what reads its output, real rows only (rows beyond the batch hold anything)",
            "the first tensor upstream or downstream that leaves its reference",
            "relative L2 of each captured tensor against its own reference: the first one above its rounding floor",
        ),
        Outcome::Reproduced { verdict: Some(verdict) } => step(
            format!(
                "correct the {} and run again: {}",
                verdict.stages.iter().map(|s| s.name()).collect::<Vec<_>>().join(if verdict.prologues.is_empty() {
                    " or "
                } else {
                    " and then the "
                }),
                verdict.cause
            ),
            "every rung passes; a second fault may have been hidden by this one",
            "exit code 0 of the whole ladder",
        ),
        Outcome::Reproduced { verdict: None } => {
            let rung = rungs.iter().find(|r| r.failed()).map_or("NAME", |r| r.name.as_str());
            let stage = hints.first().map_or("stage", |s| s.name());
            step(
                format!(
                    "read the {stage} code with the first wrong element in hand, and after each change run: --rung {rung}"
                ),
                format!("`{rung}` passes"),
                "exit code 0 of the whole ladder, not of this rung alone",
            )
        }
        Outcome::Hang { .. } => step(
            "make the awaited bytes equal to the bytes that the copies deliver, and run again",
            "the launch ends and ones gives exactly k",
            "no hang within the deadline, and every exact rung passes",
        ),
        Outcome::Draft { confounds } => after_draft(confounds.first()),
    }
}
