//! Hypotheses whose parameters are measured: tried where the dictionary's own explain nothing. They are fitted to the probes that
//! count, mark and map; the random ones decide.

use std::sync::Arc;

use crate::model::Stage;

use super::coverage::{Run, counts_of_k, coverage, runs_of_k};
use super::dictionary::Hypothesis;
use super::evidence::Evidence;
use super::kind::Kind;
use super::knobs::{Knobs, SideKnobs, StoreFault};
use super::loops;
use super::maps::Map;

pub(super) const COUNT: &[Kind] = &[Kind::CoverA, Kind::CoverB];
const WRITTEN: &[Kind] = &[];
pub(super) const PADDED: &[Kind] =
    &[Kind::PoisonedOnes, Kind::RandomPoisoned, Kind::Random, Kind::CoverA, Kind::CoverB];
const MAPPED: &[Kind] = &[Kind::MapA, Kind::MapB, Kind::CountA, Kind::CountB];

pub(super) fn hypothesis(
    class: &'static str,
    stage: Stage,
    cause: String,
    knobs: Knobs,
    gate: &'static [Kind],
) -> Hypothesis {
    Hypothesis { class, stage, cause, knobs, gate }
}

/// All that the measurements suggest.
pub(super) fn hypotheses(evidence: &Evidence<'_>, a: Option<&Map>, b: Option<&Map>) -> Vec<Hypothesis> {
    let mut list = counted(evidence);
    if list.is_empty() {
        list.extend(counted_one_by_one(evidence));
    }
    list.extend(unwritten(evidence));
    list.extend(overread(evidence));
    list.extend(loops::hypotheses(evidence));
    for (map, is_a) in [(a, true), (b, false)] {
        list.extend(map.and_then(|map| tiled(evidence, map, is_a)));
    }
    list
}

/// Slots of all k, each as often as `runs` say.
fn slots(k: usize, runs: &[Run]) -> Vec<(u32, u32)> {
    let count = |k: usize| runs.iter().find(|run| run.0 <= k && k < run.1).map_or(1, |run| run.2 as usize);
    (0..k).flat_map(|k| std::iter::repeat_n((k as u32, k as u32), count(k))).collect()
}

/// Slots in which k from `to` on are taken from `from` on: in a, in b.
fn replaced(k: usize, (from, to, length): (usize, usize, usize), sides: (bool, bool)) -> Vec<(u32, u32)> {
    let other = |k: usize, on: bool| if on && (to..to + length).contains(&k) { k - to + from } else { k } as u32;
    (0..k).map(|k| (other(k, sides.0), other(k, sides.1))).collect()
}

/// The one run that is summed twice and the one that is not, if they have one length: (from, to, length).
fn exchange(runs: &[Run]) -> Option<(usize, usize, usize)> {
    let (twice, never) = match runs {
        [x, y] if x.2 == 2.0 && y.2 == 0.0 => (x, y),
        [x, y] if x.2 == 0.0 && y.2 == 2.0 => (y, x),
        _ => return None,
    };
    (twice.1 - twice.0 == never.1 - never.0).then_some((twice.0, never.0, never.1 - never.0))
}

fn counted(evidence: &Evidence<'_>) -> Vec<Hypothesis> {
    let t = evidence.target;
    let side = |is_a| coverage(evidence, is_a).and_then(|c| Some((c.width, c.runs(t.k)?)));
    let (Some((width_a, a)), Some((width_b, b))) = (side(true), side(false)) else { return vec![] };
    let stale = |found: (usize, usize, usize), sides, name: &str| {
        let (from, to, length) = found;
        hypothesis(
            "STALE_STAGE",
            Stage::OperandLoad,
            format!("{name}: k from {to} to {} holds the data of k from {from}", to + length),
            Knobs { slots: Some(Arc::new(replaced(t.k, found, sides))), ..Knobs::default() },
            COUNT,
        )
    };
    let mut list = Vec::new();
    let all = [(&a, (true, false), "a"), (&b, (false, true), "b")];
    for (runs, sides, name) in all {
        if let Some(found) = exchange(runs) {
            list.push(stale(found, sides, name));
        }
    }
    // Both operands lose or repeat the same k: the finer probe says which. A coarse one sees nothing of an exchange within a group.
    let finer = if width_a <= width_b { &a } else { &b };
    if let Some(found) = exchange(finer) {
        list.push(stale(found, (true, true), "a and b"));
    }
    if a.is_empty() || b.is_empty() {
        return list;
    }
    list.extend(one_run(t.k, finer, COUNT));
    list
}

