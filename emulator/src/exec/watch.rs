//! Whether memory that nobody initialised reaches anything: a launch runs twice, the second time with other bytes in such memory,
//! and what it stores to the device and where it branches is compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cluster::Cluster;
use super::registers::lanes;

/// The word in such memory during the second run; during the first it is zero, or what [`super::Options::shared_poison`] says. As
/// a float of any width it is about 10, which no comparison with zero and no rectifier hides.
pub const OTHER: u32 = 0x4120_4120;

/// What is done about a launch's events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Watch {
    /// Nothing.
    #[default]
    Off,
    /// They are kept.
    Record,
    /// They are compared with those of the run before.
    Compare(Arc<Journal>),
}

/// The events of a launch: of each cluster, by warp, the instruction and a hash.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Journal(pub(super) BTreeMap<u64, Vec<Vec<Event>>>);

/// An instruction and a hash of what it did.
type Event = (u32, u32);

/// Most events kept of a warp.
const MOST: usize = 1 << 22;

/// What kind of event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Store,
    Branch,
}

/// The events of a cluster as it runs.
pub(super) struct Watcher<'a> {
    /// By warp, what happened; when comparing, only how often something did.
    pub(super) events: Vec<Vec<Event>>,
    before: Option<&'a [Vec<Event>]>,
    position: Vec<usize>,
    /// Warps that went another way than before.
    lost: Vec<bool>,
    /// By instruction.
    pub(super) found: BTreeMap<u32, String>,
}

impl<'a> Watcher<'a> {
    /// For cluster `number` of so many warps; `None` where nothing is watched.
    pub(super) fn new(watch: &'a Watch, number: u64, warps: usize) -> Option<Watcher<'a>> {
        let before = match watch {
            Watch::Off => return None,
            Watch::Record => None,
            Watch::Compare(journal) => Some(journal.0.get(&number).map_or(&[][..], Vec::as_slice)),
        };
        let (events, position, lost) = (vec![Vec::new(); warps], vec![0; warps], vec![false; warps]);
        Some(Watcher { events, before, position, lost, found: BTreeMap::new() })
    }

    /// Adds an event of a warp; whether it differs from the run before.
    fn add(&mut self, warp: usize, event: Event, what: What) -> bool {
        let Some(before) = self.before else {
            if self.events[warp].len() < MOST {
                self.events[warp].push(event);
            }
            return false;
        };
        let at = self.position[warp];
        self.position[warp] += 1;
        match before.get(warp).and_then(|events| events.get(at)) {
            _ if self.lost[warp] => false,
            // More than was kept, or another way without a branch.
            None => false,
            Some(known) if *known == event => false,
            Some(known) => {
                self.lost[warp] = known.0 != event.0 || what == What::Branch;
                known.0 == event.0
            }
        }
    }
}

/// A hash of some numbers.
pub(super) fn hash(numbers: impl Iterator<Item = u64>) -> u32 {
    let mixed = numbers.fold(0u64, |hash, number| (hash.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95));
    (mixed >> 32) as u32
}

impl Cluster<'_> {
    /// Something that others can notice happened at `pc` in a warp.
    pub(super) fn watched(&mut self, rank: usize, warp: u32, pc: u32, what: What, value: u32) {
        let each = self.ctas.first().map_or(0, |cta| cta.warps.len());
        let index = rank * each + warp as usize;
        let Some(watcher) = self.watcher.as_mut() else { return };
        if !watcher.add(index, (pc, value), what) || watcher.found.contains_key(&pc) {
            return;
        }
        let site = self.site(rank, warp, pc, u32::MAX);
        let text = match what {
            What::Store => format!("what {site} writes to the device depends on memory that nobody initialised"),
            What::Branch => format!("which way {site} goes depends on memory that nobody initialised"),
        };
        if let Some(watcher) = self.watcher.as_mut() {
            watcher.found.insert(pc, text);
        }
    }

    /// A conditional branch.
    #[inline(never)]
    pub(super) fn watched_branch(&mut self, rank: usize, warp: u32, pc: u32, active: u32) {
        self.watched(rank, warp, pc, What::Branch, active);
    }

    /// Bytes written to the device by an asynchronous copy.
    pub(super) fn watched_bytes(&mut self, rank: usize, warp: u32, pc: u32, address: u64, bytes: &[u8]) {
        if self.watcher.is_some() {
            let words = bytes.chunks(8).map(|part| part.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
            let value = hash(std::iter::once(address).chain(words));
            self.watched(rank, warp, pc, What::Store, value);
        }
    }

    /// Words stored to the device by the lanes of a warp.
    pub(super) fn watched_lanes(&mut self, rank: usize, active: u32, bytes: u8, lane: impl Fn(usize) -> (u64, u32)) {
        if self.watcher.is_some() {
            let kept = u32::MAX >> (32 - 8 * u32::from(bytes.clamp(1, 4)));
            let value = hash(lanes(active).flat_map(|l| {
                let (address, value) = lane(l);
                [address, (value & kept).into()]
            }));
            let (warp, pc) = self.now;
            self.watched(rank, warp, pc, What::Store, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_store_is_found_and_a_warp_that_went_astray_is_left_alone() {
        let mut first = Watcher::new(&Watch::Record, 0, 1).unwrap();
        for event in [(1, 10), (2, 20), (3, 30), (4, 40)] {
            assert!(!first.add(0, event, What::Store));
        }
        let watch = Watch::Compare(Arc::new(Journal(BTreeMap::from([(0, first.events)]))));
        let mut second = Watcher::new(&watch, 0, 1).unwrap();
        assert!(!second.add(0, (1, 10), What::Store));
        assert!(second.add(0, (2, 21), What::Store));
        assert!(second.add(0, (3, 31), What::Branch));
        assert!(!second.add(0, (9, 0), What::Store));
        assert!(Watcher::new(&Watch::Off, 0, 1).is_none());
        assert_ne!(hash([1, 2].into_iter()), hash([2, 1].into_iter()));
    }
}
