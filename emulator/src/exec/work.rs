//! Asynchronous work: done at once, or queued and done as late as the kernel's waits allow.

use super::cluster::Cluster;
use super::failure::{Cause, Window};
use super::op::{AtomicKind, AtomicType};
use super::tmem::Rows;
use super::tmem_multiply::Product;
use super::track::Origin;
use crate::tensor::tile_copy::Tile;
use crate::tensor_map::{ElementType, SIZE, TensorMap};

/// A copy or signal with its operands resolved. Shared addresses carry the CTA's rank.
#[derive(Debug, Clone)]
pub(super) enum Work {
    Copy {
        to: u32,
        from: u64,
        bytes: u32,
        source_bytes: u32,
    },
    Arrive {
        bar: u32,
    },
    Load {
        to: u32,
        from: u64,
        bytes: u32,
        bar: u32,
        mask: Option<u32>,
    },
    Send {
        to: u32,
        from: u32,
        bytes: u32,
        bar: u32,
    },
    Store {
        to: u64,
        from: u32,
        bytes: u32,
        reduction: Option<(AtomicKind, AtomicType)>,
    },
    TileLoad {
        to: u32,
        map: u64,
        coordinates: Vec<i32>,
        bar: u32,
        mask: Option<u32>,
        /// The barrier of each CTA's pair is the one with the parity of `bar`.
        pair: bool,
    },
    Multiply(Product),
    /// Shared to tensor memory; `from` is a descriptor.
    CopyRows {
        rows: Rows,
        to: u32,
        from: u64,
        pair: bool,
    },
    /// An arrival when the products before it are done.
    Commit {
        bar: u32,
        mask: Option<u32>,
    },
    /// A request for the next cluster.
    Cancel {
        to: u32,
        bar: u32,
        mask: Option<u32>,
    },
    TileStore {
        map: u64,
        coordinates: Vec<i32>,
        from: u32,
        reduction: Option<AtomicKind>,
    },
}

impl Work {
    /// Whether it is done in the order of its kind.
    fn ordered(&self) -> bool {
        matches!(self, Work::Multiply(_) | Work::CopyRows { .. } | Work::Commit { .. })
    }
}

/// Which wait ends a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaited {
    /// `cp.async.wait_group`
    Copy,
    /// `cp.async.bulk.wait_group`
    Bulk,
    /// An mbarrier.
    Barrier,
}

/// Work that is under way.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) work: Work,
    pub(super) rank: usize,
    pub(super) warp: u32,
    pub(super) lane: usize,
    pub(super) pc: u32,
    pub(super) awaited: Awaited,
    /// Number of its group among the thread's groups.
    pub(super) group: u32,
}

/// The shared addresses that a multicast means: one for each CTA of the mask, or the one given.
fn targets(to: u32, bar: u32, mask: Option<u32>) -> Vec<(u32, u32)> {
    let Some(mask) = mask else { return vec![(to, bar)] };
    (0..16)
        .filter(|rank| mask >> rank & 1 != 0)
        .map(|rank| (to & 0xff_ffff | rank << 24, bar & 0xff_ffff | rank << 24))
        .collect()
}

