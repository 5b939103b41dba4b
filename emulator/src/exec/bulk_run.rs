//! Executing barriers in shared memory and asynchronous copies.

use super::bulk::{BulkOp, MapField, TilePlace};
use super::cluster::{Cluster, Fault};
use super::failure::Cause;
use super::registers::lanes;
use super::step::Flow;
use super::warp::{State, Warp};
use super::work::{Awaited, Pending, Work};
use crate::tensor_map::{ElementType, Interleave, OobFill, Swizzle, TensorMap};

impl Cluster<'_> {
    pub(super) fn bulk(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        op: &BulkOp,
        mask: u32,
        active: u32,
        pc: u32,
    ) -> Result<Flow, Fault> {
        if let BulkOp::Wait { to, bar, parity, state, blocking } = *op {
            return self.mbarrier_wait(warp, to, bar, parity, state, blocking, mask, active);
        }
        for lane in lanes(active) {
            self.bulk_lane(rank, warp, op, lane, pc).map_err(|cause| Fault::new(cause, 1 << lane))?;
        }
        Ok(Flow::Next)
    }

    #[allow(clippy::too_many_arguments)]
    fn mbarrier_wait(
        &mut self,
        warp: &mut Warp,
        to: u32,
        bar: u32,
        parity: Option<u32>,
        state: Option<u32>,
        blocking: bool,
        mask: u32,
        active: u32,
    ) -> Result<Flow, Fault> {
        let mut over = 0;
        let mut waits = State::Ready;
        for lane in lanes(active) {
            let bar = warp.registers.word(bar, lane);
            let parity = match (parity, state) {
                (Some(register), _) => warp.registers.word(register, lane) & 1,
                (None, Some(register)) => warp.registers.double(register, lane) as u32 & 1,
                (None, None) => 0,
            };
            if self.mbarrier_over(bar, parity).map_err(|cause| Fault::new(cause, 1 << lane))? {
                over |= 1 << lane;
            } else {
                waits = State::Mbarrier { address: bar, parity };
            }
        }
        if blocking {
            // Waiting inside the instruction is allowed, and tells the scheduler for what; so is giving up after a time,
            // which is when nobody else can go on.
            if over == active || warp.expired & active == active {
                warp.expired &= !active;
                warp.registers.put_p(to, active, over);
                return Ok(Flow::Next);
            }
            let done = mask & !active | over;
            if done == 0 {
                return Ok(Flow::Stay(waits));
            }
            warp.registers.put_p(to, over, over);
            return Ok(Flow::Split(done, waits));
        }
        warp.registers.put_p(to, active, over);
        Ok(if over == active { Flow::Next } else { Flow::Wait(State::Paused) })
    }

    fn bulk_lane(&mut self, rank: usize, warp: &mut Warp, op: &BulkOp, lane: usize, pc: u32) -> Result<(), Cause> {
        let w = |register: u32| warp.registers.word(register, lane);
        let d = |register: u32| warp.registers.double(register, lane);
        let place = |place: &TilePlace| {
            (d(place.map), place.coordinates.iter().map(|&register| w(register) as i32).collect::<Vec<_>>())
        };
        let own = (rank as u32) << 24;
        let start = |work: Work, awaited: Awaited| {
            let group = if awaited == Awaited::Copy { warp.copy_groups[lane] } else { warp.bulk_groups[lane] };
            Pending { work, rank, warp: warp.index, lane, pc, awaited, group }
        };
        let _ = own;
        match op {
            BulkOp::Init { bar, count } => self.mbarrier_init(w(*bar), w(*count))?,
            BulkOp::Invalidate { bar } => self.mbarrier_invalidate(w(*bar))?,
            BulkOp::Arrive { bar, count, expect, drop, state } => {
                let (count, expect) = (count.map_or(1, w), expect.map_or(0, w));
                let before = self.mbarrier_arrive(w(*bar), count, expect, *drop)?;
                if let Some(state) = *state {
                    warp.registers.d[state as usize][lane] = before;
                }
            }
            BulkOp::Expect { bar, bytes } => {
                self.mbarrier_expect(w(*bar), w(*bytes))?;
            }
            BulkOp::Complete { bar, bytes } => {
                self.mbarrier_complete(w(*bar), w(*bytes), || "mbarrier.complete_tx".into())?;
            }
            BulkOp::Wait { .. } => {}
            BulkOp::Copy { to, from, bytes, source_bytes } => {
                let source_bytes = source_bytes.map_or(*bytes, w);
                let (to, from) = (w(*to), d(*from));
                if (u64::from(to) | from) & u64::from(*bytes - 1) != 0 {
                    return Err(Cause::Operand(format!(
                        "cp.async of {bytes} bytes from {from:#x} to shared {to:#x}: not aligned"
                    )));
                }
                let work = Work::Copy { to, from, bytes: *bytes, source_bytes };
                self.start(start(work, Awaited::Copy))?;
            }
            BulkOp::CopyCommit => warp.copy_groups[lane] += 1,
            BulkOp::CopyWait { open } => {
                let until = open.map_or(u32::MAX, |open| warp.copy_groups[lane].saturating_sub(open));
                self.finish_groups(rank, warp.index, lane, Awaited::Copy, until)?;
            }
            BulkOp::CopyArrive { bar, counted } => {
                let bar = w(*bar);
                if *counted {
                    self.mbarrier_raise(bar)?;
                }
                let mut pending = start(Work::Arrive { bar }, Awaited::Copy);
                pending.awaited = Awaited::Barrier;
                self.start(pending)?;
            }
            BulkOp::Load { to, from, bytes, bar, mask } => {
                let (to, from, bytes, bar) = (w(*to), d(*from), w(*bytes), w(*bar));
                if (u64::from(to) | from | u64::from(bytes)) & 15 != 0 {
                    return Err(unaligned(to, from, bytes));
                }
                let work = Work::Load { to, from, bytes, bar, mask: mask.map(w) };
                self.start(start(work, Awaited::Barrier))?;
            }
            BulkOp::Send { to, from, bytes, bar } => {
                let (to, from, bytes, bar) = (w(*to), w(*from), w(*bytes), w(*bar));
                if (to | from | bytes) & 15 != 0 {
                    return Err(unaligned(to, from.into(), bytes));
                }
                self.start(start(Work::Send { to, from, bytes, bar }, Awaited::Barrier))?;
            }
            BulkOp::Store { to, from, bytes, reduction } => {
                let (to, from, bytes) = (d(*to), w(*from), w(*bytes));
                if (to | u64::from(from) | u64::from(bytes)) & 15 != 0 {
                    return Err(unaligned(from, to, bytes));
                }
                let work = Work::Store { to, from, bytes, reduction: *reduction };
                self.start(start(work, Awaited::Bulk))?;
            }
            BulkOp::TileLoad { to, place: at, bar, mask, pair } => {
                let (map, coordinates) = place(at);
                let (mask, pair) = (mask.map(w), *pair);
                let work = Work::TileLoad { to: w(*to), map, coordinates, bar: w(*bar), mask, pair };
                self.start(start(work, Awaited::Barrier))?;
            }
            BulkOp::TileStore { place: at, from, reduction } => {
                let (map, coordinates) = place(at);
                let work = Work::TileStore { map, coordinates, from: w(*from), reduction: *reduction };
                self.start(start(work, Awaited::Bulk))?;
            }
            BulkOp::Cancel { to, bar, everywhere } => {
                let (to, bar) = (w(*to), w(*bar));
                if to & 15 != 0 {
                    return Err(unaligned(to, 0, 16));
                }
                let mask = everywhere.then(|| (1 << self.ctas.len()) - 1);
                self.start(start(Work::Cancel { to, bar, mask }, Awaited::Barrier))?;
            }
            BulkOp::BulkCommit => warp.bulk_groups[lane] += 1,
            BulkOp::BulkWait { open } => {
                let until = warp.bulk_groups[lane].saturating_sub(*open);
                self.finish_groups(rank, warp.index, lane, Awaited::Bulk, until)?;
            }
            BulkOp::StoreAsync { to, values, bar } => {
                let (to, bar) = (w(*to), w(*bar));
                for (i, &value) in values.iter().enumerate() {
                    let bytes = w(value).to_le_bytes();
                    self.shared_bytes_mut(to.wrapping_add(4 * i as u32), 4)?.copy_from_slice(&bytes);
                }
                let bytes = 4 * values.len() as u32;
                self.mbarrier_complete(bar, bytes, || format!("st.async of {bytes} bytes to shared {to:#x}"))?;
            }
            BulkOp::MapToRank { to, from, rank: target, wide } => {
                let target = w(*target);
                if target as usize >= self.ctas.len() {
                    return Err(Cause::Operand(format!("CTA {target} of a cluster of {}", self.ctas.len())));
                }
                if *wide {
                    let address = d(*from) & !0xff00_0000 | u64::from(target) << 24;
                    warp.registers.d[*to as usize][lane] = address;
                } else {
                    let address = w(*from) & 0xff_ffff | target << 24;
                    warp.registers.w[*to as usize][lane] = address;
                }
            }
            BulkOp::RankOf { to, from, wide } => {
                let address = if *wide { d(*from) as u32 } else { w(*from) };
                warp.registers.w[*to as usize][lane] = address >> 24;
            }
            BulkOp::Replace { map, field, value } => {
                let (address, value) = (d(*map), d(*value));
                let mut map = self.tensor_map(address)?;
                replace(&mut map, *field, value)?;
                self.write_map(address, &map.encode())?;
            }
            BulkOp::CopyMap { to, from } => {
                let bytes = self.shared_bytes(w(*from), 128)?.to_vec();
                self.env.view.write(d(*to), &bytes)?;
            }
        }
        Ok(())
    }

    fn write_map(&mut self, address: u64, bytes: &[u8; 128]) -> Result<(), Cause> {
        if super::access::space_of(address) == super::op::Space::Shared {
            self.shared_bytes_mut(address as u32, 128)?.copy_from_slice(bytes);
        } else {
            self.env.view.write(address, bytes)?;
        }
        Ok(())
    }
}

