//! `mma.sync`, `ldmatrix`, `stmatrix`, `movmatrix`.

use std::fmt::Write as _;

use half::f16;

use super::common::Random;
use super::lab::Case;
use super::layout::{EXTREMES, Extreme, Type, accumulator, left};
use Type::{Bf16, E4M3, E5M2, F16, S8, Tf32, U8};

struct Form {
    k: usize,
    types: [Type; 2],
    result: &'static str,
}

impl Form {
    fn name(&self) -> String {
        format!("mma_{}_{}_{}_k{}", self.result, self.types[0].name(), self.types[1].name(), self.k)
    }

    fn words(&self) -> usize {
        if self.result == "f16" { 2 } else { 4 }
    }

    fn case(&self, name: String, a: &[u32], b: &[u32], c: &[u32]) -> Case {
        let Form { k, types, result } = *self;
        let each = 4 / types[0].bytes();
        let (left_words, right_words) = (k / each / 2, k / each / 4);
        let width = 32 / each;
        let mut image: Vec<u8> = c.iter().flat_map(|word| word.to_le_bytes()).collect();
        for (i, t) in (0..left_words).flat_map(|i| (0..32).map(move |t| (i, t))) {
            let (row, first) = left(t, i, each);
            image.extend((0..each).fold(0, |word, e| word | a[row * k + first + e] << (width * e)).to_le_bytes());
        }
        for (i, t) in (0..right_words).flat_map(|i| (0..32).map(move |t| (i, t))) {
            let (column, first) = (t / 4, (t % 4 + 4 * i) * each);
            image.extend((0..each).fold(0, |word, e| word | b[column * k + first + e] << (width * e)).to_le_bytes());
        }
        let words = self.words();
        let mut body = ".reg .b32 %a<4>, %b<2>;\n".to_string();
        let names = |letter: char, count: usize| (0..count).map(|i| format!("%{letter}{i}")).collect::<Vec<_>>();
        let all = [names('o', words), names('a', left_words), names('b', right_words)];
        for (i, register) in all.iter().flatten().enumerate() {
            writeln!(body, "ld.global.b32 {register}, [%mine+{}];", 128 * i).unwrap();
        }
        let [d, a, b] = all.map(|names| names.join(", "));
        writeln!(
            body,
            "mma.sync.aligned.m16n8k{k}.row.col.{result}.{}.{}.{result} {{{d}}}, {{{a}}}, {{{b}}}, {{{d}}};",
            types[0].name(),
            types[1].name()
        )
        .unwrap();
        Case { name, target: "sm_90a", version: "8.4", threads: 32, shared: 0, image, words, body }
    }

    fn exact(&self) {
        let mut random = Random(self.k as u64 * 13 + self.types[0].bytes() as u64);
        let mut make = |of: Type, count: usize| (0..count).map(|_| of.integer(&mut random)).collect::<Vec<_>>();
        let (a, b) = (make(self.types[0], 16 * self.k), make(self.types[1], 8 * self.k));
        let start = |row: usize, column: usize| (row * 5 + column) as i32 % 13 - 6;
        let half = |row, column| u32::from(f16::from_f32(start(row, column) as f32).to_bits());
        let word = |t: usize, i: usize| match self.result {
            "f16" => {
                let (row, column) = accumulator(t, 2 * i);
                half(row, column) | half(row, column + 1) << 16
            }
            "f32" => (start(accumulator(t, i).0, accumulator(t, i).1) as f32).to_bits(),
            _ => start(accumulator(t, i).0, accumulator(t, i).1) as u32,
        };
        let places = || (0..self.words()).flat_map(|i| (0..32).map(move |t| (i, t)));
        let c: Vec<u32> = places().map(|(i, t)| word(t, i)).collect();
        let bits = |of: Type, values: &[i32]| values.iter().map(|&v| of.bits(v)).collect::<Vec<_>>();
        let got = self.case(self.name(), &bits(self.types[0], &a), &bits(self.types[1], &b), &c).run();
        let wanted = |(row, column): (usize, usize)| {
            start(row, column) + (0..self.k).map(|k| a[row * self.k + k] * b[column * self.k + k]).sum::<i32>()
        };
        for ((i, t), got) in places().zip(got) {
            match self.result {
                "f16" => {
                    let (row, column) = accumulator(t, 2 * i);
                    let halves = [got as u16, (got >> 16) as u16].map(|bits| f16::from_bits(bits).to_f32());
                    assert_eq!(
                        halves,
                        [0, 1].map(|next| wanted((row, column + next)) as f32),
                        "{} {i} {t}",
                        self.name()
                    );
                }
                "f32" => assert_eq!(f32::from_bits(got), wanted(accumulator(t, i)) as f32, "{} {i} {t}", self.name()),
                _ => assert_eq!(got as i32, wanted(accumulator(t, i)), "{} {i} {t}", self.name()),
            }
        }
    }

