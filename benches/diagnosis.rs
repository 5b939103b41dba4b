//! Diagnosis of a 16 × 1024 × 6144 bf16 kernel, the launches aside; and the host reference at 128 × 6144 × 7168, for which
//! `benches/openblas.py` times the same product by OpenBLAS.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use krepro::judge::diagnosis::host::Host;
use krepro::judge::diagnosis::inputs::Inputs;
use krepro::judge::diagnosis::knobs::Knobs;
use krepro::judge::diagnosis::product::multiply;
use krepro::judge::diagnosis::target::{Side, Splits, Target};
use krepro::judge::diagnosis::{Next, next, rounding_to};
use krepro::model::{ElementType, Fill, OutFill, Padding, Probe, RawLaunch, Role};
use krepro::selftest::predicted;

fn production() -> Target {
    let side = |rows, tile| Side { element: ElementType::Bf16, rows, leading: 6144, k_major: true, scale: None, tile };
    Target {
        k: 6144,
        a: side(16, 16),
        b: side(1024, 64),
        out: ElementType::Bf16,
        out_leading: 1024,
        out_by_columns: false,
        tile_k: 64,
        instruction_k: 16,
        stages: 4,
        splits: Splits::none(6144),
        groups: None,
        alpha_of_group: false,
        gate: None,
        accumulator_bits: 24,
        promote: None,
        epilogue: vec![rounding_to(ElementType::Bf16)],
        accumulate: false,
        zeroed: false,
        padding_zero: false,
        types: vec![],
    }
}

/// All rounds that the judge asks for, launched by prediction.
fn rounds(target: &Target, knobs: &Knobs) -> Vec<Vec<RawLaunch>> {
    let mut rounds = Vec::new();
    while let Next::Run(plan) = next(target, 1, &rounds) {
        rounds.push(predicted(target, &plan, knobs));
    }
    rounds
}

fn missing_block() -> Knobs {
    let slots = (0..6144_u32).filter(|k| k / 64 != 37).map(|k| (k, k)).collect();
    Knobs { slots: Some(std::sync::Arc::new(slots)), ..Knobs::default() }
}

fn diagnosis(criterion: &mut Criterion) {
    let target = production();
    let mut group = criterion.benchmark_group("diagnosis of 16 x 1024 x 6144 bf16");
    group.sample_size(10);
    for (name, knobs) in [("right", Knobs::default()), ("a block of k missing", missing_block())] {
        let rounds = rounds(&target, &knobs);
        group.bench_function(name, |bencher| {
            bencher.iter(|| matches!(next(&target, 1, black_box(&rounds)), Next::Done(_)))
        });
    }
    group.finish();
}

/// One thread, conversion of the operands to f64 and rounding of the output included.
fn reference(criterion: &mut Criterion) {
    let side = |rows| Side { element: ElementType::Bf16, rows, leading: 7168, k_major: true, scale: None, tile: 64 };
    let target = Target { k: 7168, a: side(128), b: side(6144), out_leading: 6144, ..production() };
    let normal = |role, seed| (role, Fill::Gaussian { seed, scale: 1.0 });
    let probe = Probe {
        name: "normal".to_owned(),
        fills: vec![normal(Role::A, 1), normal(Role::B, 5)],
        padding: Padding::Zero,
        out: OutFill::Sentinel,
        launches: 1,
    };
    let Some(inputs) = Inputs::new(&target, &probe) else { return };
    let knobs = Knobs::default();
    let mut group = criterion.benchmark_group("host reference");
    group.sample_size(10);
    group.bench_function("128 x 6144 x 7168", |bencher| bencher.iter(|| Host::new(&target, &inputs, &knobs).full()));
    // What OpenBLAS is given: operands that are f64 already.
    let numbers = |count: u32| (0..count).map(|i| f64::from(i * 7919 % 1000) / 500.0 - 1.0).collect::<Vec<_>>();
    let (a, b) = (numbers(128 * 7168), numbers(6144 * 7168));
    let mut c = vec![0.0; 128 * 6144];
    group.bench_function("its product alone", |bencher| {
        bencher.iter(|| {
            for (index, b) in b.chunks(128 * 7168).enumerate() {
                multiply(&mut c[128 * index..], 6144, &a, b, (128, 128, 7168));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, diagnosis, reference);
criterion_main!(benches);
