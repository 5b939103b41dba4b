//! Loops over k that leave out, or take twice, the same k of every block: where both operands agree on it, and hypotheses of blocks that
//! are too long.

use std::sync::Arc;

use crate::model::Stage;

use super::dictionary::Hypothesis;
use super::evidence::Evidence;
use super::fitted::{COUNT, PADDED, hypothesis};
use super::kind::Kind;
use super::knobs::{Knobs, ScaleFault, SideKnobs, StoreFault};
use super::maps::{Cell, Map};
use super::scale_map::plain_poison;
use super::target::{Step, Target};

/// The k that both maps find summed, where some are not, and each element is where it belongs.
pub(super) fn columns(target: &Target, a: &Map, b: &Map) -> Vec<(String, Knobs)> {
    let Some((a, b)) = present(target, a).zip(present(target, b)) else { return vec![] };
    if a != b || a.iter().all(|x| *x) {
        return vec![];
    }
    let slots = Arc::new((0..target.k as u32).filter(|k| a[*k as usize]).map(|k| (k, k)).collect::<Vec<_>>());
    let with = |sums_of_read| Knobs { slots: Some(slots.clone()), sums_of_read, ..Knobs::default() };
    let words = words(&a);
    let sums = if target.has_zero_point() { &[false, true][..] } else { &[false] };
    sums.iter().map(|sums| (words.clone(), with(*sums))).collect()
}

/// Whether each k is summed: the same in every row.
fn present(target: &Target, map: &Map) -> Option<Vec<bool>> {
    let k = target.k;
    let mut present: Vec<Option<bool>> = vec![None; k];
    for (at, cell) in map.cells.iter().enumerate() {
        let here = match cell {
            Cell::Unknown => continue,
            Cell::Zero => false,
            Cell::From(i) if *i as usize == at => true,
            Cell::From(_) | Cell::Mixed => return None,
        };
        match present[at % k] {
            None => present[at % k] = Some(here),
            Some(old) if old == here => {}
            Some(_) => return None,
        }
    }
    present.into_iter().collect()
}

/// The k that are missing, by the smallest period that they repeat with.
fn words(present: &[bool]) -> String {
    let missing = present.iter().filter(|x| !**x).count();
    let period = (0..12)
        .map(|x| 1 << x)
        .find(|p| *p < present.len() && (*p..present.len()).all(|k| present[k] == present[k - p]));
    match period {
        Some(p) => {
            let list: Vec<String> = (0..p).filter(|k| !present[*k]).map(|k| k.to_string()).collect();
            if list.len() > 8 {
                return format!("{} of every {p} k are not summed", list.len());
            }
            format!("of every {p} k those at {} are not summed", list.join(", "))
        }
        None => format!("{missing} of {} k are not summed", present.len()),
    }
}

/// Loops that take some k too many, and an accumulator that does not begin at zero.
pub(super) fn hypotheses(evidence: &Evidence<'_>) -> Vec<Hypothesis> {
    let mut list = Vec::new();
    if evidence.any_fails(COUNT) {
        list.extend(overruns(evidence.target));
    }
    if evidence.any_fails(&[Kind::PoisonedOnes, Kind::RandomPoisoned]) {
        list.extend(block_beyond(evidence.target));
    }
    list.extend(start(evidence));
    list.extend(shortened(evidence));
    list
}

/// Every block of `block` k takes `more` of the next one too, with its own factors.
fn overruns(t: &Target) -> Vec<Hypothesis> {
    let mut blocks = vec![t.tile_k, t.instruction_k];
    blocks.extend(t.a.scale.iter().chain(&t.b.scale).map(|scale| scale.k_block));
    blocks.sort_unstable();
    blocks.dedup();
    let mut list = Vec::new();
    if t.splits.count > 1 {
        return list;
    }
    for block in blocks {
        for more in [1, 2, 4, 8, 16, 32].into_iter().filter(|more| *more < block) {
            for beyond in [false, true] {
                let end = |first: usize| {
                    if beyond { first + block + more } else { (first + block + more).min(t.k.next_multiple_of(block)) }
                };
                let firsts = (0..t.k.div_ceil(block)).map(|b| b * block);
                let all: Vec<(u32, u32)> =
                    firsts.flat_map(|first| (first..end(first)).map(move |k| (k as u32, first as u32))).collect();
                let knobs = Knobs {
                    slots: Some(Arc::new(all.iter().map(|x| (x.0, x.0)).collect())),
                    scale_k: Some(Arc::new(all.iter().map(|x| x.1).collect())),
                    no_zero_fill: beyond,
                    ..Knobs::default()
                };
                let tail = if beyond { ", the last one beyond the end" } else { "" };
                let cause = format!("each block of {block} k sums {more} of the next one too{tail}");
                list.push(hypothesis("K_BLOCK_OVERRUN", Stage::MmaAccumulate, cause, knobs, COUNT));
            }
        }
    }
    list
}

