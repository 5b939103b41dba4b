//! Validation against the simulator: the confusion matrix.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::judge::diagnosis::observable::unobservable;
use crate::judge::diagnosis::target::Target;
use crate::judge::diagnosis::{Builder, Conclusion, Diagnosis, Next, Sureness, next};
use crate::model::{Plan, Stage};

use super::contracts::{Random, random_target};
use super::defects::{Defect, Kindred, Planted};
use super::device::Device;

/// What is planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Set {
    /// Nothing.
    Correct,
    /// One defect of a class that the dictionary has.
    Catalogue,
    /// One that it has not.
    Foreign,
    /// Two of the catalogue.
    Double,
}

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Correct, and called so.
    Clean,
    /// Correct, and called wrong.
    FalseAlarm,
    /// Planted, without any effect at that shape.
    Unobservable,
    /// No probe showed it, and the report lists it as not observable.
    Listed,
    /// The class alone.
    Unique,
    /// The class among others.
    Among,
    /// The stage, by measured maps or as one of two faults.
    Stage,
    /// Undecided; the hints hold the stage.
    DraftRight,
    /// Undecided; they do not.
    DraftOther,
    /// Another class.
    WrongClass,
    /// Another stage.
    WrongStage,
    /// Wrong, and called right.
    Missed,
}

impl Set {
    /// As it is printed.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

impl Outcome {
    /// As it is printed.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

/// One case.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What was planted.
    pub set: Set,
    /// Which of its set: with the seed, all that it takes to see it again.
    pub number: u64,
    /// Names of the defects; empty for a correct kernel.
    pub planted: String,
    /// Type of a.
    pub element: &'static str,
    /// How it ended.
    pub outcome: Outcome,
    /// What was said.
    pub said: String,
}

impl Row {
    /// Whether an observable defect was not named alone.
    pub fn is_weak(&self) -> bool {
        !matches!(self.outcome, Outcome::Clean | Outcome::Unique | Outcome::Unobservable)
    }
}

/// Bytes of the shared tile's swizzle: a row of it, at most 128.
pub(super) fn swizzle(target: &Target) -> u32 {
    let row = (target.tile_k as u32 * target.a.element.bits()) / 8;
    row.min(128)
}

/// What the loop concludes of a simulated kernel.
pub fn diagnose(target: &Target, device: &mut Device, seed: u64) -> Conclusion {
    through(target, device, seed).conclusion
}

fn through<'t>(target: &'t Target, device: &mut Device, seed: u64) -> Diagnosis<'t> {
    let mut rounds = Vec::new();
    loop {
        match next(target, seed, &rounds) {
            Next::Run(plan) => rounds.push(device.run(&plan)),
            Next::Done(diagnosis) => return *diagnosis,
        }
    }
}

/// Whether a report that calls a kernel right would list the class of a planted defect as not observable.
fn listed(diagnosis: &Diagnosis<'_>, planted: &[Planted]) -> bool {
    unobservable(&diagnosis.evidence).iter().any(|text| planted.iter().any(|p| text.starts_with(p.defect.class())))
}

/// Whether a defect shows in random outputs that the diagnosis has not seen.
fn effective(target: &Target, planted: &[Planted], seed: u64) -> bool {
    let swizzle = swizzle(target);
    (0..3).any(|salt| {
        let rungs = Builder::new(target, seed ^ (0xF00D + salt)).tier0().rungs;
        let plan = Plan { probes: rungs.into_iter().filter(|r| r.kind.held_out()).map(|r| r.probe).collect() };
        let mut right = Device::new(target.clone(), swizzle, vec![], seed);
        let mut wrong = Device::new(target.clone(), swizzle, planted.to_vec(), seed);
        right.run(&plan) != wrong.run(&plan)
    })
}

/// `shows` tells whether the defect has an effect at all, `listed` whether the report says that it could not be seen.
fn graded(
    conclusion: &Conclusion,
    planted: &[Planted],
    shows: impl Fn() -> bool,
    listed: impl Fn() -> bool,
) -> Outcome {
    let stages: Vec<Stage> = planted.iter().map(|p| p.defect.stage()).collect();
    let classes: Vec<&str> = planted.iter().map(|p| p.defect.class()).collect();
    match conclusion {
        Conclusion::Clean if planted.is_empty() => Outcome::Clean,
        _ if planted.is_empty() => Outcome::FalseAlarm,
        Conclusion::Clean if shows() && listed() => Outcome::Listed,
        Conclusion::Clean if shows() => Outcome::Missed,
        Conclusion::Clean => Outcome::Unobservable,
        Conclusion::Open { hints, .. } if hints.iter().any(|h| stages.contains(h)) => Outcome::DraftRight,
        Conclusion::Open { .. } => Outcome::DraftOther,
        Conclusion::Named { by, classes: said, stages: named, .. } => {
            let class_right = said.iter().any(|c| classes.contains(&c.as_str()));
            let stage_right = named.iter().any(|s| stages.contains(s));
            match by {
                Sureness::Class if class_right => Outcome::Unique,
                Sureness::Classes if class_right => Outcome::Among,
                _ if !stage_right => Outcome::WrongStage,
                Sureness::Class | Sureness::Classes
                    if planted.iter().all(|p| p.defect.kindred() == Kindred::Catalogue) && planted.len() == 1 =>
                {
                    Outcome::WrongClass
                }
                _ => Outcome::Stage,
            }
        }
    }
}

