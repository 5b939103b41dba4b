//! Mutants of predicted outputs: what the host model itself predicts for a fault must never be called right.

use crate::judge::diagnosis::dictionary::{Dictionary, Fits};
use crate::judge::diagnosis::format;
use crate::judge::diagnosis::host::{Host, Predicted};
use crate::judge::diagnosis::inputs::Inputs;
use crate::judge::diagnosis::knobs::Knobs;
use crate::judge::diagnosis::target::Target;
use crate::judge::diagnosis::{Conclusion, Next, next};
use crate::model::{Plan, RawLaunch};

use super::contracts::{Random, random_target};

/// What came out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MutantReport {
    /// Mutants that differ from the right output.
    pub mutants: usize,
    /// Their own class was named, alone or with others.
    pub named: usize,
    /// Only a stage was named, or nothing.
    pub undecided: usize,
    /// Mutants whose output is the right one at that shape: not observable.
    pub equal: usize,
    /// Failures: a mutant called right, another class named, or a right output called wrong.
    pub failures: Vec<String>,
}

fn raw(target: &Target, predicted: &Predicted, probe: u32, launch: u32) -> RawLaunch {
    let bytes = target.out.bits() as usize / 8;
    let mut mask = vec![0_u8; predicted.values.len().div_ceil(8)];
    let mut storage = Vec::with_capacity(predicted.values.len() * bytes);
    for (i, (value, writes)) in predicted.values.iter().zip(&predicted.writes).enumerate() {
        storage.extend_from_slice(&format::code(target.out, *value).to_le_bytes()[..bytes]);
        mask[i / 8] |= u8::from(*writes > 0) << (i % 8);
    }
    RawLaunch {
        probe,
        launch,
        cuda_error: false,
        shared_filled: true,
        element: target.out,
        rows: target.m() as u64,
        columns: target.n() as u64,
        leading_dimension: target.out_leading as u64,
        guard_hits: u64::from(predicted.beyond),
        input_hits: 0,
        storage,
        mask,
    }
}

/// The launches of a plan as the host model predicts them for a fault.
pub fn predicted(target: &Target, plan: &Plan, knobs: &Knobs) -> Vec<RawLaunch> {
    launches(target, plan, knobs).0
}

/// The same, and whether any differs from the contract.
fn launches(target: &Target, plan: &Plan, knobs: &Knobs) -> (Vec<RawLaunch>, bool) {
    let mut list = Vec::new();
    let mut differs = false;
    for (index, probe) in plan.probes.iter().enumerate() {
        let Some(inputs) = Inputs::new(target, probe) else { continue };
        let predicted = Host::new(target, &inputs, knobs).full();
        let right = Host::new(target, &inputs, &Knobs::default()).full();
        let (a, b) = (raw(target, &predicted, index as u32, 0), raw(target, &right, index as u32, 0));
        differs |= a != b;
        list.extend((0..probe.launches).map(|launch| RawLaunch { launch, ..a.clone() }));
    }
    (list, differs)
}

/// The conclusion of the loop on predicted outputs, and whether they differ from the right ones.
fn judged(target: &Target, seed: u64, knobs: &Knobs) -> (Conclusion, bool) {
    let mut rounds = Vec::new();
    let mut differs = false;
    loop {
        match next(target, seed, &rounds) {
            Next::Run(plan) => {
                let (list, other) = launches(target, &plan, knobs);
                differs |= other;
                rounds.push(list);
            }
            Next::Done(diagnosis) => return (diagnosis.conclusion, differs),
        }
    }
}

/// Judges `contracts` random contracts with up to `each` mutants of each, and each contract's right output.
pub fn mutants(seed: u64, contracts: usize, each: usize) -> MutantReport {
    let mut report = MutantReport::default();
    for number in 0..contracts as u64 {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let target = random_target(&mut random);
        let (right, _) = judged(&target, number, &Knobs::default());
        if right != Conclusion::Clean {
            report.failures.push(format!("contract {number}: the right output gives {right:?}"));
        }
        let fits = Fits { repeats: vec![2, 3], ..Fits::default() };
        let all = Dictionary::all(&target, &fits);
        for _ in 0..each.min(all.len()) {
            let hypothesis = &all[random.below(all.len())];
            let (conclusion, differs) = judged(&target, number, &hypothesis.knobs);
            let class = hypothesis.class;
            match conclusion {
                Conclusion::Clean if !differs => report.equal += 1,
                Conclusion::Clean => {
                    report.failures.push(format!("contract {number}: {class} ({}) is called right", hypothesis.cause))
                }
                Conclusion::Named { by: crate::judge::diagnosis::Sureness::Class, classes, .. }
                    if !classes.iter().any(|c| c == class) =>
                {
                    report.failures.push(format!("contract {number}: {class} is called {}", classes.join(", ")));
                }
                Conclusion::Named { classes, .. } if classes.iter().any(|c| c == class) => report.named += 1,
                _ => report.undecided += 1,
            }
        }
    }
    report.mutants = report.named + report.undecided + report.failures.len();
    report
}
