//! The decision: what the evidence names, and how surely.

use std::collections::BTreeSet;

use crate::model::Stage;

use super::code_map;
use super::dictionary::{Dictionary, Fits, Hypothesis};
use super::evidence::Evidence;
use super::fitted;
use super::hint::hint;
use super::kind::Kind;
use super::knobs::{Knobs, SideKnobs, StoreFault};
use super::loops;
use super::maps::{Map, coverage_knobs, fits, load_knobs, store_knobs};
use super::measured::{measured_epilogue, output_factor};
use super::scale_map::ScaleMap;
use super::target::Target;

/// How surely something is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sureness {
    /// One class predicts every output bit for bit.
    Class,
    /// Several classes do.
    Classes,
    /// No class does, but measured maps do.
    Maps,
    /// A measured deviation together with another fault does.
    TwoFaults,
}

/// What the evidence says.
#[derive(Debug, Clone, PartialEq)]
pub enum Conclusion {
    /// Every probe gives what the contract says.
    Clean,
    /// The stage, and perhaps the class, is established.
    Named {
        /// How.
        by: Sureness,
        /// Classes, or what was measured.
        classes: Vec<String>,
        /// The stages that remain; both, for two faults.
        stages: Vec<Stage>,
        /// One clause for each class.
        causes: Vec<String>,
    },
    /// Nothing predicts the output.
    Open {
        /// Why.
        why: String,
        /// What the failing probes point at.
        hints: Vec<Stage>,
    },
}

/// What the probes say. What crashes is not predicted, so that no more than a hint is left of what the others say.
pub fn conclude(evidence: &Evidence<'_>, mapped: bool) -> Conclusion {
    let Some((first, more)) = evidence.crashed.split_first() else { return survived(evidence, mapped) };
    let crash = match more.len() {
        0 => format!("launches of `{first}` crash"),
        count => format!("launches of `{first}` and of {count} more probes crash"),
    };
    if evidence.shown.is_empty() {
        return Conclusion::Open { why: format!("{crash}, and no other was run"), hints: vec![] };
    }
    match survived(evidence, mapped) {
        Conclusion::Clean => Conclusion::Open { why: format!("{crash}, and all others are right"), hints: vec![] },
        Conclusion::Named { classes, stages, .. } => {
            let why = format!("{crash}; the others are as this predicts: {}", classes.join(" or "));
            Conclusion::Open { why, hints: stages }
        }
        Conclusion::Open { why, hints } => Conclusion::Open { why: format!("{crash}; of the others: {why}"), hints },
    }
}

/// Faults that no other fault can hide behind are looked at in this order.
fn survived(evidence: &Evidence<'_>, mapped: bool) -> Conclusion {
    if let Some(conclusion) = unstable(evidence) {
        return staged(evidence).unwrap_or(conclusion);
    }
    if let Some(shown) = evidence.follows_shared() {
        let why = format!(
            "the output of `{}` depends on what shared memory held before the launch: a place is read that this launch never writes, or \
             before it is written",
            shown.rung.probe.name
        );
        let open = Conclusion::Open { why, hints: vec![Stage::OperandLoad, Stage::Synchronisation] };
        return staged(evidence).unwrap_or(open);
    }
    if !evidence.shown.iter().any(|s| s.fails) {
        return Conclusion::Clean;
    }
    if evidence.information() < 0.02 {
        let why = "the output is zero, NaN or unwritten nearly everywhere, which carries no evidence";
        return Conclusion::Open { why: why.to_owned(), hints: hint(evidence) };
    }
    let (a, b) = if mapped { (Map::read(evidence, true), Map::read(evidence, false)) } else { (None, None) };
    let samples = evidence.samples();
    let fits = fits(evidence, a.as_ref(), b.as_ref());
    let dictionary = Dictionary::all(evidence.target, &fits);
    let holds = |h: &&Hypothesis| gated(evidence, h) && evidence.explains(&h.knobs, &samples);
    let found: Vec<&Hypothesis> = dictionary.iter().filter(holds).collect();
    if !found.is_empty() {
        return classes(evidence.target, &strictest(found));
    }
    let fitted = fitted::hypotheses(evidence, a.as_ref(), b.as_ref());
    let found: Vec<&Hypothesis> = fitted.iter().filter(holds).collect();
    if !found.is_empty() {
        return classes(evidence.target, &found);
    }
    let search = Search { evidence, samples, a, b };
    search.single().or_else(|| search.double(&dictionary)).unwrap_or_else(|| Conclusion::Open {
        why: "no single fault and no measured map predicts the output".to_owned(),
        hints: hint(evidence),
    })
}

