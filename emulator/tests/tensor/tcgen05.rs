//! `tcgen05`: products of every kind, block scales, copies into tensor memory, loads and stores of every shape.

use std::fmt::Write as _;

use super::common::Random;
use super::lab::Case;
use super::layout::{Tile, Type};
use Type::{Bf16, Dense, E2M1, E2M3, E3M2, E4M3, E5M2, F16, S8, Tf32, U8};

/// What a product's body does before and after.
const BEGIN: &str = "\
.reg .pred %one, %few, %P, %keep;
.reg .b32 %ctl, %d, %lane, %low, %w<4>, %x;
.reg .b64 %a, %b, %s;
add.u32 %ctl, %base, CONTROL;
setp.eq.u32 %one, %me, 0;
setp.lt.u32 %few, %me, 32;
@%few tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%ctl], 512;
@%one mbarrier.init.shared::cta.b64 [%ctl+8], 1;
bar.sync 0;
ld.shared.b32 %d, [%ctl];
shr.u32 %lane, %me, 5;
shl.b32 %lane, %lane, 21;
add.u32 %lane, %lane, %d;
";
const WAIT: &str = "\
@%one tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%ctl+8];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %P, [%ctl+8], 0;
@!%P bra WAIT;
tcgen05.fence::after_thread_sync;
";

/// A body with the control words at `control`.
fn frame(control: usize, middle: &str) -> String {
    BEGIN.replace("CONTROL", &control.to_string())
        + middle
        + "bar.sync 0;\n@%few tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 512;\n"
}

fn descriptor(text: &mut String, register: &str, at: usize, fields: u64) {
    writeln!(
        text,
        "add.u32 %low, %base, {at};\nshr.u32 %low, %low, 4;\ncvt.u64.u32 {register}, %low;\nor.b64 {register}, {register}, {fields:#x};"
    )
    .unwrap();
}

struct Form {
    kind: &'static str,
    types: [Type; 2],
    m: usize,
    n: usize,
    k_major: [bool; 2],
    span: [usize; 2],
    a_in_tensor_memory: bool,
    keep: bool,
    /// Elements that share a scale, and whether scales are UE4M3.
    scales: Option<(usize, bool)>,
    /// Byte of the word at which the scales begin.
    first: [usize; 2],
}

const PLAIN: Form = Form {
    kind: "f16",
    types: [Bf16, Bf16],
    m: 128,
    n: 32,
    k_major: [true, true],
    span: [128, 128],
    a_in_tensor_memory: false,
    keep: true,
    scales: None,
    first: [0, 0],
};

impl Form {
    fn depth(&self) -> usize {
        2 * self.types[0].each()
    }

    fn instruction(&self) -> u32 {
        let code = |of: Type| match (self.kind, of) {
            (_, F16 | E4M3 | U8) => 0,
            (_, Bf16 | E5M2 | S8 | Dense) => 1,
            (_, Tf32) => 2,
            (_, E2M3) => 3,
            (_, E3M2) => 4,
            (_, E2M1) => 5,
        };
        let shape = (self.n as u32 / 8) << 17 | (self.m as u32 / 16) << 24;
        let types = code(self.types[0]) << 7 | code(self.types[1]) << 10;
        let major = u32::from(!self.k_major[0]) << 15 | u32::from(!self.k_major[1]) << 16;
        let rest = match self.scales {
            None => {
                if self.kind == "i8" {
                    2 << 4
                } else {
                    1 << 4
                }
            }
            Some((_, ue4m3)) => (self.first[1] as u32) << 4 | (self.first[0] as u32) << 29 | u32::from(!ue4m3) << 23,
        };
        shape | types | major | rest
    }

