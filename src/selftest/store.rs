//! The simulated store, with its masks, and what a launch leaves in memory.

use crate::judge::diagnosis::format;
use crate::judge::diagnosis::target::Target;
use crate::model::RawLaunch;

use super::defects::Defect as D;
use super::device::{Device, Place};

/// Elements of guard behind the output.
const GUARD: usize = 4096;

/// The output's memory.
pub(super) struct Output {
    values: Vec<f64>,
    written: Vec<bool>,
    storage: usize,
    /// Elements written before the first one.
    before: usize,
    /// What the output held.
    start: f64,
}

impl Output {
    pub(super) fn new(target: &Target, before: f64) -> Self {
        let storage = target.storage();
        Output {
            values: vec![before; storage + GUARD],
            written: vec![false; storage + GUARD],
            storage,
            before: 0,
            start: before,
        }
    }

    /// What an address holds plus `value`, as a reduction in memory leaves it.
    fn sum(&self, device: &Device, address: i64, value: f64) -> f64 {
        let before = usize::try_from(address).ok().and_then(|at| self.values.get(at)).copied().unwrap_or(0.0);
        let sum = device.target.splits.sum;
        let sum = if device.has(D::SplitInBf16).is_some() { crate::model::ElementType::Bf16 } else { sum };
        format::convert(sum, before + value, format::Rounding::NearestEven, true)
    }

    fn write(&mut self, address: i64, value: f64) {
        let Ok(address) = usize::try_from(address) else {
            self.before += 1;
            return;
        };
        if address < self.values.len() {
            self.values[address] = value;
            self.written[address] = true;
        }
    }

    /// Writes one tile of values, or adds it.
    pub(super) fn store(&mut self, device: &Device, values: &[f64], at: Place, add: bool) {
        let tile = at.tile;
        let t = &device.target;
        let (rows, columns) = (t.a.tile, t.b.tile);
        let has = |defect| device.has(defect);
        if has(D::TileUnwritten).is_some_and(|p| p.tile == tile) {
            return;
        }
        let mut place = tile;
        if has(D::StoreTileSwap).is_some() {
            let swap = |i: usize| if i < 2 { 1 - i } else { i };
            if t.column_tiles() > 1 { place.1 = swap(tile.1) } else { place.0 = swap(tile.0) }
        }
        let leading = (t.out_leading as i64 + has(D::OutStride).map_or(0, |p| p.number)).max(1) as usize;
        // A kernel that takes columns for rows takes the length of such a line for its stride too.
        let (by_columns, leading) = match has(D::OutMajor) {
            None => (t.out_by_columns, leading),
            Some(_) if t.out_by_columns => (false, t.n()),
            Some(_) => (true, t.m()),
        };
        let rows_end = if has(D::RowTail).is_some() { t.m() / 8 * 8 } else { t.m() };
        let columns_end = if has(D::ColumnTail).is_some() { t.n() / 8 * 8 } else { t.n() };
        let everywhere = has(D::Unmasked).is_some();
        for i in 0..rows * columns {
            let (r, c) = (i / columns, i % columns);
            let (mut from_r, mut from_c) = (r, c);
            if has(D::StoreTransposed).is_some() {
                (from_r, from_c) = (c, r);
            }
            if has(D::ColumnPairs).is_some() {
                from_c = c ^ 1;
            }
            if has(D::ColumnRotated).is_some() {
                from_c = (c + 3) % columns;
            }
            if has(D::RowXor4).is_some() {
                from_r = r ^ 4;
            }
            if has(D::RowInterleave).is_some() {
                from_r = r / 16 * 16 + (r % 2) * 8 + (r % 16) / 2;
            }
            let first = if t.groups.is_some() { at.first } else { place.0 * rows };
            let (m, n) = (first + r, place.1 * columns + c);
            let rows_end = if t.groups.is_some() { at.end } else { rows_end };
            let half = has(D::HalfUnwritten).is_some() && c >= columns / 2;
            let last = has(D::LastRowUnwritten).is_some() && r + 1 == rows;
            let first = has(D::FirstRowOfTileUnwritten).is_some() && r == 0;
            if half || last || first || !(everywhere || (m < rows_end && n < columns_end)) {
                continue;
            }
            // Place in the staged tile, whose lines are those of the output.
            let (at, length) = if t.out_by_columns { (c * rows + r, rows) } else { (i, columns) };
            let staged = has(D::StagedPitch).map(|p| length + p.number as usize);
            let value = match staged {
                None => values[from_r * columns + from_c],
                Some(pitch) if at % pitch < length && t.out_by_columns => values[at % pitch * columns + at / pitch],
                Some(pitch) if at % pitch < length => values[at / pitch * columns + at % pitch],
                // Between two rows: whatever was there.
                Some(_) => 7.0,
            };
            let base = has(D::OutBase).map_or(0, |p| p.number);
            let (along, line) = if by_columns { (m, n) } else { (n, m) };
            let along = if has(D::StoreReversed).is_some() { -(along as i64) } else { along as i64 };
            let address = (line * leading) as i64 + along + base;
            let value = if add { self.sum(device, address, value) } else { value };
            self.write(address, value);
        }
    }

    /// The launch as the executable would write it.
    pub(super) fn raw(self, target: &Target, probe: u32, launch: u32) -> RawLaunch {
        let bytes = target.out.bits() as usize / 8;
        let mut storage = Vec::with_capacity(self.storage * bytes);
        let mut mask = vec![0_u8; self.storage.div_ceil(8)];
        for i in 0..self.storage {
            let code = format::code(target.out, self.values[i]);
            storage.extend_from_slice(&code.to_le_bytes()[..bytes]);
            // Without a sentinel nobody sees which elements were written.
            let seen = self.written[i] || (!self.start.is_nan() && target.place(i).is_some());
            mask[i / 8] |= u8::from(seen) << (i % 8);
        }
        let beyond = self.before + self.written[self.storage..].iter().filter(|w| **w).count();
        RawLaunch {
            probe,
            launch,
            cuda_error: false,
            shared_filled: true,
            element: target.out,
            rows: target.m() as u64,
            columns: target.n() as u64,
            leading_dimension: target.out_leading as u64,
            guard_hits: (beyond * bytes) as u64,
            input_hits: 0,
            storage,
            mask,
        }
    }
}
