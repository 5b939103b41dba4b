//! Executing matrix instructions.

use half::f16;

use super::cluster::{Cluster, Fault};
use super::failure::{Cause, Window};
use super::matrix::{Accumulator, Left, MatrixOp, Mma, Wgmma};
use super::registers::{ALL, Words};
use super::step::Flow;
use super::trace::{Described, Operands};
use super::warp::{State, Warp};
use crate::tensor::accumulate::{self, Adder, Tile};
use crate::tensor::fragment;
use crate::tensor::operand::{Descriptor, Element, fetch};

/// A wgmma that is under way: the instruction, its descriptors and its group.
pub(super) struct Issued {
    op: Box<Wgmma>,
    a: u64,
    b: u64,
    keep: bool,
    group: u32,
    pc: u32,
}

impl Cluster<'_> {
    pub(super) fn matrix(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        op: &MatrixOp,
        mask: u32,
        active: u32,
        pc: u32,
    ) -> Result<Flow, Fault> {
        if active == 0 {
            return Ok(Flow::Next);
        }
        // All of these are `.sync.aligned`.
        if warp.live & !mask != 0 {
            return Ok(Flow::Stay(State::Held { needed: ALL }));
        }
        if active != mask {
            return Err(Fault::new(Cause::Operand("an aligned instruction for a part of the warp".into()), active));
        }
        self.matrix_steps += u64::from(matches!(op, MatrixOp::Wgmma(_) | MatrixOp::Mma(_) | MatrixOp::Wmma(_)));
        let fault = |cause| Fault::new(cause, active);
        match op {
            MatrixOp::Wgmma(op) => {
                let lane = active.trailing_zeros() as usize;
                let a = match op.a {
                    Left::Shared(register) => warp.registers.double(register, lane),
                    Left::Registers(_) => 0,
                };
                let b = warp.registers.double(op.b, lane);
                let keep = warp.registers.p[op.keep as usize] >> lane & 1 != 0;
                let group = warp.wgmma_groups;
                let issued = Issued { op: Box::new(op.clone()), a, b, keep, group, pc };
                if self.env.options.schedule.is_some() {
                    warp.wgmma.push(issued);
                } else {
                    self.wgmma(rank, warp, &issued).map_err(fault)?;
                }
            }
            MatrixOp::WgmmaCommit => warp.wgmma_groups += 1,
            MatrixOp::WgmmaWait { open } => {
                let until = warp.wgmma_groups.saturating_sub(*open);
                while warp.wgmma.first().is_some_and(|issued| issued.group < until) {
                    let issued = warp.wgmma.remove(0);
                    self.wgmma(rank, warp, &issued).map_err(fault)?;
                }
            }
            MatrixOp::Mma(op) => mma(warp, op),
            MatrixOp::Wmma(op) => super::wmma_run::multiply(warp, op),
            MatrixOp::Load { registers, address, transposed } => {
                let addresses = warp.registers.w[*address as usize];
                for (matrix, &register) in registers.iter().enumerate() {
                    let rows = self.matrix_rows(&addresses, matrix)?;
                    let value = std::array::from_fn(|lane| matrix_element(&rows, lane, *transposed));
                    warp.registers.put_w(register, ALL, value);
                }
            }
            MatrixOp::Store { registers, address, transposed } => {
                let addresses = warp.registers.w[*address as usize];
                for (matrix, &register) in registers.iter().enumerate() {
                    let value = warp.registers.w[register as usize];
                    for row in 0..8 {
                        let at = addresses[8 * matrix + row];
                        let bytes = stored_row(&value, row, *transposed);
                        let lane = 8 * matrix + row;
                        self.aligned_row(at, lane)?;
                        let place = self.shared_bytes_mut(at, 16).map_err(|cause| Fault::new(cause, 1 << lane))?;
                        place.copy_from_slice(&bytes);
                        self.note_store(at, 16, warp.index, pc);
                    }
                }
            }
            MatrixOp::Transpose { to, from } => {
                let from = warp.registers.w[*from as usize];
                let rows: [[u8; 16]; 8] = std::array::from_fn(|row| stored_row(&from, row, false));
                warp.registers.put_w(*to, ALL, std::array::from_fn(|lane| matrix_element(&rows, lane, true)));
            }
        }
        Ok(Flow::Next)
    }

    fn aligned_row(&self, at: u32, lane: usize) -> Result<(), Fault> {
        if at & 15 == 0 {
            return Ok(());
        }
        let fault = crate::memory::MemoryFault::Misaligned { address: at.into(), alignment: 16 };
        Err(Fault::new(fault, 1 << lane))
    }

    /// The 8 rows of an 8x8 matrix.
    fn matrix_rows(&self, addresses: &Words, matrix: usize) -> Result<[[u8; 16]; 8], Fault> {
        let mut rows = [[0; 16]; 8];
        for (row, bytes) in rows.iter_mut().enumerate() {
            let lane = 8 * matrix + row;
            self.aligned_row(addresses[lane], lane)?;
            let from = self.shared_bytes(addresses[lane], 16).map_err(|cause| Fault::new(cause, 1 << lane))?;
            bytes.copy_from_slice(from);
        }
        Ok(rows)
    }

    /// Computes the 16 rows of a warp.
    fn wgmma(&mut self, rank: usize, warp: &mut Warp, issued: &Issued) -> Result<(), Cause> {
        let Issued { op, a, b, keep, .. } = issued;
        let depth = 32 / op.elements[0].bytes();
        let quarter = warp.index as usize % 4 * 16;
        let mut described = |descriptor: u64, which: usize, first: usize, lines: usize| {
            let descriptor = Descriptor::hopper(descriptor);
            let (element, k_contiguous) = (op.elements[which], !op.transposed[which]);
            let of = Described { descriptor, element, k_contiguous, first, lines, depth };
            self.origins(rank, warp.index, issued.pc, &of)
        };
        let origins = match op.a {
            Left::Shared(_) => [described(*a, 0, quarter, 16), described(*b, 1, 0, op.n)],
            Left::Registers(_) => [Vec::new(), described(*b, 1, 0, op.n)],
        };
        let shared = &self.ctas[rank].shared;
        let outside = |at: u32| Cause::Window {
            window: Window::Shared,
            offset: at.into(),
            bytes: op.elements[0].bytes() as u64,
            size: shared.len() as u64,
        };
        let first = quarter;
        let left = match &op.a {
            Left::Shared(_) => {
                fetch(shared, &Descriptor::hopper(*a), op.elements[0], !op.transposed[0], first, 16, depth)
                    .map_err(outside)?
            }
            Left::Registers(registers) => left_registers(warp, registers, op.elements[0], depth),
        };
        let right = fetch(shared, &Descriptor::hopper(*b), op.elements[1], !op.transposed[1], 0, op.n, depth)
            .map_err(outside)?;
        if op.accumulator == Accumulator::S32 {
            integers(warp, &op.d, *keep, op.elements, op.saturate, &left, &right, op.n, depth);
            return Ok(());
        }
        let adder = op.elements[0].wgmma_adder();
        let left = op.elements[0].decode_all(&left, op.negate[0]);
        let right = op.elements[1].decode_all(&right, op.negate[1]);
        let mut columns = vec![0.0; right.len()];
        for (column, values) in right.chunks_exact(depth).enumerate() {
            for (k, &value) in values.iter().enumerate() {
                columns[k * op.n + column] = value;
            }
        }
        let operands = self.env.options.trace.then(|| Operands::new(&left, &right, depth));
        let (left, columns) = (Tile::new(left, op.elements[0].lowest()), Tile::new(columns, op.elements[1].lowest()));
        let sums = multiply_registers(warp, &op.d, *keep, op.accumulator, adder, &left, &columns, op.n);
        if let Some(mut operands) = operands {
            [operands.a.origins, operands.b.origins] = origins;
            operands.tile = op.d.first().copied().unwrap_or_default();
            operands.fresh = !keep;
            self.record(rank, warp.index, issued.pc, operands, &sums);
        }
        Ok(())
    }
}

