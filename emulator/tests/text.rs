//! PTX texts of our own, which need no nvcc.

#![allow(clippy::unwrap_used)]

mod common;

use common::Device;
use krepro_emulator::exec::{Cause, OTHER, Options, Watch};
use krepro_emulator::memory::MemoryFault;
use krepro_emulator::ptx::Module;
use krepro_emulator::tensor_map::{ElementType, Swizzle};
use proptest::prelude::*;

/// A module around a body; the kernel `k` has one pointer, in `%rd1`.
fn module(body: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<8>;\n\
         .reg .b16 %rs<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n\
         mad.wide.u32 %rd2, %r1, 4, %rd1;\n{body}\nret;\n}}\n"
    )
}

fn run(body: &str, threads: u32) -> Vec<u32> {
    let device = Device::new(&module(body));
    let out = device.zeros(4 * u64::from(threads));
    device.launch("k", [1, 1, 1], [threads, 1, 1], vec![out.into()]).unwrap_or_else(|e| panic!("{e}"));
    device.read_words(out, threads as usize)
}

fn fails(body: &str) -> krepro_emulator::exec::Failure {
    let device = Device::new(&module(body));
    let out = device.zeros(128);
    *device.launch("k", [1, 1, 1], [32, 1, 1], vec![out.into()]).unwrap_err()
}

#[test]
fn both_sides_of_a_branch_and_a_predicated_store() {
    let got = run(
        "setp.lt.u32 %p1, %r1, 10;\n@%p1 bra LOW;\nadd.s32 %r2, %r1, 1000;\nbra.uni END;\nLOW:\nmul.lo.s32 %r2, %r1, 7;\n\
         END:\nand.b32 %r3, %r1, 1;\nsetp.ne.b32 %p2, %r3, 0;\n@!%p2 st.global.u32 [%rd2], %r2;",
        48,
    );
    for (i, value) in got.into_iter().enumerate() {
        let i = i as u32;
        assert_eq!(
            value,
            if i % 2 == 1 {
                0
            } else if i < 10 {
                7 * i
            } else {
                1000 + i
            }
        );
    }
}

#[test]
fn sixteen_bit_registers_do_not_leak_their_upper_half() {
    let got = run(
        "cvt.u16.u32 %rs1, %r1;\nsub.s16 %rs2, %rs1, 5;\nsetp.eq.s16 %p1, %rs2, -1;\nselp.b32 %r2, 1, 0, %p1;\n\
         cvt.s32.s16 %r3, %rs2;\nshl.b32 %r3, %r3, 8;\nor.b32 %r2, %r2, %r3;\nst.global.u32 [%rd2], %r2;",
        8,
    );
    for (i, value) in got.into_iter().enumerate() {
        assert_eq!(value as i32, (i as i32 - 5) << 8 | i32::from(i == 4));
    }
}

