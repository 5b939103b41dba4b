//! What is remembered of shared memory besides its bytes: where they came from, and whether the asynchronous proxy may see them.
//! Only for traces and for late schedules.

use std::collections::BTreeMap;

use super::cluster::Cluster;

/// Bytes that are tracked as one; asynchronous copies move no fewer.
const CHUNK: u32 = 16;

/// Where the bytes of shared memory come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Origin {
    /// Nobody wrote them since the CTA began.
    #[default]
    Unwritten,
    /// The fill of a tensor copy whose box overhangs its tensor.
    Filled,
    /// Written.
    Written,
}

impl Origin {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Unwritten => "never written",
            Origin::Filled => "outside of the tensor",
            Origin::Written => "written",
        }
    }
}

/// The chunks of a CTA's shared memory.
#[derive(Debug, Clone)]
pub(super) struct Track {
    origins: Vec<Origin>,
    /// When (in fences) and where (warp, instruction) a store was made that no copy has replaced since.
    stores: Vec<Option<(u64, u32, u32)>>,
}

fn chunks(at: u32, bytes: u32) -> std::ops::Range<usize> {
    (at / CHUNK) as usize..(u64::from(at) + u64::from(bytes)).div_ceil(CHUNK.into()) as usize
}

impl Track {
    pub(super) fn new(bytes: u32) -> Track {
        let count = bytes.div_ceil(CHUNK) as usize;
        Track { origins: vec![Origin::Unwritten; count], stores: vec![None; count] }
    }

    /// Bytes came to be so; not by a thread's own store.
    pub(super) fn set(&mut self, at: u32, bytes: u32, origin: Origin) {
        let range = chunks(at, bytes);
        self.origins.get_mut(range.clone()).unwrap_or_default().fill(origin);
        self.stores.get_mut(range).unwrap_or_default().fill(None);
    }

    /// A thread stored bytes itself.
    pub(super) fn store(&mut self, at: u32, bytes: u32, fences: u64, warp: u32, pc: u32) {
        let range = chunks(at, bytes);
        self.origins.get_mut(range.clone()).unwrap_or_default().fill(Origin::Written);
        self.stores.get_mut(range).unwrap_or_default().fill(Some((fences, warp, pc)));
    }

    /// What the least known of some bytes is.
    pub(super) fn origin(&self, at: u32, bytes: u32) -> Origin {
        self.origins.get(chunks(at, bytes)).unwrap_or_default().iter().copied().min().unwrap_or_default()
    }

    /// The first store to some bytes since the last fence: its address, warp and instruction.
    fn unfenced(&self, at: u32, bytes: u32, fences: u64) -> Option<(u32, u32, u32)> {
        let range = chunks(at, bytes);
        let first = range.start as u32;
        let stores = self.stores.get(range).unwrap_or_default();
        stores.iter().zip(first..).find_map(|(store, chunk)| {
            store.filter(|(when, ..)| *when == fences).map(|(_, warp, pc)| (chunk * CHUNK, warp, pc))
        })
    }
}

/// Reads through the asynchronous proxy of what was stored without a fence, by the two instructions.
pub(super) type Findings = BTreeMap<(u32, u32), String>;

impl Cluster<'_> {
    /// Whether shared memory is tracked.
    pub(super) fn tracks(&self) -> bool {
        self.env.options.trace || self.env.options.schedule.is_some()
    }

    /// Bytes of shared memory (the address carries the rank) came to be so.
    pub(super) fn note(&mut self, address: u32, bytes: u32, origin: Origin) {
        let cta = self.ctas.get_mut((address >> 24) as usize);
        if let Some(track) = cta.and_then(|cta| cta.track.as_mut()) {
            track.set(address & 0xff_ffff, bytes, origin);
        }
    }

    /// The instruction at `pc` of a warp stored bytes of shared memory.
    pub(super) fn note_store(&mut self, address: u32, bytes: u32, warp: u32, pc: u32) {
        let fences = self.fences;
        let cta = self.ctas.get_mut((address >> 24) as usize);
        if let Some(track) = cta.and_then(|cta| cta.track.as_mut()) {
            track.store(address & 0xff_ffff, bytes, fences, warp, pc);
        }
    }

    /// The instruction at `pc` of a warp of CTA `rank` reads bytes of shared memory through the asynchronous proxy. A fence by
    /// anybody counts: what is found lacks one altogether.
    pub(super) fn note_read(&mut self, address: u32, bytes: u32, rank: usize, warp: u32, pc: u32) {
        let owner = (address >> 24) as usize;
        let track = self.ctas.get(owner).and_then(|cta| cta.track.as_ref());
        let Some((at, by, store)) = track.and_then(|t| t.unfenced(address & 0xff_ffff, bytes, self.fences)) else {
            return;
        };
        if !self.findings.contains_key(&(store, pc)) {
            let (stored, read) = (self.site(owner, by, store, u32::MAX), self.site(rank, warp, pc, u32::MAX));
            let text = format!(
                "shared {at:#x} is stored by {stored} and read through the asynchronous proxy by {read}, and no \
                 fence.proxy.async lies between: on a GPU the read may see what was there before"
            );
            self.findings.insert((store, pc), text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_remember_the_last_writer_and_the_least_origin() {
        let mut track = Track::new(100);
        assert_eq!(track.origin(0, 100), Origin::Unwritten);
        track.set(0, 64, Origin::Written);
        track.set(32, 16, Origin::Filled);
        assert_eq!(
            [track.origin(0, 32), track.origin(0, 64), track.origin(48, 32)],
            [Origin::Written, Origin::Filled, Origin::Unwritten]
        );
        track.store(20, 4, 7, 2, 99);
        assert_eq!(track.unfenced(0, 64, 7), Some((16, 2, 99)));
        assert_eq!(track.unfenced(0, 64, 8), None);
        track.set(16, 16, Origin::Written);
        assert_eq!(track.unfenced(0, 64, 7), None);
        // Beyond the end nothing is known, and nothing panics.
        track.store(4_000_000, 4, 0, 0, 0);
        assert_eq!(track.origin(4_000_000, 16), Origin::Unwritten);
    }
}
