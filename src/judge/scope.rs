//! Where an answer holds, and what a run of this shape cannot see.

use crate::model::{Contract, EpilogueStep, Event, OutputRole, Role, RungResult, RungStatus, Scope};

use super::units::blind_terms;
use super::{Backend, Context};

/// The contract in one line.
pub(super) fn contract_line(contract: &Contract) -> String {
    let element = |role| contract.operand(role).map_or("?", |o| o.element.value.name());
    let steps: Vec<String> = contract
        .epilogue
        .iter()
        .map(|step| match &step.value {
            EpilogueStep::Round { to } => format!("round to {to}"),
            EpilogueStep::Add { operand } => format!("+ {operand}"),
            EpilogueStep::Multiply { operand } => format!("· {operand}"),
            EpilogueStep::AddProduct { operand, factor } => format!("+ {factor} · {operand}"),
            EpilogueStep::Relu => "relu".to_owned(),
            EpilogueStep::Gelu => "gelu".to_owned(),
            EpilogueStep::GeluTanh => "gelu (tanh)".to_owned(),
            EpilogueStep::Silu => "silu".to_owned(),
            EpilogueStep::SiluGate { .. } => "silu(gate) · up".to_owned(),
        })
        .collect();
    let mut line = format!(
        "out[{}, {}] over k = {}, {} · {} → {}",
        contract.m.value,
        contract.n.value,
        contract.k.value,
        element(Role::A),
        element(Role::B),
        element(Role::Out)
    );
    for role in [Role::ScaleA, Role::ScaleB].into_iter().filter(|role| contract.is_block_scale(*role)) {
        let scale = contract.operand(role).map(|o| (o.element.value, o.rows.value, o.columns.value, o.is_swizzled()));
        if let Some((element, rows, columns, swizzled)) = scale {
            let tiles = if swizzled { " in 128x4 tiles" } else { "" };
            line.push_str(&format!(", {role} {element} [{rows}, {columns}]{tiles}"));
        }
    }
    if !steps.is_empty() {
        line.push_str(&format!(", {}", steps.join(", ")));
    }
    if contract.output.value == OutputRole::Accumulate {
        line.push_str(", added to the output");
    }
    if let Some(split) = &contract.split_k {
        line.push_str(&format!(", {} splits of k through {}", split.count.value, split.through.value.words()));
    }
    if let Some(groups) = &contract.groups {
        let rows: Vec<String> = groups.rows.value.iter().take(8).map(u64::to_string).collect();
        let more = if groups.count() > rows.len() { ", …" } else { "" };
        line.push_str(&format!(", {} groups of {}{more} rows", groups.count(), rows.join(", ")));
    }
    line
}

/// Said of classes of faults as long as no diagnosis has listed them.
pub(super) const UNLISTED: &str = "classes of faults that change nothing at this shape (--diagnose always lists them)";

/// Device, marks and blind spots.
pub(super) fn scope(contract: &Contract, events: &[Event], rungs: &[RungResult], context: &Context) -> Scope {
    let mut marks = Vec::new();
    if context.backend != Backend::Gpu {
        marks.push("emulated".to_owned());
        if !context.arch_validated {
            marks.push("architecture not validated on silicon".to_owned());
        }
    }
    let device = events.iter().find_map(|event| match event {
        Event::Start(start) => Some(start.clone()),
        _ => None,
    });
    Scope { contract: contract_line(contract), device, unobservable: unobservable(contract, rungs, context), marks }
}

fn unobservable(contract: &Contract, rungs: &[RungResult], context: &Context) -> Vec<String> {
    let mut list = vec![UNLISTED.to_owned()];
    let ran = |family: &str| rungs.iter().any(|r| r.family() == family && r.status != RungStatus::Skip);
    let out = contract.operand(Role::Out);
    if let Some(out) = out
        && !ran("integers")
        && !ran("one_hot")
    {
        let terms = blind_terms(out.element.value, contract.k.value);
        if terms > 0 {
            list.push(format!(
                "up to {terms} missing terms of {}: all ones rounds them away in {}",
                contract.k.value, out.element.value
            ));
        }
    }
    list.push("a permutation of k that a and b share".to_owned());
    let tile_rows = contract.tile.m.as_ref().map(|t| t.value).filter(|&t| t > 0);
    if tile_rows.is_some_and(|t| contract.m.value <= t) {
        list.push("faults between row tiles: there is one".to_owned());
    }
    let launches = rungs.iter().map(|r| r.launches).max().unwrap_or_default();
    if launches > 0 {
        list.push(format!("races rarer than about 3 in {launches} launches (--launches N)"));
    }
    if rungs.iter().any(|r| r.launches > 0 && !r.shared_filled) {
        list.push(
            "reads of what an earlier launch left in shared memory, which this driver does not let be overwritten"
                .to_owned(),
        );
    }
    if context.backend != Backend::Gpu {
        list.push("races between blocks, which seldom show on the CPU backend".to_owned());
    }
    list.push(
        "what only production's neighbours cause: other kernels, streams, programmatic dependent launch".to_owned(),
    );
    if !ran("real") {
        list.push("what only production's data cause (--input ROLE=FILE)".to_owned());
    }
    list
}