/// Draws and judges case `number` of a set; `only` restricts the first defect.
pub fn run(set: Set, seed: u64, number: u64, only: Option<Defect>) -> Row {
    let mut random = Random::new(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number * 7919));
    let of =
        |kindred: Kindred| -> Vec<Defect> { Defect::ALL.iter().copied().filter(|d| d.kindred() == kindred).collect() };
    let list = match set {
        Set::Correct => vec![],
        Set::Foreign => of(Kindred::Foreign),
        Set::Catalogue | Set::Double => of(Kindred::Catalogue),
    };
    let races = [Defect::RaceStale, Defect::RaceEarlyEpilogue, Defect::RaceStore, Defect::WorkspaceStale];
    let mut chosen = Vec::new();
    if let Some(count) = list.len().checked_sub(1) {
        chosen.push(only.unwrap_or(list[number as usize % (count + 1)]));
        if set == Set::Double {
            let single: Vec<Defect> = list.iter().copied().filter(|d| !races.contains(d)).collect();
            chosen = vec![random.pick(&single), random.pick(&single)];
        }
    }
    let mut target = random_target(&mut random);
    for _ in 0..400 {
        if chosen.iter().all(|d| d.fits(&target, swizzle(&target))) && (chosen.len() < 2 || chosen[0] != chosen[1]) {
            break;
        }
        target = random_target(&mut random);
        if set == Set::Double {
            let single: Vec<Defect> =
                list.iter().copied().filter(|d| !races.contains(d) && d.fits(&target, swizzle(&target))).collect();
            chosen = vec![random.pick(&single), random.pick(&single)];
        }
    }
    let span = swizzle(&target);
    let planted: Vec<Planted> = chosen.iter().map(|d| Planted::draw(*d, &target, span, &mut random)).collect();
    let mut device = Device::new(target.clone(), span, planted.clone(), seed ^ number);
    let diagnosis = through(&target, &mut device, seed.wrapping_add(number));
    let shows = || effective(&target, &planted, seed ^ number);
    let outcome = graded(&diagnosis.conclusion, &planted, shows, || listed(&diagnosis, &planted));
    let conclusion = diagnosis.conclusion;
    Row {
        set,
        number,
        planted: planted.iter().map(|p| format!("{:?}", p.defect)).collect::<Vec<_>>().join("+"),
        element: target.a.element.name(),
        outcome,
        said: match conclusion {
            Conclusion::Clean => "clean".to_owned(),
            Conclusion::Named { classes, stages, .. } => {
                let stages: Vec<_> = stages.iter().map(|s| s.name()).collect();
                format!("{} [{}]", classes.join("|"), stages.join("|"))
            }
            Conclusion::Open { why, hints } => {
                let hints: Vec<_> = hints.iter().map(|s| s.name()).collect();
                format!("draft: {why} [{}]", hints.join("|"))
            }
        },
    }
}

/// The confusion matrix as text: sets against outcomes, then every defect that is not always unique.
pub fn confusion(rows: &[Row]) -> String {
    use Outcome as O;
    let order = [
        O::Clean,
        O::FalseAlarm,
        O::Unobservable,
        O::Listed,
        O::Unique,
        O::Among,
        O::Stage,
        O::DraftRight,
        O::DraftOther,
        O::WrongClass,
        O::WrongStage,
        O::Missed,
    ];
    let mut out = String::new();
    let _ = write!(out, "{:<24}", "set");
    for outcome in order {
        let _ = write!(out, "{:>13}", format!("{outcome:?}"));
    }
    out.push('\n');
    let mut by_defect: BTreeMap<(Set, &str), BTreeMap<Outcome, usize>> = BTreeMap::new();
    let mut by_set: BTreeMap<Set, BTreeMap<Outcome, usize>> = BTreeMap::new();
    for row in rows {
        *by_set.entry(row.set).or_default().entry(row.outcome).or_default() += 1;
        if row.set != Set::Double {
            *by_defect.entry((row.set, &row.planted)).or_default().entry(row.outcome).or_default() += 1;
        }
    }
    let mut line = |name: &str, counts: &BTreeMap<Outcome, usize>| {
        let _ = write!(out, "{name:<24}");
        for outcome in order {
            let _ = write!(out, "{:>13}", counts.get(&outcome).copied().unwrap_or(0));
        }
        out.push('\n');
    };
    for (set, counts) in &by_set {
        line(&format!("{set:?}"), counts);
    }
    for ((_, planted), counts) in &by_defect {
        if !planted.is_empty() && counts.keys().any(|o| !matches!(o, O::Unique | O::Unobservable)) {
            line(planted, counts);
        }
    }
    out
}

/// Cases 0..count of a set, on `threads` threads, in their order.
pub fn many(set: Set, seed: u64, count: u64, threads: u64) -> Vec<Row> {
    let part = |first: u64| {
        (first..count).step_by(threads.max(1) as usize).map(|number| (number, run(set, seed, number, None)))
    };
    let mut rows: Vec<(u64, Row)> = std::thread::scope(|scope| {
        let handles: Vec<_> =
            (0..threads.max(1)).map(|first| scope.spawn(move || part(first).collect::<Vec<_>>())).collect();
        // A case that panics must not be left out of the matrix.
        let joined = |handle: std::thread::ScopedJoinHandle<'_, Vec<(u64, Row)>>| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        handles.into_iter().flat_map(joined).collect()
    });
    rows.sort_by_key(|row| row.0);
    rows.into_iter().map(|row| row.1).collect()
}

/// Whether a case shows that the diagnosis cannot be trusted.
pub fn is_failure(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::FalseAlarm | Outcome::WrongClass | Outcome::WrongStage | Outcome::Missed)
}
