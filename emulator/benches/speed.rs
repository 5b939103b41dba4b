//! Speed of the interpreter on one thread: register work, a naive matrix product, and reading PTX.

use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use krepro_emulator::exec::{Launch, Options, Program, launch};
use krepro_emulator::memory::Memory;
use krepro_emulator::ptx::Module;

const HEAD: &str = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// Ten register instructions a turn.
const REGISTERS: &str = ".visible .entry k(.param .u32 n) {\n.reg .pred %p<3>;\n.reg .b32 %r<12>;\n.reg .f32 %f<4>;\n\
    ld.param.u32 %r9, [n];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 1;\nmov.f32 %f1, 0f3F800000;\nmov.u32 %r8, 0;\nL:\n\
    mad.lo.s32 %r1, %r1, 1664525, 1013904223;\nshr.u32 %r3, %r1, 3;\nxor.b32 %r2, %r2, %r3;\nand.b32 %r4, %r2, 255;\n\
    add.s32 %r5, %r5, %r4;\nfma.rn.f32 %f1, %f1, 0f3F800100, 0f3F000000;\nselp.b32 %r6, %r5, %r2, %p1;\n\
    setp.lt.s32 %p1, %r6, %r5;\nadd.s32 %r8, %r8, 1;\nsetp.lt.u32 %p2, %r8, %r9;\n@%p2 bra L;\nret;\n}\n";

/// y[m][n] = sum of x[m][k] w[n][k] in bf16, a thread an output: two loads and a multiply-add a turn.
const PRODUCT: &str = ".visible .entry k(.param .u64 x, .param .u64 w, .param .u64 y, .param .u32 k) {\n.reg .pred %p<3>;\n\
    .reg .b16 %rs<4>;\n.reg .b32 %r<16>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<16>;\nld.param.u64 %rd1, [x];\n\
    ld.param.u64 %rd2, [w];\nld.param.u64 %rd3, [y];\nld.param.u32 %r1, [k];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n\
    mov.u32 %r4, %tid.x;\nmad.lo.s32 %r5, %r2, %r3, %r4;\nmov.u32 %r6, %ctaid.y;\nmul.lo.s32 %r7, %r6, %r1;\n\
    mul.lo.s32 %r8, %r5, %r1;\nmad.wide.u32 %rd1, %r7, 2, %rd1;\nmad.wide.u32 %rd2, %r8, 2, %rd2;\nmov.f32 %f1, 0f00000000;\n\
    mov.u32 %r9, 0;\nL:\nld.global.u16 %rs1, [%rd1];\nld.global.u16 %rs2, [%rd2];\ncvt.f32.bf16 %f2, %rs1;\n\
    cvt.f32.bf16 %f3, %rs2;\nfma.rn.f32 %f1, %f2, %f3, %f1;\nadd.s64 %rd1, %rd1, 2;\nadd.s64 %rd2, %rd2, 2;\n\
    add.s32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, %r1;\n@%p1 bra L;\ncvt.rn.bf16.f32 %rs3, %f1;\nmov.u32 %r10, %nctaid.x;\n\
    mul.lo.s32 %r10, %r10, %r3;\nmad.lo.s32 %r11, %r6, %r10, %r5;\nmad.wide.u32 %rd4, %r11, 2, %rd3;\n\
    st.global.u16 [%rd4], %rs3;\nret;\n}\n";

fn prepare(text: &str) -> (Memory, Program) {
    let memory = Memory::new(1 << 32);
    let module = Module::parse(&format!("{HEAD}{text}")).unwrap_or_else(|e| panic!("{e}"));
    let program = Program::load(Arc::new(module), &memory).unwrap_or_else(|e| panic!("{e}"));
    (memory, program)
}

fn speed(criterion: &mut Criterion) {
    let options = Options { threads: 1, ..Options::default() };
    let mut group = criterion.benchmark_group("one thread");
    group.sample_size(10);

    let (memory, program) = prepare(REGISTERS);
    let turns = 20_000u32;
    let what = Launch {
        kernel: "k".into(),
        grid: [1, 1, 1],
        block: [256, 1, 1],
        cluster: [1, 1, 1],
        dynamic_shared: 0,
        parameters: turns.to_le_bytes().to_vec(),
    };
    let run = |what: &Launch, program: &Program, memory: &Memory| {
        launch(program, memory, what, &options).unwrap_or_else(|e| panic!("{e}")).instructions
    };
    group.throughput(Throughput::Elements(run(&what, &program, &memory)));
    group.bench_function("register instructions", |b| b.iter(|| run(&what, &program, &memory)));

    let (memory, program) = prepare(PRODUCT);
    let (m, n, k) = (16u32, 1024u32, 6144u32);
    let room = |elements: u32| memory.allocate(2 * u64::from(elements), 256).unwrap_or_default();
    let addresses = [room(m * k), room(n * k), room(m * n)];
    let mut parameters: Vec<u8> = addresses.iter().flat_map(|a| a.to_le_bytes()).collect();
    parameters.extend(k.to_le_bytes());
    let what = Launch { grid: [n / 128, m, 1], block: [128, 1, 1], parameters, ..what };
    group.throughput(Throughput::Elements(run(&what, &program, &memory)));
    group.bench_function("naive product 16x1024x6144", |b| b.iter(|| run(&what, &program, &memory)));

    let kernels: String = (0..1500).map(|i| REGISTERS.replace(" k(", &format!(" k{i}("))).collect();
    let text = format!("{HEAD}{kernels}");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("reading PTX", |b| b.iter(|| Module::parse(&text).map(|m| m.functions.len())));
    group.finish();
}

criterion_group!(benches, speed);
criterion_main!(benches);
