//! Every way to an answer.

use super::fixture::{contract, events, failure, rung};
use super::{Backend, Context, NoAnswer, ladder};
use crate::exit::Exit;
use crate::model::{
    Answer, Claim, Contract, Event, Fact, Finding, Findings, Metrics, Number, Origin, Outcome, RungResult, RungStatus,
    Stage, Weight,
};

fn clean() -> Vec<RungResult> {
    ["ones", "integers", "one_hot.a", "one_hot.b", "gaussian"].map(|name| rung(name, 0)).to_vec()
}

fn with(failing: &[&str]) -> Vec<RungResult> {
    clean().into_iter().map(|r| if failing.contains(&r.name.as_str()) { rung(&r.name, 9) } else { r }).collect()
}

fn context(exit: i32) -> Context {
    Context { exit: Some(exit), ..Context::default() }
}

fn judge(contract: &Contract, rungs: Vec<RungResult>, claim: Option<Claim>) -> Answer {
    let exit = i32::from(rungs.iter().any(RungResult::failed));
    ladder(contract, &Findings::default(), &events(rungs), claim, &context(exit)).unwrap()
}

fn s09() -> Findings {
    let finding = Finding {
        code: "K-S09".into(),
        weight: Weight::Predict,
        message: "tma_a delivers 2048 bytes to a barrier that awaits 4096".into(),
        places: vec![],
        consequence: "the consumer waits for ever".into(),
        help: vec![],
        at: None,
    };
    Findings { findings: vec![finding], skipped: vec![] }
}

fn hang() -> Vec<Event> {
    let mut list = events(vec![]);
    list.pop();
    list.push(Event::Hang {
        rung: "ones".into(),
        deadline_s: 10.0,
        backtrace: "#0 wait (bar=0x1) at linear.cuh:212".into(),
        command: String::new(),
    });
    list.push(Event::End { exit: 4, passed: 0, failed: 0, skipped: 0 });
    list
}

fn exit(answer: &Answer) -> Exit {
    Exit::from(&answer.outcome)
}

#[test]
fn no_claim_and_no_failure_is_not_reproduced_and_never_refuted() {
    let answer = judge(&contract(), clean(), None);
    assert_eq!((answer.outcome, answer.evidence.len()), (Outcome::NotReproduced, 1));
    assert!(answer.next.step.contains("--observed"));
    assert!(answer.scope.unobservable.iter().any(|u| u.contains("races")));
}

#[test]
fn a_claim_that_the_figures_contradict_is_refuted() {
    let given = Context { production_inputs: true, ..context(0) };
    for claim in ["ratio=10", "nan", "rel_l2=0.3", "max_abs=30000", "zeros=0.5"] {
        let mut rungs = clean();
        rungs.push(rung("real", 0));
        let parsed = Some(claim.parse().unwrap());
        let answer = ladder(&contract(), &Findings::default(), &events(rungs), parsed, &given).unwrap();
        assert_eq!(answer.outcome, Outcome::Refuted { what: claim.to_owned() }, "{claim}");
        assert_eq!(exit(&answer), Exit::Success);
    }
}

#[test]
fn what_depends_on_productions_values_is_not_refuted_by_other_values() {
    for claim in ["nan", "rel_l2=0.3", "max_abs=30000", "zeros=0.5"] {
        let answer = judge(&contract(), clean(), Some(claim.parse().unwrap()));
        assert_eq!(answer.outcome, Outcome::NotReproduced, "{claim}");
        assert!(answer.notes.iter().any(|n| n.contains("give all of them with --input")), "{:?}", answer.notes);
    }
    let ratio = judge(&contract(), clean(), Some(Claim::Ratio(10.0)));
    assert_eq!(ratio.outcome, Outcome::Refuted { what: "ratio=10".to_owned() });
    let hang = judge(&contract(), clean(), Some(Claim::Hang));
    assert_eq!(hang.outcome, Outcome::NotReproduced);
}

#[test]
fn a_part_of_the_ladder_refutes_nothing() {
    let part = Context { chosen: vec!["ones".into()], production_inputs: true, ..context(0) };
    for claim in ["ratio=10", "nan", "hang", "rel_l2=0.3"] {
        let events = events(vec![rung("ones", 0)]);
        let answer = ladder(&contract(), &Findings::default(), &events, Some(claim.parse().unwrap()), &part).unwrap();
        assert_eq!(answer.outcome, Outcome::NotReproduced, "{claim}");
        assert!(answer.notes.iter().any(|n| n.contains("needs the whole ladder")), "{:?}", answer.notes);
    }
}

