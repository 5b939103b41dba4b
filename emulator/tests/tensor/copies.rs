//! Asynchronous copies and requests: reductions, elements that are spread out, clusters that take over others' work.

use half::bf16;
use krepro_emulator::exec::{Cause, Options};
use krepro_emulator::tensor_map::{ElementType, Swizzle};

use super::common::{Device, map};

/// Device memory as values.
fn values(device: &Device, at: u64, of: &str, count: usize) -> Vec<f32> {
    match of {
        "bf16" => device.read_halves(at, count).into_iter().map(|bits| bf16::from_bits(bits).to_f32()).collect(),
        "f32" => device.read_floats(at, count),
        _ => device.read_words(at, count).into_iter().map(|word| word as i32 as f32).collect(),
    }
}

fn bytes(of: &str, value: f32) -> Vec<u8> {
    match of {
        "bf16" => bf16::from_f32(value).to_bits().to_le_bytes().into(),
        "f32" => value.to_le_bytes().into(),
        _ => (value as i32).to_le_bytes().into(),
    }
}

#[test]
fn bulk_reductions_of_every_kind() {
    for (operation, of, combine) in [
        ("add.noftz.bf16", "bf16", (|a, b| a + b) as fn(f32, f32) -> f32),
        ("add.f32", "f32", |a, b| a + b),
        ("add.s32", "s32", |a, b| a + b),
        ("min.s32", "s32", f32::min),
        ("max.s32", "s32", f32::max),
    ] {
        let text = format!(
            ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to)\n{{\n\
             .shared .align 16 .b8 buffer[256];\n.reg .pred %p;\n.reg .b32 %r<4>;\n.reg .b64 %from, %to, %at;\n\
             ld.param.u64 %from, [from];\nld.param.u64 %to, [to];\nmov.u32 %r0, %tid.x;\nmad.wide.u32 %at, %r0, 4, %from;\n\
             ld.global.b32 %r1, [%at];\nmov.u32 %r2, buffer;\nmad.lo.u32 %r3, %r0, 4, %r2;\nst.shared.b32 [%r3], %r1;\n\
             fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.eq.u32 %p, %r0, 0;\n@!%p bra END;\n\
             cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} [%to], [%r2], 128;\n\
             cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nEND:\nret;\n}}\n"
        );
        let device = Device::new(&text);
        let count = if of == "bf16" { 64 } else { 32 };
        let a = |i: usize| (i % 11) as f32 - 5.0;
        let b = |i: usize| (i % 7) as f32 - 3.0;
        let list: Vec<usize> = (0..count).collect();
        let from = device.upload(&list, |i| bytes(of, a(i)));
        let to = device.upload(&list, |i| bytes(of, b(i)));
        for times in 1..3 {
            device.launch("k", [1, 1, 1], [32, 1, 1], vec![from.into(), to.into()]).unwrap();
            for (i, got) in values(&device, to, of, count).into_iter().enumerate() {
                let wanted = (0..times).fold(b(i), |value, _| combine(value, a(i)));
                assert_eq!(got, wanted, "{operation} {i} after {times}");
            }
        }
    }
}

/// Two CTAs add their halves of K to one tile that overhangs the tensor, as split-K kernels do.
#[test]
fn tensor_reductions_of_two_halves() {
    let text = "\
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128])
{
.shared .align 128 .b8 buffer[2048];
.reg .pred %p;
.reg .b32 %r<8>;
.reg .b64 %map;
.reg .f32 %f;
mov.b64 %map, map;
cvta.param.u64 %map, %map;
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
mad.lo.u32 %r2, %r1, 100, %r0;
cvt.rn.f32.u32 %f, %r2;
mov.u32 %r3, buffer;
mad.lo.u32 %r4, %r0, 4, %r3;
st.shared.f32 [%r4], %f;
fence.proxy.async.shared::cta;
bar.sync 0;
setp.eq.u32 %p, %r0, 0;
@!%p bra END;
mov.u32 %r5, 4;
cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%map, {%r5, %r5}], [%r3];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
END:
ret;
}
";
    let mut device = Device::new(text);
    for schedule in [None, Some(3)] {
        device.options = Options { schedule, ..Options::default() };
        let to = device.floats(&vec![0.5; 20 * 10]);
        let map = map(ElementType::F32, to, &[20, 10], &[32, 8], Swizzle::None);
        device.launch("k", [2, 1, 1], [256, 1, 1], vec![map.encode().to_vec().into()]).unwrap();
        for (i, got) in device.read_floats(to, 200).into_iter().enumerate() {
            let (x, y) = (i % 20, i / 20);
            // Element (x - 4, y - 4) of the box, 0 and 100 more in the second CTA.
            let sum = |x: usize, y: usize| (2 * ((y - 4) * 32 + x - 4) + 100) as f32;
            assert_eq!(got, if x >= 4 && y >= 4 { 0.5 + sum(x, y) } else { 0.5 }, "{x} {y}");
        }
    }
}

