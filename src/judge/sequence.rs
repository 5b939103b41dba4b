//! The launches before the kernel: which of them is at fault, and what that says of the kernel.

use crate::model::{
    Confound, Contract, Event, Outcome, PrologueLines, PrologueMap, PrologueResult, RungResult, RungStatus, Sequence,
    Stage, Verdict,
};

use super::{Context, assumption};

/// What the launches before the kernel show.
pub(super) struct Before {
    pub(super) sequence: Sequence,
    /// Of those that fail, the strongest first.
    pub(super) sentences: Vec<String>,
    /// Worth knowing and no defect.
    pub(super) notes: Vec<String>,
    /// Those that fail on facts.
    at_fault: Vec<String>,
    /// Assumptions on which the failure of the others rests.
    confounds: Vec<Confound>,
}

/// Gathers the events of one run.
pub(super) fn before(events: &[Event], context: &Context) -> Before {
    let mut sequence = Sequence::default();
    for event in events {
        match event {
            Event::Prologue(result) => sequence.alone.push(result.clone()),
            Event::PrologueMap(map) => sequence.maps.push(map.clone()),
            Event::Sequence(rung) => sequence.together.push(rung.clone()),
            _ => {}
        }
    }
    let mut found = Before {
        sentences: vec![],
        notes: padding(&sequence),
        at_fault: vec![],
        confounds: vec![],
        sequence: Sequence::default(),
    };
    for name in sequence.names() {
        let of = |result: &&PrologueResult| result.name == name;
        if !sequence.alone.iter().filter(of).any(PrologueResult::failed) {
            continue;
        }
        let mut tensors: Vec<&str> = sequence.alone.iter().filter(of).map(|result| result.writes.as_str()).collect();
        tensors.sort_unstable();
        tensors.dedup();
        for writes in tensors {
            let results: Vec<&PrologueResult> =
                sequence.alone.iter().filter(of).filter(|r| r.writes == writes).collect();
            found.sentences.extend(told(name, writes, &results, &sequence.maps));
        }
        let assumed: Vec<_> = context.assumed_prologue.iter().filter(|(of, ..)| of == name).collect();
        if assumed.is_empty() {
            found.at_fault.push(name.to_owned());
        }
        let so = format!("what prologue `{name}` should leave rests on that");
        let assumed = assumed.into_iter().map(|(_, field, why)| (field.clone(), why.clone(), so.clone()));
        found.confounds.extend(assumption::confounds(assumed));
    }
    found.sequence = sequence;
    found
}

