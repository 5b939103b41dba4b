//! `wgmma.mma_async`: types, layouts, A from registers, negation, half accumulators.

use std::fmt::Write as _;

use half::f16;

use super::common::Random;
use super::lab::Case;
use super::layout::{EXTREMES, Extreme, Tile, Type, accumulator, left};
use Type::{Bf16, E4M3, E5M2, F16, S8, Tf32, U8};

struct Form {
    n: usize,
    types: [Type; 2],
    /// f32, f16 or s32.
    result: &'static str,
    /// Bytes of the swizzle of A and B, 16 for none.
    span: [usize; 2],
    k_major: [bool; 2],
    registers: bool,
    negate: [bool; 2],
    /// Instructions along K.
    steps: usize,
}

const PLAIN: Form = Form {
    n: 16,
    types: [Bf16, Bf16],
    result: "f32",
    span: [128, 128],
    k_major: [true, true],
    registers: false,
    negate: [false, false],
    steps: 1,
};

impl Form {
    fn depth(&self) -> usize {
        32 / self.types[0].bytes()
    }

    fn words(&self) -> usize {
        if self.result == "f16" { self.n / 4 } else { self.n / 2 }
    }

    /// The case for operands given line by line, and the accumulator by word and thread.
    fn case(&self, name: &str, a: &[u32], b: &[u32], c: &[u32]) -> Case {
        let Form { n, types, result, span, k_major, registers, negate, steps } = *self;
        let (step, depth) = (self.depth(), self.depth() * steps);
        let words = self.words();
        let tiles =
            [Tile::new(types[0], 64, depth, span[0], k_major[0]), Tile::new(types[1], n, depth, span[1], k_major[1])];
        let at = [0, tiles[0].bytes()];
        let shared = at[1] + tiles[1].bytes();
        let mut image = vec![0xff; shared];
        tiles[0].put(&mut image, at[0], a);
        tiles[1].put(&mut image, at[1], b);
        image.extend(c.iter().flat_map(|word| word.to_le_bytes()));
        let each = 4 / types[0].bytes();
        for (k, i) in (0..steps).flat_map(|k| (0..4).map(move |i| (k, i))) {
            for t in 0..128 {
                let (row, first) = left(t, i, each);
                let bits = |e: usize| a[row * depth + k * step + first + e] << (32 / each * e);
                image.extend((0..each).fold(0, |word, e| word | bits(e)).to_le_bytes());
            }
        }
        let mut body = ".reg .b64 %a, %b, %move;\n.reg .b32 %low;\n.reg .pred %keep;\n.reg .b32 %l<4>;\nsetp.eq.u32 %keep, 0, 0;\n".to_string();
        for i in 0..words {
            writeln!(body, "ld.global.b32 %o{i}, [%mine+{}];", 512 * i).unwrap();
        }
        body.push_str("wgmma.fence.sync.aligned;\n");
        for k in 0..steps {
            for (which, name) in [(0, "%a"), (1, "%b")] {
                // Bytes from one step to the next.
                let moved = tiles[which].offset(0, k * step);
                writeln!(
                    body,
                    "add.u32 %low, %base, {};\nshr.u32 %low, %low, 4;\ncvt.u64.u32 {name}, %low;\nor.b64 {name}, {name}, {:#x};",
                    at[which] + moved,
                    tiles[which].hopper()
                )
                .unwrap();
            }
            let (mut out, mut from) = (String::new(), "%a".to_string());
            for i in 0..words {
                write!(out, "{}%o{i}", if i > 0 { ", " } else { "" }).unwrap();
            }
            if registers {
                for i in 0..4 {
                    writeln!(body, "ld.global.b32 %l{i}, [%mine+{}];", 512 * (words + 4 * k + i)).unwrap();
                }
                body.push_str("wgmma.fence.sync.aligned;\n");
                from = "{%l0, %l1, %l2, %l3}".into();
            }
            let sign = |i: usize| if negate[i] { "-1" } else { "1" };
            let major = |i: usize| u8::from(!k_major[i]);
            let immediates = match (types[0], registers) {
                (S8 | U8, _) => String::new(),
                (F16 | Bf16, false) => format!(", {}, {}, {}, {}", sign(0), sign(1), major(0), major(1)),
                (F16 | Bf16, true) => format!(", {}, {}, {}", sign(0), sign(1), major(1)),
                _ => format!(", {}, {}", sign(0), sign(1)),
            };
            writeln!(
                body,
                "wgmma.mma_async.sync.aligned.m64n{n}k{step}.{result}.{}.{} {{{out}}}, {from}, %b, %keep{immediates};",
                types[0].name(),
                types[1].name()
            )
            .unwrap();
        }
        body.push_str("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
        let name = format!("wgmma_{name}");
        Case { name, target: "sm_90a", version: "8.4", threads: 128, shared, image, words, body }
    }

    /// Small integers: every sum is exact.
    fn exact(&self, name: &str) {
        let mut random = Random(name.len() as u64 * 77 + self.n as u64);
        let depth = self.depth() * self.steps;
        let mut make = |of: Type, count: usize| (0..count).map(|_| of.integer(&mut random)).collect::<Vec<_>>();
        let (a, b) = (make(self.types[0], 64 * depth), make(self.types[1], self.n * depth));
        let words = self.words();
        let start = |row: usize, column: usize| (row * 3 + column) as i32 % 11 - 5;
        let word = |t: usize, i: usize| match self.result {
            "f16" => {
                let (row, column) = accumulator(t, 2 * i);
                let half = |column| u32::from(f16::from_f32(start(row, column) as f32).to_bits());
                half(column) | half(column + 1) << 16
            }
            "f32" => (start(accumulator(t, i).0, accumulator(t, i).1) as f32).to_bits(),
            _ => start(accumulator(t, i).0, accumulator(t, i).1) as u32,
        };
        let c: Vec<u32> = (0..words).flat_map(|i| (0..128).map(move |t| (t, i))).map(|(t, i)| word(t, i)).collect();
        let bits = |of: Type, values: &[i32]| values.iter().map(|&v| of.bits(v)).collect::<Vec<_>>();
        let got = self.case(name, &bits(self.types[0], &a), &bits(self.types[1], &b), &c).run();
        let sign = self.negate.iter().filter(|&&n| n).count() % 2;
        let wanted = |row: usize, column: usize| {
            let sum: i32 = (0..depth).map(|k| a[row * depth + k] * b[column * depth + k]).sum();
            start(row, column) + if sign == 1 { -sum } else { sum }
        };
        for (i, t) in (0..words).flat_map(|i| (0..128).map(move |t| (i, t))) {
            let got = got[i * 128 + t];
            match self.result {
                "f16" => {
                    let (row, column) = accumulator(t, 2 * i);
                    assert_eq!(
                        f16::from_bits(got as u16).to_f32(),
                        wanted(row, column) as f32,
                        "{name} {row} {column}"
                    );
                    assert_eq!(
                        f16::from_bits((got >> 16) as u16).to_f32(),
                        wanted(row, column + 1) as f32,
                        "{name} {row} {column}+1"
                    );
                }
                "f32" => {
                    let (row, column) = accumulator(t, i);
                    assert_eq!(f32::from_bits(got), wanted(row, column) as f32, "{name} {row} {column}");
                }
                _ => {
                    let (row, column) = accumulator(t, i);
                    assert_eq!(got as i32, wanted(row, column), "{name} {row} {column}");
                }
            }
        }
    }

    /// Bits all over the place, or at an end of A's range, with no expectation but that of a GPU.
    fn wild(&self, name: &str, extreme: Option<Extreme>) -> Vec<u32> {
        let mut random = Random(name.len() as u64 * 31 + self.n as u64);
        let depth = self.depth() * self.steps;
        let mut make =
            |of: Type, count: usize, which: Option<Extreme>| (0..count).map(|_| of.draw(which, &mut random)).collect();
        let a: Vec<u32> = make(self.types[0], 64 * depth, extreme);
        let b: Vec<u32> = make(self.types[1], self.n * depth, None);
        let c: Vec<u32> = (0..self.words() * 128)
            .map(|_| match self.result {
                "f16" => F16.wild(&mut random) | F16.wild(&mut random) << 16,
                "f32" => Tf32.wild(&mut random) ^ random.next() & 0x1fff,
                _ => random.next(),
            })
            .collect();
        self.case(name, &a, &b, &c).run()
    }
}

#[test]
fn every_type_and_width() {
    for n in [8, 24, 96, 256] {
        for types in [[F16, F16], [Bf16, Bf16], [Tf32, Tf32], [E4M3, E4M3], [E5M2, E5M2], [E4M3, E5M2], [E5M2, E4M3]] {
            let name = format!("{}_{}_n{n}", types[0].name(), types[1].name());
            Form { n, types, ..PLAIN }.exact(&name);
        }
        for types in [[S8, S8], [U8, U8], [S8, U8], [U8, S8]] {
            let name = format!("{}_{}_n{n}", types[0].name(), types[1].name());
            Form { n, types, result: "s32", ..PLAIN }.exact(&name);
        }
        for types in [[F16, F16], [E4M3, E4M3], [E5M2, E4M3]] {
            let name = format!("half_{}_{}_n{n}", types[0].name(), types[1].name());
            Form { n, types, result: "f16", ..PLAIN }.exact(&name);
        }
    }
}

#[test]
fn every_layout() {
    for (i, span) in [16, 32, 64, 128].into_iter().enumerate() {
        let other = [128, 16, 32, 64][i];
        for types in [[F16, F16], [Tf32, Tf32], [E4M3, E4M3]] {
            let name = format!("k_major_{}_{span}_{other}", types[0].name());
            let steps = if types[0] == F16 { span.min(other).max(32) / 32 } else { 1 };
            Form { types, span: [span, other], n: 32, steps, ..PLAIN }.exact(&name);
        }
        for (a, b) in [(false, true), (true, false), (false, false)] {
            let name = format!("{}_{}_{span}_{other}", if a { "k" } else { "m" }, if b { "k" } else { "n" });
            Form { span: [span, other], n: 64, k_major: [a, b], steps: 2, ..PLAIN }.exact(&name);
        }
    }
}

#[test]
fn a_in_registers_and_negation() {
    for (types, result) in [
        ([F16, F16], "f32"),
        ([Bf16, Bf16], "f32"),
        ([Tf32, Tf32], "f32"),
        ([E4M3, E5M2], "f32"),
        ([S8, U8], "s32"),
        ([F16, F16], "f16"),
    ] {
        let name = format!("registers_{}_{}_{result}", types[0].name(), types[1].name());
        Form { n: 48, types, result, registers: true, steps: if result == "f16" { 1 } else { 2 }, ..PLAIN }
            .exact(&name);
    }
    Form { n: 64, registers: true, k_major: [true, false], ..PLAIN }.exact("registers_n_major");
    for negate in [[true, false], [false, true], [true, true]] {
        let name = format!("negated_{}_{}", negate[0], negate[1]);
        Form { n: 16, negate, ..PLAIN }.exact(&name);
    }
}

#[test]
fn bits_that_need_every_bit_of_the_adder() {
    for (types, result) in [
        ([F16, F16], "f32"),
        ([F16, F16], "f16"),
        ([Bf16, Bf16], "f32"),
        ([Tf32, Tf32], "f32"),
        ([E4M3, E4M3], "f32"),
        ([E5M2, E5M2], "f32"),
        ([E4M3, E5M2], "f32"),
        ([E4M3, E4M3], "f16"),
        ([S8, S8], "s32"),
    ] {
        let name = format!("wild_{}_{}_{result}", types[0].name(), types[1].name());
        let got = Form { n: 64, types, result, ..PLAIN }.wild(&name, None);
        assert!(got.iter().any(|&word| word != got[0]), "{name}");
    }
}

#[test]
fn both_ends_of_the_range_and_what_lies_beyond() {
    let forms = [(F16, "f32"), (F16, "f16"), (Bf16, "f32"), (Tf32, "f32"), (E4M3, "f32"), (E5M2, "f32"), (E5M2, "f16")];
    for ((of, result), extreme) in forms.into_iter().flat_map(|form| EXTREMES.map(|extreme| (form, extreme))) {
        let name = format!("{extreme:?}_{}_{result}", of.name());
        let got = Form { n: 8, types: [of, of], result, ..PLAIN }.wild(&name, Some(extreme));
        let halves =
            got.iter().flat_map(|word| [*word as u16, (word >> 16) as u16].map(|h| f16::from_bits(h).to_f32()));
        let values: Vec<f32> = match result {
            "f16" => halves.collect(),
            _ => got.iter().map(|&word| f32::from_bits(word)).collect(),
        };
        // A NaN of the tensor core has all bits but the sign.
        let nans: Vec<u32> = got.iter().copied().filter(|&word| f32::from_bits(word).is_nan()).collect();
        match extreme {
            Extreme::Special => {
                assert!(values.iter().any(|v| v.is_nan()) && values.iter().any(|v| v.is_finite()), "{name}")
            }
            _ => assert!(values.iter().all(|v| !v.is_nan()), "{name}"),
        }
        assert!(result == "f16" || nans.iter().all(|&bits| bits == 0x7fff_ffff), "{name}");
    }
}
