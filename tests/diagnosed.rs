//! From a contract and a failing ladder to a verdict, on outputs that are predicted for a fault.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use krepro::judge::diagnosis::knobs::{Knobs, SideKnobs};
use krepro::judge::diagnosis::target::{Sum, Target};
use krepro::judge::diagnosis::{Conclusion, Next, next};
use krepro::judge::{Context, diagnosed, ladder, oracle};
use krepro::model::{
    Accumulator, Answer, Contract, ElementType, EpilogueStep, Event, Fact, Findings, GatePairs, Major, Metrics,
    Operand, Origin, Outcome, OutputRole, Role, RungResult, RungStatus, Stage, Tile,
};
use krepro::report;
use krepro::selftest::{Defect, Device, Planted, predicted};

fn given<T>(value: T) -> Fact<T> {
    Fact::given(value, "test")
}

fn operand(role: Role, rows: u64, columns: u64) -> Operand {
    Operand {
        role: given(role),
        element: given(ElementType::Bf16),
        rows: given(rows),
        columns: given(columns),
        leading_dimension: given(columns),
        major: given(Major::K),
        layout: None,
        powers_of_two: false,
        binding: role.name().to_owned(),
    }
}

fn contract() -> Contract {
    Contract {
        m: given(16),
        n: given(80),
        k: given(256),
        accumulator: given(Accumulator::F32TensorCore),
        output: given(OutputRole::Out),
        padding_zero: given(false),
        epilogue: vec![
            given(EpilogueStep::Round { to: ElementType::Bf16 }),
            given(EpilogueStep::Add { operand: Role::Residual }),
            given(EpilogueStep::Round { to: ElementType::Bf16 }),
        ],
        operands: vec![
            operand(Role::A, 16, 256),
            operand(Role::B, 80, 256),
            operand(Role::Out, 16, 80),
            operand(Role::Residual, 16, 80),
        ],
        tile: Tile {
            k: Some(given(64)),
            n: Some(given(64)),
            m: Some(given(16)),
            stages: Some(given(3)),
            ..Tile::default()
        },
        split_k: None,
        groups: None,
    }
}

/// The ladder's answer with a failing rung, or with none.
fn answer(contract: &Contract, fails: bool) -> Answer {
    let rung = RungResult {
        name: "integers".into(),
        status: if fails { RungStatus::Fail } else { RungStatus::Pass },
        why: String::new(),
        launches: 2,
        deterministic: true,
        follows_shared: false,
        shared_filled: true,
        metrics: Some(Metrics { exact: true, elements: 1280, wrong: u64::from(fails), ..Metrics::default() }),
        failures: vec![],
        milliseconds: 0.0,
    };
    let exit = i32::from(fails);
    let end = Event::End { exit, passed: 1 - exit as u32, failed: exit as u32, skipped: 0 };
    let context = Context { exit: Some(exit), ..Context::default() };
    ladder(contract, &Findings::default(), &[Event::Rung(rung), end], None, &context).unwrap()
}

fn judged(contract: &Contract, knobs: &Knobs, fails: bool) -> Answer {
    let target = Target::new(contract).unwrap();
    let mut rounds = Vec::new();
    loop {
        match next(&target, 1, &rounds) {
            Next::Run(plan) => rounds.push(predicted(&target, &plan, knobs)),
            Next::Done(diagnosis) => return diagnosed(answer(contract, fails), contract, &diagnosis),
        }
    }
}

fn missing_block() -> Knobs {
    let slots = (0..256_u32).filter(|k| k / 64 != 2).map(|k| (k, k)).collect();
    Knobs { slots: Some(Arc::new(slots)), ..Knobs::default() }
}

fn transposed() -> Knobs {
    Knobs { b: SideKnobs { affine: Some((1, 80, 0)), ..SideKnobs::default() }, ..Knobs::default() }
}

