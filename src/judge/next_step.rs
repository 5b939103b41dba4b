//! What to do after an answer, what that should show, and the gate that decides.

use crate::model::{Confound, NextStep, Outcome, RungResult, Stage};

fn step(step: impl Into<String>, shows: impl Into<String>, gate: impl Into<String>) -> NextStep {
    NextStep { step: step.into(), shows: shows.into(), gate: gate.into() }
}

/// How an assumed field is said to `krepro new`; none for what only `repro.toml` holds.
fn option_of(field: &str) -> Option<String> {
    let key = match field {
        _ if field.starts_with("prologue ") => return None,
        _ if field.starts_with("epilogue[") => "epilogue=STEPS".to_owned(),
        "groups.first" | "groups.rows" => "group_rows=ROWS".to_owned(),
        "groups.index" => "group_index=KIND".to_owned(),
        _ => match field.strip_prefix("launch.") {
            Some(key) => return Some(format!("--launch {key}=VALUE")),
            None => match field.strip_suffix(".role") {
                Some(role) => format!("{role}=PARAMETER"),
                None => format!("{field}=VALUE"),
            },
        },
    };
    Some(format!("--contract {key}"))
}

/// The options for all assumed fields, each once.
fn options_of(confounds: &[Confound]) -> String {
    let mut options: Vec<String> = vec![];
    for option in confounds.iter().flat_map(|confound| &confound.fields).filter_map(|field| option_of(field)) {
        if !options.contains(&option) {
            options.push(option);
        }
    }
    options.join(" ")
}

fn after_draft(confounds: &[Confound]) -> NextStep {
    let Some(confound) = confounds.first() else {
        return step("run again with all rungs", "a rung that decides", "a rung that passes or fails");
    };
    match confound.kind.as_str() {
        "assumed_field" => step(
            match options_of(confounds).as_str() {
                "" => "look up what is assumed in the source, and set it in repro.toml with from = \"given\"; then krepro render DIR".to_owned(),
                options => format!(
                    "look up what is assumed in the kernel's source, and say it: krepro new … {options}; or in repro.toml, with from = \"given\", \
                     and krepro render DIR"
                ),
            },
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

/// The step after a failing run that looked for no stage.
pub fn look_for_the_stage(hints: &[Stage]) -> NextStep {
    let guess = hints.first().map_or(String::new(), |stage| format!("; the first to suspect is the {stage}"));
    step(
        format!("run again with --diagnose always{guess}"),
        "further probes of the same executable, and the stage that they leave",
        "a VERDICT: the stage that it names; none: the class or the maps that the report lists as left",
    )
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
        Outcome::Draft { confounds } => after_draft(confounds),
    }
}

#[cfg(test)]
mod tests {
    use super::{next_step, option_of};
    use crate::model::{Confound, Outcome};

    #[test]
    fn every_assumed_field_is_said_by_an_option_of_new() {
        let said = ["k", "a.major", "b.role", "epilogue[1]", "groups.rows", "split_k.count", "launch.shared_memory"];
        assert_eq!(
            said.map(|field| option_of(field).unwrap()),
            [
                "--contract k=VALUE",
                "--contract a.major=VALUE",
                "--contract b=PARAMETER",
                "--contract epilogue=STEPS",
                "--contract group_rows=ROWS",
                "--contract split_k.count=VALUE",
                "--launch shared_memory=VALUE",
            ]
        );
        assert_eq!(option_of("prologue remap.source.element"), None);
    }

    #[test]
    fn a_draft_lists_the_options_once() {
        let assumed = |fields: &[&str]| Confound {
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
            ..Confound::new("assumed_field", "x")
        };
        let confounds = vec![assumed(&["epilogue[0]", "epilogue[1]", "k"]), assumed(&["k"])];
        let step = next_step(&Outcome::Draft { confounds }, &[], &[], false).step;
        assert!(step.contains("krepro new … --contract epilogue=STEPS --contract k=VALUE; or in repro.toml"), "{step}");
    }
}