/// Forms that no kernel of these tests has: word results against values worked out by hand.
#[test]
fn less_frequent_forms() {
    let third = 1f32 / 3.0;
    // 1/3 in single precision lies above the third.
    let below = third.next_down().to_bits();
    let bits = f32::to_bits;
    let cases: [(&str, u32); 32] = [
        ("div.rm.f32 %r9, 0f3f800000, 0f40400000;", below),
        ("div.rp.f32 %r9, 0f3f800000, 0f40400000;", third.to_bits()),
        ("rcp.rz.f32 %r9, 0f40400000;", below),
        ("rcp.rp.f32 %r9, 0f40400000;", third.to_bits()),
        ("sqrt.rm.f32 %r9, 0f40800000;", bits(2.0)),
        ("sqrt.rp.f32 %r9, 0f40000000;", bits(2f32.sqrt().next_up())),
        ("dp2a.lo.s32.s32 %r9, 0x00030002, 0x1234ff05, 7;", 2 * 5 - 3 + 7),
        ("dp2a.hi.u32.u32 %r9, 0x00030002, 0xff051234, 0;", 2 * 5 + 3 * 255),
        ("vabsdiff4.u32.u32.u32 %r9, 0x01ff0080, 0x03010080, 0;", 0x02fe_0000),
        ("vabsdiff4.u32.u32.u32.add %r9, 0x01ff0080, 0x03010080, 1;", 2 + 0xfe + 1),
        ("fns.b32 %r9, 0xb4, 2, 2;", 4),
        ("szext.wrap.s32 %r9, 0xfc, 3;", u32::MAX - 3),
        ("fns.b32 %r9, 0xb4, 34, 1;", u32::MAX),
        ("add.sat.f16x2 %r9, 0x3c003800, 0x38003000;", 0x3c00_3900),
        ("mul.sat.f16x2 %r9, 0xbc007e00, 0x38003000;", 0),
        ("fma.rn.sat.f16x2 %r9, 0x3c004000, 0x38004000, 0xb8000000;", 0x0000_3c00),
        ("add.ftz.f16x2 %r9, 0x000103ff, 0x00003800;", 0x0000_3800),
        ("min.u16x2 %r9, 0x80010002, 0x00030001;", 0x0003_0001),
        ("min.s16x2 %r9, 0x80010002, 0x00030001;", 0x8001_0001),
        ("max.NaN.f16x2 %r9, 0x3c007e00, 0x40003c00;", 0x4000_7fff),
        ("max.NaN.bf16x2 %r9, 0x3f804000, 0x40003f80;", 0x4000_4000),
        ("fma.rn.relu.f16x2 %r9, 0x3c003c00, 0xc0004000, 0x3c003c00;", 0x0000_4200),
        ("fma.rn.relu.bf16x2 %r9, 0x3f803f80, 0xc0004000, 0x3f803f80;", 0x0000_4040),
        ("set.gt.f16x2.f16x2 %r9, 0x3c004000, 0x40003c00;", 0x0000_3c00),
        ("set.eq.bf16x2.bf16x2 %r9, 0x3f804000, 0x3f803f80;", 0x3f80_0000),
        ("set.le.u32.f16x2 %r9, 0x3c004000, 0x3c003c00;", 0xffff_0000),
        ("set.ltu.f16x2.f16x2 %r9, 0x7e003c00, 0x3c003c00;", 0x3c00_0000),
        ("{.reg.b16 h, l; mov.b32 {l, h}, 0x00020001; mov.b32 %r9, {h, l};}", 0x0001_0002),
        ("{.reg.b64 d; copysign.f64 d, 0dBFF0000000000000, 0d4000000000000000; mov.b64 {_, %r9}, d;}", 0xc000_0000),
        ("{.reg.b64 d; add.rp.f64 d, 0d3FF0000000000000, 0d0010000000000000; mov.b64 {%r9, _}, d;}", 1),
        ("{.reg.b64 d; mul.rz.f64 d, 0d3FF0000000000001, 0d3FF8000000000000; mov.b64 {%r9, _}, d;}", 1),
        ("{.reg.b64 d; div.rz.f64 d, 0d3FF0000000000000, 0d4008000000000000; mov.b64 {%r9, _}, d;}", 0x5555_5555),
    ];
    for (text, wanted) in cases {
        let got = run(&format!("{text}\nst.global.u32 [%rd2], %r9;"), 1)[0];
        assert_eq!(got, wanted, "{text} {got:#010x} {wanted:#010x}");
    }
}