/// Element pair of a lane in an 8x8 matrix given by rows.
fn matrix_element(rows: &[[u8; 16]; 8], lane: usize, transposed: bool) -> u32 {
    let half =
        |row: usize, column: usize| u32::from(u16::from_le_bytes([rows[row][2 * column], rows[row][2 * column + 1]]));
    let (row, column) = (lane / 4, lane % 4 * 2);
    if transposed {
        half(column, row) | half(column + 1, row) << 16
    } else {
        half(row, column) | half(row, column + 1) << 16
    }
}

/// Row `row` of an 8x8 matrix held by a warp.
fn stored_row(value: &Words, row: usize, transposed: bool) -> [u8; 16] {
    let mut bytes = [0; 16];
    for column in 0..8 {
        let (r, c) = if transposed { (column, row) } else { (row, column) };
        let half = (value[r * 4 + c / 2] >> (16 * (c % 2))) as u16;
        bytes[2 * column..2 * column + 2].copy_from_slice(&half.to_le_bytes());
    }
    bytes
}

/// The left operand, row by row, from registers that hold 4 bytes each.
fn left_registers(warp: &Warp, registers: &[u32], element: Element, depth: usize) -> Vec<u32> {
    let each = 4 / element.bytes();
    let mut out = vec![0; 16 * depth];
    for (index, &register) in registers.iter().enumerate() {
        for lane in 0..32 {
            let (row, column) = fragment::left(lane, index, each);
            let word = warp.registers.word(register, lane);
            for e in 0..each {
                if column + e < depth {
                    out[row * depth + column + e] = part(word, e, element);
                }
            }
        }
    }
    out
}