fn unaligned(shared: u32, device: u64, bytes: u32) -> Cause {
    Cause::Operand(format!(
        "a bulk copy of {bytes} bytes between {device:#x} and shared {shared:#x}: addresses and size must be multiples of 16"
    ))
}

/// Sets one field of a tensor map.
fn replace(map: &mut TensorMap, field: MapField, value: u64) -> Result<(), Cause> {
    let bad = |what: &str| Cause::Operand(format!("tensormap.replace: {value} is no {what}"));
    let small = value as u32;
    match field {
        MapField::Address => map.address = value,
        // The instruction counts the rank from 0.
        MapField::Rank => map.rank = small.wrapping_add(1).try_into().map_err(|_| bad("rank"))?,
        MapField::BoxDim(d) => map.box_dims[usize::from(d).min(4)] = small,
        MapField::Dim(d) => map.dims[usize::from(d).min(4)] = value & 0xffff_ffff,
        MapField::Stride(d) => map.strides[usize::from(d).min(3)] = value,
        MapField::ElementStride(d) => map.element_strides[usize::from(d).min(4)] = small,
        MapField::Element => map.element = ElementType::from_driver(small).ok_or_else(|| bad("element type"))?,
        MapField::Interleave => map.interleave = Interleave::from_driver(small).ok_or_else(|| bad("interleave"))?,
        MapField::Swizzle => map.swizzle = Swizzle::from_driver(small).ok_or_else(|| bad("swizzle"))?,
        MapField::Fill => map.fill = OobFill::from_driver(small).ok_or_else(|| bad("fill"))?,
    }
    Ok(())
}