fn unstable(evidence: &Evidence<'_>) -> Option<Conclusion> {
    let shown = evidence.unstable()?;
    // Threads that store to one another's elements differ from launch to launch too, and leave elements unwritten.
    if evidence.written_wrong() {
        return Some(Conclusion::Open {
            why: "launches with equal inputs differ while other elements are written than expected: a race, or several threads that \
                  store to one element"
                .to_owned(),
            hints: vec![Stage::Store, Stage::Synchronisation],
        });
    }
    // A reader that takes a wrong place, which nobody wrote in this launch, gives other values each time as well, and never the right one,
    // unless the launch before left it in shared memory.
    if !evidence.piles_up() && (!evidence.comes_right() || !evidence.shared_filled()) {
        return Some(Conclusion::Open {
            why: "launches with equal inputs differ, and most of what is wrong is right in none of them: a race, or reads of memory that this \
                  launch does not write"
                .to_owned(),
            hints: vec![Stage::Synchronisation, Stage::OperandLoad],
        });
    }
    let name = &shown.rung.probe.name;
    let race = || {
        let cause = format!(
            "launches of `{name}` with equal inputs differ in exact arithmetic: a reader does not wait for its writer"
        );
        ("RACE", cause)
    };
    let left = || {
        let cause = "a launch after an equal one gives another output than a launch after other inputs: what a launch leaves behind (a \
                     counter, a flag, sums) is not reset and reaches the next one";
        ("STATE_LEFT_BEHIND", cause.to_owned())
    };
    let found = if evidence.piles_up() {
        let cause = "each launch adds to the sums of the launch before: a workspace is not cleared";
        vec![("SPLITK_WS_NOT_CLEARED", cause.to_owned())]
    } else {
        match evidence.settles() {
            Some(true) => vec![left()],
            Some(false) => vec![race()],
            None => vec![race(), left()],
        }
    };
    Some(Conclusion::Named {
        by: if found.len() == 1 { Sureness::Class } else { Sureness::Classes },
        classes: found.iter().map(|f| f.0.to_owned()).collect(),
        stages: vec![Stage::Synchronisation],
        causes: found.into_iter().map(|f| f.1).collect(),
    })
}

/// Launches may also differ in what lies between the rows of a staged tile, and nowhere else.
fn staged(evidence: &Evidence<'_>) -> Option<Conclusion> {
    let samples = evidence.samples();
    let all = Dictionary::all(evidence.target, &Fits::default());
    let found: Vec<&Hypothesis> =
        all.iter().filter(|h| leaves_open(h) && evidence.explains(&h.knobs, &samples)).collect();
    (!found.is_empty()).then(|| classes(evidence.target, &found))
}

/// Whether a hypothesis leaves elements open.
fn leaves_open(hypothesis: &Hypothesis) -> bool {
    matches!(hypothesis.knobs.store, Some(StoreFault::Pitch(_)))
}

fn gated(evidence: &Evidence<'_>, hypothesis: &Hypothesis) -> bool {
    let target = evidence.target;
    if hypothesis.gate.is_empty() {
        // Where the output is added to, nobody sees what is not written.
        let blind = (target.accumulate || target.zeroed) && evidence.shown.iter().any(|s| s.fails);
        evidence.written_wrong() || blind
    } else {
        evidence.any_fails(hypothesis.gate) || evidence.shown.iter().any(|s| s.rung.kind.held_out() && s.fails)
    }
}

/// Hypotheses that leave elements open, as long as another one predicts those too.
fn strictest(mut found: Vec<&Hypothesis>) -> Vec<&Hypothesis> {
    if found.iter().any(|h| !leaves_open(h)) {
        found.retain(|h| !leaves_open(h));
    }
    found
}

fn classes(target: &Target, found: &[&Hypothesis]) -> Conclusion {
    let classes: BTreeSet<&str> = found.iter().map(|h| h.class).collect();
    let stages: BTreeSet<Stage> = found.iter().flat_map(|h| std::iter::once(h.stage).chain(also(target, h))).collect();
    let mut causes: Vec<String> = Vec::new();
    for h in found {
        if !causes.contains(&h.cause) {
            causes.push(h.cause.clone());
        }
    }
    Conclusion::Named {
        by: if classes.len() == 1 { Sureness::Class } else { Sureness::Classes },
        classes: classes.into_iter().map(str::to_owned).collect(),
        stages: stages.into_iter().collect(),
        causes,
    }
}

