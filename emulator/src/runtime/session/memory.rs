//! Device memory: allocation, copies and fills of regions (rows of `width` bytes, `pitch` apart).

use super::{Failure, Reply, Session};
use crate::memory::MemoryFault;
use crate::runtime::wire::Request;
use crate::runtime::{ReportKind, errors};

/// The most bytes of one region; the executable could not hold more.
const MOST: u64 = 1 << 40;

/// Addresses of the rows of a region.
fn rows(address: u64, pitch: u64, height: u64) -> impl Iterator<Item = u64> {
    (0..height).map(move |row| address.wrapping_add(row.wrapping_mul(pitch)))
}

/// Bytes of a region.
fn size(width: u64, height: u64) -> Result<u64, Failure> {
    width.checked_mul(height).filter(|&size| size <= MOST).ok_or_else(|| Failure::plain(errors::INVALID_VALUE))
}

/// A call of the host that names memory which is not there: the driver says invalid argument, and the outcome says why.
fn invalid(what: &str, fault: &MemoryFault) -> Failure {
    Failure::reported(errors::INVALID_VALUE, ReportKind::Refused, format!("{what}: {fault}"))
}

impl Session<'_> {
    pub(super) fn allocate(&mut self, request: &Request) -> Result<Reply, Failure> {
        match request.argument(0) {
            0 => Ok(Reply::of([0])),
            bytes => match self.memory.allocate(bytes, 256) {
                Ok(address) => Ok(Reply::of([address])),
                Err(_) => Err(Failure::plain(errors::OUT_OF_MEMORY)),
            },
        }
    }

    pub(super) fn free(&mut self, request: &Request) -> Result<Reply, Failure> {
        self.memory.free(request.argument(0)).map_err(|fault| invalid("free", &fault))?;
        Ok(Reply::default())
    }

    pub(super) fn write(&mut self, request: &Request) -> Result<Reply, Failure> {
        let [address, pitch, width, height] = std::array::from_fn(|at| request.argument(at));
        if size(width, height)? != request.blob.len() as u64 {
            return Err(Failure::plain(errors::INVALID_VALUE));
        }
        for (row, bytes) in rows(address, pitch, height).zip(request.blob.chunks_exact(width.max(1) as usize)) {
            self.memory.write(row, bytes).map_err(|fault| invalid("copy to the device", &fault))?;
        }
        Ok(Reply::default())
    }

    pub(super) fn read(&mut self, request: &Request) -> Result<Reply, Failure> {
        let [address, pitch, width, height] = std::array::from_fn(|at| request.argument(at));
        size(width, height)?;
        let mut blob = Vec::new();
        for row in rows(address, pitch, height) {
            // Nothing is reserved for bytes that are not there.
            let inside = self.memory.allocation(row).is_some_and(|found| width <= found.bytes - (row - found.base));
            let at = blob.len();
            blob.resize(at + if inside { width as usize } else { 1 }, 0);
            let read = if inside { self.memory.read(row, &mut blob[at..]) } else { self.explain(row, width) };
            read.map_err(|fault| invalid("copy from the device", &fault))?;
        }
        Ok(Reply::bytes(blob))
    }

    /// Why a row that does not fit into one allocation cannot be read.
    fn explain(&self, address: u64, bytes: u64) -> Result<(), MemoryFault> {
        self.memory.read(address, &mut vec![0; bytes.min(1 << 16) as usize])?;
        Err(MemoryFault::OutOfBounds { address, bytes, near: None })
    }

    pub(super) fn copy(&mut self, request: &Request) -> Result<Reply, Failure> {
        let [to, to_pitch, from, from_pitch, width, height] = std::array::from_fn(|at| request.argument(at));
        size(width, height)?;
        for (to, from) in rows(to, to_pitch, height).zip(rows(from, from_pitch, height)) {
            self.memory.copy(to, from, width).map_err(|fault| invalid("copy on the device", &fault))?;
        }
        Ok(Reply::default())
    }

    pub(super) fn fill(&mut self, request: &Request) -> Result<Reply, Failure> {
        let [address, pitch, value, element, columns, height] = std::array::from_fn(|at| request.argument(at));
        if !matches!(element, 1 | 2 | 4) {
            return Err(Failure::plain(errors::INVALID_VALUE));
        }
        let width = size(columns, element)?;
        size(width, height)?;
        let pattern = &value.to_le_bytes()[..element as usize];
        for row in rows(address, pitch, height) {
            self.memory.fill(row, width, pattern).map_err(|fault| invalid("fill", &fault))?;
        }
        Ok(Reply::default())
    }

    pub(super) fn address(&self, request: &Request) -> Reply {
        match self.memory.allocation(request.argument(0)) {
            Some(found) => Reply::of([1, found.base, found.bytes]),
            None => Reply::of([0, 0, 0]),
        }
    }
}
