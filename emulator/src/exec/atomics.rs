//! Atomics and reductions.

use std::sync::atomic::Ordering::Relaxed;

use half::{bf16, f16};

use super::access::space_of;
use super::cluster::{Cluster, Fault};
use super::device::locate;
use super::failure::{Cause, Window};
use super::op::{Atomic, AtomicKind, AtomicType, Space};
use super::registers::lanes;
use super::warp::Warp;
use super::watch::{What, hash};
use crate::memory::MemoryFault;

/// The new value of an atomic.
pub(super) fn apply(kind: AtomicKind, of: AtomicType, old: u64, operand: u64, new: u64) -> u64 {
    use AtomicKind::*;
    let half = |f: &dyn Fn(u32, u32) -> u32| u64::from(f(old as u32, operand as u32));
    match (kind, of) {
        (Exchange, _) => operand,
        (CompareExchange, _) => {
            if old == operand {
                new
            } else {
                old
            }
        }
        (And, _) => old & operand,
        (Or, _) => old | operand,
        (Xor, _) => old ^ operand,
        (Increment, _) => {
            if old >= operand {
                0
            } else {
                old + 1
            }
        }
        (Decrement, _) => {
            if old == 0 || old > operand {
                operand
            } else {
                old - 1
            }
        }
        (_, AtomicType::F32) => {
            let (x, y) = (f32::from_bits(old as u32), f32::from_bits(operand as u32));
            u64::from(float(kind, x.into(), y.into(), x + y).to_bits())
        }
        (_, AtomicType::F64) => {
            let (x, y) = (f64::from_bits(old), f64::from_bits(operand));
            match kind {
                Min => x.min(y),
                Max => x.max(y),
                _ => x + y,
            }
            .to_bits()
        }
        (_, AtomicType::F16) => half(&|x, y| f16_apply(kind, x, y)),
        (_, AtomicType::Bf16) => half(&|x, y| bf16_apply(kind, x, y)),
        (_, AtomicType::F16x2) => half(&|x, y| f16_apply(kind, x, y) | f16_apply(kind, x >> 16, y >> 16) << 16),
        (_, AtomicType::Bf16x2) => half(&|x, y| bf16_apply(kind, x, y) | bf16_apply(kind, x >> 16, y >> 16) << 16),
        (Add, AtomicType::U32 | AtomicType::S32 | AtomicType::B16) => {
            u64::from((old as u32).wrapping_add(operand as u32))
        }
        (Add, _) => old.wrapping_add(operand),
        (Min, AtomicType::S32) => u64::from((old as i32).min(operand as i32) as u32),
        (Max, AtomicType::S32) => u64::from((old as i32).max(operand as i32) as u32),
        (Min, AtomicType::S64) => (old as i64).min(operand as i64) as u64,
        (Max, AtomicType::S64) => (old as i64).max(operand as i64) as u64,
        (Min, _) => old.min(operand),
        (Max, _) => old.max(operand),
    }
}

fn float(kind: AtomicKind, x: f64, y: f64, sum: f32) -> f32 {
    match kind {
        AtomicKind::Min => x.min(y) as f32,
        AtomicKind::Max => x.max(y) as f32,
        _ => sum,
    }
}

fn f16_apply(kind: AtomicKind, x: u32, y: u32) -> u32 {
    let (x, y) = (f16::from_bits(x as u16).to_f32(), f16::from_bits(y as u16).to_f32());
    f16::from_f32(float(kind, x.into(), y.into(), x + y)).to_bits().into()
}

fn bf16_apply(kind: AtomicKind, x: u32, y: u32) -> u32 {
    let (x, y) = (bf16::from_bits(x as u16).to_f32(), bf16::from_bits(y as u16).to_f32());
    bf16::from_f32(float(kind, x.into(), y.into(), x + y)).to_bits().into()
}

