//! Which accumulators are written to an address.

use super::knobs::StoreFault;
use super::target::Target;

/// The store of a kernel, knobs included.
pub(super) struct Store<'a> {
    target: &'a Target,
    fault: Option<&'a StoreFault>,
}

impl<'a> Store<'a> {
    pub(super) fn new(target: &'a Target, fault: Option<&'a StoreFault>) -> Self {
        Store { target, fault }
    }

    /// Whether the accumulator at (r, q) of the padded tiles is written at all.
    fn written(&self, r: usize, q: usize) -> bool {
        let t = self.target;
        match self.fault {
            Some(StoreFault::Unwritten { tile }) => (r / t.a.tile, q / t.b.tile) != *tile,
            Some(StoreFault::ColumnsFrom(limit)) => q < *limit,
            Some(StoreFault::RowsFrom(limit)) => r < *limit,
            Some(StoreFault::TileRowsFrom(limit)) => r % t.a.tile < *limit,
            Some(StoreFault::TileColumnsFrom(limit)) => q % t.b.tile < *limit,
            Some(StoreFault::Mask(mask)) => mask[r * t.n() + q],
            _ => true,
        }
    }

    /// The accumulator that comes to rest at logical (r, q).
    fn source(&self, r: usize, q: usize) -> (usize, usize) {
        let t = self.target;
        let (tr, tq) = (t.a.tile, t.b.tile);
        match self.fault {
            Some(StoreFault::Transposed) => (r / tr * tr + q % tq % tr, q / tq * tq + r % tr % tq),
            Some(StoreFault::ColumnXor(x)) => (r, q ^ x),
            Some(StoreFault::RowXor(x)) => (r ^ x, q),
            Some(StoreFault::RowInterleave) => {
                let local = r % 16;
                (r - local + local % 2 * 8 + local / 2, q)
            }
            Some(StoreFault::TileSwap) => {
                let swap = |i: usize, tile: usize| match i / tile {
                    0 => i + tile,
                    1 => i - tile,
                    _ => i,
                };
                if t.column_tiles() > 1 { (r, swap(q, tq)) } else { (swap(r, tr), q) }
            }
            Some(StoreFault::Map(map)) => map[r * t.n() + q],
            Some(StoreFault::Pitch(pitch)) => {
                let at = r % tr * tq + q % tq;
                (r / tr * tr + at / pitch, q / tq * tq + at % pitch)
            }
            _ => (r, q),
        }
    }

    /// All accumulators written to `address`, in no order.
    pub(super) fn sources(&self, address: usize) -> Vec<(usize, usize)> {
        let t = self.target;
        let leading = match self.fault {
            Some(StoreFault::Leading(leading)) => (*leading).max(1),
            _ => t.out_leading,
        };
        let (rows, columns) = match self.fault {
            Some(StoreFault::Unmasked) => (t.a.padded(), t.padded_columns()),
            _ => (t.m(), t.n()),
        };
        let mut found = Vec::new();
        let shift = if let Some(StoreFault::Offset(by)) = self.fault { *by } else { 0 };
        let Ok(address) = usize::try_from(address as i64 - shift) else { return found };
        let mut r = address / leading;
        loop {
            let q = address - r * leading;
            if q >= columns {
                break;
            }
            if r < rows && self.written(r, q) {
                let source = self.source(r, q);
                found.push(source);
                // What lies between the rows of a staged tile is anything: written, and not compared.
                if matches!(self.fault, Some(StoreFault::Pitch(_))) && source.1 / t.b.tile != q / t.b.tile {
                    found.push(source);
                }
            }
            if r == 0 {
                break;
            }
            r -= 1;
        }
        found
    }

    /// Whether something is written behind the storage.
    pub(super) fn beyond(&self) -> bool {
        let t = self.target;
        match self.fault {
            Some(StoreFault::Leading(leading)) => (t.m() - 1) * leading + t.n() > t.storage(),
            Some(StoreFault::Unmasked) => (t.a.padded() - 1) * t.out_leading + t.padded_columns() > t.storage(),
            Some(StoreFault::Offset(by)) => *by != 0,
            _ => false,
        }
    }
}
