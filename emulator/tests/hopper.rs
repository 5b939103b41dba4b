//! Hopper kernels that nvcc compiled: tensor copies, mbarriers, wgmma, clusters.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Device, Random, compile, map};
use half::bf16;
use krepro_emulator::exec::{Cause, Options, Wait};
use krepro_emulator::tensor_map::{ElementType, Swizzle};

fn device() -> Option<&'static str> {
    static PTX: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    PTX.get_or_init(|| compile("hopper", "sm_90a")).as_deref()
}

struct Pipeline {
    device: Device,
    a: Vec<f32>,
    b: Vec<f32>,
    k: usize,
    rows: usize,
}

impl Pipeline {
    fn new(k: usize, rows: usize) -> Option<Pipeline> {
        let device = Device::new(device()?);
        let mut random = Random(7);
        let mut make = |count| (0..count).map(|_| (random.next() % 7) as f32 - 3.0).collect::<Vec<f32>>();
        let (a, b) = (make(64 * k), make(rows * k));
        Some(Pipeline { device, a, b, k, rows })
    }

    fn run(&self, kernel: &str, expect: i32) -> Result<Vec<f32>, Box<krepro_emulator::exec::Failure>> {
        let bits = |v: &[f32]| v.iter().map(|&v| bf16::from_f32(v).to_bits()).collect::<Vec<_>>();
        let (da, db) = (self.device.halves(&bits(&self.a)), self.device.halves(&bits(&self.b)));
        let out = self.device.zeros(64 * 16 * 4);
        let k = self.k as u64;
        let map_a = map(ElementType::Bf16, da, &[k, 64], &[64, 64], Swizzle::B128);
        let map_b = map(ElementType::Bf16, db, &[k, self.rows as u64], &[64, 16], Swizzle::B128);
        let parameters = vec![
            map_a.encode().to_vec().into(),
            map_b.encode().to_vec().into(),
            out.into(),
            (self.k as i32).into(),
            expect.into(),
        ];
        self.device.launch_with(kernel, [1, 1, 1], [160, 1, 1], [1, 1, 1], 21 * 1024, parameters)?;
        Ok(self.device.read_floats(out, 64 * 16))
    }

    fn wanted(&self) -> Vec<f32> {
        let mut out = vec![0.0; 64 * 16];
        for row in 0..64 {
            for column in 0..self.rows {
                let products = (0..self.k).map(|i| self.a[row * self.k + i] * self.b[column * self.k + i]);
                out[row * 16 + column] = products.sum();
            }
        }
        out
    }
}

#[test]
fn a_pipeline_of_tensor_copies_and_wgmma() {
    for rows in [16, 8] {
        let Some(pipeline) = Pipeline::new(512, rows) else { return };
        let bytes = (64 + 16) * 64 * 2;
        assert_eq!(pipeline.run("pipeline", bytes).unwrap(), pipeline.wanted(), "{rows} rows");
    }
}

#[test]
fn bytes_of_a_clipped_box_hang_with_both_counts() {
    let Some(pipeline) = Pipeline::new(256, 8) else { return };
    // The producer announces only the 8 rows that exist.
    let failure = pipeline.run("pipeline", (64 + 8) * 64 * 2).unwrap_err();
    let text = failure.to_string();
    let Cause::Deadlock(report) = failure.cause else { panic!("{text}") };
    let ledger = report.ledgers.iter().find(|l| l.arrived_bytes > 0).expect("a barrier with bytes");
    assert_eq!((ledger.expected_bytes, ledger.arrived_bytes), (9216, 10240));
    assert!(ledger.deliveries[1].contains("8 of 16 rows outside of the tensor"), "{text}");
    assert!(report.likely[0].contains("10240 bytes arrived but 9216 were expected"), "{text}");
    let consumers = report.waiters.iter().filter(|w| matches!(w.wait, Wait::Mbarrier { .. }) && w.site.warp < 4);
    let line = include_str!("kernels/hopper.cu").lines().position(|l| l.contains("barrier_wait(&full[s]")).unwrap() + 1;
    assert!(consumers.clone().count() == 4);
    for waiter in consumers {
        assert_eq!(waiter.site.places.last().map(|p| p.line as usize), Some(line), "{text}");
    }
}

#[test]
fn late_schedules_leave_a_correct_kernel_alone_and_break_one_that_does_not_wait() {
    let Some(mut pipeline) = Pipeline::new(512, 16) else { return };
    let bytes = (64 + 16) * 64 * 2;
    assert_eq!(pipeline.run("pipeline_without_wait", bytes).unwrap(), pipeline.wanted());
    for seed in 0..4 {
        pipeline.device.options = Options { schedule: Some(seed), ..Options::default() };
        assert_eq!(pipeline.run("pipeline", bytes).unwrap(), pipeline.wanted(), "seed {seed}");
        assert_ne!(pipeline.run("pipeline_without_wait", bytes).unwrap(), pipeline.wanted(), "seed {seed}");
    }
}

