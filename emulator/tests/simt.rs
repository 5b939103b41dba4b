//! Plain SIMT kernels that nvcc compiled, against arithmetic done here.

#![allow(clippy::unwrap_used, clippy::precedence)]

mod common;

use common::{Device, Random, compile};
use half::{bf16, f16};
use krepro_emulator::exec::{Cause, Failure};
use krepro_emulator::memory::MemoryFault;

fn device() -> Option<&'static Device> {
    static DEVICE: std::sync::OnceLock<Option<Device>> = std::sync::OnceLock::new();
    DEVICE.get_or_init(|| compile("simt", "sm_90a").map(|ptx| Device::new(&ptx))).as_ref()
}

fn failed(result: Result<krepro_emulator::exec::Report, Box<Failure>>) -> Failure {
    *result.expect_err("the launch should fail")
}

#[test]
fn naive_gemm_in_bf16() {
    let Some(device) = device() else { return };
    let (m, n, k) = (5, 96, 200);
    let mut random = Random(1);
    let mut make = |count| (0..count).map(|_| bf16::from_f32(random.unit())).collect::<Vec<_>>();
    let (x, w) = (make(m * k), make(n * k));
    let bits = |v: &[bf16]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let (dx, dw, dy) = (device.halves(&bits(&x)), device.halves(&bits(&w)), device.zeros(2 * (m * n) as u64));
    let parameters = vec![dx.into(), dw.into(), dy.into(), (m as i32).into(), (n as i32).into(), (k as i32).into()];
    device.launch("naive_gemm", [2, m as u32, 1], [64, 1, 1], parameters).unwrap();
    let y = device.read_halves(dy, m * n);
    for row in 0..m {
        for column in 0..n {
            // The kernel's own order: one fused multiply-add after the other.
            let terms = (0..k).map(|i| (x[row * k + i].to_f32(), w[column * k + i].to_f32()));
            let sum = terms.fold(0f32, |sum, (a, b)| a.mul_add(b, sum));
            assert_eq!(y[row * n + column], bf16::from_f32(sum).to_bits(), "{row} {column}");
        }
    }
}

#[test]
fn tiled_gemm_with_barriers_and_edges() {
    let Some(device) = device() else { return };
    let (m, n, k) = (37, 50, 41);
    let mut random = Random(2);
    let a: Vec<f32> = (0..m * k).map(|_| random.unit()).collect();
    let b: Vec<f32> = (0..k * n).map(|_| random.unit()).collect();
    let (da, db, dc) = (device.floats(&a), device.floats(&b), device.zeros(4 * (m * n) as u64));
    let parameters = vec![da.into(), db.into(), dc.into(), (m as i32).into(), (n as i32).into(), (k as i32).into()];
    device.launch("tiled_gemm", [4, 3, 1], [16, 16, 1], parameters).unwrap();
    let c = device.read_floats(dc, m * n);
    for row in 0..m {
        for column in 0..n {
            let sum = (0..k).fold(0f32, |sum, i| a[row * k + i].mul_add(b[i * n + column], sum));
            assert_eq!(c[row * n + column], sum, "{row} {column}");
        }
    }
}

#[test]
fn softmax_and_rmsnorm_over_rows() {
    let Some(device) = device() else { return };
    let (rows, n) = (3usize, 300usize);
    let mut random = Random(3);
    let x: Vec<f32> = (0..rows * n).map(|_| random.unit() * 8.0).collect();
    let (dx, dy) = (device.floats(&x), device.zeros(4 * x.len() as u64));
    device.launch("softmax", [rows as u32, 1, 1], [128, 1, 1], vec![dx.into(), dy.into(), (n as i32).into()]).unwrap();
    let y = device.read_floats(dy, x.len());
    for row in 0..rows {
        let line = &x[row * n..][..n];
        let most = line.iter().copied().fold(f32::MIN, f32::max);
        let sum: f64 = line.iter().map(|v| f64::from(v - most).exp()).sum();
        for i in 0..n {
            let wanted = f64::from(line[i] - most).exp() / sum;
            assert!((f64::from(y[row * n + i]) / wanted - 1.0).abs() < 1e-5);
        }
    }
    let halves: Vec<f16> = x.iter().map(|&v| f16::from_f32(v)).collect();
    let bits: Vec<u16> = halves.iter().map(|v| v.to_bits()).collect();
    let (dx, dw, dy) = (device.halves(&bits), device.halves(&bits[..n]), device.zeros(2 * x.len() as u64));
    let parameters = vec![dx.into(), dw.into(), dy.into(), (n as i32).into(), 1e-5f32.into()];
    device.launch("rmsnorm", [rows as u32, 1, 1], [96, 1, 1], parameters).unwrap();
    let y = device.read_halves(dy, x.len());
    for row in 0..rows {
        let line = &halves[row * n..][..n];
        let sum: f64 = line.iter().map(|v| v.to_f64() * v.to_f64()).sum();
        let scale = 1.0 / (sum / n as f64 + 1e-5).sqrt();
        for i in 0..n {
            let wanted = line[i].to_f64() * scale * halves[i].to_f64();
            let got = f16::from_bits(y[row * n + i]).to_f64();
            assert!((got - wanted).abs() <= wanted.abs() * 2e-3 + 1e-6, "{got} {wanted}");
        }
    }
}

