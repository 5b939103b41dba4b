//! Speed of the interpreter: register work, a naive and a tensor-core matrix product of 16 x 1024 x 6144, and reading PTX.
//!
//! Seconds of one thread's processor time, the least of a few runs: on a loaded machine the clock on the wall tells of the load.
//! An executable can be named instead (with arguments): its launches are shown.

#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use krepro_emulator::exec::{Launch, Options, Program, Report, launch};
use krepro_emulator::memory::Memory;
use krepro_emulator::ptx::Module;
use krepro_emulator::runtime::{Output, RunRequest, run};
use krepro_emulator::tensor_map::{ElementType, Interleave, L2Promotion, OobFill, Swizzle, TensorMap};

const REGISTERS: &str = include_str!("kernels/registers.ptx");
const PRODUCT: &str = include_str!("kernels/product.ptx");
const BLACKWELL: &str = include_str!("kernels/blackwell.ptx");
const M: u32 = 16;
const N: u32 = 1024;
const K: u32 = 6144;

/// Processor time of this thread.
fn now() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    nanoseconds.map_or_else(|| std::time::UNIX_EPOCH.elapsed().unwrap_or_default(), Duration::from_nanos)
}

/// The least time of some runs, in seconds, and what the last one gave.
fn least<T>(runs: u32, mut what: impl FnMut() -> T) -> (f64, T) {
    let mut time = |least: f64| {
        let start = now();
        let result = what();
        (least.min((now() - start).as_secs_f64()), result)
    };
    (1..runs).fold(time(f64::MAX), |(least, _), _| time(least))
}

fn prepare(text: &str) -> (Memory, Program) {
    let memory = Memory::new(1 << 32);
    let module = Module::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let program = Program::load(Arc::new(module), &memory).unwrap_or_else(|e| panic!("{e}"));
    (memory, program)
}

fn go(memory: &Memory, program: &Program, what: &Launch, threads: usize) -> Report {
    let options = Options { threads, ..Options::default() };
    launch(program, memory, what, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn of(kernel: &str, grid: [u32; 3], threads: u32, parameters: Vec<u8>) -> Launch {
    let kernel = kernel.into();
    Launch { kernel, grid, block: [threads, 1, 1], cluster: [1; 3], dynamic_shared: 0, parameters }
}

/// Device memory with small bf16 numbers.
fn operand(memory: &Memory, elements: u32) -> u64 {
    let bytes: Vec<u8> =
        (0..elements).flat_map(|i| (0x3f80 + ((i * 7919) >> 5 & 0x807f) as u16).to_le_bytes()).collect();
    let address = memory.allocate(bytes.len() as u64, 256).unwrap_or_else(|e| panic!("{e}"));
    memory.write(address, &bytes).unwrap_or_else(|e| panic!("{e}"));
    address
}

fn registers() {
    let (memory, program) = prepare(REGISTERS);
    let what = of("registers", [1; 3], 256, 50_000u32.to_le_bytes().to_vec());
    let (seconds, report) = least(5, || go(&memory, &program, &what, 1));
    println!(
        "register instructions         {:8.1} M warp instructions/s (aim: 60)",
        report.instructions as f64 / seconds / 1e6
    );
}

fn product() {
    let (memory, program) = prepare(PRODUCT);
    let addresses = [operand(&memory, M * K), operand(&memory, N * K), operand(&memory, M * N)];
    let mut parameters: Vec<u8> = addresses.iter().flat_map(|a| a.to_le_bytes()).collect();
    parameters.extend(K.to_le_bytes());
    let what = of("product", [N / 128, M, 1], 128, parameters);
    let (seconds, report) = least(3, || go(&memory, &program, &what, 1));
    println!(
        "naive product                 {seconds:8.3} s (aim: 0.9), {} M warp instructions",
        report.instructions / 1_000_000
    );
    let wall = |threads| {
        let start = Instant::now();
        go(&memory, &program, &what, threads);
        start.elapsed().as_secs_f64()
    };
    let (one, two) = (wall(1).min(wall(1)), wall(2).min(wall(2)));
    println!("naive product, 2 threads      {:8.2} times as fast on the clock as 1 thread", one / two);
}

fn blackwell() {
    let (memory, program) = prepare(BLACKWELL);
    let map = |address, rows: u32, box_rows| TensorMap {
        element: ElementType::Bf16,
        rank: 2,
        address,
        dims: [K.into(), rows.into(), 1, 1, 1],
        strides: [2 * u64::from(K), 0, 0, 0],
        box_dims: [64, box_rows, 1, 1, 1],
        element_strides: [1; 5],
        interleave: Interleave::None,
        swizzle: Swizzle::B128,
        l2_promotion: L2Promotion::None,
        fill: OobFill::Zero,
    };
    let (w, x) = (operand(&memory, N * K), operand(&memory, M * K));
    let y = memory.allocate(4 * u64::from(M * N), 256).unwrap_or_else(|e| panic!("{e}"));
    let mut parameters = [map(w, N, 128).encode(), map(x, M, 16).encode()].concat();
    parameters.extend(y.to_le_bytes());
    parameters.extend([N, K].iter().flat_map(|n| n.to_le_bytes()));
    let what = of("blackwell", [1; 3], 128, parameters);
    let (seconds, report) = least(3, || go(&memory, &program, &what, 1));
    println!("tcgen05 product               {seconds:8.3} s (aim: 0.2), {} products", report.matrix_instructions);
}

fn reading() {
    let text = PRODUCT.replace("product", "k0");
    let (head, kernel) = text.split_once(".visible").unwrap_or_default();
    let kernels: String = (0..900).map(|i| format!(".visible{}", kernel.replace("k0", &format!("k{i}")))).collect();
    let text = format!("{head}{kernels}");
    let (seconds, _) = least(5, || Module::parse(&text).map(|m| m.functions.len()));
    println!("reading PTX                   {:8.1} ms for 1 MB (aim: 100)", 1e9 * seconds / text.len() as f64);
}

fn executable(path: &str, arguments: &[String]) {
    let request = RunRequest {
        executable: path.into(),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: vec![],
        working_dir: None,
        host_compiler: "cc".into(),
        cache_dir: env!("CARGO_TARGET_TMPDIR").into(),
        gpu: None,
        options: Options { threads: 1, ..Options::default() },
        trace: None,
        uninitialised: false,
        deadline: None,
        output: Output::Capture,
    };
    let outcome = run(&request).unwrap_or_else(|e| panic!("{e}"));
    for launch in &outcome.launches {
        let seconds = launch.took.as_secs_f64();
        println!("{seconds:8.3} s {:>9} warp instructions {}", launch.warp_instructions, launch.kernel);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [path, rest @ ..] = &arguments[..] {
        return executable(path, rest);
    }
    registers();
    product();
    blackwell();
    reading();
}
