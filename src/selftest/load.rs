//! The simulated loads: box with zero fill, swizzled shared tile, decoding, scale factors.

use crate::judge::diagnosis::target::{BlockScale, Side};
use crate::model::ElementType;

use super::contracts::Random;
use super::defects::Defect;
use super::device::{Device, Memory, Tile};
use super::memory::{Scales, chunk_slot, value};

/// Another code in place of one: the lowest bit is wrong; zero stays, where small values next to it would not be exact.
fn shifted(element: ElementType, code: u32) -> u32 {
    match element {
        ElementType::E4m3 | ElementType::Ue4m3 if !(8..0x78).contains(&(code & 0x7f)) => code,
        ElementType::Ue8m0 if !(100..150).contains(&code) => code,
        _ => code ^ 1,
    }
}

impl Device {
    /// Code of element (r, k) as the box load delivers it, before shared memory.
    fn fetch(&self, memory: &Memory, is_a: bool, r: usize, k: usize, first_row: usize) -> u32 {
        let t = &self.target;
        let (side, mut tensor) = if is_a { (&t.a, &memory.a) } else { (&t.b, &memory.b) };
        if self.has(Defect::OperandsSwapped).is_some() {
            tensor = if is_a { &memory.b } else { &memory.a };
        }
        let mut limit = side.rows;
        if self.on(Defect::RowClamp8, is_a).is_some() {
            limit = side.rows / 8 * 8;
        }
        if self.on(Defect::RowClamp4, is_a).is_some() {
            limit = side.rows / 4 * 4;
        }
        if r >= limit || (k >= t.k && self.has(Defect::KTailGarbage).is_none()) {
            return 0;
        }
        let cut = self.has(Defect::KTailCut).map_or(0, |p| p.number as usize);
        if cut > 0 && k + cut >= t.k {
            return 0;
        }
        let (r, k) = if self.on(Defect::TileTransposed, is_a).is_some() {
            (k / t.tile_k * t.tile_k + r % side.tile, r / side.tile * side.tile + k % t.tile_k)
        } else {
            (r, k)
        };
        if r >= limit.max(side.rows) || (self.on(Defect::TileTransposed, is_a).is_some() && k >= t.k) {
            return 0;
        }
        let (row, column) = (r as i64, k as i64);
        let mut leading = side.leading as i64;
        let mut base = 0;
        if let Some(p) = self.on(Defect::StrideWrong, is_a) {
            leading += p.number;
        }
        if let Some(p) = self.on(Defect::BaseOffset, is_a) {
            base = p.number;
        }
        if self.on(Defect::StrideAndOffset, is_a).is_some() {
            leading += 8;
            base = 8;
        }
        if is_a && first_row > 0 && self.has(Defect::StrideLastTile).is_some() {
            base += 8 * row;
        }
        let along_k = side.k_major != self.on(Defect::Transposed, is_a).is_some();
        if !along_k && side.k_major {
            leading = side.rows as i64;
        }
        tensor.read(base + if along_k { row * leading + column } else { column * leading + row })
    }

    fn decode(&self, is_a: bool, element: ElementType, code: u32) -> f64 {
        let mut read_as = element;
        if self.on(Defect::Misread, is_a).is_some() {
            read_as = match element {
                ElementType::E4m3 => ElementType::E5m2,
                ElementType::E5m2 => ElementType::E4m3,
                ElementType::Bf16 => ElementType::F16,
                _ => ElementType::Bf16,
            };
        }
        if self.on(Defect::Signedness, is_a).is_some() {
            read_as = ElementType::U8;
        }
        let code = if self.on(Defect::CodesShifted, is_a).is_some() { shifted(element, code) } else { code };
        let mut x = value(read_as, code);
        if self.on(Defect::Fnuz, is_a).is_some() {
            x /= 2.0;
        }
        if self.on(Defect::Absolute, is_a).is_some() {
            x = x.abs();
        }
        if is_a && self.has(Defect::Clipped).is_some() {
            x = x.clamp(-3.0, 3.0);
        }
        x
    }

    /// One tile through shared memory: load, swizzled write, swizzled read, decode, scale.
    pub(super) fn tile(&self, memory: &Memory, is_a: bool, (first_row, apart): (usize, usize), first_k: usize) -> Tile {
        let t = &self.target;
        let side: &Side = if is_a { &t.a } else { &t.b };
        let (rows, columns) = (side.tile, t.tile_k);
        let mut loaded = vec![0_u32; rows * columns];
        for r in 0..rows {
            for c in 0..columns {
                loaded[r * columns + c] = self.fetch(memory, is_a, first_row + r * apart, first_k + c, first_row);
            }
        }
        self.shuffle_rows(&mut loaded, is_a, first_row, rows, columns);
        if self.on(Defect::NibbleSwap, is_a).is_some() {
            loaded.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        }
        let chunk = (128 / side.element.bits()).max(1) as usize;
        let chunks = columns / chunk;
        let mut shared = vec![0_u32; rows * columns];
        for r in 0..rows {
            for c in 0..chunks {
                let slot = chunk_slot(self.swizzle, r, c, chunks);
                let from = r * columns + c * chunk;
                shared[r * columns + slot * chunk..][..chunk].copy_from_slice(&loaded[from..from + chunk]);
            }
        }
        if self.on(Defect::SharedSlot, is_a).is_some() {
            let count = shared.len();
            let pick = |shift: u32| (self.fixed >> shift) as usize % count;
            shared[pick(5)] = shared[pick(19)];
        }
        let mut read_span = self.swizzle;
        if let Some(p) = self.on(Defect::SwizzleMismatch, is_a) {
            read_span = p.number as u32;
        }
        if self.has(Defect::SwizzleBoth).is_some() {
            read_span = if self.swizzle > 32 { 32 } else { 0 };
        }
        let odd = self.on(Defect::SwizzleOdd, is_a).is_some() && chunks.is_power_of_two();
        let mut out = Vec::with_capacity(rows * columns);
        for r in 0..rows {
            for c in 0..columns {
                let mut slot = chunk_slot(read_span, r, c / chunk, chunks);
                if odd {
                    slot = (slot ^ (r / 4)) % chunks;
                }
                let code = shared[r * columns + slot * chunk + c % chunk];
                let x = self.decode(is_a, side.element, code);
                out.push(x * self.factor(memory, is_a, first_row + r * apart, first_k + c, first_row));
            }
        }
        out
    }

