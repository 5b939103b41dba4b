//! Executing the instructions on tensor memory.

use super::cluster::{Cluster, Fault};
use super::failure::{Cause, Window};
use super::registers::{ALL, Words, lanes};
use super::step::Flow;
use super::tmem::{Kind, Spread, TmemOp};
use super::trace::Operands;
use super::warp::{State, Warp};
use super::work::{Awaited, Pending, Work};
use crate::tensor::accumulate::{Adder, Tile, multiply};
use crate::tensor::instruction::{Instruction, element};
use crate::tensor::operand::{Descriptor, Element, fetch};

/// Lanes and columns of a CTA's tensor memory.
const LANES: usize = 128;
const COLUMNS: usize = 512;

/// A product with its operands resolved.
#[derive(Debug, Clone)]
pub(super) struct Product {
    kind: Kind,
    /// Address in tensor memory.
    d: u32,
    /// Descriptor, or address in tensor memory.
    a: u64,
    a_in_tensor_memory: bool,
    b: u64,
    instruction: u32,
    keep: bool,
}

/// Tensor memory of one CTA; its cells come into being with the first allocation.
#[derive(Default)]
pub(super) struct TensorMemory {
    cells: Vec<u32>,
    /// First column and number of columns of each allocation.
    allocated: Vec<(u32, u32)>,
}

fn outside(lane: usize, column: usize) -> Cause {
    let offset = (lane as u64) << 16 | column as u64;
    Cause::Window { window: Window::Tensor, offset, bytes: 4, size: (LANES as u64) << 16 | COLUMNS as u64 }
}

impl TensorMemory {
    fn allocate(&mut self, columns: u32) -> Result<u32, Cause> {
        if !columns.is_power_of_two() || !(32..=512).contains(&columns) {
            return Err(Cause::Operand(format!(
                "tcgen05.alloc of {columns} columns: the number must be a power of two from 32 to 512"
            )));
        }
        self.allocated.sort_unstable();
        let mut first = 0;
        for &(at, count) in &self.allocated {
            if at - first >= columns {
                break;
            }
            first = at + count;
        }
        if first + columns > COLUMNS as u32 {
            let taken: u32 = self.allocated.iter().map(|a| a.1).sum();
            return Err(Cause::Operand(format!(
                "tcgen05.alloc of {columns} columns while {taken} of {COLUMNS} are taken: it would wait for ever"
            )));
        }
        self.allocated.push((first, columns));
        self.cells.resize(LANES * COLUMNS, 0);
        Ok(first)
    }

    fn release(&mut self, address: u32, columns: u32) -> Result<(), Cause> {
        let before = self.allocated.len();
        self.allocated.retain(|&a| a != (address & 0xffff, columns));
        if self.allocated.len() == before {
            return Err(Cause::Operand(format!(
                "tcgen05.dealloc of {columns} columns at {address:#x}, which were not allocated"
            )));
        }
        Ok(())
    }

    fn cell(&mut self, lane: usize, column: usize) -> Result<&mut u32, Cause> {
        let inside = self.allocated.iter().any(|&(first, count)| (first..first + count).contains(&(column as u32)));
        if lane >= LANES || !inside {
            return Err(outside(lane, column));
        }
        self.cells.get_mut(lane * COLUMNS + column).ok_or_else(|| outside(lane, column))
    }
}

/// Lane (from the address) and column of register `register` in thread `thread`.
fn spread(kind: Spread, thread: usize, register: usize) -> (usize, usize) {
    match kind {
        Spread::B32x32 => (thread, register),
        Spread::B16x128 => (thread / 4 + 8 * (register & 1), thread % 4 + register / 2 * 4),
        Spread::B16x256 => (thread / 4 + 8 * (register >> 1 & 1), thread % 4 * 2 + (register & 1) + register / 4 * 8),
    }
}

/// The lane that holds row `row` of an accumulator with `m` rows.
fn lane_of_row(m: usize, row: usize) -> usize {
    if m == 64 { row / 16 * 32 + row % 16 } else { row }
}

