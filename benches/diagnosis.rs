//! Diagnosis of a 16 × 1024 × 6144 bf16 kernel, the launches aside; and the host reference against a plain triple loop.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use krepro::judge::diagnosis::knobs::Knobs;
use krepro::judge::diagnosis::target::{Side, Target};
use krepro::judge::diagnosis::{Next, next, rounding_to};
use krepro::model::{ElementType, RawLaunch};
use krepro::selftest::predicted;

fn production() -> Target {
    let side = |rows, tile| Side { element: ElementType::Bf16, rows, leading: 6144, k_major: true, scale: None, tile };
    Target {
        k: 6144,
        a: side(16, 16),
        b: side(1024, 64),
        out: ElementType::Bf16,
        out_leading: 1024,
        tile_k: 64,
        instruction_k: 16,
        stages: 4,
        splits: 1,
        accumulator_bits: 24,
        promote: None,
        epilogue: vec![rounding_to(ElementType::Bf16)],
        accumulate: false,
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

criterion_group!(benches, diagnosis);
criterion_main!(benches);