/// Stages that would give the same output: zeros that are multiplied, and products that are not made; rows, or columns, that nothing but the
/// sum is indexed by, and that a load moves as a store does; a block of both operands in the place of another, and one that is summed twice
/// while another is left out.
fn also(target: &Target, hypothesis: &Hypothesis) -> Option<Stage> {
    match &hypothesis.knobs.store {
        Some(StoreFault::RowXor(_) | StoreFault::RowInterleave) if !target.indexed_by_m() => {
            return Some(Stage::OperandLoad);
        }
        Some(StoreFault::ColumnXor(_)) if !target.indexed_by_n() => return Some(Stage::OperandLoad),
        _ => {}
    }
    match hypothesis.class {
        "K_BLOCK_MISSING" | "K_TAIL_MISSING" | "K_SUBTILE_TAIL" | "K_SUBTILE_ONLY_FIRST" => Some(Stage::OperandLoad),
        "ROW_CLAMP_ZERO" | "OPERAND_TWICE" => Some(Stage::MmaAccumulate),
        "STALE_STAGE" if hypothesis.cause.starts_with("a and b") => Some(Stage::MmaAccumulate),
        _ => None,
    }
}

/// How candidates that count k are called.
const COUNTS: &str = "measured counts of k";

struct Candidate {
    what: String,
    stages: Vec<Stage>,
    knobs: Knobs,
}

struct Search<'e> {
    evidence: &'e Evidence<'e>,
    samples: Vec<(usize, Vec<usize>)>,
    a: Option<Map>,
    b: Option<Map>,
}