    fn shuffle_rows(&self, codes: &mut [u32], is_a: bool, first_row: usize, rows: usize, columns: usize) {
        let half = rows / 2 * columns;
        if self.on(Defect::RowHalfDuplicate, is_a).is_some() {
            codes.copy_within(..half, half);
        }
        if self.on(Defect::RowHalfSwap, is_a).is_some() {
            let (low, high) = codes.split_at_mut(half);
            low.swap_with_slice(&mut high[..half]);
        }
        if !is_a && self.has(Defect::QuarterDuplicate).is_some() {
            let quarter = rows / 4 * columns;
            codes.copy_within(..quarter, quarter);
        }
        let order = |seed: u64, count: usize| {
            let mut random = Random::new(seed);
            let mut order: Vec<usize> = (0..count).collect();
            for i in (1..count).rev() {
                order.swap(i, random.below(i + 1));
            }
            order
        };
        if self.on(Defect::RowsPermuted, is_a).is_some() {
            let old = codes.to_vec();
            for (to, from) in order(self.fixed, rows).into_iter().enumerate() {
                codes[to * columns..(to + 1) * columns].copy_from_slice(&old[from * columns..(from + 1) * columns]);
            }
        }
        if is_a && first_row > 0 && self.has(Defect::KPermutedTile1).is_some() {
            let order = order(self.fixed ^ 1, columns);
            for line in codes.chunks_exact_mut(columns) {
                let old = line.to_vec();
                order.iter().enumerate().for_each(|(to, from)| line[to] = old[*from]);
            }
        }
    }

    fn factor(&self, memory: &Memory, is_a: bool, r: usize, k: usize, first_row: usize) -> f64 {
        let t = &self.target;
        let side = if is_a { &t.a } else { &t.b };
        let (Some(scale), Some(scales)) = (side.scale, &memory.scales[usize::from(!is_a)]) else { return 1.0 };
        if self.on(Defect::ScaleIgnored, is_a).is_some() || self.on(Defect::ScaleAxis, is_a).is_some() {
            return 1.0;
        }
        let other = if is_a { &t.b } else { &t.a };
        if let (Some(_), Some(theirs), Some(factors)) =
            (self.on(Defect::ScaleAxis, !is_a), other.scale, &memory.scales[usize::from(is_a)])
        {
            let (row, group) = (r.min(side.rows - 1) / theirs.row_block, k.min(t.k - 1) / theirs.k_block);
            let rows = other.rows.div_ceil(theirs.row_block);
            let code = if row < rows { factors.read(row, group) } else { factors.at(-1) };
            return self.own_factor(scale, scales, (r, k), is_a, first_row) * value(theirs.element, code);
        }
        self.own_factor(scale, scales, (r, k), is_a, first_row)
    }

    fn own_factor(
        &self,
        scale: BlockScale,
        scales: &Scales,
        (r, k): (usize, usize),
        is_a: bool,
        first_row: usize,
    ) -> f64 {
        let t = &self.target;
        let side = if is_a { &t.a } else { &t.b };
        let k = k.min(t.k.next_multiple_of(scale.k_block) - 1);
        let length = if self.on(Defect::ScaleCoarse, is_a).is_some() { 2 * scale.k_block } else { scale.k_block };
        let mut group = k / length;
        let groups = t.k.div_ceil(scale.k_block);
        if self.on(Defect::ScaleNext, is_a).is_some() {
            group += 1;
        }
        if self.on(Defect::ScalePrevious, is_a).is_some() {
            group = group.saturating_sub(1);
        }
        if self.on(Defect::ScaleTailNextRow, is_a).is_some() && group + 1 == groups {
            group += 1;
        }
        let row = if self.on(Defect::ScaleTileRow, is_a).is_some() { first_row } else { r.min(side.rows - 1) };
        let mut code = scales.read(row / scale.row_block, group);
        if let Some(p) = self.on(Defect::ScalePlaceOff, is_a) {
            code = scales.at(scales.address(row / scale.row_block, group.min(groups - 1)) + p.number);
        }
        if self.on(Defect::ScalePlaceXor, is_a).is_some() {
            code = scales.at(scales.address(row / scale.row_block, group.min(groups - 1)) ^ 1);
        }
        if self.on(Defect::ScaleReadRowMajor, is_a).is_some() {
            code = scales.at((row / scale.row_block * groups + group.min(groups - 1)) as i64);
        }
        if self.on(Defect::ScaleCodes, is_a).is_some() {
            return value(scale.element, shifted(scale.element, code));
        }
        if self.on(Defect::ScaleDecode, is_a).is_some() {
            let other = if scale.element == ElementType::Ue8m0 { ElementType::Ue4m3 } else { ElementType::Ue8m0 };
            return value(other, code);
        }
        value(scale.element, code)
    }
}
