//! The allocations of the simulated device.

use std::sync::{Arc, RwLock};

use super::view::Entry;
use super::{Block, FIRST_ADDRESS, MemoryFault, OutOfMemory, SHARED_WINDOW, View};

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
    /// What fresh memory holds.
    fresh: u32,
    twin: Option<Box<Memory>>,
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
        Self::holding(capacity, 0)
    }

    fn holding(capacity: u64, fresh: u32) -> Self {
        let state = State { view: View::default(), next: FIRST_ADDRESS, used: 0, capacity };
        Self { state: RwLock::new(state), fresh, twin: None }
    }

    /// An empty device with a twin: everything that is done to it through these methods is done to the twin too, at the same
    /// addresses, but what is allocated there holds `fresh`.
    pub fn with_twin(capacity: u64, fresh: u32) -> Self {
        Self { twin: Some(Box::new(Self::holding(capacity, fresh))), ..Self::new(capacity) }
    }

    /// The twin.
    pub fn twin(&self) -> Option<&Memory> {
        self.twin.as_deref()
    }

    /// Does the same to the twin; what fails fails here too.
    fn also<T, E>(&self, what: impl FnOnce(&Memory) -> Result<T, E>) {
        let _ = self.twin().map(what);
    }

    /// Reserves `bytes` (zero bytes still get an address) at a multiple of `alignment` (at least 256). The bytes are zero.
    pub fn allocate(&self, bytes: u64, alignment: u64) -> Result<u64, OutOfMemory> {
        let mut state = self.lock();
        let free = state.capacity - state.used;
        if bytes > free {
            return Err(OutOfMemory { wanted: bytes, free, capacity: state.capacity });
        }
        let exhausted = OutOfMemory { wanted: bytes, free, capacity: state.capacity };
        let aligned = alignment.max(256).checked_next_power_of_two();
        let base = aligned.and_then(|aligned| state.next.checked_next_multiple_of(aligned));
        let base = base.ok_or_else(|| exhausted.clone())?;
        let end = base.checked_add(bytes).and_then(|end| end.checked_add(GUARD));
        // Addresses are never given out twice, so they can run out before the memory does.
        state.next = end.filter(|&end| end <= SHARED_WINDOW).ok_or(exhausted)?;
        state.used += bytes;
        self.also(|twin| twin.allocate(bytes, alignment));
        let entry = Entry { base, block: Arc::new(Block::filled(bytes, self.fresh)) };
        Arc::make_mut(&mut state.view.entries).push(entry);
        Ok(base)
    }

    /// Gives an allocation back; its addresses stay dead.
    pub fn free(&self, address: u64) -> Result<(), MemoryFault> {
        self.also(|twin| twin.free(address));
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
        self.also(|twin| twin.write(address, from));
        self.view().write(address, from)
    }

    /// Sets `bytes` bytes to the pattern, repeated (its last repetition may be cut).
    pub fn fill(&self, address: u64, bytes: u64, pattern: &[u8]) -> Result<(), MemoryFault> {
        self.also(|twin| twin.fill(address, bytes, pattern));
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
        self.also(|twin| twin.copy(to, from, bytes));
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
    fn bytes_of_every_length_come_back_from_every_offset() {
        let memory = Memory::new(1 << 20);
        let base = memory.allocate(40, 1).unwrap();
        for (offset, length) in (0..9).flat_map(|offset| (0..14).map(move |length| (offset, length))) {
            memory.fill(base, 40, &[0xee]).unwrap();
            let bytes: Vec<u8> = (1..=length as u8).collect();
            memory.write(base + offset, &bytes).unwrap();
            let mut all = [0; 40];
            memory.read(base, &mut all).unwrap();
            let at = offset as usize;
            assert!(
                all[..at].iter().chain(&all[at + length..]).all(|&byte| byte == 0xee),
                "{offset} {length}: {all:?}"
            );
            let mut back = vec![0; length];
            memory.read(base + offset, &mut back).unwrap();
            assert_eq!(back, bytes, "{offset} {length}");
        }
    }

    #[test]
    fn addresses_that_run_out_are_memory_that_runs_out() {
        let memory = Memory::new(u64::MAX);
        let base = memory.allocate(0, 1).unwrap();
        assert!(base >= FIRST_ADDRESS && base >> 48 == 1);
        memory.allocate(1 << 48, 1).unwrap_err();
        memory.allocate(u64::MAX - 10, 1).unwrap_err();
        memory.allocate(0, 1 << 63).unwrap_err();
        assert!(memory.allocate(8, 1).unwrap() > base);
    }

    #[test]
    fn a_twin_differs_in_what_was_never_written() {
        let memory = Memory::with_twin(1 << 20, 0x0a0b_0c0d);
        let (first, second) = (memory.allocate(8, 1).unwrap(), memory.allocate(8, 512).unwrap());
        memory.write(first + 4, &[1, 2]).unwrap();
        memory.copy(second, first, 8).unwrap();
        memory.fill(first, 2, &[9]).unwrap();
        memory.free(first).unwrap();
        let [mut own, mut other] = [[7; 8]; 2];
        memory.read(second, &mut own).unwrap();
        memory.twin().unwrap().read(second, &mut other).unwrap();
        assert_eq!((own, other), ([0, 0, 0, 0, 1, 2, 0, 0], [0x0d, 0x0c, 0x0b, 0x0a, 1, 2, 0x0b, 0x0a]));
        assert!(memory.twin().unwrap().read(first, &mut other).is_err());
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
