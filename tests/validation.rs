//! The diagnosis against the structural simulator, within what a normal test run affords; `krepro selftest --full` does more.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use krepro::judge::diagnosis::target::{BlockScale, Index, Side, Splits, Step, Target, Tensor};
use krepro::judge::diagnosis::{Conclusion, Next, next, rounding_to};
use krepro::model::{ElementType, Plan, RawLaunch, Stage};
use krepro::selftest::{Defect, Device, Outcome, Planted, Set, diagnose, is_failure, many, peers, run};

#[test]
fn correct_contracts_are_never_called_wrong() {
    for row in many(Set::Correct, 11, 8, 2) {
        assert_eq!(row.outcome, Outcome::Clean, "{} {}", row.element, row.said);
    }
}

#[test]
fn planted_defects_are_named_or_left_open_and_never_called_right() {
    let rows = many(Set::Catalogue, 12, 12, 2);
    for row in &rows {
        assert!(!is_failure(row.outcome), "{} {} {:?} {}", row.planted, row.element, row.outcome, row.said);
    }
    let observable = rows.iter().filter(|row| row.outcome != Outcome::Unobservable).count();
    let unique = rows.iter().filter(|row| row.outcome == Outcome::Unique).count();
    assert!(unique * 10 >= observable * 9, "{unique} of {observable}");
}

#[test]
fn what_the_dictionary_has_not_never_gets_a_wrong_stage() {
    for (set, count) in [(Set::Foreign, 3), (Set::Double, 2)] {
        for row in many(set, 13, count, 2) {
            assert!(!is_failure(row.outcome), "{} {} {:?} {}", row.planted, row.element, row.outcome, row.said);
        }
    }
}

/// Activations and their gates, beta, split sums and groups: each with a fault of its own.
#[test]
fn faults_of_activations_splits_and_groups_are_named() {
    let planted =
        [Defect::ActOther, Defect::GateActsOnBoth, Defect::BetaOnSum, Defect::SplitInBf16, Defect::GroupOffset];
    for defect in planted {
        let row = run(Set::Catalogue, 14, 1, Some(defect));
        assert!(
            matches!(row.outcome, Outcome::Unique | Outcome::Among),
            "{} {:?} {}",
            row.planted,
            row.outcome,
            row.said
        );
    }
}

/// A read beyond k that only poison shows is no defect where zero is promised there, and one where it is not.
#[test]
fn a_dependence_on_initialised_padding_is_told_and_no_defect() {
    let side = |rows| Side { scale: None, element: ElementType::Bf16, leading: 96, tile: 16, rows, ..nvfp4().a };
    let target = |padding_zero| Target {
        k: 72,
        a: side(17),
        b: side(20),
        out_leading: 20,
        tile_k: 32,
        instruction_k: 16,
        splits: Splits::none(72),
        padding_zero,
        ..nvfp4()
    };
    let garbage = Planted { defect: Defect::KTailGarbage, sides: (true, true), number: 0, tile: (0, 0) };
    let judge = |target: &Target| {
        let mut device = Device::new(target.clone(), 64, vec![garbage], 5);
        let mut rounds = Vec::new();
        loop {
            match next(target, 5, &rounds) {
                Next::Done(diagnosis) => return (diagnosis.conclusion, diagnosis.evidence.padding),
                Next::Run(plan) => rounds.push(device.run(&plan)),
            }
        }
    };
    let (conclusion, padding) = judge(&target(true));
    assert_eq!((conclusion, padding.len()), (Conclusion::Clean, 2));
    let Conclusion::Named { classes, .. } = judge(&target(false)).0 else { panic!() };
    assert_eq!(classes, ["K_TAIL_OOB_READ"]);
}

/// Roundings that no probe of these contracts meets: nothing fails, and the report says which of them it could not see.
#[test]
fn what_no_probe_meets_is_listed_and_not_called_right() {
    for (number, planted) in [(561, Defect::RoundTowardZero), (566, Defect::RoundingBeforeAct), (1025, Defect::SumF16)]
    {
        let row = run(Set::Catalogue, 5301, number, Some(planted));
        assert_eq!(row.outcome, Outcome::Listed, "{row:?}");
    }
}

/// What the diagnosis says of the simulator's launches with a change of each.
fn judged(target: &Target, planted: Vec<Planted>, change: &dyn Fn(&Plan, &mut RawLaunch)) -> Conclusion {
    let mut device = Device::new(target.clone(), 64, planted, 5);
    let mut rounds = Vec::new();
    loop {
        match next(target, 5, &rounds) {
            Next::Done(diagnosis) => return diagnosis.conclusion,
            Next::Run(plan) => {
                let mut launches = device.run(&plan);
                launches.iter_mut().for_each(|launch| change(&plan, launch));
                rounds.push(launches);
            }
        }
    }
}