impl Cluster<'_> {
    /// Starts a piece of work.
    pub(super) fn start(&mut self, pending: Pending) -> Result<(), Cause> {
        if self.env.options.schedule.is_none() {
            return self.deliver(&pending);
        }
        self.pending.push(pending);
        Ok(())
    }

    /// Completes the work that a wait asks for: that of one thread, of groups before `until`.
    pub(super) fn finish_groups(
        &mut self,
        rank: usize,
        warp: u32,
        lane: usize,
        awaited: Awaited,
        until: u32,
    ) -> Result<(), Cause> {
        let mut i = 0;
        while i < self.pending.len() {
            let p = &self.pending[i];
            if p.rank == rank && p.warp == warp && p.lane == lane && p.awaited == awaited && p.group < until {
                let pending = self.pending.remove(i);
                self.deliver(&pending)?;
            } else {
                i += 1;
            }
        }
        Ok(())
    }

    /// Completes one piece of work that nobody's wait forces, chosen at random; false if there is none.
    pub(super) fn finish_any(&mut self) -> Result<bool, (Cause, Pending)> {
        if self.pending.is_empty() {
            return Ok(false);
        }
        let mut chosen = self.random() as usize % self.pending.len();
        // Products, copies to tensor memory and commits of a CTA keep their order.
        if self.pending[chosen].work.ordered() {
            let rank = self.pending[chosen].rank;
            chosen = self.pending.iter().position(|p| p.rank == rank && p.work.ordered()).unwrap_or(chosen);
        }
        let pending = self.pending.remove(chosen);
        // A signal follows the copies of its thread that were started before it.
        if let Work::Arrive { .. } = pending.work {
            let (rank, warp, lane, group) = (pending.rank, pending.warp, pending.lane, pending.group);
            self.finish_groups(rank, warp, lane, Awaited::Copy, group + 1).map_err(|cause| (cause, pending.clone()))?;
        }
        self.deliver(&pending).map_err(|cause| (cause, pending))?;
        Ok(true)
    }

    /// Bytes of shared memory; the address carries the rank.
    pub(super) fn shared_bytes(&self, address: u32, bytes: u32) -> Result<&[u8], Cause> {
        let (rank, at) = ((address >> 24) as usize, address as usize & 0xff_ffff);
        let size = self.ctas.first().map_or(0, |cta| cta.shared.len() as u64);
        let found = self.ctas.get(rank).and_then(|cta| cta.shared.get(at..at.checked_add(bytes as usize)?));
        found.ok_or(Cause::Window { window: Window::Shared, offset: address.into(), bytes: bytes.into(), size })
    }

    pub(super) fn shared_bytes_mut(&mut self, address: u32, bytes: u32) -> Result<&mut [u8], Cause> {
        self.shared_bytes(address, bytes)?;
        let (rank, at) = ((address >> 24) as usize, address as usize & 0xff_ffff);
        self.effect = true;
        Ok(&mut self.ctas[rank].shared[at..at + bytes as usize])
    }

    /// Does a piece of work.
    pub(super) fn deliver(&mut self, pending: &Pending) -> Result<(), Cause> {
        self.effect = true;
        match &pending.work {
            Work::Multiply(product) => self.tensor_multiply(pending.rank, pending.warp, pending.pc, product)?,
            Work::CopyRows { rows, to, from, pair } => {
                for rank in self.pair(pending.rank, *pair)? {
                    self.copy_rows(rank, *rows, *to, *from)?;
                }
            }
            Work::Commit { bar, mask } => {
                for (_, bar) in targets(0, *bar, *mask) {
                    self.mbarrier_arrive(bar, 1, 0, false)?;
                }
            }
            Work::Copy { to, from, bytes, source_bytes } => {
                let mut buffer = [0; 16];
                let read = (*source_bytes).min(*bytes).min(16) as usize;
                if read > 0 {
                    self.env.view.read(*from, &mut buffer[..read])?;
                }
                self.shared_bytes_mut(*to, *bytes)?.copy_from_slice(&buffer[..*bytes as usize]);
                // These copies belong to the generic proxy.
                self.note_store(*to, *bytes, pending.warp, pending.pc);
            }
            Work::Arrive { bar } => {
                self.mbarrier_arrive(*bar, 1, 0, false)?;
            }
            Work::Load { to, from, bytes, bar, mask } => {
                self.shared_bytes(to & 0xff_ffff, *bytes)?;
                let mut buffer = vec![0; *bytes as usize];
                self.env.view.read(*from, &mut buffer)?;
                for (to, bar) in targets(*to, *bar, *mask) {
                    self.shared_bytes_mut(to, *bytes)?.copy_from_slice(&buffer);
                    self.note(to, *bytes, Origin::Written);
                    let text = || format!("bulk load of {bytes} bytes from {from:#x} to shared {to:#x}");
                    self.mbarrier_complete(bar, *bytes, text)?;
                }
            }
            Work::Send { to, from, bytes, bar } => {
                let buffer = self.shared_bytes(*from, *bytes)?.to_vec();
                self.shared_bytes_mut(*to, *bytes)?.copy_from_slice(&buffer);
                self.note_read(*from, *bytes, pending.rank, pending.warp, pending.pc);
                self.note(*to, *bytes, Origin::Written);
                let text = || format!("bulk copy of {bytes} bytes from shared {from:#x} to shared {to:#x}");
                self.mbarrier_complete(*bar, *bytes, text)?;
            }
            Work::Store { to, from, bytes, reduction } => {
                let buffer = self.shared_bytes(*from, *bytes)?.to_vec();
                self.note_read(*from, *bytes, pending.rank, pending.warp, pending.pc);
                self.watched_bytes(pending.rank, pending.warp, pending.pc, *to, &buffer);
                match reduction {
                    None => self.env.view.write(*to, &buffer)?,
                    Some((kind, of)) => self.reduce(*kind, *of, *to, &buffer)?,
                }
            }
            Work::TileLoad { to, map, coordinates, bar, mask, pair } => {
                let map = self.tensor_map(*map)?;
                let tile = Tile::new(&map, coordinates).map_err(Cause::Operand)?;
                for (to, mut own) in targets(*to, *bar, *mask) {
                    self.fill_tile(&tile, to)?;
                    if *pair && mask.is_some() {
                        own = own & !(1 << 24) | *bar & 1 << 24;
                    }
                    let text = || describe("load", &map, coordinates, &tile, to);
                    self.mbarrier_complete(own, tile.counted(), text)?;
                }
            }
            Work::Cancel { to, bar, mask } => {
                // First CTA of the cluster taken, and whether there was one.
                let taken = self.env.take().map(|number| self.env.first_cta(number));
                let [x, y, z] = taken.unwrap_or_default();
                let answer: Vec<u8> =
                    [x, y, z, u32::from(taken.is_some())].into_iter().flat_map(u32::to_le_bytes).collect();
                for (to, bar) in targets(*to, *bar, *mask) {
                    self.shared_bytes_mut(to, 16)?.copy_from_slice(&answer);
                    self.mbarrier_complete(bar, 16, || "clusterlaunchcontrol.try_cancel".into())?;
                }
            }
            Work::TileStore { map, coordinates, from, reduction } => {
                let map = self.tensor_map(*map)?;
                let tile = Tile::new(&map, coordinates).map_err(Cause::Operand)?;
                self.store_tile(pending, &tile, &map, *from, *reduction)?;
                self.note_read(*from, tile.bytes(), pending.rank, pending.warp, pending.pc);
            }
        }
        Ok(())
    }

    /// The tensor map at a generic address.
    pub(super) fn tensor_map(&self, address: u64) -> Result<TensorMap, Cause> {
        let bytes = self.map_bytes(address)?;
        TensorMap::decode(&bytes).map_err(|e| Cause::Operand(format!("the tensor map at {address:#x}: {e}")))
    }

    pub(super) fn map_bytes(&self, address: u64) -> Result<[u8; SIZE], Cause> {
        use super::access::space_of;
        use super::op::Space;
        let mut bytes = [0; SIZE];
        if !address.is_multiple_of(64) {
            return Err(Cause::Operand(format!("the tensor map at {address:#x} is not aligned to 64 bytes")));
        }
        match space_of(address) {
            Space::Parameter => {
                let (at, size) = (address as u32 as usize, self.env.launch.parameters.len() as u64);
                let window = Window::Parameter;
                let outside = Cause::Window { window, offset: at as u64, bytes: SIZE as u64, size };
                bytes.copy_from_slice(self.env.launch.parameters.get(at..at + SIZE).ok_or(outside)?);
            }
            Space::Shared => bytes.copy_from_slice(self.shared_bytes(address as u32, SIZE as u32)?),
            Space::Local => return Err(Cause::Operand("a tensor map in local memory".into())),
            _ => self.env.view.read(address, &mut bytes)?,
        }
        Ok(bytes)
    }

    /// Writes a tile to shared memory, with the fill where the box overhangs the tensor.
    fn fill_tile(&mut self, tile: &Tile, to: u32) -> Result<(), Cause> {
        if to & 127 != 0 {
            return Err(Cause::Operand(format!("a tensor copy to shared {to:#x}, which is not aligned to 128 bytes")));
        }
        let env = self.env;
        self.shared_bytes_mut(to, tile.bytes())?;
        let (rank, base) = ((to >> 24) as usize, to & 0xff_ffff);
        let cta = &mut self.ctas[rank];
        let (shared, mut track) = (&mut cta.shared, cta.track.as_mut());
        let mut row_bytes = vec![0; (tile.row_bytes / 16 * tile.packed + tile.row_bytes % 16) as usize];
        let packed = tile.packed as usize;
        for row in &tile.rows {
            let (before, inside) = (row.before as usize, row.inside as usize);
            if inside < row_bytes.len() {
                row_bytes.iter_mut().zip(tile.fill.iter().cycle()).for_each(|(to, from)| *to = *from);
            }
            if inside > 0 {
                env.view.read(row.global, &mut row_bytes[before..before + inside])?;
            }
            for (i, chunk) in row_bytes.chunks(packed).enumerate() {
                let at = tile.pattern.apply(base + row.shared + 16 * i as u32) as usize;
                if let Some(place) = shared.get_mut(at..at + chunk.len()) {
                    place.copy_from_slice(chunk);
                }
                if let Some(track) = &mut track {
                    let whole = packed * i >= before && packed * i + chunk.len() <= before + inside;
                    track.set(at as u32, chunk.len() as u32, if whole { Origin::Written } else { Origin::Filled });
                }
            }
        }
        Ok(())
    }

    /// Writes the part of a tile that lies in the tensor to the device.
    fn store_tile(
        &mut self,
        pending: &Pending,
        tile: &Tile,
        map: &TensorMap,
        from: u32,
        reduction: Option<AtomicKind>,
    ) -> Result<(), Cause> {
        if from & 127 != 0 {
            return Err(Cause::Operand(format!(
                "a tensor copy from shared {from:#x}, which is not aligned to 128 bytes"
            )));
        }
        if tile.packed != 16 {
            return Err(Cause::Operand(format!("a tensor store of {:?} elements", map.element)));
        }
        self.shared_bytes(from, tile.bytes())?;
        let (rank, base) = ((from >> 24) as usize, from & 0xff_ffff);
        let mut row_bytes = vec![0; tile.row_bytes as usize];
        for row in tile.rows.iter().filter(|row| row.inside > 0) {
            for (i, chunk) in row_bytes.chunks_mut(16).enumerate() {
                let at = tile.pattern.apply(base + row.shared + 16 * i as u32) as usize;
                let bytes = chunk.len();
                chunk.copy_from_slice(self.ctas[rank].shared.get(at..at + bytes).unwrap_or(&[0; 16][..bytes]));
            }
            let inside = &row_bytes[row.before as usize..][..row.inside as usize];
            self.watched_bytes(pending.rank, pending.warp, pending.pc, row.global, inside);
            match reduction {
                None => self.env.view.write(row.global, inside)?,
                Some(kind) => self.reduce(kind, atomic_type(map.element)?, row.global, inside)?,
            }
        }
        Ok(())
    }

    /// Combines values with those on the device.
    fn reduce(&mut self, kind: AtomicKind, of: AtomicType, to: u64, values: &[u8]) -> Result<(), Cause> {
        use super::op::Space;
        let bytes = of.bytes();
        let mut hint = 0;
        for (i, value) in values.chunks_exact(bytes as usize).enumerate() {
            let mut wide = [0; 8];
            wide[..value.len()].copy_from_slice(value);
            let operand = u64::from_le_bytes(wide);
            let address = to.wrapping_add(i as u64 * u64::from(bytes));
            let change = |old: u64| super::atomics::apply(kind, of, old, operand, 0);
            self.exchange(0, &mut hint, Space::Global, address, bytes, 0, change).map_err(|fault| fault.cause)?;
        }
        Ok(())
    }
}