/// One run of k that is left out, or summed more often.
fn one_run(k: usize, runs: &[Run], gate: &'static [Kind]) -> Option<Hypothesis> {
    let (class, cause) = match runs {
        [(from, to, 0.0)] if *to == k => ("K_TAIL_MISSING", format!("k from {from} on is not in the sum")),
        [(from, to, 0.0)] => ("K_BLOCK_MISSING", format!("k from {from} to {to} is not summed")),
        [(from, to, count)] if from + 1 == *to => {
            ("K_BLOCK_DOUBLE", format!("the product at k = {from} is summed {count} times"))
        }
        [(from, to, count)] => ("K_BLOCK_DOUBLE", format!("k from {from} to {to} is summed {count} times")),
        _ => return None,
    };
    let knobs = Knobs { slots: Some(Arc::new(slots(k, runs))), ..Knobs::default() };
    Some(hypothesis(class, Stage::MmaAccumulate, cause, knobs, gate))
}

/// The same where the probes of many k at a time do not say which it is.
fn counted_one_by_one(evidence: &Evidence<'_>) -> Option<Hypothesis> {
    one_run(evidence.target.k, &runs_of_k(&counts_of_k(evidence)?), MAPPED)
}

/// The elements that no probe writes.
fn unwritten(evidence: &Evidence<'_>) -> Option<Hypothesis> {
    let t = evidence.target;
    let (m, n) = (t.m(), t.n());
    // A row of no group may hold anything.
    let free: Vec<bool> = (0..m * n).map(|i| t.group(i / n).is_none()).collect();
    let mask = |shown: &super::evidence::Shown| -> Vec<bool> {
        t.addresses().zip(&free).map(|(address, free)| *free || shown.seen().written[address]).collect()
    };
    let first = mask(evidence.shown.first()?);
    if first.iter().all(|w| *w) || !first.iter().any(|w| *w) || evidence.shown.iter().any(|s| mask(s) != first) {
        return None;
    }
    let missing: Vec<(usize, usize)> = (0..m * n).filter(|i| !first[*i]).map(|i| (i / n, i % n)).collect();
    let bounds = |of: fn(&(usize, usize)) -> usize| {
        let all = || missing.iter().map(of);
        (all().min().unwrap_or(0), all().max().unwrap_or(0) + 1)
    };
    let (rows, columns) = (bounds(|p| p.0), bounds(|p| p.1));
    let whole = missing.len() == (rows.1 - rows.0) * (columns.1 - columns.0);
    let (class, cause) = if whole && rows == (0, m) && columns.1 == n {
        ("N_TAIL_UNWRITTEN", format!("columns from {} on are not written", columns.0))
    } else if whole && columns == (0, n) && rows.1 == m {
        ("M_TAIL_UNWRITTEN", format!("rows from {} on are not written", rows.0))
    } else if whole {
        let place = format!("rows {} to {} of columns {} to {}", rows.0, rows.1 - 1, columns.0, columns.1 - 1);
        ("TILE_UNWRITTEN", format!("{place} are not written"))
    } else {
        let all = free.iter().filter(|free| !**free).count();
        ("TILE_PART_UNWRITTEN", format!("{} of {all} elements are not written", missing.len()))
    };
    let store = Some(StoreFault::Mask(Arc::new(first)));
    Some(hypothesis(class, Stage::Store, cause, Knobs { store, ..Knobs::default() }, WRITTEN))
}

/// More of k than there is, by pieces of usual sizes.
fn overread(evidence: &Evidence<'_>) -> Vec<Hypothesis> {
    let t = evidence.target;
    let mut sizes = vec![t.tile_k, 1, 2, 4, 8, 16, 32, 64, 128, 256];
    sizes.dedup();
    let one = |more: &usize| {
        let slots = (0..(t.k + more) as u32).map(|k| (k, k)).collect();
        let knobs = Knobs { no_zero_fill: true, slots: Some(Arc::new(slots)), ..Knobs::default() };
        let cause = format!("{more} elements beyond k = {} are read and summed", t.k);
        hypothesis("K_TAIL_OOB_READ", Stage::OperandLoad, cause, knobs, PADDED)
    };
    let padded = [Kind::PoisonedOnes, Kind::RandomPoisoned];
    if evidence.any_fails(&padded) { sizes.iter().map(one).collect() } else { vec![] }
}

/// Tiles of an operand that come from elsewhere.
fn tiled(evidence: &Evidence<'_>, map: &Map, is_a: bool) -> Option<Hypothesis> {
    let t = evidence.target;
    let side = if is_a { &t.a } else { &t.b };
    let name = if is_a { "a" } else { "b" };
    if map.identity() {
        return None;
    }
    let tiled = map.tiled(side.rows, t.k, (side.tile, t.tile_k))?;
    let [row, column] = [tiled.row, tiled.column].map(|f| {
        format!("tile row · {} + row · {} + tile column · {} + column · {} + {}", f[0], f[1], f[2], f[3], f[4])
    });
    let own = SideKnobs { tiled: Some(tiled), ..SideKnobs::default() };
    let knobs = if is_a { Knobs { a: own, ..Knobs::default() } } else { Knobs { b: own, ..Knobs::default() } };
    let cause = format!("{name}: the row that is read is {row}, the column {column}");
    Some(hypothesis("TILE_ADDRESS", Stage::OperandLoad, cause, knobs, MAPPED))
}
