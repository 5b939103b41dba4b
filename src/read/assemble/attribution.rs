//! Descriptors that production printed, or that its own fill code gives: which is whose, and where they differ from what was
//! expected.

use std::collections::BTreeMap;

use super::descriptor::Draft;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Fact, OutOfBounds, Swizzle, TensorMap};
use crate::read::prints::PrintedMap;

/// What is known of production's descriptors beside the manifest's rules.
#[derive(Debug, Clone, Default)]
pub struct PrintedMaps {
    /// Printed for the launch, in order.
    pub printed: Vec<PrintedMap>,
    /// Lines of prints that the user attributed, by the descriptor's name at the call.
    pub lines: BTreeMap<String, usize>,
    /// What production's fill code gives, by the descriptor's name at the call.
    pub filled: BTreeMap<String, PrintedMap>,
}

/// Gives every draft the map that production printed for it or that its code fills; what contradicts the manifest is warned of.
pub(super) fn attribute(drafts: &mut [Draft], known: &PrintedMaps, problems: &mut Diagnostics) {
    for name in known.lines.keys().chain(known.filled.keys()) {
        if !drafts.iter().any(|draft| draft.name == *name) {
            let names: Vec<_> = drafts.iter().map(|draft| draft.name.as_str()).collect();
            problems.push(
                Diagnostic::error("K-OPTION", format!("the kernel's call has no descriptor `{name}`"))
                    .because(format!("its descriptors are {}", names.join(", "))),
            );
        }
    }
    let mut free: Vec<&PrintedMap> = vec![];
    for map in &known.printed {
        // Printed again for another launch of the same shape.
        if !free.iter().any(|other| same(other, map)) {
            free.push(map);
        }
    }
    let mut chosen: Vec<Option<&PrintedMap>> = vec![None; drafts.len()];
    for (draft, place) in drafts.iter().zip(&mut chosen) {
        let Some(line) = known.lines.get(&draft.name) else { continue };
        match known.printed.iter().find(|map| map.line == *line) {
            Some(map) => *place = Some(map),
            None => problems.push(
                Diagnostic::error("K-OPTION", format!("line {line} prints no descriptor of this launch"))
                    .because(listed(&known.printed)),
            ),
        }
    }
    free.retain(|map| !chosen.iter().flatten().any(|taken| same(taken, map)));
    for fits in [expected, tensor] {
        let open: Vec<usize> = (0..drafts.len()).filter(|index| chosen[*index].is_none()).collect();
        for index in &open {
            let mine: Vec<&PrintedMap> = free.iter().filter(|map| fits(&drafts[*index], map)).copied().collect();
            let [only] = mine[..] else { continue };
            // The same print may fit two descriptors only where both expect exactly it.
            let others = open.iter().filter(|other| **other != *index && fits(&drafts[**other], only)).count();
            if others == 0 || draft_map(&drafts[*index]).is_some_and(|map| equal(map, only)) {
                chosen[*index] = Some(only);
            }
        }
        free.retain(|map| !chosen.iter().flatten().any(|taken| same(taken, map)));
    }
    for (draft, printed) in drafts.iter_mut().zip(chosen) {
        let Some(map) = printed.or_else(|| known.filled.get(&draft.name)) else {
            if draft.production.is_none() && !free.is_empty() {
                problems.push(
                    Diagnostic::error("K-QUESTION", format!("which printed descriptor is `{}`?", draft.name))
                        .because(listed(&known.printed))
                        .help(format!("--printed-map {}=LINE", draft.name)),
                );
            }
            continue;
        };
        let (said, by) = match printed {
            Some(_) => ("production printed", "print"),
            None => ("production's fill code gives", "fill code"),
        };
        let production = tensor_map(draft, map);
        if let Some(rule) = draft.production.as_ref().filter(|_| draft.ruled)
            && let Some(difference) = difference(rule, &production)
        {
            problems.push(
                Diagnostic::warning(
                    "K-DESCRIPTOR-RULE",
                    format!("the descriptor `{}` that {said} is not the one of the manifest's fill rule", draft.name),
                )
                .because(difference)
                .because(format!("the {by}'s is taken"))
                .help("check the leaves and the rule: one of them is not production's"),
            );
        }
        draft.production = Some(production);
    }
}