    /// Runs it on small integers and compares every cell.
    fn check(&self) {
        let Form { kind, types, m, n, k_major, span, a_in_tensor_memory, keep, scales, first } = *self;
        let depth = self.depth();
        let name = format!(
            "tcgen05_{kind}_{}_{}_{m}x{n}_{k_major:?}_{span:?}_{a_in_tensor_memory}_{scales:?}_{first:?}",
            types[0].name(),
            types[1].name()
        );
        let mut random = Random(name.len() as u64 + n as u64);
        let mut make = |of: Type, count: usize| (0..count).map(|_| of.integer(&mut random)).collect::<Vec<i32>>();
        let (a, b) = (make(types[0], m * depth), make(types[1], n * depth));
        let bits = |of: Type, values: &[i32]| values.iter().map(|&v| of.bits(v)).collect::<Vec<_>>();
        let tiles =
            [Tile::new(types[0], m, depth, span[0], k_major[0]), Tile::new(types[1], n, depth, span[1], k_major[1])];
        let mut image = vec![0xee; tiles[0].bytes() + tiles[1].bytes()];
        let at = [0, tiles[0].bytes()];
        tiles[0].put(&mut image, at[0], &bits(types[0], &a));
        tiles[1].put(&mut image, at[1], &bits(types[1], &b));
        // Scales as exponents, line by line, and their words.
        let blocks = scales.map_or(1, |(block, _)| depth / block);
        let exponents: Vec<Vec<i32>> =
            [m, n].map(|lines| (0..lines * blocks).map(|_| random.next() as i32 % 3).collect()).into();
        let scales_at = image.len();
        for (which, exponents) in exponents.iter().enumerate() {
            let code = |e: i32| if scales.is_some_and(|s| s.1) { (7 + e) << 3 } else { 127 + e } as u8;
            let lines = [m, n][which];
            let start = image.len();
            image.resize(start + lines.div_ceil(128) * 512, 0x55);
            for (line, block) in (0..lines).flat_map(|line| (0..blocks).map(move |block| (line, block))) {
                let byte = line / 128 * 512 + line % 32 * 16 + line % 128 / 32 * 4 + first[which] + block;
                image[start + byte] = code(exponents[line * blocks + block]);
            }
        }
        let control = image.len();
        image.resize(control + 128, 0);
        let shared = image.len();
        // Accumulator and, for A in tensor memory, its words: lane by lane.
        let start = |lane: usize, column: usize| (lane * 7 + column * 3) as i32 % 19 - 9;
        let word = |value: i32| if kind == "i8" { value as u32 } else { (value as f32).to_bits() };
        for (column, lane) in (0..n).flat_map(|column| (0..128).map(move |lane| (column, lane))) {
            image.extend(word(start(lane, column)).to_le_bytes());
        }
        let per_word = 4 / types[0].bytes();
        if a_in_tensor_memory {
            let raw = bits(types[0], &a);
            for (column, lane) in (0..8).flat_map(|column| (0..128).map(move |lane| (column, lane))) {
                let word = (0..per_word)
                    .fold(0, |word, e| word | raw[lane * depth + column * per_word + e] << (32 / per_word * e));
                image.extend(word.to_le_bytes());
            }
        }
        let mut body = String::new();
        let mut put = |from: usize, to: usize| {
            writeln!(body, "ld.global.b32 %x, [%mine+{}];\nadd.u32 %low, %lane, {to};\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%low], {{%x}};", 512 * from).unwrap();
        };
        (0..n).for_each(|column| put(column, column));
        if a_in_tensor_memory {
            (0..8).for_each(|column| put(n + column, 300 + column));
        }
        body.push_str("tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n");
        descriptor(&mut body, "%a", at[0], tiles[0].blackwell());
        descriptor(&mut body, "%b", at[1], tiles[1].blackwell());
        let mut operands = String::new();
        let mut modifiers = String::new();
        if let Some((block, _)) = scales {
            let blocks_of_a = m.div_ceil(128);
            for i in 0..blocks_of_a + n.div_ceil(128) {
                let column = if i < blocks_of_a { 260 + 4 * i } else { 280 + 4 * (i - blocks_of_a) };
                descriptor(&mut body, "%s", scales_at + 512 * i, 8 << 16 | 8 << 32 | 1 << 46);
                writeln!(body, "add.u32 %low, %d, {column};\n@%one tcgen05.cp.cta_group::1.32x128b.warpx4 [%low], %s;")
                    .unwrap();
            }
            body.push_str("add.u32 %w0, %d, 260;\nadd.u32 %w1, %d, 280;\n");
            operands = "[%w0], [%w1], ".into();
            let size = if kind == "mxf8f6f4" { String::new() } else { format!(".block{block}") };
            modifiers = format!(".block_scale{size}");
        }
        let from = if a_in_tensor_memory {
            body.push_str("add.u32 %w2, %d, 300;\n");
            "[%w2]"
        } else {
            "%a"
        };
        writeln!(
            body,
            "setp.{}.u32 %keep, 0, 0;\nmov.u32 %w3, {:#x};\n@%one tcgen05.mma.cta_group::1.kind::{kind}{modifiers} [%d], {from}, %b, %w3, {operands}%keep;",
            if keep { "eq" } else { "ne" },
            self.instruction()
        )
        .unwrap();
        body.push_str(WAIT);
        for column in 0..n {
            writeln!(
                body,
                "add.u32 %low, %lane, {column};\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {{%o{column}}}, [%low];"
            )
            .unwrap();
        }
        body.push_str("tcgen05.wait::ld.sync.aligned;\n");
        let body = frame(control, &body);
        let case =
            Case { name: name.clone(), target: "sm_100a", version: "8.8", threads: 128, shared, image, words: n, body };
        let got = case.run();
        for (column, lane) in (0..n).flat_map(|column| (0..128).map(move |lane| (column, lane))) {
            let row = match m {
                128 => Some(lane),
                // 16 rows in the first half of each quarter.
                _ => (lane % 32 < 16).then_some(lane / 32 * 16 + lane % 32),
            };
            let wanted = match row {
                None => f64::from(start(lane, column)),
                Some(row) => {
                    let scale = |k: usize| {
                        let block = k * blocks / depth;
                        scales.map_or(0, |_| exponents[0][row * blocks + block] + exponents[1][column * blocks + block])
                    };
                    let products =
                        (0..depth).map(|k| f64::from(a[row * depth + k] * b[column * depth + k]) * 2f64.powi(scale(k)));
                    products.sum::<f64>() + if keep { f64::from(start(lane, column)) } else { 0.0 }
                }
            };
            let got = got[column * 128 + lane];
            let got = if kind == "i8" { f64::from(got as i32) } else { f64::from(f32::from_bits(got)) };
            assert_eq!(got, wanted, "{name} lane {lane} column {column}");
        }
    }
}

