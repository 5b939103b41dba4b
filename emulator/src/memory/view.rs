//! The allocations as one launch sees them: looked up without a lock.

use std::sync::Arc;

use super::{Block, MemoryFault, Near};

/// One allocation with its bytes.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) base: u64,
    pub(super) block: Arc<Block>,
}

/// All live allocations, by address, and the addresses of the dead ones. Cheap to clone.
#[derive(Clone, Default)]
pub struct View {
    pub(super) entries: Arc<Vec<Entry>>,
    /// Base and bytes, by address.
    pub(super) freed: Arc<Vec<(u64, u64)>>,
}

impl View {
    /// Number of live allocations.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no allocation.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Base and block of entry `index`.
    #[inline(always)]
    pub fn entry(&self, index: usize) -> Option<(u64, &Block)> {
        self.entries.get(index).map(|e| (e.base, &*e.block))
    }

    /// Index of the allocation that begins at or before `address`, whether or not it reaches it.
    #[inline]
    pub fn index(&self, address: u64) -> Option<usize> {
        self.entries.partition_point(|e| e.base <= address).checked_sub(1)
    }

    /// The block and offset of an access that lies wholly in one allocation.
    pub fn find(&self, address: u64, bytes: u64) -> Result<(&Block, u64), MemoryFault> {
        if let Some((base, block)) = self.index(address).and_then(|i| self.entry(i)) {
            let offset = address - base;
            if offset.checked_add(bytes).is_some_and(|end| end <= block.bytes()) {
                return Ok((block, offset));
            }
        }
        Err(self.explain(address, bytes))
    }

    /// Copies device bytes to `to`.
    pub fn read(&self, address: u64, to: &mut [u8]) -> Result<(), MemoryFault> {
        let (block, offset) = self.find(address, to.len() as u64)?;
        block.read(offset, to);
        Ok(())
    }

    /// Copies `from` to the device.
    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), MemoryFault> {
        let (block, offset) = self.find(address, from.len() as u64)?;
        block.write(offset, from);
        Ok(())
    }

    /// Why an access that [`View::find`] refused is wrong.
    pub fn explain(&self, address: u64, bytes: u64) -> MemoryFault {
        let dead = self.freed.partition_point(|f| f.0 <= address).checked_sub(1).map(|i| self.freed[i]);
        if let Some((base, freed_bytes)) = dead
            && address - base < freed_bytes
        {
            return MemoryFault::Freed { address, bytes, base, freed_bytes };
        }
        let at = self.entries.partition_point(|e| e.base <= address);
        let near = |entry: &Entry| Near {
            base: entry.base,
            bytes: entry.block.bytes(),
            offset: address.wrapping_sub(entry.base) as i64,
        };
        let before = at.checked_sub(1).and_then(|i| self.entries.get(i)).map(near);
        let after = self.entries.get(at).map(near);
        let distance =
            |n: &Near| if n.offset < 0 { n.offset.unsigned_abs() } else { (n.offset as u64).saturating_sub(n.bytes) };
        let near = [before, after].into_iter().flatten().min_by_key(distance);
        // A null pointer is not "near" anything.
        MemoryFault::OutOfBounds { address, bytes, near: near.filter(|n| distance(n) < 1 << 30) }
    }
}
