//! Device memory as the lanes of a warp load and store it.

use std::sync::atomic::Ordering::Relaxed;

use super::cluster::Fault;
use super::registers::{ALL, Doubles, Words, lanes};
use crate::memory::{Block, MemoryFault, View};

/// The block of an access in device memory, trying the allocation that was hit last.
#[inline(always)]
pub(super) fn locate<'v>(
    view: &'v View,
    hint: &mut usize,
    address: u64,
    bytes: u64,
) -> Result<(&'v Block, u64), MemoryFault> {
    if let Some((base, block)) = view.entry(*hint) {
        let offset = address.wrapping_sub(base);
        if offset < block.bytes() && block.bytes() - offset >= bytes {
            return Ok((block, offset));
        }
    }
    let found = view.find(address, bytes)?;
    *hint = view.index(address).unwrap_or_default();
    Ok(found)
}

/// Whether no offset from `base` is more than `last`, which is less than 2^63. A sum of bits, not `all`: it looks at every
/// lane, and so the lanes run side by side.
#[inline(always)]
fn all_inside(addresses: &Doubles, base: u64, last: u64) -> bool {
    // What lies beyond has the top bit in itself or in its distance to the end.
    let bits = addresses.iter().fold(0, |bits, a| {
        let offset = a.wrapping_sub(base);
        bits | offset | last.wrapping_sub(offset)
    });
    bits >> 63 == 0
}

/// Device loads: all lanes of a warp mostly hit one allocation.
#[inline(always)]
pub(super) fn global_loads<const SIZE: u32>(
    view: &View,
    hint: &mut usize,
    addresses: &Doubles,
    active: u32,
    out: &mut Words,
) -> Result<(), Fault> {
    let first = active.trailing_zeros() as usize & 31;
    let located = locate(view, hint, addresses[first], SIZE.into());
    let (block, offset) = located.map_err(|fault| Fault::new(fault, 1 << first))?;
    let base = addresses[first] - offset;
    let cells = block.cells();
    let part = |word: u32, offset: u64| match SIZE {
        1 => word >> ((offset & 3) * 8) & 0xff,
        2 => word >> ((offset & 2) * 8) & 0xffff,
        _ => word,
    };
    if active == ALL {
        if addresses.iter().fold(0, |different, &a| different | a ^ addresses[0]) == 0
            && let Some(cell) = cells.get((offset >> 2) as usize)
        {
            *out = [part(cell.load(Relaxed), offset); 32];
            return Ok(());
        }
        if all_inside(addresses, base, block.bytes() - u64::from(SIZE)) {
            for lane in 0..32 {
                let offset = addresses[lane].wrapping_sub(base);
                if let Some(cell) = cells.get((offset >> 2) as usize) {
                    out[lane] = part(cell.load(Relaxed), offset);
                }
            }
            return Ok(());
        }
    }
    for lane in lanes(active) {
        let located = locate(view, hint, addresses[lane], SIZE.into());
        let (block, offset) = located.map_err(|fault| Fault::new(fault, 1 << lane))?;
        out[lane] = block.load::<SIZE>(offset).unwrap_or_default();
    }
    Ok(())
}

/// Device stores, as [`global_loads`].
#[inline(always)]
pub(super) fn global_stores<const SIZE: u32>(
    view: &View,
    hint: &mut usize,
    addresses: &Doubles,
    active: u32,
    value: &Words,
) -> Result<(), Fault> {
    let first = active.trailing_zeros() as usize & 31;
    let located = locate(view, hint, addresses[first], SIZE.into());
    let (block, offset) = located.map_err(|fault| Fault::new(fault, 1 << first))?;
    let base = addresses[first] - offset;
    if active == ALL && all_inside(addresses, base, block.bytes() - u64::from(SIZE)) {
        for lane in 0..32 {
            let _ = block.store::<SIZE>(addresses[lane].wrapping_sub(base), value[lane]);
        }
        return Ok(());
    }
    for lane in lanes(active) {
        let located = locate(view, hint, addresses[lane], SIZE.into());
        let (block, offset) = located.map_err(|fault| Fault::new(fault, 1 << lane))?;
        let _ = block.store::<SIZE>(offset, value[lane]);
    }
    Ok(())
}
