//! Mutants of predicted outputs: what the host model itself predicts for a fault must never be called right.

use std::collections::{BTreeMap, BTreeSet};

use crate::judge::diagnosis::Sureness;
use crate::judge::diagnosis::dictionary::{Dictionary, Fits, Hypothesis};
use crate::judge::diagnosis::format;
use crate::judge::diagnosis::host::Host;
use crate::judge::diagnosis::inputs::Inputs;
use crate::judge::diagnosis::knobs::Knobs;
use crate::judge::diagnosis::predicted::Predicted;
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
    /// Classes of which a mutant differed from the right output.
    pub classes: usize,
    /// Classes of which none was drawn, or none differed.
    pub left_out: Vec<String>,
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

/// What became of one mutant.
enum Fate {
    Equal,
    Named,
    Undecided,
    Failure(String),
}

/// Another class that is named alone is a failure, and so is no fault where the output differs from the right one.
fn fate(conclusion: &Conclusion, differs: bool, class: &str, cause: &str) -> Fate {
    match conclusion {
        Conclusion::Clean if !differs => Fate::Equal,
        Conclusion::Clean => Fate::Failure(format!("{class} ({cause}) is called right")),
        Conclusion::Named { classes, .. } if classes.iter().any(|named| named == class) => Fate::Named,
        Conclusion::Named { by: Sureness::Class, classes, .. } => {
            Fate::Failure(format!("{class} is called {}", classes.join(", ")))
        }
        Conclusion::Named { .. } | Conclusion::Open { .. } => Fate::Undecided,
    }
}

/// Up to `each` hypotheses, of classes that were tried least often first.
fn draw<'h>(
    all: &'h [Hypothesis],
    each: usize,
    tried: &mut BTreeMap<&'static str, usize>,
    random: &mut Random,
) -> Vec<&'h Hypothesis> {
    let mut drawn = Vec::new();
    for _ in 0..each.min(all.len()) {
        let least = all.iter().map(|one| tried.get(one.class).copied().unwrap_or_default()).min().unwrap_or_default();
        let next: Vec<_> =
            all.iter().filter(|one| tried.get(one.class).copied().unwrap_or_default() == least).collect();
        let one = next[random.below(next.len())];
        *tried.entry(one.class).or_default() += 1;
        drawn.push(one);
    }
    drawn
}

/// Judges `contracts` random contracts with up to `each` mutants of each, of every class in turn, and each contract's right output.
pub fn mutants(seed: u64, contracts: usize, each: usize) -> MutantReport {
    let mut report = MutantReport::default();
    let (mut known, mut tried, mut differed) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
    for number in 0..contracts as u64 {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let target = random_target(&mut random);
        let (right, _) = judged(&target, number, &Knobs::default());
        if right != Conclusion::Clean {
            report.failures.push(format!("contract {number}: the right output gives {right:?}"));
        }
        let fits = Fits { repeats: vec![2, 3], ..Fits::default() };
        let all = Dictionary::all(&target, &fits);
        known.extend(all.iter().map(|hypothesis| hypothesis.class));
        for hypothesis in draw(&all, each, &mut tried, &mut random) {
            let (conclusion, differs) = judged(&target, number, &hypothesis.knobs);
            if differs {
                differed.insert(hypothesis.class);
            }
            match fate(&conclusion, differs, hypothesis.class, &hypothesis.cause) {
                Fate::Equal => report.equal += 1,
                Fate::Named => report.named += 1,
                Fate::Undecided => report.undecided += 1,
                Fate::Failure(text) => report.failures.push(format!("contract {number}: {text}")),
            }
        }
    }
    report.mutants = report.named + report.undecided + report.failures.len();
    report.classes = differed.len();
    report.left_out = known.difference(&differed).map(|class| (*class).to_owned()).collect();
    report
}

#[cfg(test)]
mod tests {
    use super::{Conclusion, Fate, Sureness, fate};
    use crate::model::Stage;

    #[test]
    fn a_mutant_that_is_called_right_or_otherwise_is_a_failure() {
        let named = |classes: &[&str]| Conclusion::Named {
            by: if classes.len() == 1 { Sureness::Class } else { Sureness::Classes },
            classes: classes.iter().map(|class| (*class).to_owned()).collect(),
            stages: vec![Stage::Store],
            causes: vec![],
        };
        let of = |conclusion: &Conclusion, differs| fate(conclusion, differs, "X", "a cause");
        assert!(matches!(of(&Conclusion::Clean, false), Fate::Equal));
        assert!(matches!(of(&Conclusion::Clean, true), Fate::Failure(text) if text == "X (a cause) is called right"));
        assert!(matches!(of(&named(&["Y"]), true), Fate::Failure(text) if text == "X is called Y"));
        assert!(matches!(of(&named(&["X"]), true), Fate::Named));
        assert!(matches!(of(&named(&["Y", "X"]), true), Fate::Named));
        assert!(matches!(of(&named(&["Y", "Z"]), true), Fate::Undecided));
        assert!(matches!(of(&Conclusion::Open { why: String::new(), hints: vec![] }, true), Fate::Undecided));
    }
}