#[test]
fn a_missing_block_of_k_is_a_verdict_with_its_place() {
    let answer = judged(&contract(), &missing_block(), true);
    let Outcome::Reproduced { verdict: Some(verdict) } = &answer.outcome else { panic!("{answer:?}") };
    assert_eq!(
        (verdict.stages.as_slice(), verdict.classes.as_slice()),
        ([Stage::OperandLoad, Stage::MmaAccumulate].as_slice(), ["K_BLOCK_MISSING".to_owned()].as_slice())
    );
    assert!(verdict.cause.contains("k from 128 to 192") && verdict.held_out >= 3 * 1280, "{verdict:?}");
    let text = report::text(&answer);
    assert!(text.contains("VERDICT: operand load or MMA accumulate, K_BLOCK_MISSING"), "{text}");
    assert!(
        text.contains("is summed 0") && text.contains("accumulation alone: every scale 1, nothing added: WRONG"),
        "{text}"
    );
    assert!(text.contains("Smallest failing set") && text.contains("8 products (k from 128 to 135)"), "{text}");
    assert!(text.contains("k from 128 to 192 is summed 0 times"), "{text}");
    assert_eq!(answer.structure.unwrap().pattern.split(':').next(), Some("uniform"));
}

#[test]
fn a_class_that_contradicts_an_assumed_field_is_a_draft() {
    let mut assumed = contract();
    assumed.operands[1].major.origin = Origin::Assumed { why: "weights are usually row-major".into() };
    let Outcome::Draft { confounds } = judged(&assumed, &transposed(), true).outcome else { panic!() };
    assert!(
        confounds.iter().any(|c| c.text.contains("b.major is assumed") && c.text.contains("TRANSPOSED_OPERAND")),
        "{confounds:?}"
    );
    let answer = judged(&contract(), &transposed(), true);
    assert!(matches!(answer.outcome, Outcome::Reproduced { verdict: Some(_) }));
}

/// The classes that are named where the launches of a probe follow different faults.
fn of_launches(contract: &Contract, knobs: impl Fn(u32) -> Knobs) -> (Vec<String>, String) {
    let target = Target::new(contract).unwrap();
    let mut rounds = Vec::new();
    let diagnosis = loop {
        match next(&target, 1, &rounds) {
            Next::Run(plan) => {
                let each: Vec<_> = (0..4).map(|launch| predicted(&target, &plan, &knobs(launch))).collect();
                let of = |index: usize| each[each[0][index].launch as usize][index].clone();
                rounds.push((0..each[0].len()).map(of).collect());
            }
            Next::Done(diagnosis) => break diagnosis,
        }
    };
    let answer = diagnosed(answer(contract, true), contract, &diagnosis);
    let Outcome::Reproduced { verdict: Some(verdict) } = &answer.outcome else { panic!("{answer:?}") };
    assert_eq!(verdict.stages, [Stage::Synchronisation]);
    (verdict.classes.clone(), report::text(&answer))
}

#[test]
fn what_a_launch_leaves_behind_is_no_race() {
    let faulty = |yes: bool| if yes { missing_block() } else { Knobs::default() };
    let (classes, text) = of_launches(&contract(), |launch| faulty(launch > 0));
    assert_eq!(classes, ["STATE_LEFT_BEHIND"]);
    assert!(text.contains("is not reset") && !text.contains("predicts the wrong output"), "{text}");
    // Who reads too early finds what an equal launch left as well.
    assert_eq!(of_launches(&contract(), |launch| faulty(launch == 0)).0, ["RACE", "STATE_LEFT_BEHIND"]);
    assert_eq!(of_launches(&contract(), |launch| faulty(launch % 2 == 1)).0, ["RACE"]);
}

#[test]
fn an_output_type_without_a_spare_nan_is_launched_twice() {
    let mut narrow = contract();
    narrow.operands[2].element = given(ElementType::S8);
    narrow.epilogue = vec![given(EpilogueStep::Round { to: ElementType::S8 })];
    narrow.operands.truncate(3);
    let Next::Run(plan) = next(&Target::new(&narrow).unwrap(), 1, &[]) else { panic!("no probes") };
    assert!(plan.probes.len() > 8 && plan.probes.iter().all(|probe| probe.launches >= 2), "{plan:?}");
}