    fn wild(&self, extreme: Option<Extreme>) -> Vec<u32> {
        let mut random = Random(self.k as u64 * 17 + self.types[0].bytes() as u64);
        let mut make =
            |of: Type, count: usize, which: Option<Extreme>| (0..count).map(|_| of.draw(which, &mut random)).collect();
        let a: Vec<u32> = make(self.types[0], 16 * self.k, extreme);
        let b: Vec<u32> = make(self.types[1], 8 * self.k, None);
        let c: Vec<u32> = (0..self.words() * 32)
            .map(|_| match self.result {
                "f16" => F16.wild(&mut random) | F16.wild(&mut random) << 16,
                "f32" => Tf32.wild(&mut random) ^ random.next() & 0x1fff,
                _ => random.next(),
            })
            .collect();
        let flavour = extreme.map_or("wild".to_string(), |extreme| format!("{extreme:?}"));
        self.case(format!("{}_{flavour}", self.name()), &a, &b, &c).run()
    }
}

const FORMS: [Form; 17] = [
    Form { k: 16, types: [F16, F16], result: "f32" },
    Form { k: 8, types: [F16, F16], result: "f32" },
    Form { k: 16, types: [F16, F16], result: "f16" },
    Form { k: 8, types: [F16, F16], result: "f16" },
    Form { k: 16, types: [Bf16, Bf16], result: "f32" },
    Form { k: 8, types: [Bf16, Bf16], result: "f32" },
    Form { k: 8, types: [Tf32, Tf32], result: "f32" },
    Form { k: 4, types: [Tf32, Tf32], result: "f32" },
    Form { k: 32, types: [E4M3, E4M3], result: "f32" },
    Form { k: 32, types: [E5M2, E5M2], result: "f32" },
    Form { k: 32, types: [E4M3, E5M2], result: "f32" },
    Form { k: 16, types: [S8, S8], result: "s32" },
    Form { k: 16, types: [U8, S8], result: "s32" },
    Form { k: 32, types: [S8, S8], result: "s32" },
    Form { k: 32, types: [U8, U8], result: "s32" },
    Form { k: 32, types: [S8, U8], result: "s32" },
    Form { k: 32, types: [U8, S8], result: "s32" },
];

#[test]
fn every_type_and_depth() {
    FORMS.iter().for_each(Form::exact);
}

#[test]
fn bits_that_need_every_bit_of_the_adder() {
    for form in &FORMS {
        let got = form.wild(None);
        assert!(got.iter().any(|&word| word != got[0]), "{}", form.name());
        if form.result != "s32" {
            let [tiny, huge, special] = EXTREMES.map(|extreme| form.wild(Some(extreme)));
            assert!(special.iter().any(|word| !tiny.contains(word) && !huge.contains(word)), "{}", form.name());
        }
    }
}

/// The eight rows of 16 bytes of each of four matrices, permuted so that addresses matter.
fn rows() -> Vec<u8> {
    (0..512u32).map(|i| (i * 37 + i / 16 * 5) as u8).collect()
}

/// 16-bit element (`row`, `column`) of the matrix whose row addresses start at lane `8 * matrix`.
fn element(image: &[u8], matrix: usize, row: usize, column: usize) -> u32 {
    // Lane l gives row (l * 5) % 32 of the image.
    let at = (8 * matrix + row) * 5 % 32 * 16 + 2 * column;
    u32::from(u16::from_le_bytes([image[at], image[at + 1]]))
}