/// Storage that the contract does not name and that stays unwritten is no defect.
fn padding(sequence: &Sequence) -> Vec<String> {
    let mut notes: Vec<String> = vec![];
    let fails = |name: &str| sequence.alone.iter().any(|result| result.name == name && result.failed());
    for result in sequence.alone.iter().filter(|result| result.padding_written < result.padding && !fails(&result.name))
    {
        let note = format!(
            "prologue `{}` writes {} of the {} elements of padding of {}; the contract names no value there, so that is no defect",
            result.name, result.padding_written, result.padding, result.writes
        );
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn lines(what: &str, lines: &PrologueLines) -> String {
    match lines.count {
        0 => format!("no {what}"),
        1 => format!("{what} {} of {}", lines.first, lines.of),
        count if count == lines.of => format!("all {count} {what}s"),
        count if lines.last - lines.first + 1 == count => {
            format!("{what}s {} to {} of {}", lines.first, lines.last, lines.of)
        }
        count => format!("{count} of {} {what}s", lines.of),
    }
}

/// What one launch leaves wrong in one tensor.
fn told(name: &str, writes: &str, results: &[&PrologueResult], maps: &[PrologueMap]) -> Vec<String> {
    let failed: Vec<&&PrologueResult> = results.iter().filter(|result| result.failed()).collect();
    let Some(shown) = failed.iter().find(|result| result.rung == "integers").or(failed.first()) else { return vec![] };
    let mut sentence = format!(
        "prologue `{name}`, alone, fails on {} of {} rungs; on `{}`, in {writes}: {}",
        failed.len(),
        results.len(),
        shown.rung,
        shown.why
    );
    if shown.wrong > 0 {
        sentence.push_str(&format!(", in {} and {}", lines("row", &shown.rows), lines("column", &shown.columns)));
    }
    if let Some(first) = shown.failures.first() {
        sentence.push_str(&format!(
            "; first at row {}, column {}: {:#x} ({}) instead of {:#x} ({})",
            first.row, first.column, first.observed, first.observed_value.0, first.expected, first.expected_value.0
        ));
    }
    let mut told = vec![sentence];
    let named = |list: &[&&PrologueResult]| list.iter().map(|r| format!("`{}`", r.rung)).collect::<Vec<_>>().join(", ");
    let uniform: Vec<&&PrologueResult> = results.iter().filter(|result| result.uniform && !result.failed()).collect();
    if !uniform.is_empty() && failed.iter().all(|result| !result.uniform) {
        told.push(format!(
            "uniform values of {writes} pass ({}), varied ones fail ({})",
            named(&uniform),
            named(&failed)
        ));
    }
    told.extend(maps.iter().filter(|map| map.name == name && map.writes == writes).map(whence));
    told
}

/// Where the elements come from.
fn whence(map: &PrologueMap) -> String {
    if map.right == map.elements {
        return format!(
            "every element of {} is made of its own one: the conversion is wrong, not the place",
            map.writes
        );
    }
    let mut text = format!("of {} elements of {} {} are in place", map.elements, map.writes, map.right);
    for (count, what) in [
        (map.moved, "hold another one"),
        (map.unwritten, "are never written"),
        (map.foreign, "hold none of the source"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    if !map.moves.is_empty() {
        let moves = map.moves.iter().take(3);
        let moves = moves.map(|m| format!("({}, {}) holds ({}, {})", m.row, m.column, m.from_row, m.from_column));
        text.push_str(&format!(": {}", moves.collect::<Vec<_>>().join(", ")));
    }
    if map.permutation {
        text.push_str("; it is a permutation, no element is lost");
    }
    text
}

impl Before {
    /// The answer for the whole sequence, from that for the kernel alone.
    pub(super) fn answer(
        &self,
        kernel: Outcome,
        rungs: &[RungResult],
        contract: &Contract,
        notes: &mut Vec<String>,
    ) -> Outcome {
        if self.at_fault.is_empty() && self.confounds.is_empty() {
            return self.whole(kernel, rungs, contract);
        }
        let unfinished = |confounds: &[Confound]| confounds.iter().any(|c| c.kind == "host_crash");
        if self.at_fault.is_empty() {
            return match kernel {
                Outcome::NotReproduced | Outcome::Refuted { .. } => {
                    Outcome::Draft { confounds: self.confounds.clone() }
                }
                Outcome::Draft { mut confounds } => {
                    confounds.extend(self.confounds.iter().cloned());
                    Outcome::Draft { confounds }
                }
                other => {
                    notes.extend(self.confounds.iter().map(|confound| confound.text.clone()));
                    other
                }
            };
        }
        match &kernel {
            Outcome::Hang { .. } => return kernel,
            Outcome::Draft { confounds } if unfinished(confounds) => return kernel,
            Outcome::Draft { confounds } => {
                notes.extend(confounds.iter().map(|c| format!("of the kernel alone: {}", c.text)))
            }
            Outcome::Refuted { what } => notes.push(format!("of the kernel alone, {what} is refuted")),
            Outcome::NotReproduced | Outcome::Reproduced { .. } => {}
        }
        Outcome::Reproduced { verdict: Some(self.verdict(rungs)) }
    }

    fn verdict(&self, rungs: &[RungResult]) -> Verdict {
        let passed = rungs.iter().filter(|rung| rung.status == RungStatus::Pass).count();
        let kernel = if rungs.iter().any(RungResult::failed) {
            "the kernel fails by itself as well".to_owned()
        } else if passed > 0 {
            format!("given the right operands, the kernel is right on all {passed} rungs that ran")
        } else {
            "the kernel alone was not tried".to_owned()
        };
        let names: Vec<String> = self.at_fault.iter().map(|name| format!("`{name}`")).collect();
        let one = names.len() == 1;
        Verdict {
            stages: vec![Stage::Prologue],
            prologues: self.at_fault.clone(),
            classes: vec![],
            cause: format!(
                "{}, launched before the kernel, {} wrong what {} {}; {kernel}",
                names.join(" and "),
                if one { "leaves" } else { "leave" },
                if one { "it" } else { "they" },
                if one { "writes" } else { "write" },
            ),
            held_out: 0,
        }
    }

    /// No launch fails alone: does the whole?
    fn whole(&self, kernel: Outcome, rungs: &[RungResult], contract: &Contract) -> Outcome {
        let Some(failing) = self.interplay(rungs).first().copied() else { return kernel };
        if !matches!(kernel, Outcome::NotReproduced | Outcome::Refuted { .. }) {
            return kernel;
        }
        let assumed = assumption::assumed(failing, contract);
        if assumed.is_empty() {
            return Outcome::Reproduced { verdict: None };
        }
        let so = "the expectation of the whole sequence rests on that".to_owned();
        let assumed = assumed.into_iter().map(|(field, why)| (field, why, so.clone()));
        Outcome::Draft { confounds: assumption::confounds(assumed) }
    }

    /// Rungs that the whole fails and the kernel alone passes.
    fn interplay(&self, rungs: &[RungResult]) -> Vec<&RungResult> {
        let passes = |name: &str| rungs.iter().any(|rung| rung.name == name && rung.status == RungStatus::Pass);
        self.sequence.together.iter().filter(|rung| rung.failed() && passes(&rung.name)).collect()
    }

    /// What the whole shows beyond its parts.
    pub(super) fn beyond(&self, rungs: &[RungResult]) -> Option<String> {
        let failing = self.interplay(rungs);
        let first = failing.first()?;
        let names: Vec<String> = failing.iter().map(|rung| format!("`{}`", rung.name)).collect();
        let why = if self.sequence.alone.iter().any(PrologueResult::failed) {
            "as it must after that"
        } else {
            "though every launch is right alone: the kernel depends on storage that the contract does not name, or on what was launched before"
        };
        Some(format!("all launches together fail on {}, {why}: {}", names.join(", "), first.why))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{contract, events, rung};
    use super::super::{Context, ladder};
    use crate::model::{Event, Findings, Outcome, PrologueLines, PrologueResult, RungStatus, Stage};

    fn alone(rung: &str, wrong: u64, uniform: bool) -> Event {
        Event::Prologue(PrologueResult {
            name: "remap".into(),
            rung: rung.into(),
            writes: "residual".into(),
            status: if wrong == 0 { RungStatus::Pass } else { RungStatus::Fail },
            why: if wrong == 0 { String::new() } else { format!("{wrong} of 64 elements differ") },
            launches: 2,
            deterministic: true,
            uniform,
            elements: 64,
            wrong,
            unwritten: 0,
            guard_hits: 0,
            source_hits: 0,
            padding: 16,
            padding_written: 0,
            rows: PrologueLines { of: 16, count: 16, first: 0, last: 15 },
            columns: PrologueLines { of: 4, count: 2, first: 1, last: 2 },
            failures: vec![],
        })
    }

    fn judged(kernel: u64, before: Vec<Event>, together: u64, context: Context) -> crate::model::Answer {
        let mut list = events(vec![rung("ones", 0), rung("integers", kernel)]);
        let failed = before.iter().any(|e| matches!(e, Event::Prologue(r) if r.failed())) || kernel + together > 0;
        let end = Event::End { exit: i32::from(failed), passed: 0, failed: 0, skipped: 0 };
        list.pop();
        list.extend(before);
        list.push(Event::Sequence(rung("integers", together)));
        list.push(end);
        let context = Context { exit: Some(i32::from(failed)), ..context };
        ladder(&contract(), &Findings::default(), &list, None, &context).unwrap()
    }

    #[test]
    fn a_launch_before_the_kernel_takes_its_own_blame_and_no_other() {
        let permuted = || vec![alone("ones", 0, true), alone("integers", 32, false)];
        let answer = judged(0, permuted(), 7, Context::default());
        let Outcome::Reproduced { verdict: Some(verdict) } = &answer.outcome else { panic!("{:?}", answer.outcome) };
        assert_eq!(
            (verdict.stages.as_slice(), verdict.prologues.as_slice()),
            (&[Stage::Prologue][..], &["remap".to_owned()][..])
        );
        assert!(verdict.cause.contains("the kernel is right on all 2 rungs"), "{}", verdict.cause);
        let said = answer.evidence.join("\n");
        assert!(said.contains("in all 16 rows and columns 1 to 2 of 4"), "{said}");
        assert!(said.contains("uniform values of residual pass (`ones`), varied ones fail (`integers`)"), "{said}");
        // A wrong kernel behind a right launch.
        let right = || vec![alone("ones", 0, true), alone("integers", 0, false)];
        assert!(matches!(judged(3, right(), 3, Context::default()).outcome, Outcome::Reproduced { verdict: None }));
        // Both.
        let answer = judged(3, permuted(), 3, Context::default());
        let Outcome::Reproduced { verdict: Some(verdict) } = &answer.outcome else { panic!("{:?}", answer.outcome) };
        assert!(verdict.cause.contains("the kernel fails by itself as well"), "{}", verdict.cause);
    }

    #[test]
    fn padding_is_a_note_and_an_assumption_a_draft() {
        let right = || vec![alone("ones", 0, true), alone("integers", 0, false)];
        let answer = judged(0, right(), 0, Context::default());
        assert_eq!(answer.outcome, Outcome::NotReproduced);
        assert!(answer.notes.iter().any(|note| note.contains("0 of the 16 elements of padding")), "{:?}", answer.notes);
        let assumed =
            vec![("remap".to_owned(), "prologue remap.source.element".to_owned(), "nothing says it".to_owned())];
        let context = || Context { assumed_prologue: assumed.clone(), ..Context::default() };
        assert_eq!(judged(0, right(), 0, context()).outcome, Outcome::NotReproduced);
        let answer = judged(0, vec![alone("ones", 1, true)], 0, context());
        let Outcome::Draft { confounds } = &answer.outcome else { panic!("{:?}", answer.outcome) };
        assert!(confounds[0].text.starts_with("prologue remap.source.element is assumed"), "{confounds:?}");
    }

    #[test]
    fn a_whole_that_fails_without_a_faulty_part_names_none() {
        let answer = judged(0, vec![alone("integers", 0, false)], 5, Context::default());
        assert_eq!(answer.outcome, Outcome::Reproduced { verdict: None });
        assert!(answer.evidence[0].contains("every launch is right alone"), "{:?}", answer.evidence);
    }
}