/// Elements of 4 and 6 bits that a copy spreads out to 16 in 16 bytes.
#[test]
fn narrow_elements_are_spread_out() {
    let text = "\
.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
{
.shared .align 1024 .b8 buffer[1024];
.shared .align 8 .b64 bar;
.reg .pred %p;
.reg .b32 %r<8>;
.reg .b64 %map, %out, %to;
mov.b64 %map, map;
cvta.param.u64 %map, %map;
ld.param.u64 %out, [out];
mov.u32 %r0, %tid.x;
mov.u32 %r1, buffer;
mov.u32 %r2, bar;
setp.eq.u32 %p, %r0, 0;
@%p mbarrier.init.shared::cta.b64 [%r2], 1;
@%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], BYTES;
bar.sync 0;
mov.u32 %r5, 0;
@%p cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%map, {%r5, %r5}], [%r2];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p, [%r2], 0;
@!%p bra WAIT;
mad.lo.u32 %r3, %r0, 4, %r1;
ld.shared.b32 %r4, [%r3];
mad.wide.u32 %to, %r0, 4, %out;
st.global.b32 [%to], %r4;
ret;
}
";
    for (element, bits) in [(ElementType::U4Align16, 4), (ElementType::U6Align16, 6)] {
        // Only what comes from the tensor counts.
        let device = Device::new(&text.replace("BYTES", &(8 * 128 * bits / 8).to_string()));
        let packed: Vec<u8> = (0..8 * 128 * bits / 8).map(|i: usize| (i * 29 + i / 7) as u8).collect();
        let from = device.upload(&packed, |byte| vec![byte]);
        let out = device.zeros(1024);
        let mut map = map(ElementType::U8, from, &[128, 8], &[128, 8], Swizzle::B128);
        map.element = element;
        map.strides[0] = 128 * bits as u64 / 8;
        device.launch("k", [1, 1, 1], [256, 1, 1], vec![map.encode().to_vec().into(), out.into()]).unwrap();
        let got: Vec<u8> = device.read_words(out, 256).into_iter().flat_map(u32::to_le_bytes).collect();
        for (row, i) in (0..8).flat_map(|row| (0..128).map(move |i| (row, i))) {
            let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (at % 8) & 1;
            // Chunk number, exclusive or with the row.
            let chunk = row * 128 + ((i / 16) ^ row) * 16;
            for b in 0..bits {
                let wanted = bit(&packed, (row * 128 + i) * bits + b);
                assert_eq!(bit(&got[chunk..], i % 16 * bits + b), wanted, "{bits} bits, {row} {i} {b}");
            }
        }
    }
}

/// Every CTA works until nothing is left that has not started: each tile is done once, and some CTA did several.
#[test]
fn a_cta_takes_over_those_that_have_not_started() {
    let text = "\
.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out)
{
.shared .align 16 .b8 answer[16];
.shared .align 8 .b64 bar;
.reg .pred %one, %more;
.reg .b32 %r<8>, %x, %y, %z;
.reg .b64 %out, %to;
.reg .b128 %q;
ld.param.u64 %out, [out];
mov.u32 %r0, %tid.x;
mov.u32 %r1, answer;
mov.u32 %r2, bar;
mov.u32 %x, %ctaid.x;
mov.u32 %y, %ctaid.y;
mad.lo.u32 %r3, %y, 5, %x;
add.u32 %r3, %r3, 1;
mov.u32 %r4, 0;
setp.eq.u32 %one, %r0, 0;
@%one mbarrier.init.shared::cta.b64 [%r2], 1;
bar.sync 0;
AGAIN:
mad.lo.u32 %r5, %y, 5, %x;
mad.wide.u32 %to, %r5, 4, %out;
@%one red.global.add.u32 [%to], %r3;
@%one mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
@%one clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %more, [%r2], %r4;
@!%more bra WAIT;
ld.shared.b128 %q, [%r1];
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %more, %q;
@!%more bra END;
clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%x, %y, %z, _}, %q;
xor.b32 %r4, %r4, 1;
bar.sync 0;
bra AGAIN;
END:
ret;
}
";
    let mut device = Device::new(text);
    for schedule in [None, Some(1), Some(2)] {
        device.options = Options { schedule, ..Options::default() };
        let out = device.zeros(60);
        device.launch("k", [5, 3, 1], [32, 1, 1], vec![out.into()]).unwrap();
        let got = device.read_words(out, 15);
        // Each tile holds the number of one CTA, from 1 on.
        assert!(got.iter().all(|&by| (1..=15).contains(&by)), "{got:?}");
        assert!((0..15).any(|tile| got[tile] != tile as u32 + 1), "{got:?}");
    }
}