impl Cluster<'_> {
    pub(super) fn tensor(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        op: &TmemOp,
        mask: u32,
        active: u32,
        pc: u32,
    ) -> Result<Flow, Fault> {
        if active == 0 {
            return Ok(Flow::Next);
        }
        let collective = !matches!(op, TmemOp::Multiply { .. } | TmemOp::Commit { .. });
        if collective && warp.live & !mask != 0 {
            return Ok(Flow::Stay(State::Held { needed: ALL }));
        }
        self.effect = true;
        let fault = |cause| Fault::new(cause, active);
        let first = active.trailing_zeros() as usize;
        match op {
            TmemOp::Allocate { to, columns } => {
                let (to, columns) = (warp.registers.word(*to, first), warp.registers.word(*columns, first));
                let address = self.ctas[rank].tensor.allocate(columns).map_err(fault)?;
                self.shared_bytes_mut(to, 4).map_err(fault)?.copy_from_slice(&address.to_le_bytes());
            }
            TmemOp::Release { address, columns } => {
                let (address, columns) = (warp.registers.word(*address, first), warp.registers.word(*columns, first));
                self.ctas[rank].tensor.release(address, columns).map_err(fault)?;
            }
            TmemOp::Multiply { .. } | TmemOp::Commit { .. } => {
                for lane in lanes(active) {
                    let Some(work) = tensor_work(warp, op, lane) else { continue };
                    let (warp, awaited) = (warp.index, Awaited::Barrier);
                    let pending = Pending { work, rank, warp, lane, pc, awaited, group: 0 };
                    self.start(pending).map_err(|cause| Fault::new(cause, 1 << lane))?;
                    self.matrix_steps += u64::from(matches!(op, TmemOp::Multiply { .. }));
                }
            }
            TmemOp::Load { spread: kind, registers, address } => {
                let (lane, column) = place(warp, *address, first).map_err(fault)?;
                for (index, &register) in registers.iter().enumerate() {
                    let mut value: Words = [0; 32];
                    for (thread, value) in value.iter_mut().enumerate() {
                        let (l, c) = spread(*kind, thread, index);
                        *value = *self.ctas[rank].tensor.cell(lane + l, column + c).map_err(fault)?;
                    }
                    warp.registers.put_w(register, ALL, value);
                }
            }
            TmemOp::Store { spread: kind, registers, address } => {
                let (lane, column) = place(warp, *address, first).map_err(fault)?;
                for (index, &register) in registers.iter().enumerate() {
                    let value = warp.registers.w[register as usize];
                    for (thread, &value) in value.iter().enumerate() {
                        let (l, c) = spread(*kind, thread, index);
                        *self.ctas[rank].tensor.cell(lane + l, column + c).map_err(fault)? = value;
                    }
                }
            }
        }
        Ok(Flow::Next)
    }

    /// Computes one product; `warp` and `pc` tell where it was started.
    pub(super) fn tensor_multiply(&mut self, rank: usize, warp: u32, pc: u32, product: &Product) -> Result<(), Cause> {
        let Product { kind, d, a, a_in_tensor_memory, b, instruction: bits, keep } = *product;
        let unsupported = |what: &str| Cause::Unsupported(format!("tcgen05.mma with {what} (descriptor {bits:#010x})"));
        let shape = Instruction::new(bits).ok_or_else(|| unsupported("a sparse operand"))?;
        let (Some(left), Some(right)) = (element(kind, shape.types[0]), element(kind, shape.types[1])) else {
            return Err(unsupported("these operand types"));
        };
        if !matches!(shape.m, 64 | 128) || !(8..=256).contains(&shape.n) {
            return Err(Cause::Operand(format!("tcgen05.mma of {} x {} (descriptor {bits:#010x})", shape.m, shape.n)));
        }
        if (kind == Kind::I8) != (shape.accumulator == 2) || shape.accumulator == 0 {
            return Err(unsupported("this accumulator type"));
        }
        let depth = 32 / left.bytes();
        let (m, n) = (shape.m, shape.n);
        let (d_lane, d_column) = ((d >> 16) as usize, (d & 0xffff) as usize);
        let descriptor = |bits: u64| Descriptor::blackwell(bits).ok_or_else(|| unsupported("this swizzle"));
        let size = self.ctas[rank].shared.len() as u64;
        let beyond = |at: u32| Cause::Window { window: Window::Shared, offset: at.into(), bytes: 1, size };
        let raw_a = if a_in_tensor_memory {
            self.tensor_operand(rank, a as u32, m, depth, left)?
        } else {
            let descriptor = descriptor(a)?;
            fetch(&self.ctas[rank].shared, &descriptor, left, !shape.transposed[0], 0, m, depth).map_err(beyond)?
        };
        let b = descriptor(b)?;
        let raw_b = fetch(&self.ctas[rank].shared, &b, right, !shape.transposed[1], 0, n, depth).map_err(beyond)?;
        let decode = |raw: &[u32], element: Element, negate: bool| -> Vec<f32> {
            raw.iter().map(|&bits| element.decode(bits) * if negate { -1.0 } else { 1.0 }).collect()
        };
        let a = decode(&raw_a, left, shape.negate[0]);
        let b = decode(&raw_b, right, shape.negate[1]);
        let tensor = &mut self.ctas[rank].tensor;
        // The whole accumulator must be allocated.
        for column in [d_column, d_column + n - 1] {
            tensor.cell(d_lane + lane_of_row(m, m - 1), column)?;
        }
        let mut sums = vec![0.0; m * n];
        if keep {
            for row in 0..m {
                for column in 0..n {
                    let bits = *tensor.cell(d_lane + lane_of_row(m, row), d_column + column)?;
                    sums[row * n + column] = if kind == Kind::I8 { bits as i32 as f32 } else { f32::from_bits(bits) };
                }
            }
        }
        if kind == Kind::I8 {
            for row in 0..m {
                for column in 0..n {
                    let products = (0..depth).map(|k| a[row * depth + k] as i64 * b[column * depth + k] as i64);
                    let before =
                        if keep { *tensor.cell(d_lane + lane_of_row(m, row), d_column + column)? as i32 } else { 0 };
                    let sum = products.sum::<i64>() + i64::from(before);
                    let sum = if shape.saturate { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
                    *tensor.cell(d_lane + lane_of_row(m, row), d_column + column)? = sum as u32;
                }
            }
            return Ok(());
        }
        let mut columns = vec![0.0; n * depth];
        for column in 0..n {
            for k in 0..depth {
                columns[k * n + column] = b[column * depth + k];
            }
        }
        let adder = match kind {
            Kind::Tf32 => Adder::TF32,
            Kind::F8f6f4 => Adder::BLACKWELL_F8,
            _ => Adder::F16,
        };
        let operands = self.env.options.trace.then(|| Operands::new(&a, &b, depth));
        multiply(adder, &Tile::new(a, left.lowest()), &Tile::new(columns, right.lowest()), n, &mut sums);
        let tensor = &mut self.ctas[rank].tensor;
        for row in 0..m {
            for column in 0..n {
                *tensor.cell(d_lane + lane_of_row(m, row), d_column + column)? = sums[row * n + column].to_bits();
            }
        }
        if let Some(operands) = operands {
            self.record(rank, warp, pc, operands, &sums);
        }
        Ok(())
    }

    /// A left operand that lies in tensor memory, elements packed into 32-bit columns.
    fn tensor_operand(
        &mut self,
        rank: usize,
        address: u32,
        m: usize,
        depth: usize,
        element: Element,
    ) -> Result<Vec<u32>, Cause> {
        let each = 4 / element.bytes();
        let (lane, column) = ((address >> 16) as usize, (address & 0xffff) as usize);
        let mut out = vec![0; m * depth];
        for row in 0..m {
            for k in 0..depth {
                let word = *self.ctas[rank].tensor.cell(lane + lane_of_row(m, row), column + k / each)?;
                let bits = 8 * element.bytes() as u32;
                out[row * depth + k] = word >> (bits * (k % each) as u32) & (u32::MAX >> (32 - bits));
            }
        }
        Ok(out)
    }
}

