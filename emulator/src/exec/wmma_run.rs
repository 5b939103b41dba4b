//! Executing `wmma.mma`.

use half::f16;

use super::matrix::{Accumulator, Wmma};
use super::registers::{ALL, Words};
use super::warp::Warp;
use crate::tensor::accumulate::{self, Adder, Tile};
use crate::tensor::fragment::{Fragment, Part};
use crate::tensor::operand::Element;

pub(super) fn multiply(warp: &mut Warp, op: &Wmma) {
    let [m, n, k] = op.shape;
    let fragment = |part| Fragment { shape: op.shape, part };
    let bits = |registers: &[u32], part, bytes| read(warp, registers, fragment(part), bytes);
    let left = bits(&op.a, Part::Left, op.elements[0].bytes());
    let right = bits(&op.b, Part::Right, op.elements[1].bytes());
    let start = bits(&op.c, Part::Sum, width(op.start));
    let sums: Vec<u32> = if op.result == Accumulator::S32 {
        let value = |bits: u32, of: Element| {
            if of == Element::S8 { i64::from(bits as u8 as i8) } else { i64::from(bits as u8) }
        };
        let sum = |row: usize, column: usize| {
            let products =
                (0..k).map(|i| value(left[row * k + i], op.elements[0]) * value(right[i * n + column], op.elements[1]));
            products.sum::<i64>() + i64::from(start[row * n + column] as i32)
        };
        let cut = |sum: i64| if op.saturate { sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32 } else { sum as u32 };
        (0..m * n).map(|i| cut(sum(i / n, i % n))).collect()
    } else {
        let decode = |bits: Vec<u32>, of: Element| Tile::new(of.decode_all(&bits, false), of.lowest());
        let number = |bits: u32| {
            if op.start == Accumulator::F16 { f16::from_bits(bits as u16).to_f32() } else { f32::from_bits(bits) }
        };
        let mut sums: Vec<f32> = start.into_iter().map(number).collect();
        // As measured on an H200, tf32 is added in two halves of the depth.
        let whole = op.elements[0].mma_adder();
        let adder = if op.elements[0] == Element::Tf32 { Adder { group: 4, ..whole } } else { whole };
        let half = op.result == Accumulator::F16;
        let adder = if half { adder.to_half() } else { adder };
        accumulate::multiply(adder, &decode(left, op.elements[0]), &decode(right, op.elements[1]), n, &mut sums);
        let code = |sum: f32| if half { f16::from_f32(sum).to_bits().into() } else { sum.to_bits() };
        sums.into_iter().map(code).collect()
    };
    write(warp, &op.d, fragment(Part::Sum), width(op.result), &sums);
}

fn width(of: Accumulator) -> usize {
    if of == Accumulator::F16 { 2 } else { 4 }
}

/// The bits of a fragment's elements, row by row.
fn read(warp: &Warp, registers: &[u32], fragment: Fragment, bytes: usize) -> Vec<u32> {
    let (rows, columns) = fragment.extents();
    let each = 4 / bytes;
    let mask = u32::MAX >> (32 - 8 * bytes);
    let mut out = vec![0; rows * columns];
    for slot in 0..fragment.elements() {
        let words = &warp.registers.w[registers[slot / each] as usize];
        for (lane, word) in words.iter().enumerate() {
            let (row, column) = fragment.place(lane, slot);
            out[row * columns + column] = word >> (8 * bytes * (slot % each)) & mask;
        }
    }
    out
}

fn write(warp: &mut Warp, registers: &[u32], fragment: Fragment, bytes: usize, values: &[u32]) {
    let columns = fragment.extents().1;
    let each = 4 / bytes;
    for (index, &register) in registers.iter().enumerate() {
        let words: Words = std::array::from_fn(|lane| {
            (0..each).fold(0, |word, i| {
                let (row, column) = fragment.place(lane, index * each + i);
                word | values[row * columns + column] << (8 * bytes * i)
            })
        });
        warp.registers.put_w(register, ALL, words);
    }
}
