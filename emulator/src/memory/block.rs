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
        Self::filled(bytes, 0)
    }

    /// `bytes` bytes of a word, repeated.
    pub fn filled(bytes: u64, word: u32) -> Self {
        let cells = (0..bytes.div_ceil(4)).map(|_| AtomicU32::new(word)).collect();
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
        let (first, rest) = to.split_at_mut(unaligned(offset).min(to.len()));
        self.read_part(offset, first);
        let at = offset + first.len() as u64;
        let (words, last) = rest.as_chunks_mut::<4>();
        let cells = self.cells.get((at >> 2) as usize..).unwrap_or_default();
        words.iter_mut().zip(cells).for_each(|(to, cell)| *to = cell.load(Relaxed).to_le_bytes());
        self.read_part(at + 4 * words.len() as u64, last);
    }

    /// Copies bytes of one cell out.
    fn read_part(&self, offset: u64, to: &mut [u8]) {
        let word = self.cell(offset).map_or(0, |cell| cell.load(Relaxed)).to_le_bytes();
        to.iter_mut().zip(&word[(offset & 3) as usize..]).for_each(|(to, from)| *to = *from);
    }

    /// Copies bytes in. The caller has checked that `offset + from.len()` is inside.
    pub(super) fn write(&self, offset: u64, from: &[u8]) {
        let (first, rest) = from.split_at(unaligned(offset).min(from.len()));
        self.write_part(offset, first);
        let at = offset + first.len() as u64;
        let (words, last) = rest.as_chunks::<4>();
        let cells = self.cells.get((at >> 2) as usize..).unwrap_or_default();
        words.iter().zip(cells).for_each(|(from, cell)| cell.store(u32::from_le_bytes(*from), Relaxed));
        self.write_part(at + 4 * words.len() as u64, last);
    }

    /// Copies fewer than 4 bytes into one cell.
    fn write_part(&self, offset: u64, from: &[u8]) {
        let Some(cell) = self.cell(offset).filter(|_| !from.is_empty()) else { return };
        let skip = (offset & 3) as usize;
        let mut word = [0; 4];
        word[skip..].iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        let mask = (u32::MAX >> (32 - 8 * from.len().min(4))) << (8 * skip);
        merge(cell, 0, mask, u32::from_le_bytes(word));
    }
}

/// Bytes from `offset` to the next cell's first.
fn unaligned(offset: u64) -> usize {
    (offset.wrapping_neg() & 3) as usize
}

/// Replaces the bits `mask << shift` of a cell.
fn merge(cell: &AtomicU32, shift: u32, mask: u32, value: u32) {
    let _ = cell.fetch_update(Relaxed, Relaxed, |old| Some(old & !(mask << shift) | (value & mask) << shift));
}