#[test]
fn no_plan_is_empty_where_nothing_can_be_mapped() {
    let mut gated = contract();
    gated.epilogue = vec![
        given(EpilogueStep::SiluGate { pairs: GatePairs::Halves }),
        given(EpilogueStep::Round { to: ElementType::Bf16 }),
    ];
    gated.operands.truncate(3);
    gated.operands[1].rows = given(160);
    let target = Target::new(&gated).unwrap();
    let mut rounds = Vec::new();
    let diagnosis = loop {
        match next(&target, 1, &rounds) {
            Next::Run(plan) => {
                assert!(!plan.probes.is_empty());
                let mut launches = predicted(&target, &plan, &missing_block());
                launches.iter_mut().for_each(|launch| launch.storage[7] ^= 3);
                rounds.push(launches);
            }
            Next::Done(diagnosis) => break diagnosis,
        }
    };
    assert!(matches!(diagnosis.conclusion, Conclusion::Open { .. }), "{:?}", diagnosis.conclusion);
    let answer = diagnosed(answer(&gated, true), &gated, &diagnosis);
    assert!(answer.notes.iter().any(|note| note.starts_with("diagnosis: ")), "{:?}", answer.notes);
}

#[test]
fn probes_that_all_agree_are_evidence_and_change_nothing() {
    let answer = judged(&contract(), &Knobs::default(), false);
    assert_eq!(answer.outcome, Outcome::NotReproduced);
    assert!(answer.evidence.iter().any(|e| e.contains("bit for bit")));
    assert!(answer.structure.is_none());
}

#[test]
fn a_fault_that_the_ladder_has_not_seen_is_reproduced_by_the_probes() {
    let answer = judged(&contract(), &missing_block(), false);
    assert!(matches!(answer.outcome, Outcome::Reproduced { verdict: Some(_) }));
}

/// The contract's target, with rows of the output further apart.
fn spaced(leading: u64) -> Target {
    let mut other = contract();
    other.operands[2].leading_dimension = given(leading);
    other.operands[3].leading_dimension = given(leading);
    Target::new(&other).unwrap()
}

#[test]
fn another_kernel_is_compared_element_by_element() {
    let (own, other) = (spaced(80), spaced(96));
    let run = |target: &Target, knobs: &Knobs| predicted(target, &oracle::plan(&own, 3), knobs);
    let right = run(&other, &Knobs::default());
    let same = oracle::beside(&own, 3, &run(&own, &Knobs::default()), &right, &other);
    assert!(same.len() >= 5 && same.iter().all(|r| r.against.wrong == 0), "{same:?}");
    assert!(oracle::says("x", &same).contains("bit for bit"));
    let differ = oracle::beside(&own, 3, &run(&own, &missing_block()), &right, &other);
    assert!(oracle::says("x", &differ).contains("the kernel of x is right on all"), "{}", oracle::says("x", &differ));
    let both = oracle::beside(&own, 3, &run(&own, &missing_block()), &run(&other, &missing_block()), &other);
    assert!(oracle::says("x", &both).contains("look at the contract"));
    assert_eq!(oracle::unlike(&own, &other), None);
    let mut longer = contract();
    longer.k = given(512);
    longer.operands[0].columns = given(512);
    longer.operands[1].columns = given(512);
    assert!(oracle::unlike(&own, &Target::new(&longer).unwrap()).unwrap().contains("shape"));
}

/// fp8 operands and nothing beside them, on sm_90.
fn fp8(promotion: Option<u64>) -> Contract {
    let mut fp8 = contract();
    fp8.operands[0].element = given(ElementType::E4m3);
    fp8.operands[1].element = given(ElementType::E4m3);
    fp8.accumulator = given(Accumulator::Fp8Hopper);
    fp8.tile.promotion = promotion.map(given);
    fp8.epilogue.truncate(1);
    fp8.operands.truncate(3);
    fp8
}

