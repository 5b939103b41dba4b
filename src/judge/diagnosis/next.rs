//! The loop's pure half: what to run next, or what is concluded.

use crate::model::{Plan, RawLaunch};

use super::code_map;
use super::decide::{Conclusion, conclude};
use super::evidence::Evidence;
use super::probes::{Builder, Rungs};
use super::target::Target;

/// At most so many windows of k for each operand; more where the operands are small.
fn windows(target: &Target) -> usize {
    if (target.m() + target.b.rows) * target.k <= 1 << 18 { 32 } else { 16 }
}

/// What to do.
#[derive(Debug)]
pub enum Next<'a> {
    /// Run this plan and ask again with its launches added.
    Run(Plan),
    /// Nothing more to ask.
    Done(Box<Diagnosis<'a>>),
}

/// The end of the loop.
#[derive(Debug)]
pub struct Diagnosis<'a> {
    /// What is concluded.
    pub conclusion: Conclusion,
    /// On what.
    pub evidence: Evidence<'a>,
    /// Probes that were not run because their sums would not be exact.
    pub refused: Vec<(String, super::proof::Proof)>,
}

/// The rungs of each round for a target and a seed.
fn round(target: &Target, seed: u64, number: usize) -> Rungs {
    if number == 0 {
        return Builder::new(target, seed).tier0();
    }
    if number == 2 {
        return Builder::new(target, seed).values();
    }
    let mut rungs = Builder::new(target, seed).maps(windows(target));
    let scales = Builder::new(target, seed).scale_maps();
    rungs.rungs.extend(scales.rungs);
    rungs.refused.extend(scales.refused);
    rungs
}

/// Given the launches of all rounds so far, the next step. Depends on nothing else, so it can be asked again at any time.
pub fn next<'a>(target: &'a Target, seed: u64, rounds: &[Vec<RawLaunch>]) -> Next<'a> {
    let plan = |rungs: Rungs| Plan { probes: rungs.rungs.into_iter().map(|r| r.probe).collect() };
    let Some((first, more)) = rounds.split_first() else { return Next::Run(plan(round(target, seed, 0))) };
    let rungs = round(target, seed, 0);
    let mut refused = rungs.refused;
    let mut evidence = Evidence::new(target, rungs.rungs, first);
    for (number, launches) in more.iter().enumerate() {
        let rungs = round(target, seed, number + 1);
        refused.extend(rungs.refused);
        evidence.add(rungs.rungs, launches);
    }
    let mapped = !more.is_empty();
    let conclusion = conclude(&evidence, mapped);
    let settled = match &conclusion {
        Conclusion::Clean => true,
        Conclusion::Named { by, .. } => mapped || *by == super::decide::Sureness::Class,
        Conclusion::Open { .. } => more.len() > 1 || (mapped && !code_map::wanted(&evidence)),
    };
    let more = if settled { Rungs::default() } else { round(target, seed, more.len() + 1) };
    // Of groups and of gates no map is read.
    if more.rungs.is_empty() {
        Next::Done(Box::new(Diagnosis { conclusion, evidence, refused }))
    } else {
        Next::Run(plan(more))
    }
}