/// Two tiles of 16 lanes execute one instruction, each with members of its own.
#[test]
fn collectives_of_tiles_keep_to_their_members() {
    let tile = "and.b32 %r2, %r1, 16;\nmov.u32 %r3, 0xffff;\nshl.b32 %r3, %r3, %r2;\nadd.u32 %r4, %r1, 1;\n";
    let sum = |lane: u32| (lane / 16 * 16..lane / 16 * 16 + 16).map(|lane| lane + 1).sum::<u32>();
    for (text, wanted) in [
        ("redux.sync.add.u32 %r9, %r4, %r3;", &sum as &dyn Fn(u32) -> u32),
        ("redux.sync.max.u32 %r9, %r4, %r3;", &|lane| lane / 16 * 16 + 16),
        ("setp.lt.u32 %p1, %r1, 18;\nvote.sync.ballot.b32 %r9, %p1, %r3;", &|lane| {
            [0xffff, 0x3_0000][lane as usize / 16]
        }),
        ("setp.lt.u32 %p1, %r1, 18;\nvote.sync.all.pred %p2, %p1, %r3;\nselp.u32 %r9, 1, 0, %p2;", &|lane| {
            u32::from(lane < 16)
        }),
        ("and.b32 %r5, %r1, 7;\nmatch.any.sync.b32 %r9, %r5, %r3;", &|lane| 0x101 << (lane % 8 + lane / 16 * 16)),
        ("elect.sync %r9|%p1, %r3;", &|lane| lane / 16 * 16),
    ] {
        let got = run(&format!("{tile}{text}\nst.global.u32 [%rd2], %r9;"), 32);
        assert_eq!(got, (0..32).map(wanted).collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn carries_travel_between_instructions() {
    let got = run(
        "mov.u32 %r2, -1;\nadd.cc.u32 %r3, %r2, %r1;\naddc.u32 %r4, 5, 0;\nsub.cc.u32 %r5, %r1, 2;\nsubc.u32 %r6, 10, 0;\n\
         shl.b32 %r4, %r4, 8;\nor.b32 %r4, %r4, %r6;\nst.global.u32 [%rd2], %r4;",
        4,
    );
    assert_eq!(got, [5 << 8 | 9, 6 << 8 | 9, 6 << 8 | 10, 6 << 8 | 10]);
}

#[test]
fn an_unknown_form_fails_when_it_is_reached_and_only_then() {
    let body = |jump: &str| format!("{jump}\nwarpdrive.engage.f32 %r2, %r1;\nEND:\nst.global.u32 [%rd2], 1;");
    assert_eq!(run(&body("bra END;"), 2), [1, 1]);
    let failure = fails(&body(""));
    let Cause::Unsupported(text) = &failure.cause else { panic!("{failure}") };
    assert!(text.contains("warpdrive.engage.f32"), "{text}");
    assert_eq!(failure.site.unwrap().ptx_line, 14);
    // A known base with an unknown modifier is no better.
    assert!(matches!(fails("add.mystery.s32 %r2, %r1, %r1;").cause, Cause::Unsupported(_)));
}

#[test]
fn lines_follow_inlined_calls() {
    let text = module(".loc 1 10 1\nmov.u32 %r2, 1;\n.loc 2 77 5, function_name $info, inlined_at 1 10 1\ntrap;")
        + ".file 1 \"a/kernel.cu\"\n.file 2 \"b/helper.cuh\"\n";
    let device = Device::new(&text);
    let failure = device.launch("k", [1, 1, 1], [1, 1, 1], vec![device.zeros(4).into()]).unwrap_err();
    assert_eq!(failure.cause, Cause::Trap);
    assert!(failure.to_string().contains("helper.cuh:77 inlined at kernel.cu:10"), "{failure}");
}

#[test]
fn hostile_addresses_reach_nothing() {
    for address in
        ["0", "-1", "0xffffffffffff", "0x1fd0000ffffff", "0x1fe00fffffff0", "0x1ff0000001000", "0xffff000000000000"]
    {
        for access in [
            "ld.u32 %r2, [%rd3];",
            "st.u64 [%rd3], %rd3;",
            "atom.add.u32 %r2, [%rd3], 1;",
            "ld.v4.u32 {%r2, %r3, %r4, %r5}, [%rd3];",
        ] {
            let failure = fails(&format!("mov.u64 %rd3, {address};\nand.b64 %rd3, %rd3, -16;\n{access}"));
            let refused = matches!(
                failure.cause,
                Cause::Memory(MemoryFault::OutOfBounds { .. }) | Cause::Window { .. } | Cause::Operand(_)
            );
            assert!(refused, "{address} {access}: {failure}");
        }
    }
    let failure = fails("mov.u32 %r2, 0x05000400;\nst.shared.u32 [%r2], %r1;");
    assert!(matches!(failure.cause, Cause::Window { .. }), "{failure}");
}

#[test]
fn impossible_launches_say_why() {
    let device = Device::new(&module(""));
    let launch = |grid, block, cluster, shared| {
        let parameters = vec![0u64.into()];
        match device.launch_with("k", grid, block, cluster, shared, parameters).unwrap_err().cause {
            Cause::Launch(text) => text,
            other => panic!("{other}"),
        }
    };
    assert!(launch([1, 1, 1], [1025, 1, 1], [1, 1, 1], 0).contains("at most 1024"));
    assert!(launch([0, 1, 1], [1, 1, 1], [1, 1, 1], 0).contains("empty"));
    assert!(launch([1, 1, 1], [1, 1, 1], [1, 1, 1], 300_000).contains("300000 of them dynamic"));
    assert!(launch([3, 1, 1], [1, 1, 1], [2, 1, 1], 0).contains("does not divide"));
}

#[test]
fn errors_of_the_text_name_their_line() {
    for (text, line, part) in [
        (".version 9.0\n.target sm_90\n.entry k() { add.s32 %r1 }", 3, "`,` or `;`"),
        (".entry k() {\n.reg .b32 %r<9999999>;\n}", 2, "registers"),
        (".global .b8 x[2] = {1, 2, 3};", 1, "longer"),
        (".entry k() {\n@%p1 ret;\n}", 2, "not a predicate"),
        ("\n\n.entry k(", 3, "`.param`"),
        (".address_size 32", 1, "64-bit"),
        (".global .b64 x[999999999999];", 1, "too large"),
    ] {
        let error = Module::parse(text).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.contains(part), "{error}");
    }
}

const SAMPLE: &str = ".version 9.0\n.target sm_90a\n.address_size 64\n.global .align 8 .u64 t[2] = {generic(g)+8, 5};\n\
    .global .b8 g[16];\n.func (.param .b32 r) f(.param .b32 a) {\n.reg .b32 %r<3>;\nld.param.u32 %r1, [a];\n\
    st.param.b32 [r], %r1;\nret;\n}\n.visible .entry k(.param .u64 p) .maxntid 64 {\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\n\
    .reg .b64 %rd<9>;\n.shared .align 16 .b8 s[64];\n.loc 1 3 1, function_name x, inlined_at 1 2 1\n{ .param .b32 q; .param .b32 v;\n\
    st.param.b32 [q], %r2; call.uni (v), f, (q); ld.param.b32 %r3, [v]; }\nmov.u32 %r4, s;\nL: ld.param.u64 %rd1, [p];\n\
    @%p1 bra L;\nmbarrier.init.shared::cta.b64 [%r4+8], 1;\nst.shared.v2.u32 [%r4], {%r1, %r2};\n\
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1, {%r1, %r2}], [%r4+8];\nret;\n}\n";

/// Text with some bytes changed, taken out and put in.
fn damaged(text: &str, edits: &[(usize, u8, usize)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for &(at, value, kind) in edits {
        let at = at % bytes.len();
        match kind {
            0 => bytes[at] = value & 0x7f,
            1 => {
                bytes.remove(at);
            }
            2 => bytes[at] = b'0' + value % 10,
            _ => bytes.insert(at, b"0[]{},;:.%@!_\n\"-+"[usize::from(value) % 17]),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Cases of each property; more with `KREPRO_FUZZ_CASES`.
fn cases() -> ProptestConfig {
    let cases = std::env::var("KREPRO_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig::with_cases(cases.unwrap_or(400))
}

/// Copies, barriers, tensor memory and its products, on real tensors.
const ASYNCHRONOUS: &str = include_str!("../benches/kernels/blackwell.ptx");

proptest! {
    #![proptest_config(cases())]

    /// Damaged text is refused or understood, and what is understood runs or fails; nothing panics.
    #[test]
    fn damaged_text_never_panics(edits in proptest::collection::vec((0usize..1400, any::<u8>(), 0usize..4), 1..6)) {
        let Ok(module) = Module::parse(&damaged(SAMPLE, &edits)) else { return Ok(()) };
        let memory = krepro_emulator::memory::Memory::new(1 << 20);
        let kernel = module.kernels().next().map(|k| (k.name.clone(), k.parameter_bytes()));
        let Ok(program) = krepro_emulator::exec::Program::load(std::sync::Arc::new(module), &memory) else { return Ok(()) };
        if let Some((kernel, bytes)) = kernel {
            let launch = krepro_emulator::exec::Launch {
                kernel,
                grid: [1, 1, 1],
                block: [32, 1, 1],
                cluster: [1, 1, 1],
                dynamic_shared: 0,
                parameters: vec![0; bytes.min(1 << 16) as usize],
            };
            let options = Options { threads: 1, step_limit: 10_000, idle_limit: 10_000, ..Options::default() };
            let _ = krepro_emulator::exec::launch(&program, &memory, &launch, &options);
        }
    }

    /// The same of a kernel whose copies and products run, at once and late, traced and watched.
    #[test]
    fn damaged_copies_and_products_never_panic(
        edits in proptest::collection::vec((600usize..5000, any::<u8>(), 0usize..4), 1..4), late in any::<bool>(),
    ) {
        let Ok(module) = Module::parse(&damaged(ASYNCHRONOUS, &edits)) else { return Ok(()) };
        let memory = krepro_emulator::memory::Memory::new(1 << 20);
        let Some(parameter_bytes) = module.function("blackwell").map(|kernel| kernel.parameter_bytes()) else {
            return Ok(());
        };
        let Ok(program) = krepro_emulator::exec::Program::load(std::sync::Arc::new(module), &memory) else { return Ok(()) };
        let [w, x, y] = [128 * 64 * 2, 16 * 64 * 2, 128 * 16 * 4].map(|bytes| memory.allocate(bytes, 256).unwrap());
        let of = |address, rows: u64| {
            common::map(ElementType::Bf16, address, &[64, rows], &[64, rows as u32], Swizzle::B128).encode()
        };
        let mut parameters = [of(w, 128), of(x, 16)].concat();
        parameters.extend(y.to_le_bytes());
        parameters.extend([128u32, 64].iter().flat_map(|n| n.to_le_bytes()));
        parameters.resize(parameters.len().max(parameter_bytes.min(1 << 16) as usize), 0);
        let launch = krepro_emulator::exec::Launch {
            kernel: "blackwell".into(),
            grid: [1, 1, 1],
            block: [128, 1, 1],
            cluster: [1, 1, 1],
            dynamic_shared: 0,
            parameters,
        };
        let options = Options {
            threads: 1,
            step_limit: 5000,
            idle_limit: 5000,
            schedule: late.then_some(edits.len() as u64),
            trace: true,
            watch: Watch::Record,
            ..Options::default()
        };
        let _ = krepro_emulator::exec::launch(&program, &memory, &launch, &options).map_err(|failure| failure.to_string());
    }
}

/// A launch, and the same with other bytes in memory that nobody initialised: what depends on them.
fn uninitialised(body: &str) -> Vec<String> {
    let mut device = Device::new(&module(body));
    let out = device.zeros(4 * 32);
    device.options.watch = Watch::Record;
    let first = device.launch("k", [1, 1, 1], [32, 1, 1], vec![out.into()]).unwrap();
    device.options.watch = Watch::Compare(first.journal.into());
    (device.options.shared_poison, device.options.other_poison) = (Some(OTHER), Some(OTHER));
    device.launch("k", [1, 1, 1], [32, 1, 1], vec![out.into()]).unwrap().uninitialised
}

#[test]
fn an_uninitialised_value_is_told_where_it_reaches_a_store_or_a_branch() {
    let shared = ".shared .align 4 .b8 tile[128];\nmov.u32 %r3, tile;\nmad.lo.s32 %r4, %r1, 4, %r3;\n";
    let local = ".local .align 4 .b8 stack[8];\nmov.u64 %rd3, stack;\ncvta.local.u64 %rd3, %rd3;\n";
    // What is read and goes nowhere, and what was written before it is read.
    for quiet in [
        format!("{shared}ld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd2], %r1;"),
        format!("{shared}st.shared.u32 [%r4], %r1;\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd2], %r5;"),
        format!("{shared}ld.shared.u32 %r5, [%r4];\nand.b32 %r5, %r5, 0;\nst.global.u32 [%rd2], %r5;"),
    ] {
        assert_eq!(uninitialised(&quiet), [""; 0], "{quiet}");
    }
    for (told, words) in [
        (
            format!("{shared}ld.shared.u32 %r5, [%r4];\nadd.s32 %r5, %r5, 1;\nst.global.u32 [%rd2], %r5;"),
            "`st.global.u32`",
        ),
        (format!("{local}ld.u32 %r5, [%rd3];\nst.global.u32 [%rd2], %r5;"), "`st.global.u32`"),
        (format!("{shared}ld.shared.f32 %r5, [%r4];\nsetp.gt.f32 %p1, %r5, 0f00000000;\n@%p1 bra END;\nEND:"), "`bra`"),
        (format!("{shared}ld.shared.u32 %r5, [%r4];\nred.global.add.u32 [%rd2], %r5;"), "`red.global.add.u32`"),
    ] {
        let found = uninitialised(&told);
        assert!(found.len() == 1 && found[0].contains(words) && found[0].contains("PTX line"), "{told}: {found:?}");
    }
}

#[test]
fn a_copy_of_what_was_stored_without_a_fence_is_told() {
    let body = |fence: &str| {
        format!(
            ".shared .align 16 .b8 tile[128];\nmov.u32 %r3, tile;\nmad.lo.s32 %r4, %r1, 4, %r3;\nst.shared.u32 [%r4], %r1;\n{fence}\n\
             bar.sync 0;\nsetp.eq.u32 %p1, %r1, 0;\nmov.u32 %r5, 128;\n\
             @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], %r5;\ncp.async.bulk.commit_group;\n\
             cp.async.bulk.wait_group 0;"
        )
    };
    for (fence, count) in
        [("", 1), ("fence.proxy.async.shared::cta;", 0), ("fence.proxy.async;", 0), ("membar.cta;", 1)]
    {
        let mut device = Device::new(&module(&body(fence)));
        device.options.schedule = Some(1);
        let out = device.zeros(128);
        let report = device.launch("k", [1, 1, 1], [32, 1, 1], vec![out.into()]).unwrap();
        assert_eq!(report.findings.len(), count, "{fence}: {:?}", report.findings);
        assert!(report.findings.iter().all(|text| text.contains("st.shared.u32") && text.contains("cp.async.bulk")));
        assert_eq!(device.read_words(out, 32), (0..32).collect::<Vec<u32>>());
    }
}