/// What a probe that crashes would have shown is not known: the others give a hint, and no verdict.
#[test]
fn a_crashing_probe_leaves_a_hint_of_what_the_others_say() {
    let target = nvfp4();
    let judge = |planted| {
        judged(&target, planted, &|plan, launch| {
            if plan.probes[launch.probe as usize].name == "ones_poisoned" {
                launch.cuda_error = true;
                launch.storage.clear();
                launch.mask.clear();
            }
        })
    };
    let Conclusion::Open { why, hints } = judge(vec![]) else { panic!() };
    assert!(why.contains("`ones_poisoned` crash, and all others are right") && hints.is_empty(), "{why}");
    let bound = Planted { defect: Defect::ScaleBound, sides: (true, false), number: 0, tile: (0, 0) };
    let Conclusion::Open { why, hints } = judge(vec![bound]) else { panic!() };
    assert!(why.contains("SF_PADDING_ZERO") && hints == [Stage::QuantisationScale], "{why}");
}

/// A race is named only where nothing but time tells launches apart.
#[test]
fn launches_that_shared_memory_tells_apart_are_no_race() {
    let target = nvfp4();
    let Conclusion::Open { why, hints } = judged(&target, vec![], &|_, launch| {
        if launch.launch == 2 {
            launch.storage[0] ^= 0x40;
        }
    }) else {
        panic!()
    };
    assert!(why.contains("depends on what shared memory held before the launch"), "{why}");
    assert_eq!(hints, [Stage::OperandLoad, Stage::Synchronisation]);

    let race = Planted { defect: Defect::RaceEarlyEpilogue, sides: (true, false), number: 0, tile: (0, 0) };
    let Conclusion::Named { classes, .. } = judged(&target, vec![race], &|_, _| ()) else { panic!() };
    assert_eq!(classes, ["RACE"]);
    let Conclusion::Open { why, .. } = judged(&target, vec![race], &|_, launch| launch.shared_filled = false) else {
        panic!()
    };
    assert!(why.contains("a race, or reads of memory that this launch does not write"), "{why}");
}

/// What only a measured map tells, and classes whose parameter is measured: factors read at another place of their storage, codes read as
/// other values, blocks too short and too long, sums that do not begin at zero, one operand for both, a store that runs backwards.
#[test]
fn measured_maps_name_the_stage_of_what_no_class_describes() {
    let scale = Some(BlockScale { element: ElementType::Ue4m3, row_block: 1, k_block: 16, swizzled: true });
    let side = |element, rows, scale| Side { element, rows, leading: 96, k_major: true, scale, tile: 32 };
    let small = |element, scale, epilogue| Target {
        k: 96,
        a: side(element, 9, scale),
        b: side(element, 20, scale),
        out_leading: 20,
        tile_k: 32,
        instruction_k: 32,
        splits: Splits::none(96),
        epilogue,
        ..nvfp4()
    };
    let alpha = Step::Multiply { tensor: Tensor::Alpha, index: Index::Own, power: 1 };
    let fp4 = small(ElementType::E2m1, scale, vec![rounding_to(ElementType::Bf16)]);
    let bf16 = small(ElementType::Bf16, None, vec![alpha.clone(), rounding_to(ElementType::Bf16)]);
    let cases = [
        (Defect::ScalePlaceOff, &fp4, Stage::QuantisationScale, "each is read +1 places away in storage"),
        (Defect::ScalePlaceXor, &fp4, Stage::QuantisationScale, "each is read at its place xor 1"),
        (Defect::ScaleReadRowMajor, &fp4, Stage::QuantisationScale, "read as if it were row-major"),
        (Defect::ScaleAxis, &fp4, Stage::QuantisationScale, "SF_WRONG_AXIS"),
        (Defect::ScaleCodes, &fp4, Stage::QuantisationScale, "ue4m3 code"),
        (Defect::CodesShifted, &fp4, Stage::OperandLoad, "e2m1 code 0x0 is read as 0.5 instead of 0"),
        (Defect::BlockHead, &bf16, Stage::MmaAccumulate, "of every 32 k those at 0 are not summed"),
        (Defect::BlockOverrun, &bf16, Stage::MmaAccumulate, "K_BLOCK_OVERRUN"),
        (Defect::AccumulatorStart, &bf16, Stage::MmaAccumulate, "ACC_START"),
        (Defect::OperandTwice, &bf16, Stage::OperandLoad, "OPERAND_TWICE"),
        (Defect::StoreReversed, &bf16, Stage::Store, "(element (m, n) is stored at m · 20 + n · -1 + 0)"),
    ];
    for (defect, target, stage, words) in cases {
        let planted = Planted { defect, sides: (true, false), number: 1, tile: (0, 0) };
        let mut device = Device::new(target.clone(), 16, vec![planted], 5);
        let conclusion = diagnose(target, &mut device, 5);
        let Conclusion::Named { classes, stages, .. } = &conclusion else { panic!("{defect:?} {conclusion:?}") };
        assert!(stages.contains(&stage) && classes.join("; ").contains(words), "{defect:?} {conclusion:?}");
    }
}