fn draft_map(draft: &Draft) -> Option<&TensorMap> {
    draft.production.as_ref()
}

fn listed(maps: &[PrintedMap]) -> String {
    let one = |map: &PrintedMap| {
        format!("line {}: extents {}, box {}", map.line, product(&map.global_dim), product(&map.box_dim))
    };
    if maps.is_empty() {
        return "no descriptor is printed for it".to_owned();
    }
    maps.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn product(list: &[Fact<u64>]) -> String {
    list.iter().map(|fact| fact.value.to_string()).collect::<Vec<_>>().join(" x ")
}

fn values(list: &[Fact<u64>]) -> Vec<u64> {
    list.iter().map(|fact| fact.value).collect()
}

/// Without trailing dimensions of extent 1.
fn core(list: &[Fact<u64>]) -> Vec<u64> {
    let mut out = values(list);
    while out.len() > 2 && out.last() == Some(&1) {
        out.pop();
    }
    out
}

fn same(a: &PrintedMap, b: &PrintedMap) -> bool {
    values(&a.global_dim) == values(&b.global_dim)
        && values(&a.global_strides) == values(&b.global_strides)
        && values(&a.box_dim) == values(&b.box_dim)
        && a.swizzle.as_ref().map(|s| s.value) == b.swizzle.as_ref().map(|s| s.value)
}

fn equal(map: &TensorMap, printed: &PrintedMap) -> bool {
    core(&map.global_dim) == core(&printed.global_dim)
        && core(&map.box_dim) == core(&printed.box_dim)
        && map.global_strides.first().map(|s| s.value) == printed.global_strides.first().map(|s| s.value)
}

/// Whether a print is the descriptor that the manifest or the type gives.
fn expected(draft: &Draft, map: &PrintedMap) -> bool {
    draft.production.as_ref().is_some_and(|production| equal(production, map))
}

/// Whether a print addresses the operand's tensor.
fn tensor(draft: &Draft, map: &PrintedMap) -> bool {
    let mut extents = core(&map.global_dim);
    let mut wanted = vec![draft.rows, draft.columns];
    extents.sort_unstable();
    wanted.sort_unstable();
    extents == wanted
}

fn tensor_map(draft: &Draft, map: &PrintedMap) -> TensorMap {
    let like = draft.production.as_ref().or(draft.from_type.as_ref());
    let why = "nothing printed says it";
    TensorMap {
        data_type: map
            .data_type
            .clone()
            .or_else(|| like.map(|l| l.data_type.clone()))
            .unwrap_or_else(|| draft.data_type.clone()),
        element_bytes: map.element_bytes.or(like.map(|l| l.element_bytes)).unwrap_or(draft.element_bytes),
        global_dim: map.global_dim.clone(),
        global_strides: map.global_strides.clone(),
        box_dim: map.box_dim.clone(),
        element_strides: vec![1; map.box_dim.len()],
        swizzle: map
            .swizzle
            .clone()
            .or_else(|| like.map(|l| l.swizzle.clone()))
            .unwrap_or_else(|| Fact::assumed(Swizzle::None, why)),
        l2_promotion: map
            .l2_promotion
            .clone()
            .or_else(|| like.map(|l| l.l2_promotion.clone()))
            .unwrap_or_else(|| "CU_TENSOR_MAP_L2_PROMOTION_NONE".to_owned()),
        out_of_bounds: like.map_or(OutOfBounds::Zeros, |l| l.out_of_bounds),
    }
}

/// Where two descriptors differ, in words.
fn difference(rule: &TensorMap, seen: &TensorMap) -> Option<String> {
    let mut parts = vec![];
    let mut look = |what: &str, rule: &[Fact<u64>], seen: &[Fact<u64>]| {
        if core(rule) != core(seen) {
            parts.push(format!("{what} {} and not {}", product(seen), product(rule)));
        }
    };
    look("extents", &rule.global_dim, &seen.global_dim);
    look("box", &rule.box_dim, &seen.box_dim);
    look(
        "strides",
        &rule.global_strides[..rule.global_strides.len().min(1)],
        &seen.global_strides[..seen.global_strides.len().min(1)],
    );
    if rule.swizzle.value != seen.swizzle.value {
        parts.push(format!("swizzle {:?} and not {:?}", seen.swizzle.value, rule.swizzle.value));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}