/// Element `index` of a word.
fn part(word: u32, index: usize, element: Element) -> u32 {
    match element.bytes() {
        1 => word >> (8 * index) & 0xff,
        2 => word >> (16 * index) & 0xffff,
        _ => word,
    }
}

/// Reads the accumulator, multiplies and writes it back.
#[allow(clippy::too_many_arguments)]
fn multiply_registers(
    warp: &mut Warp,
    d: &[u32],
    keep: bool,
    accumulator: Accumulator,
    adder: Adder,
    left: &Tile,
    columns: &Tile,
    n: usize,
) -> Vec<f32> {
    let mut sums = vec![0.0; 16 * n];
    let half = accumulator == Accumulator::F16;
    if keep && half {
        for (index, &register) in d.iter().enumerate() {
            let words = &warp.registers.w[register as usize];
            for (lane, &word) in words.iter().enumerate() {
                let (row, column) = fragment::accumulator(lane, 2 * index);
                sums[row * n + column] = f16::from_bits(word as u16).to_f32();
                sums[row * n + column + 1] = f16::from_bits((word >> 16) as u16).to_f32();
            }
        }
    } else if keep {
        for (index, &register) in d.iter().enumerate() {
            let words = &warp.registers.w[register as usize];
            // Four lanes side by side hold every other column of a row.
            for (four, words) in words.as_chunks::<4>().0.iter().enumerate() {
                let (row, column) = fragment::accumulator(4 * four, index);
                let sums = &mut sums[row * n + column..][..7];
                (0..4).for_each(|i| sums[2 * i] = f32::from_bits(words[i]));
            }
        }
    }
    accumulate::multiply(if half { adder.to_half() } else { adder }, left, columns, n, &mut sums);
    for (index, &register) in d.iter().enumerate() {
        let mut words: Words = [0; 32];
        for (four, words) in words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            if half {
                let (row, column) = fragment::accumulator(4 * four, 2 * index);
                let bits = |sum: f32| u32::from(f16::from_f32(sum).to_bits());
                let sums = &sums[row * n + column..][..8];
                (0..4).for_each(|i| words[i] = bits(sums[2 * i]) | bits(sums[2 * i + 1]) << 16);
            } else {
                let (row, column) = fragment::accumulator(4 * four, index);
                let sums = &sums[row * n + column..][..7];
                (0..4).for_each(|i| words[i] = sums[2 * i].to_bits());
            }
        }
        warp.registers.put_w(register, ALL, words);
    }
    sums
}

