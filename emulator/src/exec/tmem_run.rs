//! Executing the instructions on tensor memory.

use super::cluster::{Cluster, Fault};
use super::failure::{Cause, Window};
use super::registers::{ALL, Words, lanes};
use super::step::Flow;
use super::tmem::{Spread, TmemOp};
use super::tmem_multiply::{Product, Scales};
use super::warp::{State, Warp};
use super::work::{Awaited, Pending, Work};

/// Lanes and columns of a CTA's tensor memory.
const LANES: usize = 128;
const COLUMNS: usize = 512;

/// Tensor memory of one CTA; its cells come into being with the first allocation.
#[derive(Default)]
pub(super) struct TensorMemory {
    cells: Vec<u32>,
    /// First column and number of columns of each allocation.
    allocated: Vec<(u32, u32)>,
    /// What cells hold that nobody has written.
    poison: u32,
}

fn outside(lane: usize, column: usize) -> Cause {
    let offset = (lane as u64) << 16 | column as u64;
    Cause::Window { window: Window::Tensor, offset, bytes: 4, size: (LANES as u64) << 16 | COLUMNS as u64 }
}

impl TensorMemory {
    pub(super) fn new(poison: u32) -> TensorMemory {
        TensorMemory { poison, ..TensorMemory::default() }
    }

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
        self.cells.resize(LANES * COLUMNS, self.poison);
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

    /// `count` cells of a lane side by side, all of them allocated.
    pub(super) fn row(&mut self, lane: usize, column: usize, count: usize) -> Result<&mut [u32], Cause> {
        let allocated = |c: usize| self.allocated.iter().any(|&(at, n)| (at..at + n).contains(&(c as u32)));
        if lane >= LANES {
            return Err(outside(lane, column));
        }
        // Allocations begin and end at multiples of 32 columns.
        let mut parts = (column..column + count).filter(|&c| c == column || c % 32 == 0);
        if let Some(missing) = parts.find(|&c| !allocated(c)) {
            return Err(outside(lane, missing));
        }
        let at = lane * COLUMNS + column;
        self.cells.get_mut(at..at + count).ok_or_else(|| outside(lane, column))
    }

    fn cell(&mut self, lane: usize, column: usize) -> Result<&mut u32, Cause> {
        self.row(lane, column, 1).map(|cells| &mut cells[0])
    }
}

/// Lane (from the address) and column of register `register` in thread `thread`.
fn spread(kind: Spread, thread: usize, register: usize) -> (usize, usize) {
    match kind {
        Spread::B32x32 => (thread, register),
        Spread::B16x64 => (thread / 4 + 8 * (thread & 1), (thread >> 1 & 1) + 2 * register),
        Spread::B16x32Twice(split) => (thread % 16, register + thread / 16 * split as usize),
        Spread::B16x128 => (thread / 4 + 8 * (register & 1), thread % 4 + register / 2 * 4),
        Spread::B16x256 => (thread / 4 + 8 * (register >> 1 & 1), thread % 4 * 2 + (register & 1) + register / 4 * 8),
    }
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
        let collective = !matches!(op, TmemOp::Multiply { .. } | TmemOp::Commit { .. } | TmemOp::Copy { .. });
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
            TmemOp::Multiply { .. } | TmemOp::Commit { .. } | TmemOp::Copy { .. } => {
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
                if *kind == Spread::B32x32 {
                    for thread in 0..32 {
                        let cells =
                            self.ctas[rank].tensor.row(lane + thread, column, registers.len()).map_err(fault)?;
                        for (&register, &cell) in registers.iter().zip(&*cells) {
                            warp.registers.w[register as usize][thread] = cell;
                        }
                    }
                    return Ok(Flow::Next);
                }
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
}

/// A matrix instruction, copy or commit with its operands resolved.
fn tensor_work(warp: &Warp, op: &TmemOp, lane: usize) -> Option<Work> {
    let (w, d) = (|register| warp.registers.word(register, lane), |register| warp.registers.double(register, lane));
    Some(match *op {
        TmemOp::Commit { bar, mask } => Work::Commit { bar: w(bar), mask: mask.map(w) },
        TmemOp::Copy { rows, to, from, pair } => Work::CopyRows { rows, to: w(to), from: d(from), pair },
        TmemOp::Multiply { kind, d: to, a, a_in_tensor_memory, b, instruction, keep, scales, pair } => {
            Work::Multiply(Product {
                kind,
                d: w(to),
                a: if a_in_tensor_memory { w(a).into() } else { d(a) },
                a_in_tensor_memory,
                b: d(b),
                instruction: w(instruction),
                keep: warp.registers.p[keep as usize] >> lane & 1 != 0,
                scales: scales.map(|scales| Scales { at: scales.at.map(w), block: scales.block }),
                pair,
            })
        }
        _ => return None,
    })
}

/// Lane and column of an address, which must lie in the quarter of the lanes that the warp can reach. Production kernels
/// also leave the quarter out (DeepGEMM: "the hardware will ignore the warp index bits"): 0 means the warp's own.
fn place(warp: &Warp, address: u32, thread: usize) -> Result<(usize, usize), Cause> {
    let address = warp.registers.word(address, thread);
    let (lane, column) = ((address >> 16) as usize, (address & 0xffff) as usize);
    let quarter = warp.index as usize % 4 * 32;
    if lane / 32 * 32 == quarter || lane < 32 {
        return Ok((quarter + lane % 32, column));
    }
    Err(Cause::Operand(format!(
        "warp {} reaches lanes {quarter} to {} of tensor memory, not lane {lane} (address {address:#x})",
        warp.index,
        quarter + 31
    )))
}
