//! From the contract to the terms of the host model.

use std::sync::Arc;

use crate::model::{
    Accumulator, Contract, ElementType, EpilogueStep, Fact, Major, Operand, OutputRole, Role, SplitOrder, SplitThrough,
};

use super::format::Rounding;
use super::function::Function;
use super::target::{BlockScale, Index, Side, Splits, Step, Target, Tensor};

/// Assumed where the tiling is not known. A wrong one costs names of classes, never a wrong name: predictions decide.
const TILE: (usize, usize, usize) = (128, 128, 64);

/// k of one instruction of the multiplier.
fn instruction_k(element: ElementType) -> usize {
    match element {
        ElementType::Bf16 | ElementType::F16 => 16,
        ElementType::E4m3 | ElementType::E5m2 | ElementType::S8 | ElementType::U8 => 32,
        ElementType::E2m1 => 64,
        _ => 8,
    }
}

/// Extent of a block when `count` elements are cut into `blocks`: the least power of two that covers them, as in the harness.
fn block_extent(count: u64, blocks: u64) -> usize {
    count.div_ceil(blocks.max(1)).next_power_of_two() as usize
}

/// Block scales, when the factors of the role act within the sum.
fn block_scale(contract: &Contract, role: Role, rows: u64) -> Option<BlockScale> {
    let operand = contract.operand(role)?;
    contract.is_block_scale(role).then(|| BlockScale {
        element: operand.element.value,
        row_block: block_extent(rows, operand.rows.value),
        k_block: block_extent(contract.k.value, operand.columns.value),
        swizzled: operand.is_swizzled(),
    })
}

fn side(contract: &Contract, operand: &Operand, scale: Option<BlockScale>, tile: usize) -> Side {
    Side {
        element: operand.element.value,
        rows: operand.rows.value as usize,
        leading: operand.leading_dimension.value as usize,
        k_major: operand.major.value == Major::K || contract.k.value == 1,
        scale,
        tile,
    }
}

fn tensor(role: Role) -> Option<Tensor> {
    match role {
        Role::Bias => Some(Tensor::Bias),
        Role::Residual => Some(Tensor::Residual),
        Role::ScaleA => Some(Tensor::ScaleA),
        Role::ScaleB => Some(Tensor::ScaleB),
        Role::Alpha => Some(Tensor::Alpha),
        Role::Beta => Some(Tensor::Beta),
        Role::A | Role::B | Role::Out | Role::ZeroPoint | Role::Groups => None,
    }
}

