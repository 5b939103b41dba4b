//! Contracts and events for tests.

use crate::model::{
    Accumulator, Contract, ElementType, EpilogueStep, Event, Fact, Failure, Major, Metrics, Number, Operand,
    OutputRole, Role, RungResult, RungStatus, Start, Tile,
};

pub(super) fn given<T>(value: T) -> Fact<T> {
    Fact::given(value, "test")
}

pub(super) fn operand(role: Role, element: ElementType, rows: u64, columns: u64) -> Operand {
    Operand {
        role: given(role),
        element: given(element),
        rows: given(rows),
        columns: given(columns),
        leading_dimension: given(columns),
        major: given(Major::K),
        layout: None,
        powers_of_two: false,
        binding: role.name().to_owned(),
    }
}

/// bf16, out[16, 64] over k = 128, acc → bf16 → + residual → bf16.
pub(super) fn contract() -> Contract {
    Contract {
        m: given(16),
        n: given(64),
        k: given(128),
        accumulator: given(Accumulator::F32TensorCore),
        output: given(OutputRole::Out),
        padding_zero: given(false),
        epilogue: vec![
            given(EpilogueStep::Round { to: ElementType::Bf16 }),
            given(EpilogueStep::Add { operand: Role::Residual }),
            given(EpilogueStep::Round { to: ElementType::Bf16 }),
        ],
        operands: vec![
            operand(Role::A, ElementType::Bf16, 16, 128),
            operand(Role::B, ElementType::Bf16, 64, 128),
            operand(Role::Out, ElementType::Bf16, 16, 64),
            operand(Role::Residual, ElementType::Bf16, 16, 64),
        ],
        tile: Tile::default(),
        split_k: None,
        groups: None,
    }
}

pub(super) fn rung(name: &str, wrong: u64) -> RungResult {
    let exact = !name.starts_with("gaussian") && !name.starts_with("real");
    RungResult {
        name: name.to_owned(),
        status: if wrong == 0 { RungStatus::Pass } else { RungStatus::Fail },
        why: String::new(),
        launches: 2,
        deterministic: true,
        follows_shared: false,
        shared_filled: true,
        metrics: Some(Metrics {
            exact,
            elements: 1024,
            wrong,
            rel_l2: Number(if exact { 0.0 } else { 1.66e-3 }),
            rel_l2_floor: Number(if exact { 0.0 } else { 1.66e-3 }),
            ratio: Number(1.0),
            ..Metrics::default()
        }),
        failures: vec![],
        milliseconds: 1.0,
    }
}

pub(super) fn failure(row: u64, column: u64, observed: f64, expected: f64) -> Failure {
    let number = Number;
    Failure {
        row,
        column,
        observed: number(observed),
        expected: number(expected),
        tolerance: number(0.0),
        bits: String::new(),
    }
}

/// start, the rungs, end.
pub(super) fn events(rungs: Vec<RungResult>) -> Vec<Event> {
    let failed = rungs.iter().filter(|r| r.failed()).count() as u32;
    let passed = rungs.len() as u32 - failed;
    let mut events = vec![Event::Start(Start { device: "device".into(), ..Start::default() })];
    events.extend(rungs.into_iter().map(Event::Rung));
    events.push(Event::End { exit: i32::from(failed > 0), passed, failed, skipped: 0 });
    events
}