impl Search<'_> {
    fn explains(&self, knobs: &Knobs) -> bool {
        self.evidence.explains(knobs, &self.samples)
    }

    fn load_candidates(&self, map: &Map, is_a: bool) -> Vec<Candidate> {
        let t = self.evidence.target;
        let all = load_knobs(self.evidence, map, is_a);
        let mut stages = vec![Stage::OperandLoad];
        if map.lacks_columns(t.k) {
            stages.push(Stage::MmaAccumulate);
        }
        let told_apart = if is_a { t.indexed_by_m() } else { t.indexed_by_n() };
        if map.rows_only(t.k) && !told_apart {
            stages.push(Stage::Store);
        }
        let what = format!("measured address map of {}", if is_a { "a" } else { "b" });
        all.into_iter().map(|knobs| Candidate { what: what.clone(), stages: stages.clone(), knobs }).collect()
    }

    /// Measured scale maps; `variants`: with all that padding may be read as.
    fn scales(&self, variants: bool) -> Vec<Candidate> {
        let wrong = |is_a: bool| -> Vec<(String, SideKnobs)> {
            let kind = if is_a { Kind::ScaleMapA } else { Kind::ScaleMapB };
            let map = self.evidence.fails(kind).then(|| ScaleMap::read(self.evidence, is_a)).flatten();
            let Some(map) = map else { return vec![] };
            let count = if variants { usize::MAX } else { 1 };
            map.knobs().into_iter().take(count).map(|knobs| (map.words(), knobs)).collect()
        };
        let (a, b) = (wrong(true), wrong(false));
        let candidate = |what: String, a: &SideKnobs, b: &SideKnobs| Candidate {
            what: format!("measured scale map of {what}"),
            stages: vec![Stage::QuantisationScale],
            knobs: Knobs { a: a.clone(), b: b.clone(), ..Knobs::default() },
        };
        let right = SideKnobs::default();
        let mut list: Vec<Candidate> = Vec::new();
        list.extend(a.iter().map(|(words, knobs)| candidate(format!("a ({words})"), knobs, &right)));
        list.extend(b.iter().map(|(words, knobs)| candidate(format!("b ({words})"), &right, knobs)));
        for (of_a, a) in &a {
            list.extend(b.iter().map(|(of_b, b)| candidate(format!("a ({of_a}) and b ({of_b})"), a, b)));
        }
        list
    }

    fn epilogue(&self) -> Option<Candidate> {
        let measured = measured_epilogue(self.evidence);
        let steps = measured.steps?;
        Some(Candidate {
            what: measured.what.join(", "),
            stages: vec![Stage::Epilogue],
            knobs: Knobs { epilogue: Some(steps), ..Knobs::default() },
        })
    }

    fn operands(&self) -> Vec<Candidate> {
        let mut list = Vec::new();
        let counted = |(what, knobs)| Candidate { what, stages: vec![Stage::MmaAccumulate], knobs };
        if let Some(knobs) = coverage_knobs(self.evidence) {
            list.push(counted((COUNTS.to_owned(), knobs)));
        }
        list.extend(self.a.iter().flat_map(|map| self.load_candidates(map, true)));
        list.extend(self.b.iter().flat_map(|map| self.load_candidates(map, false)));
        if let (Some(a), Some(b)) = (&self.a, &self.b) {
            list.extend(
                loops::columns(self.evidence.target, a, b)
                    .into_iter()
                    .map(|(words, knobs)| counted((format!("{COUNTS} ({words})"), knobs))),
            );
        }
        if let (Some(a), Some(b)) = (&self.a, &self.b)
            && let Some((words, knobs)) = store_knobs(self.evidence, a, b)
        {
            let mut stages = vec![Stage::Store];
            if self.as_a_load_would(&knobs) {
                stages.push(Stage::OperandLoad);
            }
            list.push(Candidate { what: format!("measured map of the store{words}"), stages, knobs });
        }
        list
    }

    /// Whether a store moves rows, or columns, that nothing else in the epilogue is indexed by: a load that moves them gives the same.
    fn as_a_load_would(&self, knobs: &Knobs) -> bool {
        let t = self.evidence.target;
        let Some(StoreFault::Map(map, _)) = &knobs.store else { return false };
        // A load leaves no element unwritten.
        let Some(map) = map.iter().copied().collect::<Option<Vec<_>>>() else { return false };
        let rows = map.iter().enumerate().any(|(at, source)| source.0 != at / t.n());
        let columns = map.iter().enumerate().any(|(at, source)| source.1 != at % t.n());
        (rows && !t.indexed_by_m()) || (columns && !t.indexed_by_n())
    }

    /// One measured deviation.
    fn single(&self) -> Option<Conclusion> {
        let mut list: Vec<Candidate> = self.epilogue().into_iter().collect();
        list.extend(self.operands());
        list.extend(self.scales(true));
        list.extend(code_map::measured(self.evidence).into_iter().map(|(what, stage, knobs)| Candidate {
            what,
            stages: vec![stage],
            knobs,
        }));
        if let Some((knobs, uniform)) = output_factor(self.evidence) {
            let stages = if uniform {
                vec![Stage::OperandLoad, Stage::MmaAccumulate, Stage::Epilogue]
            } else {
                vec![Stage::Epilogue]
            };
            list.push(Candidate { what: "measured factor of the output".to_owned(), stages, knobs });
        }
        list.retain(|c| self.explains(&c.knobs));
        // Factors of one operand that are zero hide those of the other.
        let sides = |c: &Candidate| usize::from(c.knobs.a.scale.is_some()) + usize::from(c.knobs.b.scale.is_some());
        if list.iter().any(|c| sides(c) == 1) {
            list.retain(|c| sides(c) < 2);
        }
        if list.iter().any(|c| c.what.starts_with(COUNTS)) {
            list.retain(|c| c.what.starts_with(COUNTS));
        }
        if list.is_empty() {
            return None;
        }
        let stages: BTreeSet<Stage> = list.iter().flat_map(|c| c.stages.iter().copied()).collect();
        let mut what: Vec<String> = list.into_iter().map(|c| c.what).collect();
        what.dedup();
        Some(Conclusion::Named {
            by: Sureness::Maps,
            causes: what.clone(),
            classes: what,
            stages: stages.into_iter().collect(),
        })
    }

    /// A measured deviation of epilogue or scales, and one fault of another stage.
    fn double(&self, dictionary: &[Hypothesis]) -> Option<Conclusion> {
        let mut sides: Vec<Candidate> = self.epilogue().into_iter().collect();
        sides.extend(self.scales(false));
        for side in sides {
            let epilogue = side.knobs.epilogue.is_some();
            let others = dictionary
                .iter()
                .filter(|h| gated(self.evidence, h) && !side.stages.contains(&h.stage))
                .map(|h| (h.class.to_owned(), vec![h.stage], h.knobs.clone()));
            let measured = self.operands().into_iter().map(|c| (c.what, c.stages, c.knobs));
            let mut found: Vec<(String, Vec<Stage>)> = Vec::new();
            for (what, stages, mut knobs) in others.chain(measured) {
                if epilogue {
                    knobs.epilogue = side.knobs.epilogue.clone();
                } else if knobs.a.scale.is_none() && knobs.b.scale.is_none() {
                    knobs.a.scale = side.knobs.a.scale.clone();
                    knobs.b.scale = side.knobs.b.scale.clone();
                } else {
                    continue;
                }
                if self.explains(&knobs) {
                    found.push((what, stages));
                }
            }
            if !found.is_empty() {
                let stages: BTreeSet<Stage> =
                    found.iter().flat_map(|f| f.1.iter().copied()).chain(side.stages.iter().copied()).collect();
                let mut classes: Vec<String> = found.into_iter().map(|f| f.0).collect();
                classes.sort();
                classes.dedup();
                classes.push(side.what.clone());
                return Some(Conclusion::Named {
                    by: Sureness::TwoFaults,
                    causes: classes.clone(),
                    classes,
                    stages: stages.into_iter().collect(),
                });
            }
        }
        None
    }
}
