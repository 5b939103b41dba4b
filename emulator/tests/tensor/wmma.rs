//! `wmma.load`, `wmma.mma` and `wmma.store`.

use std::fmt::Write as _;

use half::f16;

use super::common::Random;
use super::lab::Case;
use super::layout::{Type, accumulator};
use Type::{Bf16, F16, S8, Tf32, U8};

struct Form {
    shape: [usize; 3],
    of: Type,
    start: &'static str,
    result: &'static str,
    /// Whether a, b and the sums lie row by row.
    by_rows: [bool; 3],
    shared: bool,
    values: &'static str,
}

fn width(name: &str) -> usize {
    if name == "f16" { 2 } else { 4 }
}

impl Form {
    fn name(&self) -> String {
        let [m, n, k] = self.shape;
        let ways: String = self.by_rows.iter().map(|by_rows| if *by_rows { 'r' } else { 'c' }).collect();
        let window = if self.shared { "_shared" } else { "" };
        format!("wmma_m{m}n{n}k{k}_{}_{}_{}_{ways}{window}_{}", self.of.name(), self.start, self.result, self.values)
    }

    /// Registers of an operand of this many elements a lane; f16 ones are held twice and more.
    fn words(&self, elements: usize) -> usize {
        if self.of == F16 { 8 } else { elements * self.of.bytes() / 4 }
    }

    /// Output words of a lane: the result as stored, row by row and dense, then its registers where their order is known.
    fn run(&self, a: &[u32], b: &[u32], c: &[u32]) -> Vec<u32> {
        let [m, n, k] = self.shape;
        let padded = |extent: usize| extent + 16;
        let mut image = vec![0; m * n * width(self.result)];
        let shared_result = image.len();
        let mut place = |values: &[u32], rows: usize, columns: usize, by_rows: bool, bytes: usize| {
            let from = image.len();
            let (outer, inner) = if by_rows { (rows, columns) } else { (columns, rows) };
            for (o, i) in (0..outer).flat_map(|o| (0..padded(inner)).map(move |i| (o, i))) {
                let (row, column) = if by_rows { (o, i) } else { (i, o) };
                let value = if i < inner { values[row * columns + column] } else { 0x3c3c_3c3c };
                image.extend(&value.to_le_bytes()[..bytes]);
            }
            (from, padded(inner))
        };
        let bytes = self.of.bytes();
        let [a_by_rows, b_by_rows, c_by_rows] = self.by_rows;
        let a_at = place(a, m, k, a_by_rows, bytes);
        let b_at = place(b, k, n, b_by_rows, bytes);
        let c_at = place(c, m, n, c_by_rows, width(self.start));
        image.resize(image.len().next_multiple_of(16), 0);
        let names = |letter: char, count: usize| (0..count).map(|i| format!("%{letter}{i}")).collect::<Vec<_>>();
        let sum_words = |name: &str| m * n / 32 * width(name) / 4;
        let registers = [
            names('a', self.words(m * k / 32)),
            names('b', self.words(k * n / 32)),
            names('c', sum_words(self.start)),
            names('d', sum_words(self.result)),
        ];
        let mut body = ".reg .b64 %p;\n.reg .b32 %q;\n".to_string();
        for list in &registers {
            writeln!(body, ".reg .b32 {};", list.join(", ")).unwrap();
        }
        let [a, b, c, d] = registers.clone().map(|names| names.join(", "));
        let way = |by_rows: bool| if by_rows { "row" } else { "col" };
        let shape = format!("m{m}n{n}k{k}");
        let of = self.of.name();
        for (letter, list, (at, leading), by_rows, of) in
            [('a', &a, a_at, a_by_rows, of), ('b', &b, b_at, b_by_rows, of), ('c', &c, c_at, c_by_rows, self.start)]
        {
            let way = way(by_rows);
            if self.shared {
                writeln!(body, "add.u32 %q, %base, {at};").unwrap();
                writeln!(body, "wmma.load.{letter}.sync.aligned.{way}.{shape}.shared.{of} {{{list}}}, [%q], {leading};")
            } else {
                writeln!(body, "add.s64 %p, %image, {at};").unwrap();
                writeln!(body, "wmma.load.{letter}.sync.aligned.{way}.{shape}.global.{of} {{{list}}}, [%p], {leading};")
            }
            .unwrap();
        }
        let types = if self.of == F16 {
            format!("{}.{}", self.result, self.start)
        } else {
            format!("{}.{of}.{of}.{}", self.result, self.start)
        };
        let (a_way, b_way) = (way(a_by_rows), way(b_by_rows));
        writeln!(body, "wmma.mma.sync.aligned.{a_way}.{b_way}.{shape}.{types} {{{d}}}, {{{a}}}, {{{b}}}, {{{c}}};")
            .unwrap();
        writeln!(body, "wmma.store.d.sync.aligned.row.{shape}.shared.{} [%base], {{{d}}};\nbar.sync 0;", self.result)
            .unwrap();
        let stored = shared_result / 128;
        writeln!(body, "shl.b32 %q, %me, 2;\nadd.u32 %q, %q, %base;").unwrap();
        for i in 0..stored {
            writeln!(body, "ld.shared.b32 %o{i}, [%q+{}];", 128 * i).unwrap();
        }
        let shown = if self.tiled() { registers[3].len() } else { 0 };
        for (i, register) in registers[3].iter().take(shown).enumerate() {
            writeln!(body, "mov.b32 %o{}, {register};", stored + i).unwrap();
        }
        let shared = if self.shared { image.len() } else { shared_result };
        let words = stored + shown;
        Case { name: self.name(), target: "sm_90a", version: "8.0", threads: 32, shared, image, words, body }.run()
    }

