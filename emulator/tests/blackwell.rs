//! A Blackwell kernel that nvcc compiled: tensor memory, its matrix instruction, and the operand trace.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Device, Random, compile, map};
use half::bf16;
use krepro_emulator::exec::{Options, Origin};
use krepro_emulator::tensor_map::{ElementType, Swizzle};

#[test]
fn a_product_through_tensor_memory_and_what_its_operands_were() {
    let Some(ptx) = compile("blackwell", "sm_100a") else { return };
    let mut device = Device::new(&ptx);
    let mut random = Random(11);
    let mut make = |count| (0..count).map(|_| (random.next() % 7) as f32 - 3.0).collect::<Vec<f32>>();
    let (a, b) = (make(128 * 64), make(16 * 64));
    let bits = |v: &[f32]| v.iter().map(|&v| bf16::from_f32(v).to_bits()).collect::<Vec<_>>();
    let (da, db, out) = (device.halves(&bits(&a)), device.halves(&bits(&b)), device.zeros(128 * 16 * 4));
    // bf16 10.0 in every word: what a box that is clamped leaves behind.
    device.options = Options { trace: true, shared_poison: Some(0x4120_4120), ..Options::default() };
    for (rows, schedule) in [(16, None), (8, None), (8, Some(5))] {
        device.options.schedule = schedule;
        let map_a = map(ElementType::Bf16, da, &[64, 128], &[64, 128], Swizzle::B128);
        let map_b = map(ElementType::Bf16, db, &[64, rows], &[64, rows as u32], Swizzle::B128);
        let expect = (128 + rows as i32) * 128;
        let parameters =
            vec![map_a.encode().to_vec().into(), map_b.encode().to_vec().into(), out.into(), expect.into()];
        let report = device.launch_with("product", [1, 1, 1], [128, 1, 1], [1, 1, 1], 19 * 1024, parameters).unwrap();
        let got = device.read_floats(out, 128 * 16);
        for row in 0..128 {
            for column in 0..rows as usize {
                let sum: f32 = (0..64).map(|k| a[row * 64 + k] * b[column * 64 + k]).sum();
                assert_eq!(got[row * 16 + column], sum, "{row} {column}");
            }
        }
        assert_eq!(report.trace.len(), 4);
        assert_eq!(report.matrix_instructions, 4);
        for (k, step) in report.trace.iter().enumerate() {
            assert_eq!(step.ordinal, k as u64);
            assert_eq!(step.k_step, k as u64);
            assert_eq!(step.operands.a.first, a[16 * k..][..8]);
            assert!(step.operands.a.origins.iter().all(|&origin| origin == Origin::Written));
            let unwritten = step.operands.b.origins.iter().map(|&origin| origin == Origin::Unwritten);
            assert!(unwritten.eq((0..16).map(|row| row >= rows as usize)), "{:?}", step.operands.b.origins);
            for (row, &most) in step.operands.b.absmax.iter().enumerate() {
                let wanted = b[row * 64 + 16 * k..][..16].iter().fold(0f32, |most, v| most.max(v.abs()));
                // Rows that the copy did not write still hold the poison.
                assert_eq!(most, if row < rows as usize { wanted } else { 10.0 }, "{row}");
            }
        }
    }
}
