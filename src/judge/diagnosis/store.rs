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
            Some(StoreFault::Map(map, _)) => map[r * t.n() + q].is_some(),
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
            Some(StoreFault::Map(map, _)) => map[r * t.n() + q].unwrap_or((r, q)),
            Some(StoreFault::Pitch(pitch)) if t.out_by_columns => {
                let at = q % tq * tr + r % tr;
                (r / tr * tr + at % pitch, q / tq * tq + at / pitch)
            }
            Some(StoreFault::Pitch(pitch)) => {
                let at = r % tr * tq + q % tq;
                (r / tr * tr + at / pitch, q / tq * tq + at % pitch)
            }
            _ => (r, q),
        }
    }

    /// Elements from line to line, and whether lines are columns.
    fn layout(&self) -> (usize, bool) {
        let t = self.target;
        match self.fault {
            Some(StoreFault::Leading(leading)) => ((*leading).max(1), t.out_by_columns),
            Some(StoreFault::OtherMajor(leading)) => ((*leading).max(1), !t.out_by_columns),
            _ => (t.out_leading, t.out_by_columns),
        }
    }

    /// Lines that are written, and elements of one.
    fn lines(&self) -> (usize, usize) {
        let t = self.target;
        let (rows, columns) = match self.fault {
            Some(StoreFault::Unmasked) => (t.a.padded(), t.padded_columns()),
            _ => (t.m(), t.n()),
        };
        if self.layout().1 { (columns, rows) } else { (rows, columns) }
    }

    /// All accumulators written to `address`, in no order.
    pub(super) fn sources(&self, address: usize) -> Vec<(usize, usize)> {
        let t = self.target;
        let ((leading, by_columns), (lines, length)) = (self.layout(), self.lines());
        let mut found = Vec::new();
        let shift = if let Some(StoreFault::Offset(by)) = self.fault { *by } else { 0 };
        let Ok(address) = usize::try_from(address as i64 - shift) else { return found };
        let mut line = address / leading;
        loop {
            let at = address - line * leading;
            if at >= length {
                break;
            }
            let (r, q) = if by_columns { (at, line) } else { (line, at) };
            if line < lines && self.written(r, q) {
                let source = self.source(r, q);
                found.push(source);
                // What lies between the lines of a staged tile is anything: written, and not compared.
                let within = source.0 / t.a.tile == r / t.a.tile && source.1 / t.b.tile == q / t.b.tile;
                if matches!(self.fault, Some(StoreFault::Pitch(_))) && !within {
                    found.push(source);
                }
            }
            if line == 0 {
                break;
            }
            line -= 1;
        }
        found
    }

    /// Whether something is written behind the storage.
    pub(super) fn beyond(&self) -> bool {
        let t = self.target;
        match self.fault {
            Some(StoreFault::Leading(_) | StoreFault::OtherMajor(_) | StoreFault::Unmasked) => {
                let ((leading, _), (lines, length)) = (self.layout(), self.lines());
                (lines - 1) * leading + length > t.storage()
            }
            Some(StoreFault::Offset(by)) => *by != 0,
            Some(StoreFault::Map(_, beyond)) => *beyond,
            _ => false,
        }
    }
}
