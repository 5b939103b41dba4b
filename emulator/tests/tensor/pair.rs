//! `cta_group::2`: one product by two CTAs of a cluster.

use std::fmt::Write as _;

use super::common::{Device, Random};
use super::layout::{Tile, Type};
use Type::{Bf16, E4M3};

/// Rows that each CTA holds, and columns of the product.
const ROWS: usize = 128;
const COLUMNS: usize = 64;

/// A kernel in which the first CTA multiplies, with the tiles of each CTA at 0 and `b`, scales at `scales`.
fn kernel(kind: &str, instruction: u32, tiles: [&Tile; 2], scales: Option<usize>, bytes: usize) -> String {
    let mut text = format!(
        "\
.version 8.8
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry k(.param .u64 image, .param .u64 out)
.reqnctapercluster 2, 1, 1
{{
.shared .align 8 .b64 done;
.shared .align 4 .b32 tensor;
.reg .pred %more, %few, %one, %ready, %keep;
.reg .b16 %both;
.reg .b32 %me, %rank, %base, %at, %end, %done, %tensor, %d, %low, %lane, %idesc, %x, %sa, %sb;
.reg .b64 %image, %out, %from, %da, %db, %ds;
ld.param.u64 %image, [image];
ld.param.u64 %out, [out];
mov.u32 %me, %tid.x;
mov.u32 %rank, %cluster_ctarank;
mov.u32 %base, memory;
mov.u32 %done, done;
mov.u32 %tensor, tensor;
mad.wide.u32 %image, %rank, {bytes}, %image;
mul.lo.u32 %x, %rank, {out};
mad.lo.u32 %x, %me, 4, %x;
cvt.u64.u32 %from, %x;
add.s64 %out, %out, %from;
shl.b32 %at, %me, 2;
COPY:
setp.ge.u32 %more, %at, {bytes};
@%more bra COPIED;
cvt.u64.u32 %from, %at;
add.s64 %from, %from, %image;
ld.global.b32 %x, [%from];
add.u32 %low, %base, %at;
st.shared.b32 [%low], %x;
add.u32 %at, %at, 512;
bra COPY;
COPIED:
fence.proxy.async.shared::cta;
setp.eq.u32 %one, %me, 0;
setp.lt.u32 %few, %me, 32;
@%few tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%tensor], 128;
@%one mbarrier.init.shared::cta.b64 [%done], 1;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
ld.shared.b32 %d, [%tensor];
setp.ne.u32 %more, %rank, 0;
@%more bra RESULT;
@!%one bra RESULT;
mov.u32 %idesc, {instruction:#x};
setp.ne.u32 %keep, 0, 0;
",
        out = ROWS * COLUMNS * 4
    );
    let descriptor = |text: &mut String, register: &str, at: usize, fields: u64| {
        writeln!(
            text,
            "add.u32 %low, %base, {at};\nshr.u32 %low, %low, 4;\nand.b32 %low, %low, 0x3fff;\ncvt.u64.u32 {register}, %low;\n\
             or.b64 {register}, {register}, {fields:#x};"
        )
        .unwrap();
    };
    descriptor(&mut text, "%da", 0, tiles[0].blackwell());
    descriptor(&mut text, "%db", tiles[0].bytes(), tiles[1].blackwell());
    let mut more = "";
    if let Some(scales) = scales {
        for (register, column, at) in [("%sa", 64, scales), ("%sb", 96, scales + 512)] {
            descriptor(&mut text, "%ds", at, 8 << 16 | 8 << 32 | 1 << 46);
            writeln!(
                text,
                "add.u32 {register}, %d, {column};\ntcgen05.cp.cta_group::2.32x128b.warpx4 [{register}], %ds;"
            )
            .unwrap();
        }
        more = "[%sa], [%sb], ";
    }
    let scale = if scales.is_some() { ".block_scale" } else { "" };
    writeln!(
        text,
        "tcgen05.mma.cta_group::2.kind::{kind}{scale} [%d], %da, %db, %idesc, {more}%keep;\nmov.u16 %both, 3;\n\
         tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%done], %both;\n\
         RESULT:\nmbarrier.try_wait.parity.shared::cta.b64 %ready, [%done], 0;\n@!%ready bra RESULT;\n\
         tcgen05.fence::after_thread_sync;\nshr.u32 %lane, %me, 5;\nshl.b32 %lane, %lane, 21;\nadd.u32 %lane, %lane, %d;"
    )
    .unwrap();
    for column in 0..COLUMNS {
        writeln!(
            text,
            "add.u32 %low, %lane, {column};\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {{%x}}, [%low];\ntcgen05.wait::ld.sync.aligned;\n\
             st.global.b32 [%out+{}], %x;",
            512 * column
        )
        .unwrap();
    }
    text.push_str(
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n\
         @%few tcgen05.dealloc.cta_group::2.sync.aligned.b32 %d, 128;\nret;\n}\n",
    );
    text
}

#[test]
fn two_ctas_share_a_product() {
    for (kind, of, scaled) in [("f16", Bf16, false), ("f8f6f4", E4M3, false), ("mxf8f6f4", E4M3, true)] {
        let depth = 2 * of.each();
        // Each CTA has its rows of A and half of the columns of B.
        let tiles = [Tile::new(of, ROWS, depth, 32, true), Tile::new(of, COLUMNS / 2, depth, 32, true)];
        let mut random = Random(5);
        let mut make = |count: usize| (0..count).map(|_| of.integer(&mut random)).collect::<Vec<i32>>();
        let (a, b) = (make(2 * ROWS * depth), make(COLUMNS * depth));
        let mut exponents = |count: usize| (0..count).map(|_| random.next() as i32 % 3).collect::<Vec<i32>>();
        let (scale_a, scale_b) = (exponents(2 * ROWS), exponents(COLUMNS));
        let scales = tiles[0].bytes() + tiles[1].bytes();
        let bytes = scales + 1024;
        let mut image = vec![0x77; 2 * bytes];
        for rank in 0..2 {
            let bits = |values: &[i32]| values.iter().map(|&v| of.bits(v)).collect::<Vec<_>>();
            let (rows, columns) = (ROWS * depth, COLUMNS / 2 * depth);
            tiles[0].put(&mut image, rank * bytes, &bits(&a[rank * rows..][..rows]));
            tiles[1].put(&mut image, rank * bytes + tiles[0].bytes(), &bits(&b[rank * columns..][..columns]));
            // Scales of the CTA's own rows, and of all columns.
            for (line, &e) in scale_a[rank * ROWS..][..ROWS].iter().enumerate() {
                image[rank * bytes + scales + line % 32 * 16 + line / 32 * 4] = (127 + e) as u8;
            }
            for (line, &e) in scale_b.iter().enumerate() {
                image[rank * bytes + scales + 512 + line % 32 * 16 + line / 32 * 4] = (127 + e) as u8;
            }
        }
        let code = u32::from(of == Bf16);
        let accumulator = if scaled { 1 << 23 } else { 1 << 4 };
        let instruction =
            accumulator | code << 7 | code << 10 | (COLUMNS as u32 / 8) << 17 | (2 * ROWS as u32 / 16) << 24;
        let text = kernel(kind, instruction, [&tiles[0], &tiles[1]], scaled.then_some(scales), bytes);
        let mut device = Device::new(&text);
        for schedule in [None, Some(4)] {
            device.options.schedule = schedule;
            let from = device.upload(&image, |byte| vec![byte]);
            let out = device.zeros(2 * (ROWS * COLUMNS * 4) as u64);
            device
                .launch_with("k", [2, 1, 1], [128, 1, 1], [2, 1, 1], bytes as u32, vec![from.into(), out.into()])
                .unwrap_or_else(|e| panic!("{kind}: {e}"));
            let got = device.read_floats(out, 2 * ROWS * COLUMNS);
            for (row, column) in (0..2 * ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column))) {
                let sum: i32 = (0..depth).map(|k| a[row * depth + k] * b[column * depth + k]).sum();
                let scale = if scaled { 2f32.powi(scale_a[row] + scale_b[column]) } else { 1.0 };
                let at = (row / ROWS * COLUMNS + column) * ROWS + row % ROWS;
                assert_eq!(got[at], sum as f32 * scale, "{kind} {row} {column}");
            }
        }
    }
}

#[test]
fn a_pair_needs_a_cluster() {
    let tiles = [Tile::new(Bf16, ROWS, 16, 32, true), Tile::new(Bf16, COLUMNS / 2, 16, 32, true)];
    let bytes = tiles[0].bytes() + tiles[1].bytes();
    let instruction = 1 << 4 | 1 << 7 | 1 << 10 | 8 << 17 | 16 << 24;
    let text =
        kernel("f16", instruction, [&tiles[0], &tiles[1]], None, bytes).replace(".reqnctapercluster 2, 1, 1\n", "");
    let device = Device::new(&text);
    let (from, out) = (device.zeros(2 * bytes as u64), device.zeros((2 * ROWS * COLUMNS * 4) as u64));
    let failure = device
        .launch_with("k", [1, 1, 1], [128, 1, 1], [1, 1, 1], bytes as u32, vec![from.into(), out.into()])
        .unwrap_err();
    assert!(failure.to_string().contains("cta_group::2 in a cluster of 1 CTAs"), "{failure}");
}