#[test]
fn boxes_of_other_ranks_are_clipped_on_both_ends() {
    let Some(ptx) = device() else { return };
    let device = Device::new(ptx);
    let values: Vec<f32> = (0..20 * 3 * 4).map(|i| i as f32).collect();
    let from = device.floats(&values);
    let to = device.floats(&vec![-1.0; values.len()]);
    let maps = |dims: &[u64], boxes: &[u32]| {
        [from, to].map(|address| map(ElementType::F32, address, dims, boxes, Swizzle::None).encode().to_vec())
    };
    let [a, b] = maps(&[20], &[16]);
    device
        .launch_with("trip1", [1, 1, 1], [32, 1, 1], [1, 1, 1], 4096, vec![a.into(), b.into(), 64.into(), 12.into()])
        .unwrap();
    let got = device.read_floats(to, 24);
    let wanted: Vec<f32> = (0..24).map(|i| if (12..20).contains(&i) { 2.0 * i as f32 } else { -1.0 }).collect();
    assert_eq!(got, wanted);
    for (add, old) in [(0, 0.0), (1, 1.0)] {
        device.memory.fill(to, 4 * values.len() as u64, &1f32.to_le_bytes()).unwrap();
        let [a, b] = maps(&[20, 3, 4], &[8, 2, 2]);
        let parameters = vec![a.into(), b.into(), (8 * 2 * 2 * 4).into(), (-4).into(), add.into()];
        device.launch_with("trip3", [1, 1, 1], [32, 1, 1], [1, 1, 1], 4096, parameters).unwrap();
        let got = device.read_floats(to, values.len());
        for (i, value) in got.into_iter().enumerate() {
            let (x, y, z) = (i % 20, i / 20 % 3, i / 60);
            let inside = x < 4 && y < 2 && (1..3).contains(&z);
            assert_eq!(value, if inside { 2.0 * i as f32 + old } else { 1.0 }, "{x} {y} {z}");
        }
    }
}

#[test]
fn clusters_share_memory_and_multicasts() {
    let Some(ptx) = device() else { return };
    let mut device = Device::new(ptx);
    for schedule in [None, Some(1)] {
        device.options.schedule = schedule;
        let input: Vec<f32> = (0..96).map(|i| i as f32).collect();
        let (from, to) = (device.floats(&input), device.zeros(6 * 128));
        device.launch("cluster_exchange", [6, 1, 1], [32, 1, 1], vec![from.into(), to.into()]).unwrap();
        for (i, value) in device.read_floats(to, 192).into_iter().enumerate() {
            let (cta, thread) = (i / 32, i % 32);
            let (rank, x) = ((cta % 2) as f32, (cta / 2 * 32 + thread) as f32);
            assert_eq!(value, x + rank * 1000.0 + 2.0 * (x + (1.0 - rank) * 1000.0));
        }
        assert!(matches!(
            device.launch("cluster_exchange", [5, 1, 1], [32, 1, 1], vec![from.into(), to.into()]).unwrap_err().cause,
            Cause::Launch(text) if text.contains("does not divide")
        ));
    }
}

#[test]
fn cp_async_ldmatrix_and_mma_sync() {
    let Some(ptx) = device() else { return };
    let mut device = Device::new(ptx);
    for schedule in [None, Some(3)] {
        device.options.schedule = schedule;
        let mut random = Random(9);
        let k = 48;
        let a: Vec<f32> = (0..16 * k).map(|_| (random.next() % 9) as f32 - 4.0).collect();
        let b: Vec<f32> = (0..8 * k).map(|_| (random.next() % 9) as f32 - 4.0).collect();
        let bits = |v: &[f32]| v.iter().map(|&v| bf16::from_f32(v).to_bits()).collect::<Vec<_>>();
        let (da, db, dd) = (device.halves(&bits(&a)), device.halves(&bits(&b)), device.zeros(512));
        let parameters = vec![da.into(), db.into(), dd.into(), (k as i32).into()];
        device.launch("ampere", [1, 1, 1], [32, 1, 1], parameters).unwrap();
        for (i, value) in device.read_floats(dd, 128).into_iter().enumerate() {
            let sum: f32 = (0..k).map(|j| a[i / 8 * k + j] * b[i % 8 * k + j]).sum();
            assert_eq!(value, sum, "{i}");
        }
    }
}

#[test]
fn stmatrix_writes_rows_or_columns() {
    let Some(ptx) = device() else { return };
    let device = Device::new(ptx);
    let out = device.zeros(256);
    device.launch("store_matrix", [1, 1, 1], [32, 1, 1], vec![out.into()]).unwrap();
    let got = device.read_halves(out, 128);
    for i in 0..64 {
        assert_eq!(usize::from(got[i]), i);
        assert_eq!(usize::from(got[64 + i]), i % 8 * 8 + i / 8);
    }
}

#[test]
fn a_missing_arrival_and_an_overwritten_barrier_are_told() {
    let Some(ptx) = device() else { return };
    let device = Device::new(ptx);
    let out = device.zeros(256);
    let failure = device.launch("waits_on_nothing", [1, 1, 1], [32, 1, 1], vec![out.into()]).unwrap_err();
    let text = failure.to_string();
    assert!(text.contains("1 of 2 arrivals are missing") && text.contains("hopper.cu:"), "{text}");
    let failure = device.launch("overwrites_its_barrier", [1, 1, 1], [32, 1, 1], vec![out.into()]).unwrap_err();
    assert!(failure.to_string().contains("was overwritten"), "{failure}");
}