/// A matrix instruction or commit with its operands resolved.
fn tensor_work(warp: &Warp, op: &TmemOp, lane: usize) -> Option<Work> {
    let (w, d) = (|register| warp.registers.word(register, lane), |register| warp.registers.double(register, lane));
    Some(match *op {
        TmemOp::Commit { bar, mask } => Work::Commit { bar: w(bar), mask: mask.map(w) },
        TmemOp::Multiply { kind, d: to, a, a_in_tensor_memory, b, instruction, keep } => Work::Multiply(Product {
            kind,
            d: w(to),
            a: if a_in_tensor_memory { w(a).into() } else { d(a) },
            a_in_tensor_memory,
            b: d(b),
            instruction: w(instruction),
            keep: warp.registers.p[keep as usize] >> lane & 1 != 0,
        }),
        _ => return None,
    })
}

/// Lane and column of an address, which must lie in the quarter of the lanes that the warp can reach.
fn place(warp: &Warp, address: u32, thread: usize) -> Result<(usize, usize), Cause> {
    let address = warp.registers.word(address, thread);
    let (lane, column) = ((address >> 16) as usize, (address & 0xffff) as usize);
    let quarter = warp.index as usize % 4 * 32;
    if lane / 32 * 32 == quarter {
        return Ok((lane, column));
    }
    Err(Cause::Operand(format!(
        "warp {} reaches lanes {quarter} to {} of tensor memory, not lane {lane} (address {address:#x})",
        warp.index,
        quarter + 31
    )))
}