#[test]
fn every_kind() {
    for types in [[F16, F16], [Bf16, Bf16], [F16, Bf16]] {
        Form { types, ..PLAIN }.check();
    }
    Form { kind: "tf32", types: [Tf32, Tf32], keep: false, ..PLAIN }.check();
    let small = [E4M3, E5M2, E2M3, E3M2, E2M1];
    for (i, left) in small.into_iter().enumerate() {
        Form { kind: "f8f6f4", types: [left, small[(i + 1) % 5]], n: 16, ..PLAIN }.check();
        Form { kind: "f8f6f4", types: [left, left], n: 16, ..PLAIN }.check();
    }
    for types in [[S8, S8], [U8, S8], [S8, U8]] {
        Form { kind: "i8", types, n: 48, ..PLAIN }.check();
    }
}

#[test]
fn shapes_and_layouts() {
    for (m, n) in [(128, 256), (64, 8), (64, 104)] {
        Form { m, n, ..PLAIN }.check();
    }
    for (a, b) in [(16, 128), (32, 64), (64, 32), (128, 16)] {
        for k_major in [[true, true], [false, true], [true, false], [false, false]] {
            Form { n: 64, span: [a, b], k_major, ..PLAIN }.check();
        }
        Form { kind: "f8f6f4", types: [E4M3, E5M2], n: 128, span: [a, b], k_major: [false, false], ..PLAIN }.check();
    }
}

#[test]
fn a_in_tensor_memory() {
    for (kind, types) in [("f16", [F16, F16]), ("tf32", [Tf32, Tf32]), ("f8f6f4", [E4M3, E4M3]), ("i8", [S8, S8])] {
        Form { kind, types, a_in_tensor_memory: true, ..PLAIN }.check();
    }
}

#[test]
fn block_scales() {
    for types in [[E4M3, E4M3], [E5M2, E2M1], [E2M3, E3M2]] {
        Form { kind: "mxf8f6f4", types, n: 64, scales: Some((32, false)), first: [2, 1], ..PLAIN }.check();
    }
    for n in [24, 128, 256] {
        Form { kind: "mxf8f6f4", types: [E4M3, E4M3], n, scales: Some((32, false)), ..PLAIN }.check();
        Form { kind: "mxf4", types: [Dense, Dense], n, scales: Some((32, false)), first: [2, 0], ..PLAIN }.check();
        Form { kind: "mxf4nvf4", types: [Dense, Dense], n, scales: Some((16, true)), ..PLAIN }.check();
        Form { kind: "mxf4nvf4", types: [Dense, Dense], n, scales: Some((16, false)), ..PLAIN }.check();
    }
}