/// One block too many: elements and block scales beyond k, or the scales alone.
fn block_beyond(t: &Target) -> Vec<Hypothesis> {
    let Some(scale) = t.a.scale.or(t.b.scale) else { return vec![] };
    let plain = plain_poison(scale.element);
    let mut sizes = vec![scale.k_block, t.tile_k];
    sizes.dedup();
    let mut list = Vec::new();
    for more in sizes {
        let slots: Vec<(u32, u32)> = (0..(t.k + more) as u32).map(|k| (k, k)).collect();
        let poisons: &[Option<f64>] = if plain.is_some() { &[None, plain] } else { &[None] };
        for (no_zero_fill, poison) in [true, false].into_iter().flat_map(|x| poisons.iter().map(move |p| (x, *p))) {
            let side = SideKnobs { scale: Some(ScaleFault::Beyond), scale_poison: poison, ..SideKnobs::default() };
            let (class, stage, what) = if no_zero_fill {
                ("K_TAIL_OOB_READ", Stage::OperandLoad, "elements and their block scales")
            } else {
                ("SF_TAIL_OOB_READ", Stage::QuantisationScale, "block scales of zeros")
            };
            let knobs = Knobs {
                a: side.clone(),
                b: side.clone(),
                slots: Some(Arc::new(slots.clone())),
                no_zero_fill,
                ..Knobs::default()
            };
            let cause = format!("{what} beyond k = {} are read and summed, {more} k", t.k);
            list.push(hypothesis(class, stage, cause, knobs, PADDED));
        }
    }
    list
}

/// A sum of zeros that is one number everywhere, where factors after it tell it from a constant of the epilogue.
fn start(evidence: &Evidence<'_>) -> Option<Hypothesis> {
    let t = evidence.target;
    let multiplied = t.epilogue.iter().any(|step| matches!(step, Step::Multiply { .. }));
    let shown =
        evidence.of(Kind::Zero).next().filter(|s| s.fails && multiplied && t.splits.count == 1 && t.is_plain())?;
    let output = evidence.output(shown);
    let first = *output.first()?;
    let (small, same) = (first.abs() < 65536.0 && first != 0.0, output.iter().all(|x| *x == first));
    let knobs = Knobs { accumulator_start: first, ..Knobs::default() };
    let cause = format!("the accumulator begins at {first} instead of 0");
    (small && same).then(|| hypothesis("ACC_START", Stage::MmaAccumulate, cause, knobs, &[Kind::Zero]))
}

/// Elements that no probe writes, of a store that leaves others where they belong and hits what surrounds the output.
fn shortened(evidence: &Evidence<'_>) -> Option<Hypothesis> {
    let t = evidence.target;
    let first = evidence.shown.first()?;
    if first.seen().guard_hits == 0 || !t.is_plain() {
        return None;
    }
    let written = |at: usize| first.seen().written[t.address(at / t.n(), at % t.n())];
    let places: Vec<_> = (0..t.m() * t.n()).map(|at| written(at).then_some((at / t.n(), at % t.n()))).collect();
    let missing = places.iter().filter(|place| place.is_none()).count();
    let store = Some(StoreFault::Map(Arc::new(places), true));
    let cause = format!("{missing} of {} elements are stored outside the output", t.m() * t.n());
    (missing > 0).then(|| hypothesis("STORE_OUTSIDE", Stage::Store, cause, Knobs { store, ..Knobs::default() }, &[]))
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn missing_k_are_told_by_their_period() {
        let present: Vec<bool> = (0..40).map(|k| k % 16 < 14).collect();
        assert_eq!(words(&present), "of every 16 k those at 14, 15 are not summed");
        let present: Vec<bool> = (0..40).map(|k| k % 32 < 20).collect();
        assert_eq!(words(&present), "12 of every 32 k are not summed");
        let present: Vec<bool> = (0..40).map(|k| k != 7).collect();
        assert_eq!(words(&present), "1 of 40 k are not summed");
    }
}