    /// Whether the sums' registers are known.
    fn tiled(&self) -> bool {
        self.shape[0] != 8
    }

    fn exact(&self) {
        let [m, n, k] = self.shape;
        let mut random = Random(m as u64 * 31 + self.of.bytes() as u64);
        let mut make = |count: usize| (0..count).map(|_| self.of.integer(&mut random)).collect::<Vec<_>>();
        let (a, b) = (make(m * k), make(k * n));
        let code = |value: i32, name: &str| match name {
            "f16" => u32::from(f16::from_f32(value as f32).to_bits()),
            "f32" => (value as f32).to_bits(),
            _ => value as u32,
        };
        let start = |i: usize| (i * 7) as i32 % 23 - 11;
        let c: Vec<u32> = (0..m * n).map(|i| code(start(i), self.start)).collect();
        let bits = |values: &[i32]| values.iter().map(|&value| self.of.bits(value)).collect::<Vec<_>>();
        let got = self.run(&bits(&a), &bits(&b), &c);
        let wanted = |row: usize, column: usize| {
            let products = (0..k).map(|i| a[row * k + i] * b[i * n + column]);
            code(start(row * n + column) + products.sum::<i32>(), self.result)
        };
        let each = 4 / width(self.result);
        let element = |word: u32, e: usize| if each == 2 { word >> (16 * e) & 0xffff } else { word };
        for (index, &word) in got.iter().enumerate() {
            let (i, lane) = (index / 32, index % 32);
            for e in 0..each {
                let stored = m * n / 32 / each;
                let (row, column) = if i < stored {
                    (index * each + e).div_rem(n)
                } else {
                    let slot = (i - stored) * each + e;
                    let (row, column) = accumulator(lane, slot % 4);
                    if n == 8 { (row + slot / 4 * 16, column) } else { (row, column + slot / 4 * 8) }
                };
                assert_eq!(element(word, e), wanted(row, column), "{} {i} {lane} {e}", self.name());
            }
        }
    }
}

trait DivRem {
    fn div_rem(self, by: usize) -> (usize, usize);
}

impl DivRem for usize {
    fn div_rem(self, by: usize) -> (usize, usize) {
        (self / by, self % by)
    }
}

#[test]
fn every_type_shape_and_layout() {
    let squares = [
        (F16, 16, "f32", "f32"),
        (F16, 16, "f16", "f16"),
        (F16, 16, "f16", "f32"),
        (F16, 16, "f32", "f16"),
        (Bf16, 16, "f32", "f32"),
        (Tf32, 8, "f32", "f32"),
        (S8, 16, "s32", "s32"),
        (U8, 16, "s32", "s32"),
    ];
    for (of, k, start, result) in squares {
        let shapes: &[[usize; 3]] = if k == 8 { &[[16, 16, 8]] } else { &[[16, 16, 16], [8, 32, 16], [32, 8, 16]] };
        for (number, &shape) in shapes.iter().enumerate() {
            for ways in 0..4usize {
                let by_rows = [ways & 1 == 0, ways & 2 == 0, (ways + number) % 3 != 0];
                Form { shape, of, start, result, by_rows, shared: (ways + number) % 2 == 0, values: "integers" }
                    .exact();
            }
        }
    }
}

#[test]
fn bits_that_need_every_bit_of_the_adder() {
    for (of, shape) in [(F16, [16, 16, 16]), (Bf16, [32, 8, 16]), (Tf32, [16, 16, 8])] {
        let [m, n, k] = shape;
        let mut random = Random(99);
        let a: Vec<u32> = (0..m * k).map(|_| of.wild(&mut random)).collect();
        let b: Vec<u32> = (0..k * n).map(|_| of.wild(&mut random)).collect();
        let c: Vec<u32> = (0..m * n).map(|_| Tf32.wild(&mut random) ^ random.next() & 0x1fff).collect();
        let form = |of| Form {
            shape,
            of,
            start: "f32",
            result: "f32",
            by_rows: [true, false, true],
            shared: true,
            values: "wild",
        };
        let wild = form(of);
        let got = wild.run(&a, &b, &c);
        assert!(got.iter().any(|&word| word != got[0]), "{}", wild.name());
    }
}
