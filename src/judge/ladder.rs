//! The answer to a run of the executable's built-in ladder.

use crate::model::{
    Accumulator, Answer, Claim, Confound, Contract, Event, Finding, Findings, ObservedComparison, Outcome, RungResult,
    RungStatus, Weight,
};

use super::claim::{Against, against, readings};
use super::next_step::next_step;
use super::scope::scope;
use super::shown::{Shown, shown};
use super::{Backend, Context, NoAnswer, agreement, assumption, sequence};

/// What is gathered on the way to an answer.
struct Case<'a> {
    contract: &'a Contract,
    findings: &'a Findings,
    rungs: Vec<RungResult>,
    shown: Shown,
    /// CUDA errors as sentences.
    crashes: Vec<String>,
    notes: Vec<String>,
    observed: Option<ObservedComparison>,
    claim: Option<Claim>,
    context: &'a Context,
}

fn draft(kind: &str, text: impl Into<String>) -> Outcome {
    Outcome::Draft { confounds: vec![Confound::new(kind, text)] }
}

/// Judges the events of one run.
///
/// * Refuted only against `claim`, or an observed output, that the run contradicts.
/// * Reproduced when a rung fails that rests on no assumed field ([`super::rests_on`]), or a launch crashes, or production's
///   own wrong output comes out.
/// * Hang with a cause only where a finding K-S09 says which bytes are delivered and which awaited.
/// * Draft otherwise, and always when the CPU backend stood in for a GPU that nobody had.
///
/// # Errors
/// When the executable could not test, refused its input, or judges the same figures differently than krepro.
pub fn ladder(
    contract: &Contract,
    findings: &Findings,
    events: &[Event],
    claim: Option<Claim>,
    context: &Context,
) -> Result<Answer, NoAnswer> {
    agreement::check(events, context)?;
    let rungs: Vec<RungResult> = events.iter().filter_map(rung).collect();
    let mut case = Case {
        contract,
        findings,
        shown: shown(&rungs, contract),
        rungs,
        crashes: events.iter().filter_map(crash).collect(),
        notes: vec![],
        observed: events.iter().find_map(observed),
        claim,
        context,
    };
    for finding in &findings.findings {
        if finding.weight == Weight::Predict {
            case.notes.push(format!("{}: {}; {}", finding.code, finding.message, finding.consequence));
        }
    }
    let promoted = contract.tile.promotion.as_ref().is_some_and(|depth| depth.value < contract.k.value);
    let narrow = contract.accumulator.value == Accumulator::Fp8Hopper && !promoted;
    if narrow && case.rungs.iter().any(|rung| rung.status != RungStatus::Skip) {
        case.notes.push(
            "known hardware numerics: the tensor core of sm_90 keeps 13 fraction bits of an fp8 sum, and nothing promotes the sums here; \
             expectations and tolerances allow for that, so it is no defect unless promotion is promised (--contract promotion=K)"
                .to_owned(),
        );
    }
    let ended = events.iter().any(|event| matches!(event, Event::End { .. }));
    let before = sequence::before(events, context);
    let (outcome, evidence) = case.outcome(events, ended);
    case.notes.extend(before.notes.iter().cloned());
    let outcome = before.answer(outcome, &case.rungs, contract, &mut case.notes);
    let evidence = before.sentences.iter().cloned().chain(before.beyond(&case.rungs)).chain(evidence).collect();
    let outcome = fallback(outcome, context);
    let real = case.rungs.iter().any(|r| r.family() == "real" && r.status != RungStatus::Skip);
    Ok(Answer {
        next: next_step(&outcome, &case.rungs, &case.shown.stages, real),
        scope: scope(contract, events, &case.rungs, context),
        outcome,
        evidence,
        notes: case.notes,
        hints: case.shown.stages,
        rungs: case.rungs,
        sequence: before.sequence,
        structure: None,
        details: crate::model::Details::default(),
        observed: case.observed,
        claim,
    })
}

fn rung(event: &Event) -> Option<RungResult> {
    match event {
        Event::Rung(rung) => Some(rung.clone()),
        _ => None,
    }
}

fn crash(event: &Event) -> Option<String> {
    match event {
        Event::CudaError { call, name, text, rung, .. } => {
            let at = if rung.is_empty() { String::new() } else { format!(" in `{rung}`") };
            Some(format!("{call} fails{at}: {name} ({text})"))
        }
        _ => None,
    }
}

fn observed(event: &Event) -> Option<ObservedComparison> {
    match event {
        Event::Observed { same, run, production, .. } => {
            Some(ObservedComparison { same: *same, run: *run, production: *production })
        }
        _ => None,
    }
}

/// A stand-in for a GPU that nobody had decides nothing, except a deadlock that bytes explain.
fn fallback(outcome: Outcome, context: &Context) -> Outcome {
    let text = match (&outcome, context.backend) {
        (Outcome::NotReproduced, Backend::CpuFallback) => "no rung fails",
        (Outcome::Refuted { .. }, Backend::CpuFallback) => "the claim is contradicted",
        (Outcome::Reproduced { .. }, Backend::CpuFallback) => "it is wrong",
        _ => return outcome,
    };
    draft(
        "emulated",
        format!("{text} on the CPU backend, which stood in because no GPU was found; --backend cpu accepts that"),
    )
}