const ADDRESS: &str = ".reg .b32 %row;\nmul.lo.u32 %row, %me, 5;\nand.b32 %row, %row, 31;\nshl.b32 %row, %row, 4;\nadd.u32 %row, %row, %base;\n";

#[test]
fn ldmatrix_of_one_two_and_four_matrices() {
    for (count, transposed) in [1, 2, 4].into_iter().flat_map(|count| [(count, false), (count, true)]) {
        let image = rows();
        let to = (0..count).map(|i| format!("%o{i}")).collect::<Vec<_>>().join(", ");
        let trans = if transposed { ".trans" } else { "" };
        let body = format!("{ADDRESS}ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{to}}}, [%row];\n");
        let name = format!("ldmatrix_x{count}{trans}").replace('.', "_");
        let case = Case {
            name,
            target: "sm_90a",
            version: "8.0",
            threads: 32,
            shared: 512,
            image: image.clone(),
            words: count,
            body,
        };
        let got = case.run();
        for (i, t) in (0..count).flat_map(|i| (0..32).map(move |t| (i, t))) {
            let (row, column) = (t / 4, t % 4 * 2);
            let wanted = if transposed {
                element(&image, i, column, row) | element(&image, i, column + 1, row) << 16
            } else {
                element(&image, i, row, column) | element(&image, i, row, column + 1) << 16
            };
            assert_eq!(got[i * 32 + t], wanted, "x{count}{trans} {i} {t}");
        }
    }
}

#[test]
fn stmatrix_is_the_inverse_of_ldmatrix() {
    for (count, transposed) in [1, 2, 4].into_iter().flat_map(|count| [(count, false), (count, true)]) {
        let image = rows();
        let list = |letter: char| (0..count).map(|i| format!("%{letter}{i}")).collect::<Vec<_>>().join(", ");
        let trans = if transposed { ".trans" } else { "" };
        // Loaded plainly from permuted rows, stored to rows in order behind them, and read back by the threads.
        let mut body = format!(
            "{ADDRESS}.reg .b32 %m<4>, %line;\nldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {{{}}}, [%row];\n\
             shl.b32 %line, %me, 4;\nadd.u32 %line, %line, %base;\n\
             stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%line+512], {{{}}};\nbar.warp.sync -1;\n\
             mad.lo.u32 %line, %me, 4, %base;\n",
            list('m'),
            list('m')
        );
        for i in 0..count {
            writeln!(body, "ld.shared.b32 %o{i}, [%line+{}];", 512 + 128 * i).unwrap();
        }
        let mut padded = image.clone();
        padded.resize(1024, 0);
        let name = format!("stmatrix_x{count}{trans}").replace('.', "_");
        let case = Case {
            name,
            target: "sm_90a",
            version: "8.0",
            threads: 32,
            shared: 1024,
            image: padded,
            words: count,
            body,
        };
        let got = case.run();
        for (i, t) in (0..count).flat_map(|i| (0..32).map(move |t| (i, t))) {
            let (row, column) = (t / 4, t % 4 * 2);
            let wanted = if transposed {
                element(&image, i, column, row) | element(&image, i, column + 1, row) << 16
            } else {
                element(&image, i, row, column) | element(&image, i, row, column + 1) << 16
            };
            assert_eq!(got[i * 32 + t], wanted, "x{count}{trans} {i} {t}");
        }
    }
}

#[test]
fn movmatrix_transposes() {
    let body = "mad.lo.u32 %o0, %me, 131074, 65536;\nmovmatrix.sync.aligned.m8n8.trans.b16 %o0, %o0;\n".to_string();
    let case = Case {
        name: "movmatrix".into(),
        target: "sm_90a",
        version: "8.0",
        threads: 32,
        shared: 0,
        image: vec![0; 16],
        words: 1,
        body,
    };
    for (t, got) in case.run().into_iter().enumerate() {
        // Element (r, c) was 8 * r + c.
        let (row, column) = (t / 4, t % 4 * 2);
        assert_eq!(got as usize, (column * 8 + row) | (((column + 1) * 8 + row) << 16));
    }
}