#[test]
fn lanes_that_diverge_come_back_together() {
    let Some(device) = device() else { return };
    let out = device.zeros(4 * 200);
    device.launch("collatz", [2, 1, 1], [100, 1, 1], vec![out.into()]).unwrap();
    for (i, steps) in device.read_words(out, 200).into_iter().enumerate() {
        let (mut n, mut wanted) = (i as u32 + 1, 0);
        while n != 1 {
            n = if n & 1 == 1 { 3 * n + 1 } else { n / 2 };
            wanted += 1;
        }
        assert_eq!(steps, wanted);
    }
}

#[test]
fn integer_arithmetic() {
    let Some(device) = device() else { return };
    let mut random = Random(4);
    let mut x: Vec<u32> = (0..96).map(|_| random.next() >> (random.next() % 28)).collect();
    x.extend([0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0xff, 0xffff_ff80]);
    let n = x.len();
    let (dx, out) = (device.words(&x), device.zeros(8 * 16 * n as u64));
    device.launch("integers", [4, 1, 1], [32, 1, 1], vec![dx.into(), out.into(), (n as i32).into()]).unwrap();
    let got = device.read_doubles(out, 16 * n);
    for i in 0..n {
        let (a, b) = (x[i], x[(i + 1) % n]);
        let (s, t) = (a as i32, b as i32);
        let w = u64::from(a) << 32 | u64::from(b);
        let permuted = u32::from_le_bytes([a as u8, b as u8, (a >> 8) as u8, (b >> 8) as u8]);
        let wide = u128::from(w) * u128::from(w ^ 77) + u128::from(w);
        let mixed = (w ^ u64::from(a)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (a & 31);
        let wanted = [
            a.wrapping_add(b).into(),
            u64::from(a) * u64::from(b) >> 32,
            (i64::from(s) * i64::from(t) >> 32) as u64,
            (a / (b | 1)).into(),
            i64::from(s.wrapping_rem(t | 1)) as u64,
            (a.leading_zeros() * 100 + b.count_ones()).into(),
            (a.reverse_bits() ^ permuted).into(),
            u64::from(((u64::from(b) << 32 | u64::from(a)) << (a & 31) >> 32) as u32),
            mixed,
            (u128::from(w) * u128::from(w.wrapping_mul(3)) >> 64) as u64,
            w / u64::from(b | 1),
            ((w as i64) >> (b & 63)) as u64,
            (i64::from(a as i8) as u64).wrapping_add((i64::from(b as u16) * i64::from(a as u8)) as u64),
            (i64::from(s.max(t)) - i64::from(s.min(t))) as u64,
            (wide >> 64) as u64,
            wide as u64,
        ];
        assert_eq!(got[16 * i..][..16], wanted, "{a:#x} {b:#x}");
    }
}

#[test]
fn float_arithmetic() {
    let Some(device) = device() else { return };
    let mut random = Random(5);
    let x: Vec<f32> = (0..64).map(|_| random.unit() * 100.0).collect();
    let n = x.len();
    let (dx, out) = (device.floats(&x), device.zeros(8 * 12 * n as u64));
    device.launch("floats", [2, 1, 1], [32, 1, 1], vec![dx.into(), out.into(), (n as i32).into()]).unwrap();
    let got: Vec<f64> = device.read_doubles(out, 12 * n).into_iter().map(f64::from_bits).collect();
    for i in 0..n {
        let (a, b) = (x[i], x[(i + 1) % n]);
        let sum = f64::from(a) + f64::from(b);
        let near = a + b;
        let toward_zero = if f64::from(near).abs() > sum.abs() {
            if near > 0.0 { near.next_down() } else { near.next_up() }
        } else {
            near
        };
        let gap = if f64::from(near) == sum {
            0.0
        } else if f64::from(near) < sum {
            f64::from(near.next_up()) - f64::from(near)
        } else {
            f64::from(near) - f64::from(near.next_down())
        };
        let wanted = [
            (a / b).into(),
            a.mul_add(b, 1.0).into(),
            a.abs().sqrt().into(),
            (b.ceil().mul_add(1000.0, a.floor())).into(),
            (b.trunc().mul_add(1000.0, a.round_ties_even())).into(),
            f64::from(a as i32) + f64::from(b.abs() as i32 as u8),
            toward_zero.into(),
            gap,
            f64::from(a).mul_add(f64::from(b), f64::from(a.abs()).sqrt()),
            (f16::from_f32(a).to_f32() + bf16::from_f32(b).to_f32()).into(),
        ];
        assert_eq!(got[12 * i..][..10], wanted, "{a} {b}");
        assert!((got[12 * i + 10] / f64::from(a * 0.125).exp() - 1.0).abs() < 1e-6);
        assert_eq!(got[12 * i + 11], f64::from(if a < b { a.min(b) } else { a.max(-b) }));
    }
}

#[test]
fn switches_and_local_arrays() {
    let Some(device) = device() else { return };
    let x: Vec<u32> = (0..64).map(|i| i % 11).collect();
    let (dx, out) = (device.words(&x), device.zeros(256));
    device.launch("choices", [1, 1, 1], [64, 1, 1], vec![dx.into(), out.into()]).unwrap();
    for (thread, got) in device.read_words(out, 64).into_iter().enumerate() {
        let (v, thread) = (x[thread] as i32, thread as i32);
        let choice = match v {
            0 => 11,
            1 => v * 3 + thread,
            2 => thread.count_ones() as i32,
            3 => 4,
            4 => 64,
            5 => 25,
            6 => -1,
            7 => 70,
            _ => 1000 + v,
        };
        assert_eq!(got as i32, (v & 7) * choice, "{v} {thread}");
    }
}

#[test]
fn votes_shuffles_and_reductions() {
    let Some(device) = device() else { return };
    let out = device.zeros(4 * 8 * 64);
    device.launch("votes", [1, 1, 1], [64, 1, 1], vec![out.into()]).unwrap();
    for (thread, got) in device.read_words(out, 8 * 64).chunks(8).enumerate() {
        let lane = thread as u32 % 32;
        let mask = |f: &dyn Fn(u32) -> bool| (0..32).filter(|&l| f(l)).fold(0u32, |m, l| m | 1 << l);
        assert_eq!(got[0], mask(&|l| l % 3 == 0));
        assert_eq!(got[1], 1);
        assert_eq!(got[2], mask(&|l| l / 5 == lane / 5));
        assert_eq!(got[3], 496 + 31);
        match lane {
            0..=16 => assert_eq!(got[4], (lane + 3) * 7),
            20.. => assert_eq!(got[4], 0xfff0_0000),
            // The source lane is not a member of the shuffle: undefined.
            _ => {}
        }
        assert_eq!(got[5], if lane % 8 >= 2 { lane - 2 } else { lane });
        assert_eq!(got[6], 32 + 1000);
        assert_eq!(got[7], lane / 16 * 16 + (lane + 1) % 16);
    }
}

#[test]
fn atomics_and_module_variables() {
    let Some(device) = device() else { return };
    let (counts, sum, wide, halves) = (device.zeros(64), device.zeros(4), device.zeros(8), device.zeros(4));
    let parameters = vec![counts.into(), sum.into(), wide.into(), halves.into()];
    device.launch("atomics", [4, 1, 1], [64, 1, 1], parameters).unwrap();
    let got = device.read_words(counts, 12);
    assert_eq!(got[..4], [256, 63, 56, 100]);
    let cell = 2.5f32.to_bits();
    let wanted = [(10, 1), (20, 2), (30, 3), (10, 4)].map(|(offset, entry)| 128 + offset + entry + cell);
    assert_eq!(got[8..], wanted);
    assert_eq!(device.read_floats(sum, 1), [128.0]);
    assert_eq!(device.read_doubles(wide, 1), [4 * (0..64u64).sum::<u64>() << 20]);
    assert_eq!(device.read_halves(halves, 2).map_to_f32(), [256.0, -128.0]);
    assert_eq!(device.program.symbol("offsets").map(|s| s.1), Some(12));
}

trait MapToF32 {
    fn map_to_f32(self) -> Vec<f32>;
}

impl MapToF32 for Vec<u16> {
    fn map_to_f32(self) -> Vec<f32> {
        self.into_iter().map(|bits| f16::from_bits(bits).to_f32()).collect()
    }
}

#[test]
fn printf_comes_in_the_order_of_the_ctas() {
    let Some(device) = device() else { return };
    let report = device.launch("speak", [3, 1, 1], [32, 1, 1], vec![2.into()]).unwrap();
    let mut wanted = String::new();
    for cta in 0..3 {
        for thread in 0..2 {
            wanted += &format!("CTA {cta} thread {thread}: {:5.2} word ff -7%\n", thread as f64 * 0.25);
        }
    }
    assert_eq!(report.output, wanted);
}

#[test]
fn an_assertion_names_its_text_and_line() {
    let Some(device) = device() else { return };
    let failure = failed(device.launch("fails_an_assertion", [1, 1, 1], [64, 1, 1], vec![40.into()]));
    let Cause::Assert { message, line, file, .. } = &failure.cause else { panic!("{failure}") };
    assert!(message.contains("too many threads") && file.ends_with("simt.cu") && *line > 0, "{failure}");
    let site = failure.site.expect("a site");
    assert_eq!((site.warp, site.lanes), (1, 0xffff_ff00));
}

#[test]
fn memory_faults_name_the_source_line() {
    let Some(device) = device() else { return };
    let out = device.zeros(128);
    let failure = failed(device.launch("overruns", [1, 1, 1], [32, 1, 1], vec![out.into(), 4.into()]));
    assert!(matches!(failure.cause, Cause::Memory(MemoryFault::OutOfBounds { address, .. }) if address == out + 128));
    let text = failure.to_string();
    assert!(text.contains("0 bytes past the end of the 128 bytes") && text.contains("simt.cu:"), "{text}");
    assert_eq!(failure.site.expect("a site").lanes, 1 << 28);
    let failure = failed(device.launch("misaligned", [1, 1, 1], [1, 1, 1], vec![out.into()]));
    assert!(matches!(failure.cause, Cause::Memory(MemoryFault::Misaligned { alignment: 4, .. })), "{failure}");
    let shared = |n: i32| device.launch_with("shared_overrun", [1, 1, 1], [32, 1, 1], [1, 1, 1], 256, vec![n.into()]);
    shared(32).unwrap();
    assert!(matches!(failed(shared(33)).cause, Cause::Window { bytes: 4, .. }));
}

#[test]
fn ctas_that_wait_for_one_another_finish_and_endless_loops_end() {
    let Some(device) = device() else { return };
    let (flag, out) = (device.zeros(4), device.zeros(4));
    for threads in [1, 2] {
        let options = krepro_emulator::exec::Options { threads, ..device.options.clone() };
        let what = krepro_emulator::exec::Launch {
            kernel: "waits_for_other_cta".into(),
            grid: [40, 1, 1],
            block: [32, 1, 1],
            cluster: [1, 1, 1],
            dynamic_shared: 0,
            parameters: [flag.to_le_bytes(), out.to_le_bytes()].concat(),
        };
        device.memory.write(flag, &[0; 4]).unwrap();
        krepro_emulator::exec::launch(&device.program, &device.memory, &what, &options).unwrap();
        assert_eq!(device.read_words(out, 1), [42]);
        let mut what = what;
        what.kernel = "never_ends".into();
        what.grid = [3, 1, 1];
        device.memory.write(flag, &[0; 4]).unwrap();
        let options = krepro_emulator::exec::Options { idle_limit: 200_000, ..options };
        let failure = failed(krepro_emulator::exec::launch(&device.program, &device.memory, &what, &options));
        assert!(matches!(failure.cause, Cause::NoProgress { .. }), "{failure}");
        assert!(failure.to_string().contains("simt.cu:"), "{failure}");
    }
}

#[test]
fn a_barrier_that_cannot_complete_is_a_deadlock() {
    let Some(device) = device() else { return };
    let out = device.zeros(512);
    let failure = failed(device.launch("half_a_barrier", [1, 1, 1], [128, 1, 1], vec![out.into()]));
    let text = failure.to_string();
    assert!(
        text.contains("named barrier 3 (64 of 128 threads arrived)") && text.contains("2 warps have ended"),
        "{text}"
    );
}

#[test]
fn a_lock_inside_a_warp_does_not_starve() {
    let Some(device) = device() else { return };
    let (lock, out) = (device.zeros(4), device.zeros(4));
    device.launch("lock_in_a_warp", [2, 1, 1], [64, 1, 1], vec![lock.into(), out.into()]).unwrap();
    assert_eq!(device.read_words(out, 1), [2 * 64 * 65 / 2]);
}