/// Forms that are not emulated are errors with their line, never nothing.
#[test]
fn unknown_forms_say_where_they_are() {
    for (line, instruction) in [
        "tcgen05.mma.sp.cta_group::1.kind::f16 [%r0], %d0, %d0, [%r0], %r0, %p;",
        "tcgen05.mma.ws.cta_group::1.kind::f16 [%r0], %d0, %d0, %r0, %p;",
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%r0], %d0, %d0, %r0, [%r0], [%r0], %p;",
        "tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {%r1}, [%r0];",
        "tcgen05.cp.cta_group::1.4x256b [%r0], %d0;",
        "tcgen05.shift.cta_group::1.down [%r0];",
        "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r0], {%r1};",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%r1, %r1, %r1, %r1}, %d0, %d0, %r0, 0, %p, 1, 1, 0, 0;",
        "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r1, %r1, %r1, %r1}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r1, %r1, %r1, %r1};",
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!(
            ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred %p;\n.reg .b32 %r<2>;\n\
             .reg .b64 %d0;\n{instruction}\nret;\n}}\n"
        );
        let failure = Device::new(&text).launch("k", [1, 1, 1], [32, 1, 1], vec![]).unwrap_err();
        let Cause::Unsupported(what) = &failure.cause else { panic!("{line}: {failure}") };
        let opcode = instruction.split(' ').next().unwrap();
        assert!(what.contains(opcode), "{what}");
        assert_eq!(failure.site.as_ref().map(|site| site.ptx_line), Some(9), "{failure}");
    }
}

/// A producer may look at a barrier before it does what that barrier depends on: `try_wait` gives up then.
#[test]
fn a_look_at_a_barrier_does_not_wait_for_ever() {
    let text = "\
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
.shared .align 8 .b64 bar;
.reg .pred %ready;
.reg .b32 %r<4>;
.reg .b64 %out;
ld.param.u64 %out, [out];
mov.u32 %r0, bar;
mbarrier.init.shared::cta.b64 [%r0], 1;
mbarrier.try_wait.parity.shared::cta.b64 %ready, [%r0], 0;
selp.u32 %r1, 1, 2, %ready;
mbarrier.arrive.shared::cta.b64 _, [%r0];
mbarrier.try_wait.parity.shared::cta.b64 %ready, [%r0], 0;
selp.u32 %r2, 10, 20, %ready;
st.global.v2.u32 [%out], {%r1, %r2};
ARRIVAL
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %ready, [%r0], 1;
@!%ready bra WAIT;
ret;
}
";
    let device = Device::new(&text.replace("ARRIVAL", "mbarrier.arrive.shared::cta.b64 _, [%r0];"));
    let out = device.zeros(8);
    device.launch("k", [1, 1, 1], [1, 1, 1], vec![out.into()]).unwrap();
    assert_eq!(device.read_words(out, 2), [2, 10]);
    // Waiting in a loop for what never comes is still a deadlock.
    let device = Device::new(&text.replace("ARRIVAL", ""));
    let out = device.zeros(8);
    let failure = device.launch("k", [1, 1, 1], [1, 1, 1], vec![out.into()]).unwrap_err();
    assert!(matches!(failure.cause, Cause::Deadlock(_)), "{failure}");
    assert_eq!(device.read_words(out, 2), [2, 10]);
}