#[test]
fn a_crash_under_an_assumed_launch_is_a_draft_that_names_the_fact() {
    let crash = || {
        let mut list = events(vec![]);
        list.pop();
        list.push(Event::CudaError {
            call: "cudaDeviceSynchronize".into(),
            code: 700,
            name: "cudaErrorIllegalAddress".into(),
            text: "an illegal memory access was encountered".into(),
            rung: "ones".into(),
        });
        list.push(Event::End { exit: 1, passed: 0, failed: 0, skipped: 0 });
        list
    };
    let assumed = vec![("launch.shared_memory".to_owned(), "nothing says it".to_owned())];
    let guessed = Context { assumed_launch: assumed, ..context(1) };
    let answer = ladder(&contract(), &Findings::default(), &crash(), None, &guessed).unwrap();
    let Outcome::Draft { confounds } = &answer.outcome else { panic!("{answer:?}") };
    assert!(confounds[0].text.starts_with("launch.shared_memory is assumed (nothing says it)"));
    let known = ladder(&contract(), &Findings::default(), &crash(), None, &context(1)).unwrap();
    assert_eq!(known.outcome, Outcome::Reproduced { verdict: None });
}

#[test]
fn wrong_elements_under_an_assumed_grid_or_block_are_a_draft() {
    let wrong = || events(vec![rung("ones", 3)]);
    for (field, draft) in [("launch.grid", true), ("launch.threads", true), ("launch.shared_memory", false)] {
        let assumed = vec![(field.to_owned(), "nothing says it".to_owned())];
        let guessed = Context { assumed_launch: assumed, ..context(1) };
        let answer = ladder(&contract(), &Findings::default(), &wrong(), None, &guessed).unwrap();
        let named = matches!(&answer.outcome, Outcome::Draft { confounds } if confounds.iter().any(|c| c.text.starts_with(field)));
        assert_eq!(named, draft, "{field}: {answer:?}");
    }
}

#[test]
fn a_claim_within_the_resolution_or_without_its_inputs_stays_open() {
    for claim in ["ratio=1.001", "rel_l2=0.002", "max_abs=3", "nondeterministic"] {
        let answer = judge(&contract(), clean(), Some(claim.parse().unwrap()));
        assert_eq!(answer.outcome, Outcome::NotReproduced, "{claim}");
        assert!(answer.notes.iter().any(|n| n.contains("stays open")));
    }
    let exact_only = vec![rung("ones", 0)];
    assert_eq!(judge(&contract(), exact_only, Some(Claim::RelL2(0.3))).outcome, Outcome::NotReproduced);
}

#[test]
fn a_failing_rung_is_reproduced_whatever_was_claimed() {
    for claim in [None, Some(Claim::Ratio(10.0))] {
        let answer = judge(&contract(), with(&["integers"]), claim);
        assert_eq!(answer.outcome, Outcome::Reproduced { verdict: None });
        assert_eq!(exit(&answer), Exit::Wrong);
    }
}

#[test]
fn over_count_is_told_in_terms_of_k() {
    let mut rungs = clean();
    rungs[0] =
        RungResult { failures: vec![failure(0, 0, 144.0, 128.0), failure(0, 1, 144.0, 128.0)], ..rung("ones", 1024) };
    let answer = judge(&contract(), rungs, None);
    assert!(answer.evidence[0].contains("the sum has 144 terms of 128"), "{:?}", answer.evidence);
    assert_eq!(answer.hints, [Stage::MmaAccumulate]);
}

#[test]
fn unwritten_elements_point_at_the_store() {
    let mut rungs = with(&["ones"]);
    rungs[0].metrics = Some(Metrics { unwritten: 9, ..rungs[0].metrics.unwrap() });
    let answer = judge(&contract(), rungs, None);
    assert_eq!(answer.hints, [Stage::Store]);
    assert!(answer.evidence[0].contains("9 of 1024 elements are never written"));
}

#[test]
fn a_rung_that_fails_only_under_an_assumed_field_is_a_draft_that_names_it() {
    let mut assumed = contract();
    let residual = assumed.operands.last_mut().unwrap();
    residual.role.origin = Origin::Assumed { why: "the last input is m × n".into() };
    let answer = judge(&assumed, with(&["integers"]), None);
    let Outcome::Draft { confounds } = &answer.outcome else { panic!("{answer:?}") };
    assert!(confounds[0].text.contains("residual.role is assumed (the last input is m × n)"));
    assert_eq!((exit(&answer), answer.next.step.contains("repro.toml")), (Exit::Draft, true));
}