impl Cluster<'_> {
    /// Executes an atomic lane by lane, in order.
    pub(super) fn atomic(&mut self, rank: usize, warp: &mut Warp, atomic: &Atomic, active: u32) -> Result<(), Fault> {
        self.effect |= active != 0;
        let addresses = warp.addresses(atomic.address);
        let bytes = atomic.of.bytes();
        let span = u64::from(bytes) * atomic.operands.len().next_power_of_two() as u64;
        for lane in lanes(active) {
            let address = addresses[lane];
            if address & (span - 1) != 0 {
                return Err(Fault::new(MemoryFault::Misaligned { address, alignment: span }, 1 << lane));
            }
            for (i, &operand) in atomic.operands.iter().enumerate() {
                let read = |register: u32| {
                    if bytes == 8 {
                        warp.registers.double(register, lane)
                    } else {
                        warp.registers.word(register, lane).into()
                    }
                };
                let operand = read(operand);
                let new = if atomic.kind == AtomicKind::CompareExchange { read(atomic.new) } else { 0 };
                let address = address + i as u64 * u64::from(bytes);
                let change = |old: u64| apply(atomic.kind, atomic.of, old, operand, new);
                let shared = matches!(atomic.space, Space::Shared) || space_of(address) == Space::Shared;
                if self.watcher.is_some() && !shared {
                    let value = hash([address, operand, new].into_iter());
                    self.watched(rank, warp.index, self.now.1, What::Store, value);
                }
                let old = self.exchange(rank, &mut warp.hint, atomic.space, address, bytes, lane, change)?;
                if let Some(Some(register)) = atomic.old.get(i) {
                    if bytes == 8 {
                        warp.registers.d[*register as usize][lane] = old;
                    } else {
                        warp.registers.w[*register as usize][lane] = old as u32;
                    }
                }
            }
        }
        Ok(())
    }

    /// Replaces a value in shared or device memory and gives the old one.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn exchange(
        &mut self,
        rank: usize,
        hint: &mut usize,
        space: Space,
        address: u64,
        bytes: u32,
        lane: usize,
        change: impl Fn(u64) -> u64,
    ) -> Result<u64, Fault> {
        let space = if space == Space::Generic { space_of(address) } else { space };
        match space {
            Space::Global => {
                let (block, offset) = locate(&self.env.view, hint, address, bytes.into())
                    .map_err(|fault| Fault::new(fault, 1 << lane))?;
                if bytes == 8 {
                    let _guard = self.env.wide.lock().unwrap_or_else(|e| e.into_inner());
                    let (Some(low), Some(high)) = (block.cell(offset), block.cell(offset + 4)) else { return Ok(0) };
                    let old = u64::from(high.load(Relaxed)) << 32 | u64::from(low.load(Relaxed));
                    let new = change(old);
                    low.store(new as u32, Relaxed);
                    high.store((new >> 32) as u32, Relaxed);
                    return Ok(old);
                }
                let Some(cell) = block.cell(offset) else { return Ok(0) };
                let (shift, mask) = if bytes == 2 { ((offset as u32 & 2) * 8, 0xffff) } else { (0, u32::MAX) };
                let update = |word: u32| {
                    let new = change(u64::from(word >> shift & mask)) as u32;
                    Some(word & !(mask << shift) | (new & mask) << shift)
                };
                let word = cell.fetch_update(Relaxed, Relaxed, update).unwrap_or_default();
                Ok(u64::from(word >> shift & mask))
            }
            Space::Shared => {
                let (owner, at) = ((address as u32 >> 24) as usize, address as usize & 0xff_ffff);
                let size = self.ctas[rank].shared.len() as u64;
                let place = self.ctas.get_mut(owner).and_then(|cta| cta.shared.get_mut(at..at + bytes as usize));
                let Some(place) = place else {
                    let offset = u64::from(address as u32);
                    let cause = Cause::Window { window: Window::Shared, offset, bytes: bytes.into(), size };
                    return Err(Fault::new(cause, 1 << lane));
                };
                let mut value = [0; 8];
                value[..bytes as usize].copy_from_slice(place);
                let old = u64::from_le_bytes(value);
                place.copy_from_slice(&change(old).to_le_bytes()[..bytes as usize]);
                Ok(old)
            }
            _ => Err(Fault::new(Cause::Operand("an atomic on local memory or parameters".into()), 1 << lane)),
        }
    }
}