/// Every cell of lanes and columns that were filled with their own number comes back where the shape says.
#[test]
fn loads_and_stores_of_every_shape() {
    // Lane and column of register `r` in thread `t`, and registers of one step.
    type Place = fn(usize, usize) -> (usize, usize);
    let shapes: [(&str, &str, usize, Place); 5] = [
        ("32x32b", "", 1, |t, r| (t, r)),
        ("16x64b", "", 1, |t, r| (t / 4 + t % 2 * 8, 2 * r + t % 4 / 2)),
        ("16x32bx2", ", 9", 1, |t, r| (t % 16, r + t / 16 * 9)),
        ("16x128b", "", 2, |t, r| (t / 4 + r % 2 * 8, r / 2 * 4 + t % 4)),
        ("16x256b", "", 4, |t, r| (t / 4 + r % 4 / 2 * 8, r / 4 * 8 + t % 4 * 2 + r % 2)),
    ];
    for (shape, extra, each, place) in shapes {
        let list = |letter: char| (0..8).map(|i| format!("%{letter}{i}")).collect::<Vec<_>>().join(", ");
        let count = 8 / each;
        // Filled through 32x32b with lane * 64 + column, read in the shape, doubled, written back in the shape, read again.
        let mut body = ".reg .b32 %m<8>;\nshl.b32 %x, %me, 6;\n".to_string();
        for column in 0..32 {
            writeln!(body, "add.u32 %low, %lane, {column};\nadd.u32 %w0, %x, {column};\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%low], {{%w0}};").unwrap();
        }
        writeln!(
            body,
            "tcgen05.wait::st.sync.aligned;\ntcgen05.ld.sync.aligned.{shape}.x{count}.b32 {{{}}}, [%lane]{extra};",
            list('o')
        )
        .unwrap();
        body.push_str("tcgen05.wait::ld.sync.aligned;\n");
        for i in 0..8 {
            writeln!(body, "add.u32 %m{i}, %o{i}, 1000000;").unwrap();
        }
        writeln!(
            body,
            "tcgen05.st.sync.aligned.{shape}.x{count}.b32 [%lane]{extra}, {{{}}};\ntcgen05.wait::st.sync.aligned;",
            list('m')
        )
        .unwrap();
        for column in 0..32 {
            writeln!(
                body,
                "add.u32 %low, %lane, {column};\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {{%o{}}}, [%low];",
                8 + column
            )
            .unwrap();
        }
        let body = frame(0, &body);
        let name = format!("tcgen05_shape_{shape}");
        let case = Case {
            name,
            target: "sm_100a",
            version: "8.8",
            threads: 128,
            shared: 128,
            image: vec![0; 128],
            words: 40,
            body,
        };
        let got = case.run();
        let mut touched = std::collections::HashSet::new();
        for (r, t) in (0..8).flat_map(|r| (0..128).map(move |t| (r, t))) {
            let (lane, column) = place(t % 32, r);
            let lane = t / 32 * 32 + lane;
            assert_eq!(got[r * 128 + t] as usize, lane * 64 + column, "{shape} register {r} thread {t}");
            assert!(touched.insert((lane, column)), "{shape}: one cell twice");
        }
        for (column, lane) in (0..32).flat_map(|column| (0..128).map(move |lane| (column, lane))) {
            let wanted = lane * 64 + column + if touched.contains(&(lane, column)) { 1_000_000 } else { 0 };
            assert_eq!(got[(8 + column) * 128 + lane] as usize, wanted, "{shape} lane {lane} column {column}");
        }
    }
}

#[test]
fn copies_of_every_shape() {
    // Rows of the source that lane `l` gets, and words of a row.
    type Row = fn(usize) -> usize;
    let shapes: [(&str, usize, Row); 5] = [
        ("128x256b", 8, |lane| lane),
        ("128x128b", 4, |lane| lane),
        ("64x128b.warpx2::02_13", 4, |lane| lane % 64),
        ("64x128b.warpx2::01_23", 4, |lane| lane / 64 * 32 + lane % 32),
        ("32x128b.warpx4", 4, |lane| lane % 32),
    ];
    for (shape, words, row) in shapes {
        let tile = Tile::new(Tf32, 128, words, if words == 8 { 32 } else { 16 }, true);
        let mut image = vec![0; tile.bytes()];
        let source: Vec<u32> = (0..128 * words as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        tile.put(&mut image, 0, &source);
        let control = image.len();
        image.resize(control + 128, 0);
        let mut body = String::new();
        descriptor(&mut body, "%s", 0, tile.blackwell());
        writeln!(body, "add.u32 %low, %d, 32;\n@%one tcgen05.cp.cta_group::1.{shape} [%low], %s;").unwrap();
        body.push_str(WAIT);
        for column in 0..words {
            writeln!(
                body,
                "add.u32 %low, %lane, {};\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {{%o{column}}}, [%low];",
                32 + column
            )
            .unwrap();
        }
        let shared = image.len();
        let name = format!("tcgen05_cp_{}", shape.replace([':', '.'], "_"));
        let case = Case {
            name,
            target: "sm_100a",
            version: "8.8",
            threads: 128,
            shared,
            image,
            words,
            body: frame(control, &body),
        };
        for (i, got) in case.run().into_iter().enumerate() {
            let (column, lane) = (i / 128, i % 128);
            assert_eq!(got, source[row(lane) * words + column], "{shape} lane {lane} column {column}");
        }
    }
}