#[test]
fn an_assumed_rounding_point_does_not_excuse_a_rung_that_needs_no_rounding() {
    let mut assumed = contract();
    assumed.epilogue[0].origin = Origin::Assumed { why: "convention".into() };
    assert!(matches!(judge(&assumed, with(&["gaussian"]), None).outcome, Outcome::Draft { .. }));
    for name in ["ones", "one_hot.a"] {
        assert!(matches!(judge(&assumed, with(&[name]), None).outcome, Outcome::Reproduced { .. }), "{name}");
    }
}

#[test]
fn poisoned_padding_excuses_only_what_poison_can_cause() {
    let mut assumed = contract();
    assumed.padding_zero = Fact::assumed(false, "nothing is said");
    let finite = judge(&assumed, with(&["integers"]), None);
    assert!(matches!(finite.outcome, Outcome::Reproduced { .. }));
    let mut rungs = with(&["integers"]);
    rungs[1].metrics = Some(Metrics { non_finite: 9, ..rungs[1].metrics.unwrap() });
    let Outcome::Draft { confounds } = judge(&assumed, rungs, None).outcome else { panic!() };
    assert!(confounds[0].text.starts_with("padding_zero"));
}

#[test]
fn a_hang_has_a_cause_only_from_bytes() {
    let named = ladder(&contract(), &s09(), &hang(), None, &context(4)).unwrap();
    assert!(matches!(&named.outcome, Outcome::Hang { cause, .. } if cause.contains("awaits 4096")));
    assert!(named.evidence[1].contains("linear.cuh:212"));
    let unnamed = ladder(&contract(), &Findings::default(), &hang(), Some(Claim::Hang), &context(4)).unwrap();
    assert_eq!((exit(&named), exit(&unnamed)), (Exit::Hang, Exit::Draft));
}

#[test]
fn the_emitted_types_descriptor_is_the_reproducers_affair() {
    let context = |exit| Context { type_descriptors: vec!["tma_a".into()], ..context(exit) };
    for (events, code) in [(hang(), 4), (events(with(&["ones"])), 1)] {
        let answer = ladder(&contract(), &s09(), &events, None, &context(code)).unwrap();
        let Outcome::Draft { confounds } = &answer.outcome else { panic!("{answer:?}") };
        assert!(confounds[0].text.contains("tma_a"));
    }
}

#[test]
fn a_predicted_defect_is_never_a_clean_pass() {
    let answer = ladder(&contract(), &s09(), &events(clean()), None, &context(0)).unwrap();
    assert_eq!(exit(&answer), Exit::Draft);
}

#[test]
fn a_stand_in_for_a_missing_gpu_decides_nothing() {
    let run = |backend, rungs: Vec<RungResult>, code| {
        let context = Context { backend, arch_validated: false, ..context(code) };
        ladder(&contract(), &Findings::default(), &events(rungs), None, &context).unwrap()
    };
    assert_eq!(exit(&run(Backend::CpuFallback, clean(), 0)), Exit::Draft);
    assert_eq!(exit(&run(Backend::CpuFallback, with(&["ones"]), 1)), Exit::Draft);
    let asked = run(Backend::CpuAsked, with(&["ones"]), 1);
    assert_eq!((exit(&asked), asked.scope.marks.len()), (Exit::Wrong, 2));
}

fn replay(same: bool, run_wrong: u64, production_wrong: u64, real_wrong: u64, claim: Option<Claim>) -> Outcome {
    let mut rungs = clean();
    rungs.push(rung("real", real_wrong));
    let code = i32::from(real_wrong > 0);
    let mut list = events(rungs);
    let metrics = |wrong| Metrics { wrong, elements: 1024, ..Metrics::default() };
    let event =
        Event::Observed { rung: "real".into(), same, run: metrics(run_wrong), production: metrics(production_wrong) };
    list.insert(list.len() - 1, event);
    ladder(&contract(), &Findings::default(), &list, claim, &context(code)).unwrap().outcome
}

#[test]
fn productions_output_decides() {
    assert!(matches!(replay(true, 0, 9, 9, None), Outcome::Reproduced { .. }));
    assert!(matches!(replay(false, 9, 9, 0, None), Outcome::Refuted { .. }));
    assert!(matches!(replay(false, 9, 9, 9, None), Outcome::Draft { .. }));
    assert!(matches!(replay(false, 9, 0, 9, None), Outcome::Draft { .. }));
    assert!(matches!(replay(true, 0, 0, 0, None), Outcome::NotReproduced));
    assert!(matches!(replay(true, 0, 0, 0, Some(Claim::Ratio(10.0))), Outcome::Refuted { .. }));
}