/// The integer form: `right` column by column.
#[allow(clippy::too_many_arguments)]
fn integers(
    warp: &mut Warp,
    d: &[u32],
    keep: bool,
    elements: [Element; 2],
    saturate: bool,
    left: &[u32],
    right: &[u32],
    n: usize,
    depth: usize,
) {
    let value = |bits: u32, element: Element| {
        if element == Element::S8 { i64::from(bits as u8 as i8) } else { i64::from(bits as u8) }
    };
    debug_assert_eq!(right.len(), n * depth);
    for (index, &register) in d.iter().enumerate() {
        let before = warp.registers.w[register as usize];
        let words: Words = std::array::from_fn(|lane| {
            let (row, column) = fragment::accumulator(lane, index);
            let products = (0..depth)
                .map(|k| value(left[row * depth + k], elements[0]) * value(right[column * depth + k], elements[1]));
            let sum = products.sum::<i64>() + if keep { i64::from(before[lane] as i32) } else { 0 };
            if saturate { sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32 } else { sum as u32 }
        });
        warp.registers.put_w(register, ALL, words);
    }
}

fn mma(warp: &mut Warp, op: &Mma) {
    let each = 4 / op.elements[1].bytes();
    let left = left_registers(warp, &op.a, op.elements[0], op.k);
    let mut right = vec![0; 8 * op.k];
    for (index, &register) in op.b.iter().enumerate() {
        for lane in 0..32 {
            let (row, column) = fragment::right(lane, index, each);
            let word = warp.registers.word(register, lane);
            for e in 0..each {
                if row + e < op.k {
                    right[column * op.k + row + e] = part(word, e, op.elements[1]);
                }
            }
        }
    }
    // The result registers may differ from the accumulator's.
    let accumulator: Vec<Words> = op.c.iter().map(|&from| warp.registers.w[from as usize]).collect();
    for (&to, value) in op.d.iter().zip(accumulator) {
        warp.registers.w[to as usize] = value;
    }
    if op.accumulator == Accumulator::S32 {
        integers(warp, &op.d, true, op.elements, op.saturate, &left, &right, 8, op.k);
        return;
    }
    let left: Vec<f32> = left.iter().map(|&bits| op.elements[0].decode(bits)).collect();
    let mut columns = vec![0.0; right.len()];
    for column in 0..8 {
        for k in 0..op.k {
            columns[k * 8 + column] = op.elements[1].decode(right[column * op.k + k]);
        }
    }
    if op.as_halves {
        multiply_as_halves(warp, op, left, columns);
        return;
    }
    let adder = op.elements[0].mma_adder();
    let (left, columns) = (Tile::new(left, op.elements[0].lowest()), Tile::new(columns, op.elements[1].lowest()));
    multiply_registers(warp, &op.d, true, op.accumulator, adder, &left, &columns, 8);
}

/// mma.sync of 8-bit floats on Hopper, as measured on an H200: the first two of every four elements along K, then the last
/// two, as half-precision products from zero; the accumulator is added to their sum at the end, rounded to nearest.
fn multiply_as_halves(warp: &mut Warp, op: &Mma, left: Vec<f32>, columns: Vec<f32>) {
    let order: Vec<usize> = (0..op.k).filter(|k| k % 4 < 2).chain((0..op.k).filter(|k| k % 4 >= 2)).collect();
    let left = left.chunks_exact(op.k).flat_map(|row| order.iter().map(|&k| row[k])).collect();
    let columns = order.iter().flat_map(|&k| columns[8 * k..8 * k + 8].iter().copied()).collect();
    let lowest = Element::F16.lowest();
    let (left, columns) = (Tile::new(left, lowest), Tile::new(columns, lowest));
    let before: Vec<Words> = op.d.iter().map(|&register| warp.registers.w[register as usize]).collect();
    multiply_registers(warp, &op.d, false, op.accumulator, Adder::F16, &left, &columns, 8);
    for (&register, before) in op.d.iter().zip(before) {
        for (word, before) in warp.registers.w[register as usize].iter_mut().zip(before) {
            let sum = f32::from_bits(*word) + f32::from_bits(before);
            *word = if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() };
        }
    }
}
