//! The allocations of the simulated device.

use std::sync::{Arc, RwLock};

use super::view::Entry;
use super::{Block, FIRST_ADDRESS, MemoryFault, OutOfMemory, View};

/// Unmapped bytes kept behind every allocation, so that an overrun hits nothing.
const GUARD: u64 = 4096;

/// Where an allocation lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// First address.
    pub base: u64,
    /// Size in bytes, as asked for.
    pub bytes: u64,
}

/// Device memory. All methods take `&self`; many threads may use it at once.
pub struct Memory {
    state: RwLock<State>,
}

struct State {
    view: View,
    next: u64,
    used: u64,
    capacity: u64,
}

impl Memory {
    /// An empty device of `capacity` bytes.
    pub fn new(capacity: u64) -> Self {
        Self { state: RwLock::new(State { view: View::default(), next: FIRST_ADDRESS, used: 0, capacity }) }
    }

    /// Reserves `bytes` (zero bytes still get an address) at a multiple of `alignment` (at least 256). The bytes are zero.
    pub fn allocate(&self, bytes: u64, alignment: u64) -> Result<u64, OutOfMemory> {
        let mut state = self.lock();
        let free = state.capacity - state.used;
        if bytes > free {
            return Err(OutOfMemory { wanted: bytes, free, capacity: state.capacity });
        }
        let alignment = alignment.max(256).next_power_of_two();
        let base = state.next.next_multiple_of(alignment);
        state.next = base + bytes + GUARD;
        state.used += bytes;
        let entry = Entry { base, block: Arc::new(Block::new(bytes)) };
        Arc::make_mut(&mut state.view.entries).push(entry);
        Ok(base)
    }

    /// Gives an allocation back; its addresses stay dead.
    pub fn free(&self, address: u64) -> Result<(), MemoryFault> {
        let mut state = self.lock();
        let found = state.view.entries.binary_search_by_key(&address, |e| e.base);
        let Ok(index) = found else {
            return Err(match state.view.explain(address, 0) {
                freed @ MemoryFault::Freed { .. } => freed,
                _ => MemoryFault::NotAllocated { address },
            });
        };
        let entry = Arc::make_mut(&mut state.view.entries).remove(index);
        let bytes = entry.block.bytes();
        state.used -= bytes;
        let freed = Arc::make_mut(&mut state.view.freed);
        let at = freed.partition_point(|f| f.0 < address);
        freed.insert(at, (address, bytes));
        Ok(())
    }

    /// The allocation that `address` points into.
    pub fn allocation(&self, address: u64) -> Option<Allocation> {
        let view = self.view();
        let (base, block) = view.entry(view.index(address)?)?;
        (address - base < block.bytes().max(1)).then_some(Allocation { base, bytes: block.bytes() })
    }

    /// Bytes free, bytes in all.
    pub fn available(&self) -> (u64, u64) {
        let state = self.state.read().unwrap_or_else(|e| e.into_inner());
        (state.capacity - state.used, state.capacity)
    }

    /// Copies device bytes to `to`.
    pub fn read(&self, address: u64, to: &mut [u8]) -> Result<(), MemoryFault> {
        self.view().read(address, to)
    }

    /// Copies `from` to the device.
    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), MemoryFault> {
        self.view().write(address, from)
    }

    /// Sets `bytes` bytes to the pattern, repeated (its last repetition may be cut).
    pub fn fill(&self, address: u64, bytes: u64, pattern: &[u8]) -> Result<(), MemoryFault> {
        let view = self.view();
        let (block, offset) = view.find(address, bytes)?;
        if pattern.is_empty() {
            return Ok(());
        }
        let chunk: Vec<u8> =
            pattern.iter().copied().cycle().take(pattern.len() * 4096usize.div_ceil(pattern.len())).collect();
        let mut done = 0;
        while done < bytes {
            let count = (bytes - done).min(chunk.len() as u64);
            block.write(offset + done, &chunk[..count as usize]);
            done += count;
        }
        Ok(())
    }

    /// Copies within the device; the ranges may overlap.
    pub fn copy(&self, to: u64, from: u64, bytes: u64) -> Result<(), MemoryFault> {
        let view = self.view();
        let (source, offset) = view.find(from, bytes)?;
        view.find(to, bytes)?;
        let mut buffer = vec![0; bytes as usize];
        source.read(offset, &mut buffer);
        view.write(to, &buffer)
    }

    /// The allocations as they are now.
    pub fn view(&self) -> View {
        self.state.read().unwrap_or_else(|e| e.into_inner()).view.clone()
    }

    fn lock(&self) -> std::sync::RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(|e| e.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_at_odd_offsets_come_back() {
        let memory = Memory::new(1 << 20);
        let base = memory.allocate(11, 1).unwrap();
        memory.write(base + 1, &[1, 2, 3, 4, 5, 6, 7]).unwrap();
        let mut all = [9; 11];
        memory.read(base, &mut all).unwrap();
        assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0]);
        memory.copy(base, base + 1, 7).unwrap();
        memory.fill(base + 8, 3, &[0xaa, 0xbb]).unwrap();
        memory.read(base, &mut all).unwrap();
        assert_eq!(all, [1, 2, 3, 4, 5, 6, 7, 7, 0xaa, 0xbb, 0xaa]);
    }

    #[test]
    fn an_access_past_the_end_says_by_how_much() {
        let memory = Memory::new(1 << 20);
        let base = memory.allocate(100, 1).unwrap();
        let other = memory.allocate(100, 1).unwrap();
        let error = memory.write(base + 98, &[0; 4]).unwrap_err();
        assert!(error.to_string().contains("begins 2 bytes before the end of the 100 bytes"), "{error}");
        let error = memory.read(base + 104, &mut [0; 4]).unwrap_err();
        assert!(error.to_string().contains("begins 4 bytes past the end"), "{error}");
        let error = memory.read(other - 4, &mut [0; 4]).unwrap_err();
        assert!(error.to_string().contains("nearest begins 4 bytes later"), "{error}");
        let error = memory.read(0, &mut [0; 4]).unwrap_err();
        assert_eq!(error, MemoryFault::OutOfBounds { address: 0, bytes: 4, near: None });
        memory.read(u64::MAX, &mut [0; 4]).unwrap_err();
    }

    #[test]
    fn freed_addresses_stay_dead() {
        let memory = Memory::new(1000);
        let first = memory.allocate(600, 1).unwrap();
        assert_eq!(memory.allocate(600, 1), Err(OutOfMemory { wanted: 600, free: 400, capacity: 1000 }));
        memory.free(first).unwrap();
        let second = memory.allocate(600, 1024).unwrap();
        assert_ne!(first, second);
        assert_eq!(second % 1024, 0);
        assert!(matches!(memory.read(first + 5, &mut [0]), Err(MemoryFault::Freed { .. })));
        assert!(matches!(memory.free(first), Err(MemoryFault::Freed { .. })));
        assert!(matches!(memory.free(second + 1), Err(MemoryFault::NotAllocated { .. })));
        assert_eq!(memory.allocation(second + 599), Some(Allocation { base: second, bytes: 600 }));
        assert_eq!(memory.allocation(second + 600), None);
    }
}