/// A run that is wrong on its real rung, and on `others` too, against a wrong output of production.
fn wrong_replay(run: Metrics, deterministic: bool, real_wrong: u64, others: &[&str]) -> Outcome {
    let mut rungs = with(others);
    rungs.push(RungResult { deterministic, ..rung("real", real_wrong) });
    let mut list = events(rungs);
    let production = Metrics { wrong: 9, elements: 1024, ..Metrics::default() };
    list.insert(list.len() - 1, Event::Observed { rung: "real".into(), same: false, run, production });
    ladder(&contract(), &Findings::default(), &list, None, &context(1)).unwrap().outcome
}

#[test]
fn unwritten_elements_and_a_race_do_not_hide_that_the_kernel_is_the_one() {
    let run = |wrong, unwritten| Metrics { wrong, unwritten, elements: 1024, ..Metrics::default() };
    assert!(matches!(wrong_replay(run(64, 64), true, 64, &[]), Outcome::Reproduced { .. }));
    assert!(matches!(wrong_replay(run(65, 64), true, 65, &[]), Outcome::Draft { .. }));
    assert!(matches!(wrong_replay(run(9, 0), false, 9, &[]), Outcome::Reproduced { .. }));
}

#[test]
fn a_kernel_that_is_wrong_on_other_inputs_is_not_cleared_by_the_right_output_on_these() {
    let run = Metrics { wrong: 9, elements: 1024, ..Metrics::default() };
    assert!(matches!(wrong_replay(run, true, 0, &["ones"]), Outcome::Draft { .. }));
}

#[test]
fn a_crash_is_reproduced_and_an_unfit_device_is_no_answer() {
    let crash = |rung: &str| Event::CudaError {
        call: "cudaDeviceSynchronize()".into(),
        code: 700,
        name: "cudaErrorIllegalAddress".into(),
        text: "an illegal memory access was encountered".into(),
        rung: rung.into(),
    };
    let crashed = ladder(&contract(), &Findings::default(), &[crash("ones")], None, &context(1)).unwrap();
    assert_eq!(exit(&crashed), Exit::Wrong);
    let unfit = ladder(&contract(), &Findings::default(), &[crash("")], None, &context(125)).unwrap_err();
    assert!(matches!(&unfit, NoAnswer::CannotTest(text) if text.contains("cudaErrorIllegalAddress")));
    assert_eq!(unfit.exit(), Exit::CannotTest);
}

#[test]
fn the_executable_and_krepro_must_agree() {
    let bug = |rungs, code| {
        ladder(&contract(), &Findings::default(), &events(rungs), None, &context(code)).unwrap_err().exit()
    };
    assert_eq!(bug(with(&["ones"]), 0), Exit::Bug);
    assert_eq!(bug(clean(), 1), Exit::Bug);
    let mut passed = clean();
    passed[4].metrics = Some(Metrics { max_err_over_tol: Number(1.5), ..passed[4].metrics.unwrap() });
    assert_eq!(bug(passed, 0), Exit::Bug);
}

#[test]
fn nothing_compared_or_cut_short_is_a_draft() {
    let skipped: Vec<_> =
        clean().into_iter().map(|r| RungResult { status: RungStatus::Skip, metrics: None, ..r }).collect();
    assert_eq!(exit(&judge(&contract(), skipped, Some(Claim::Nan))), Exit::Draft);
    let mut cut = events(clean());
    cut.pop();
    let killed = Context { exit: None, ..Context::default() };
    assert_eq!(exit(&ladder(&contract(), &Findings::default(), &cut, None, &killed).unwrap()), Exit::Draft);
}

#[test]
fn every_answer_has_a_next_step_and_its_gate() {
    for answer in [
        judge(&contract(), clean(), None),
        judge(&contract(), clean(), Some(Claim::Ratio(10.0))),
        judge(&contract(), with(&["gaussian"]), None),
        ladder(&contract(), &Findings::default(), &hang(), None, &context(4)).unwrap(),
    ] {
        let next = &answer.next;
        assert!([&next.step, &next.shows, &next.gate].iter().all(|text| text.len() > 10), "{next:?}");
    }
}

