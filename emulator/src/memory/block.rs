//! The bytes of one allocation, shared by all threads that run CTAs.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Bytes in 32-bit cells. Cells are relaxed atomics: a data race between CTAs gives some value, as on the device, and
/// never undefined behaviour of the emulator. Accesses of 1 and 2 bytes change only their part of a cell.
pub struct Block {
    cells: Box<[AtomicU32]>,
    bytes: u64,
}

impl Block {
    /// `bytes` zero bytes.
    pub fn new(bytes: u64) -> Self {
        let cells = (0..bytes.div_ceil(4)).map(|_| AtomicU32::new(0)).collect();
        Self { cells, bytes }
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All cells.
    #[inline(always)]
    pub fn cells(&self) -> &[AtomicU32] {
        &self.cells
    }

    /// The 4 bytes at the 4-aligned `offset`; `None` beyond the last cell.
    #[inline(always)]
    pub fn cell(&self, offset: u64) -> Option<&AtomicU32> {
        self.cells.get((offset >> 2) as usize)
    }

    /// Little-endian value of `SIZE` (1, 2 or 4) bytes at `offset`, which is aligned to it.
    #[inline(always)]
    pub fn load<const SIZE: u32>(&self, offset: u64) -> Option<u32> {
        let word = self.cell(offset)?.load(Relaxed);
        Some(match SIZE {
            1 => word >> ((offset & 3) * 8) & 0xff,
            2 => word >> ((offset & 2) * 8) & 0xffff,
            _ => word,
        })
    }

    /// Stores the low `SIZE` (1, 2 or 4) bytes of `value` at `offset`, which is aligned to it.
    #[inline(always)]
    pub fn store<const SIZE: u32>(&self, offset: u64, value: u32) -> Option<()> {
        let cell = self.cell(offset)?;
        match SIZE {
            1 => merge(cell, (offset & 3) as u32 * 8, 0xff, value),
            2 => merge(cell, (offset & 2) as u32 * 8, 0xffff, value),
            _ => cell.store(value, Relaxed),
        }
        Some(())
    }

    /// Copies bytes out. The caller has checked that `offset + to.len()` is inside.
    pub(super) fn read(&self, offset: u64, to: &mut [u8]) {
        let mut at = offset;
        let mut rest = to;
        while !rest.is_empty() {
            let word = self.cell(at).map_or(0, |cell| cell.load(Relaxed)).to_le_bytes();
            let skip = (at & 3) as usize;
            let count = (4 - skip).min(rest.len());
            let (head, tail) = rest.split_at_mut(count);
            head.copy_from_slice(&word[skip..skip + count]);
            rest = tail;
            at += count as u64;
        }
    }

    /// Copies bytes in. The caller has checked that `offset + from.len()` is inside.
    pub(super) fn write(&self, offset: u64, from: &[u8]) {
        let mut at = offset;
        let mut rest = from;
        while !rest.is_empty() {
            let skip = (at & 3) as usize;
            let count = (4 - skip).min(rest.len());
            let (head, tail) = rest.split_at(count);
            let Some(cell) = self.cell(at) else { return };
            let mut word = [0; 4];
            word[skip..skip + count].copy_from_slice(head);
            let value = u32::from_le_bytes(word);
            if count == 4 {
                cell.store(value, Relaxed);
            } else {
                let mask = (u32::MAX >> (32 - 8 * count)) << (8 * skip);
                merge(cell, 0, mask, value);
            }
            rest = tail;
            at += count as u64;
        }
    }
}

/// Replaces the bits `mask << shift` of a cell.
fn merge(cell: &AtomicU32, shift: u32, mask: u32, value: u32) {
    let _ = cell.fetch_update(Relaxed, Relaxed, |old| Some(old & !(mask << shift) | (value & mask) << shift));
}