/// The type a tensor copy reduces.
fn atomic_type(element: ElementType) -> Result<AtomicType, Cause> {
    Ok(match element {
        ElementType::F16 => AtomicType::F16,
        ElementType::Bf16 => AtomicType::Bf16,
        ElementType::F32 | ElementType::F32Ftz => AtomicType::F32,
        ElementType::F64 => AtomicType::F64,
        ElementType::U32 => AtomicType::U32,
        ElementType::I32 => AtomicType::S32,
        ElementType::U64 => AtomicType::U64,
        ElementType::I64 => AtomicType::S64,
        other => return Err(Cause::Operand(format!("a reduction of {other:?} elements"))),
    })
}

fn describe(what: &str, map: &TensorMap, coordinates: &[i32], tile: &Tile, shared: u32) -> String {
    let rank = usize::from(map.rank).min(5);
    let mut text = format!(
        "tensor {what} of box {:?} at {coordinates:?} of tensor {:?} to shared {shared:#x}: {} bytes",
        &map.box_dims[..rank],
        &map.dims[..rank],
        tile.counted()
    );
    if tile.rows_outside > 0 {
        let (outside, rows) = (tile.rows_outside, tile.rows.len());
        text.push_str(&format!(" ({outside} of {rows} rows outside of the tensor, filled but counted)"));
    }
    text
}