#[test]
fn a_refuted_ratio_explains_the_reading_of_rows_that_are_none() {
    let mut contract = contract();
    contract.m = Fact::given(5, "test");
    contract.tile.m = Some(Fact::given(16, "test"));
    let answer = judge(&contract, clean(), Some(Claim::Ratio(10.0)));
    assert_eq!(exit(&answer), Exit::Success);
    assert!(answer.notes.iter().any(|n| n.contains("rows 5 to 15 of the last tile are no rows")), "{:?}", answer.notes);
    assert!(answer.notes.iter().any(|n| n.contains("mixes layers")));
    let mut read = |tile: Option<u64>| {
        contract.tile.m = tile.map(|tile| Fact::given(tile, "test"));
        judge(&contract, clean(), Some(Claim::Ratio(10.0))).notes.concat()
    };
    assert!(read(Some(5)).contains("here 5 rows fill their tiles"));
    assert!(read(None).contains("how many rows a tile has is not known"));
    // A claim of a magnitude that stays open is explained as well.
    let open = judge(&contract, clean(), Some(Claim::MaxAbs(30.0)));
    assert!(open.notes.iter().any(|n| n.contains("what can read as max_abs=30: a trace over all")), "{:?}", open.notes);
    let hang = judge(&contract, clean(), Some(Claim::Hang));
    assert!(!hang.notes.iter().any(|n| n.contains("rows 5 to 15")));
}

/// Layouts that are assumed and that integers and one-hot operands bear out are not named beside the accumulator.
#[test]
fn a_draft_names_what_no_passing_rung_bears_out() {
    let assumed = || {
        let mut contract = contract();
        contract.accumulator.origin = Origin::Assumed { why: "the wider".into() };
        // a, b and the output; what is added may be small where integers are.
        for operand in &mut contract.operands[..3] {
            operand.major.origin = Origin::Assumed { why: "as usual".into() };
            operand.leading_dimension.origin = Origin::Assumed { why: "dense".into() };
        }
        contract
    };
    let fields = |failing: &[&str]| {
        let Outcome::Draft { confounds } = judge(&assumed(), with(failing), None).outcome else {
            panic!("{failing:?}")
        };
        confounds.into_iter().flat_map(|confound| confound.fields).collect::<Vec<_>>()
    };
    assert_eq!(fields(&["gaussian"]), ["accumulator"]);
    // Where they fail too, nothing is borne out.
    let all = fields(&["integers", "one_hot.a", "one_hot.b", "gaussian"]);
    assert!(["accumulator", "a.major", "out.leading_dimension"].iter().all(|f| all.iter().any(|x| x == f)), "{all:?}");
}

/// Each reason for a draft is said, and has a step of its own.
#[test]
fn every_draft_says_why_and_what_to_do() {
    let drawn = |findings: &Findings, events: &[Event], context: &Context| {
        let answer = ladder(&contract(), findings, events, None, context).unwrap();
        let Outcome::Draft { confounds } = &answer.outcome else { panic!("{answer:?}") };
        (confounds[0].kind.clone(), confounds[0].text.clone(), answer.next.step.clone())
    };
    let none = Findings::default();
    let fallback = Context { backend: Backend::CpuFallback, ..context(0) };
    let types = Context { type_descriptors: vec!["tma_a".into()], ..context(1) };
    let skipped: Vec<_> =
        clean().into_iter().map(|r| RungResult { status: RungStatus::Skip, metrics: None, ..r }).collect();
    let mut cut = events(clean());
    cut.pop();
    let killed = Context { exit: None, ..Context::default() };
    for ((kind, text, step), expected) in [
        (drawn(&none, &events(clean()), &fallback), ["emulated", "stood in because no GPU was found", "on a GPU"]),
        (drawn(&none, &events(with(&["ones"])), &types), ["type_descriptor", "tma_a", "--descriptor production"]),
        (drawn(&none, &hang(), &context(4)), ["unknown_hang", "a scheduler, a peer or a grid barrier", "cuda-gdb"]),
        (drawn(&none, &events(skipped), &context(0)), ["degenerate", "no rung compared an element", "--rung"]),
        (drawn(&none, &cut, &killed), ["host_crash", "a signal ended the executable", "--rung"]),
        (drawn(&s09(), &events(clean()), &context(0)), ["predicted", "did not show", "--launches 50"]),
    ] {
        let [of, why, next] = expected;
        assert!(kind == of && text.contains(why) && step.contains(next), "{expected:?}: {kind}: {text}: {step}");
    }
}

#[test]
fn unpromoted_fp8_sums_are_named_as_the_hardwares_arithmetic() {
    let mut fp8 = contract();
    fp8.accumulator = Fact::given(crate::model::Accumulator::Fp8Hopper, "test");
    let note = |contract: &Contract| {
        let answer = judge(contract, clean(), None);
        assert_eq!(answer.outcome, Outcome::NotReproduced);
        answer.notes.iter().any(|note| note.starts_with("known hardware numerics") && note.contains("13 fraction bits"))
    };
    assert!(note(&fp8) && !note(&contract()));
    fp8.tile.promotion = Some(Fact::given(64, "test"));
    assert!(!note(&fp8));
}