#[test]
fn no_mutant_of_a_prediction_is_called_right() {
    let ran = std::process::Command::new(env!("CARGO_BIN_EXE_krepro"))
        .args(["selftest", "--seed", "3", "--contracts", "2", "--mutants", "4", "--peers", "1", "--json"])
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(ran.status.code(), Some(0), "{report:#}");
    let count = |field: &str| report["mutants"][field].as_u64().unwrap();
    assert_eq!(
        (count("named") + count("undecided"), count("mutants") + count("equal")),
        (count("mutants"), 8),
        "{report:#}"
    );
    assert_eq!((&report["mutants"]["failures"], &report["failures"]), (&serde_json::json!([]), &serde_json::json!([])));
    // Every mutant is of a class that none before was of.
    assert!(count("named") > 0 && count("classes") == count("mutants"), "{report:#}");
    assert!(report["mutants"]["left_out"].as_array().unwrap().len() > 20, "{report:#}");
    let table = report["peers"].as_str().unwrap();
    assert!(table.contains("cosine > 0.99 (FlashInfer)") && table.contains("every element equal"), "{table}");
}

/// NVFP4 with 40 rows and 224 of k: 560 factors in 2,048 places of the 128 × 4 layout.
fn nvfp4() -> Target {
    let scale = Some(BlockScale { element: ElementType::Ue4m3, row_block: 1, k_block: 16, swizzled: true });
    let side = |rows| Side { element: ElementType::E2m1, rows, leading: 224, k_major: true, scale, tile: 32 };
    Target {
        k: 224,
        a: side(40),
        b: side(48),
        out: ElementType::Bf16,
        out_leading: 48,
        out_by_columns: false,
        tile_k: 128,
        instruction_k: 64,
        stages: 2,
        splits: Splits::none(224),
        groups: None,
        alpha_of_group: false,
        gate: None,
        accumulator_bits: 24,
        promote: None,
        epilogue: vec![rounding_to(ElementType::Bf16)],
        accumulate: false,
        zeroed: false,
        padding_zero: false,
        types: vec![],
    }
}

/// A kernel that remaps scale factors cuts some of them, cuts only what lies between them, or exchanges rows.
#[test]
fn a_remap_of_scales_is_a_defect_only_where_it_touches_one() {
    let target = nvfp4();
    let planted = |defect| Planted { defect, sides: (true, false), number: 0, tile: (0, 0) };
    let judge = |defect| diagnose(&target, &mut Device::new(target.clone(), 64, vec![planted(defect)], 5), 5);
    match judge(Defect::ScaleBound) {
        Conclusion::Named { classes, stages, .. } => {
            assert_eq!((classes, stages), (vec!["SF_PADDING_ZERO".to_owned()], vec![Stage::QuantisationScale]));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(judge(Defect::ScalePaddingZero), Conclusion::Clean);
    match judge(Defect::ScalesPermuted) {
        Conclusion::Named { stages, .. } => assert_eq!(stages, [Stage::QuantisationScale]),
        other => panic!("{other:?}"),
    }
    // Uniform scales hide the exchange, whatever the elements.
    let uniform = |planted| {
        let rungs = krepro::judge::diagnosis::Builder::new(&target, 5).tier0().rungs;
        let probes = rungs.into_iter().filter(|r| r.probe.name == "ones" || r.probe.name.starts_with("codes"));
        let plan = krepro::model::Plan { probes: probes.map(|r| r.probe).collect() };
        assert_eq!(plan.probes.len(), 3);
        Device::new(target.clone(), 64, planted, 5).run(&plan)
    };
    assert_eq!(uniform(vec![]), uniform(vec![planted(Defect::ScalesPermuted)]));
}

/// What other tools' pass rules let through on defective outputs, and what they call wrong on right ones.
#[test]
fn pass_rules_of_other_tools_miss_what_equality_in_exact_arithmetic_sees() {
    let table = peers(7, 20);
    assert!(table.defective >= 14 && table.right >= 18, "{}", table.text());
    let (exact, rules) = table.missed.split_last().unwrap();
    // Every defective kernel here differs on ones or on integers; on right ones equality never fails there.
    assert!(exact[1] * 5 < table.defective, "{}", table.text());
    assert_eq!(&table.alarms.last().unwrap()[..2], [0, 0], "{}", table.text());
    assert!(rules.iter().all(|missed| missed[0] * 5 > table.defective), "{}", table.text());
    assert!(rules.iter().any(|missed| missed[2] * 20 > table.defective), "{}", table.text());
}