impl Target {
    /// What the host model must know of `contract`.
    ///
    /// # Errors
    /// What of it the model cannot express.
    pub fn new(contract: &Contract) -> Result<Target, String> {
        let operand = |role| contract.operand(role).ok_or_else(|| format!("the contract has no `{role}`"));
        let (a, b, out) = (operand(Role::A)?, operand(Role::B)?, operand(Role::Out)?);
        let (m, n, k) = (contract.m.value, contract.n.value, contract.k.value);
        if [m, n, k].contains(&0)
            || m.saturating_mul(n).saturating_mul(2) > 1 << 30
            || (m + b.rows.value).saturating_mul(k) > 1 << 30
        {
            return Err(format!("{m} × {n} × {k} is too large for a diagnosis by prediction"));
        }
        let groups = contract.groups.as_ref().map_or(1, |groups| groups.count() as u64);
        let wide = n * if contract.gate().is_some() { 2 } else { 1 };
        if (a.rows.value, b.rows.value, a.columns.value, b.columns.value) != (m, wide * groups, k, k) {
            return Err(
                "extents of a and b are not (m, k) and (n, k), n twice with a gate and times the groups".to_owned()
            );
        }
        let scales = [block_scale(contract, Role::ScaleA, m), block_scale(contract, Role::ScaleB, wide * groups)];
        let mut epilogue = Vec::new();
        if contract.operand(Role::ZeroPoint).is_some() {
            epilogue.push(Step::ZeroPoint { factor: 1.0 });
        }
        for step in &contract.epilogue {
            match &step.value {
                EpilogueStep::Round { to } => epilogue.push(round(*to)),
                EpilogueStep::Relu => epilogue.push(Step::Activate(Function::Relu)),
                EpilogueStep::Gelu => epilogue.push(Step::Activate(Function::Gelu)),
                EpilogueStep::GeluTanh => epilogue.push(Step::Activate(Function::GeluTanh)),
                EpilogueStep::Silu => epilogue.push(Step::Activate(Function::Silu)),
                EpilogueStep::SiluGate { .. } => {
                    epilogue.push(Step::Gate { gate: Function::Silu, up: Function::Identity });
                }
                EpilogueStep::AddProduct { operand, factor } => match (tensor(*operand), tensor(*factor)) {
                    (
                        Some(tensor @ (Tensor::Bias | Tensor::Residual)),
                        Some(scalar @ (Tensor::Beta | Tensor::Alpha)),
                    ) => {
                        epilogue.push(Step::Add { tensor, index: Index::Own, factor: 1.0, by: Some((scalar, 1)) });
                    }
                    _ => return Err(format!("an epilogue that adds `{factor}` · `{operand}` is not modelled")),
                },
                EpilogueStep::Add { operand } => match tensor(*operand) {
                    Some(tensor @ (Tensor::Bias | Tensor::Residual)) => {
                        epilogue.push(Step::Add { tensor, index: Index::Own, factor: 1.0, by: None });
                    }
                    _ => return Err(format!("an epilogue that adds `{operand}` is not modelled")),
                },
                EpilogueStep::Multiply { operand: Role::ScaleA } if scales[0].is_some() => {}
                EpilogueStep::Multiply { operand: Role::ScaleB } if scales[1].is_some() => {}
                EpilogueStep::Multiply { operand } => match tensor(*operand) {
                    Some(tensor @ (Tensor::ScaleA | Tensor::ScaleB | Tensor::Alpha | Tensor::Beta)) => {
                        epilogue.push(Step::Multiply { tensor, index: Index::Own, power: 1 });
                    }
                    _ => return Err(format!("an epilogue that multiplies by `{operand}` is not modelled")),
                },
            }
        }
        if !matches!(epilogue.last(), Some(Step::Round { to, .. }) if *to == out.element.value) {
            epilogue.push(round(out.element.value));
        }
        let narrow = out.element.value.bits() < 16;
        let curved = epilogue.iter().any(|step| match step {
            Step::Activate(function) => function.is_curved(),
            step => matches!(step, Step::Gate { .. }),
        });
        if narrow && curved {
            return Err("gelu and silu before an output of 8 bits are not modelled".to_owned());
        }
        if groups > 1 && scales[1].is_some_and(|s| !wide.is_multiple_of(s.row_block as u64)) {
            return Err("block scales of b that two groups share are not modelled".to_owned());
        }
        let known =
            |fact: &Option<Fact<u64>>, otherwise: usize| fact.as_ref().map_or(otherwise, |f| f.value as usize).max(1);
        let tile = &contract.tile;
        let tile_k = known(&tile.k, TILE.2);
        let splits = contract.split_k.as_ref().map_or(Splits::none(k as usize), |split| Splits {
            count: split.count.value.max(1) as usize,
            length: split.length(k, tile_k as u64) as usize,
            partial: split.partial.value,
            sum: split.sum.value,
            into_output: split.through.value == SplitThrough::ReduceAdd,
            any_order: split.order.value == SplitOrder::Any,
        });
        if splits.into_output
            && splits.count > 1
            && epilogue.iter().any(|s| matches!(s, Step::Activate(_) | Step::Gate { .. }))
        {
            return Err("an activation on parts that are added into the output is no function of their sum".to_owned());
        }
        Ok(Target {
            k: k as usize,
            a: side(contract, a, scales[0], known(&tile.m, TILE.0)),
            b: side(
                contract,
                b,
                scales[1],
                (known(&tile.n, TILE.1) / if contract.gate().is_some() { 2 } else { 1 }).max(1),
            ),
            out: out.element.value,
            out_leading: (out.leading_dimension.value as usize).max(1),
            out_by_columns: out.major.value == Major::Mn,
            tile_k,
            instruction_k: instruction_k(a.element.value).min(tile_k),
            stages: tile.stages.as_ref().map_or(0, |s| s.value as usize),
            splits,
            groups: contract.groups.as_ref().map(group_rows),
            gate: contract.gate(),
            alpha_of_group: contract.operand(Role::Alpha).is_some_and(|alpha| alpha.rows.value > 1),
            accumulator_bits: match contract.accumulator.value {
                Accumulator::F32Simt | Accumulator::F32TensorCore => 24,
                Accumulator::F16TensorCore => 11,
                Accumulator::Fp8Hopper => 14,
                Accumulator::S32 => 31,
            },
            promote: tile.promotion.as_ref().map(|p| p.value as usize),
            epilogue,
            accumulate: contract.output.value == OutputRole::Accumulate,
            zeroed: contract.output.value == OutputRole::Out && splits.into_output,
            padding_zero: contract.padding_zero.value,
            types: contract.operands.iter().filter_map(|o| Some((tensor(o.role.value)?, o.element.value))).collect(),
        })
    }
}

/// First row and rows of each group.
fn group_rows(groups: &crate::model::Groups) -> Arc<Vec<(usize, usize)>> {
    let pairs = groups.first.value.iter().zip(&groups.rows.value);
    Arc::new(pairs.map(|(first, rows)| (*first as usize, *rows as usize)).collect())
}

fn round(to: ElementType) -> Step {
    Step::Round { to, rounding: Rounding::NearestEven, saturate: true }
}