/// The CPU backend's own count: a barrier that was given other bytes than it awaits.
fn counted_bytes(report: &str) -> Option<&str> {
    report.lines().filter_map(|line| line.trim().strip_prefix("likely: ")).find(|cause| cause.contains(" bytes "))
}

impl Case<'_> {
    fn predicts(&self, code: &str) -> Option<&Finding> {
        self.findings.findings.iter().find(|f| f.weight == Weight::Predict && f.code == code)
    }

    fn outcome(&mut self, events: &[Event], ended: bool) -> (Outcome, Vec<String>) {
        let hang = events.iter().find_map(|event| match event {
            Event::Hang { rung, deadline_s, backtrace, .. } => Some((rung.as_str(), *deadline_s, backtrace.as_str())),
            _ => None,
        });
        if let Some(hang) = hang {
            return self.hang(hang);
        }
        let failing = !self.crashes.is_empty() || self.rungs.iter().any(RungResult::failed);
        if failing && !self.context.type_descriptors.is_empty() {
            return (self.type_descriptor("fails"), self.failures());
        }
        if let Some(observed) = self.observed {
            return self.against_production(&observed, failing);
        }
        if failing {
            return self.wrong();
        }
        if !ended {
            let text = match self.context.exit {
                None => "a signal ended the executable before it had finished",
                Some(_) => "the executable's events stop before the end",
            };
            return (draft("host_crash", text), vec![]);
        }
        self.clean()
    }

    fn failures(&self) -> Vec<String> {
        self.crashes.iter().chain(&self.shown.sentences).cloned().collect()
    }

    fn type_descriptor(&self, what: &str) -> Outcome {
        let names = self.context.type_descriptors.join(", ");
        draft(
            "type_descriptor",
            format!(
                "the reproducer {what} with a descriptor built from the emitted type ({names}), which is not the one that production encodes"
            ),
        )
    }

    fn hang(&self, (rung, deadline, backtrace): (&str, f64, &str)) -> (Outcome, Vec<String>) {
        let mut evidence = vec![format!("`{rung}` does not end within {deadline} s")];
        if let Some(line) =
            backtrace.lines().find(|line| line.contains(".cu:") || line.contains(".cuh:") || line.contains(".h:"))
        {
            evidence.push(format!("the first waiting frame with a source line: {}", line.trim()));
        }
        evidence.extend(self.failures());
        let outcome = if !self.context.type_descriptors.is_empty() {
            self.type_descriptor("hangs")
        } else if let Some(finding) = self.predicts("K-S09") {
            Outcome::Hang { rung: rung.to_owned(), cause: finding.message.clone() }
        } else if let Some(cause) = counted_bytes(backtrace) {
            Outcome::Hang { rung: rung.to_owned(), cause: cause.to_owned() }
        } else {
            draft(
                "unknown_hang",
                "no delivered or awaited bytes explain the hang, and a kernel launched alone can hang by itself: a scheduler, a peer or \
                 a grid barrier may be missing",
            )
        };
        (outcome, evidence)
    }

    fn against_production(&mut self, observed: &ObservedComparison, failing: bool) -> (Outcome, Vec<String>) {
        let production_wrong = observed.production.wrong > 0;
        // What the run never writes holds anything in production: only written elements can be compared.
        let unwritten = observed.run.unwritten;
        let same = observed.same || observed.run.wrong == unwritten;
        let how = match (observed.same, unwritten) {
            (true, _) => "bit for bit".to_owned(),
            (false, 0) => "within tolerance".to_owned(),
            (false, count) => format!("on every element that it writes; {count} it never writes"),
        };
        let figures = |m: &crate::model::Metrics| {
            format!("{} of {} elements wrong, relative L2 {:.2e}", m.wrong, m.elements, m.rel_l2.0)
        };
        let mut evidence =
            vec![format!("production's output against the reference: {}", figures(&observed.production))];
        let real: Vec<&RungResult> = self.rungs.iter().filter(|r| r.family() == "real").collect();
        let real_right = !real.is_empty() && real.iter().all(|r| r.status == RungStatus::Pass);
        let varies = real.iter().any(|r| !r.deterministic || r.follows_shared);
        let outcome = match (production_wrong, same) {
            (true, true) => {
                evidence.push(format!("the run gives production's wrong output {how}"));
                Outcome::Reproduced { verdict: None }
            }
            (true, false) if real_right && failing => draft(
                "other_inputs",
                "the run gives the right output on production's inputs and is wrong on others: two faults, or a reproducer that is \
                 not faithful",
            ),
            (true, false) if real_right => {
                evidence.push(
                    "on production's inputs the run gives the right output: not this kernel in this context".to_owned(),
                );
                Outcome::Refuted { what: "production's output comes from this kernel".to_owned() }
            }
            (true, false) if varies => {
                evidence.push(format!(
                    "the run is wrong too, and differs from launch to launch, so production's bits cannot come back: {} against \
                     its output",
                    figures(&observed.run)
                ));
                Outcome::Reproduced { verdict: None }
            }
            (true, false) => {
                evidence.push(format!(
                    "the run is wrong in another way than production: {} against its output",
                    figures(&observed.run)
                ));
                draft(
                    "not_faithful",
                    "the run's wrong output is not production's wrong output: the reproducer is not faithful yet",
                )
            }
            (false, _) if failing => draft(
                "not_faithful",
                "production's output is right and the run's is wrong: the reproducer is not faithful yet",
            ),
            (false, _) => {
                evidence.push("production's output is right for these inputs".to_owned());
                match self.claim {
                    Some(claim) => Outcome::Refuted { what: claim.to_string() },
                    None => Outcome::NotReproduced,
                }
            }
        };
        evidence.extend(self.failures());
        (outcome, evidence)
    }

    fn wrong(&mut self) -> (Outcome, Vec<String>) {
        let mut fields: Vec<(String, String, String)> = Vec::new();
        let mut rests_on_facts = !self.crashes.is_empty();
        for rung in self.rungs.iter().filter(|r| r.failed()) {
            let assumed = assumption::assumed(rung, self.contract);
            rests_on_facts |= assumed.is_empty();
            let new = assumed.into_iter().filter(|(field, _)| !fields.iter().any(|known| known.0 == *field));
            let so = format!("the expectation of `{}` rests on that", rung.name);
            let new: Vec<_> = new.map(|(field, why)| (field, why, so.clone())).collect();
            fields.extend(new);
        }
        let evidence = self.failures();
        // Another grid or block leaves elements of a right kernel wrong.
        let shape = |field: &str| matches!(field, "launch.grid" | "launch.threads");
        let shapes = self.context.assumed_launch.iter().filter(|(field, _)| shape(field));
        if self.crashes.is_empty() {
            let so = "a launch that is not production's can leave elements wrong";
            let before = fields.len();
            fields.extend(shapes.map(|(field, why)| (field.clone(), why.clone(), so.to_owned())));
            rests_on_facts &= fields.len() == before;
        }
        // A launch with too little shared memory, in another cluster or with other threads crashes a right kernel.
        if !self.crashes.is_empty() && !self.context.assumed_launch.is_empty() {
            let so = || "a launch that is not production's can crash".to_owned();
            fields.extend(self.context.assumed_launch.iter().cloned().map(|(field, why)| (field, why, so())));
            rests_on_facts = false;
        }
        if !rests_on_facts {
            // What a passing rung bears out is not what makes another one fail, as long as something else may be.
            let open = |field: &str| !assumption::is_borne_out(field, &self.rungs, self.contract);
            if fields.iter().any(|(field, ..)| open(field)) {
                fields.retain(|(field, ..)| open(field));
            }
            return (Outcome::Draft { confounds: assumption::confounds(fields) }, evidence);
        }
        if let Some(finding) = self.predicts("K-S09") {
            let text = format!("{} predicts it: {}", finding.code, finding.message);
            self.notes.push(text);
        }
        if let Some(claim) = self.claim {
            self.notes.push(format!(
                "claimed was {claim}; compare it with the figures above before calling this the same fault"
            ));
        }
        (Outcome::Reproduced { verdict: None }, evidence)
    }

    /// What makes a right kernel look as the claim says.
    fn explain(&mut self, claim: Claim) {
        let readings = readings(claim, self.contract).into_iter();
        self.notes.extend(readings.map(|text| format!("what can read as {claim}: {text}")));
    }

    fn clean(&mut self) -> (Outcome, Vec<String>) {
        let passed: Vec<_> = self.rungs.iter().filter(|r| r.status == RungStatus::Pass).collect();
        let elements: u64 = passed.iter().filter_map(|r| r.metrics.as_ref()).map(|m| m.elements).sum();
        if elements == 0 {
            return (draft("degenerate", "no rung compared an element, so nothing is shown"), vec![]);
        }
        let names: Vec<_> = passed.iter().map(|r| r.name.as_str()).collect();
        let evidence = vec![format!("{} rungs pass on {elements} elements: {}", passed.len(), names.join(", "))];
        let predicted = self.findings.findings.iter().find(|f| f.weight == Weight::Predict);
        if let Some(finding) = predicted {
            let text = format!("{} predicts a defect that this run did not show: {}", finding.code, finding.message);
            return (draft("predicted", text), evidence);
        }
        let Some(claim) = self.claim else { return (Outcome::NotReproduced, evidence) };
        match against(claim, self.contract, &self.rungs, self.context) {
            Against::Contradicted(text) => {
                self.explain(claim);
                let mut all = vec![text];
                all.extend(evidence);
                (Outcome::Refuted { what: claim.to_string() }, all)
            }
            Against::Open(text) => {
                self.notes.push(format!("the claim {claim} stays open: {text}"));
                self.explain(claim);
                (Outcome::NotReproduced, evidence)
            }
        }
    }
}