/// fp8 without the promotion that the contract promises: a fault of the kernel, of which the hardware's share is named.
#[test]
fn unpromoted_sums_under_a_promise_are_a_class_and_the_hardwares_share_is_named() {
    let fp8 = fp8(Some(64));
    let answer = judged(&fp8, &Knobs { sum: Sum::Hopper, ..Knobs::default() }, true);
    let Outcome::Reproduced { verdict: Some(verdict) } = &answer.outcome else { panic!("{answer:?}") };
    assert_eq!(
        (verdict.stages.as_slice(), verdict.classes.as_slice()),
        ([Stage::MmaAccumulate].as_slice(), ["ACC_NOT_PROMOTED".to_owned()].as_slice())
    );
    let note = "known hardware numerics: the tensor core of sm_90 keeps 13 fraction bits of an fp8 sum";
    assert!(answer.notes.iter().any(|told| told.starts_with(note)), "{:?}", answer.notes);
    // A width that no class has: no verdict, and the note says where to look.
    let open = judged(&fp8, &Knobs { sum: Sum::Cut(13), ..Knobs::default() }, true);
    assert_eq!(open.outcome, Outcome::Reproduced { verdict: None });
    assert!(
        open.notes.iter().any(|n| n.starts_with(note) && n.contains("look at the promotion first")),
        "{:?}",
        open.notes
    );
}

/// What only poison beyond k shows, where zero is promised there, is a note and the answer stays.
#[test]
fn a_dependence_on_initialised_padding_is_a_note() {
    let mut padded = contract();
    padded.k = given(200);
    padded.padding_zero = given(true);
    for (index, leading) in [(0, 256), (1, 256)] {
        padded.operands[index].columns = given(200);
        padded.operands[index].leading_dimension = given(leading);
    }
    let told = |contract: &Contract| {
        let target = Target::new(contract).unwrap();
        let garbage = Planted { defect: Defect::KTailGarbage, sides: (true, true), number: 0, tile: (0, 0) };
        let mut device = Device::new(target.clone(), 64, vec![garbage], 5);
        let mut rounds = Vec::new();
        loop {
            match next(&target, 1, &rounds) {
                Next::Run(plan) => rounds.push(device.run(&plan)),
                Next::Done(diagnosis) => return diagnosed(answer(contract, false), contract, &diagnosis),
            }
        }
    };
    let clean = told(&padded);
    assert_eq!(clean.outcome, Outcome::NotReproduced);
    let note = "depends on initialised padding: ";
    let notes: Vec<_> = clean.notes.iter().filter(|told| told.starts_with(note)).collect();
    assert!(notes.len() == 1 && notes[0].ends_with("promises zero there, so this is no defect"), "{:?}", clean.notes);
    padded.padding_zero = given(false);
    let wrong = told(&padded);
    assert!(matches!(wrong.outcome, Outcome::Reproduced { .. }), "{wrong:?}");
    assert!(!wrong.notes.iter().any(|told| told.starts_with(note)));
}

/// A right kernel: the parts are right, and what this contract hides is listed by class.
#[test]
fn a_clean_diagnosis_lists_what_it_could_not_see() {
    let answer = judged(&fp8(None), &Knobs::default(), false);
    assert_eq!(answer.outcome, Outcome::NotReproduced);
    let hidden = &answer.scope.unobservable[0];
    assert!(hidden.starts_with("at this shape and with these operands: ACC_NOT_PROMOTED"), "{hidden}");
    assert!(!answer.scope.unobservable.iter().any(|line| line.contains("--diagnose always")));
    let part = |right| answer.details.isolation.iter().filter(|part| part.right == right).count();
    assert!(part(Some(true)) >= 4 && part(Some(false)) == 0, "{:?}", answer.details);
}
