//! What the multiplier sees of an operand, knobs included.

use super::format;
use super::inputs::Inputs;
use super::knobs::{Decode, Knobs, RowMap, ScaleCell, ScaleFault, SideKnobs, Twice};
use super::target::{BlockScale, Side, Target};
use super::values::Values;

/// Physical position of factor (r, g) in the 128 × 4 layout, where a row has `groups` factors.
pub fn swizzled_position(r: usize, g: usize, groups: usize) -> usize {
    ((r / 128) * groups.div_ceil(4) + g / 4) * 512 + (r % 32) * 16 + (r % 128) / 32 * 4 + g % 4
}

/// Elements of storage in the 128 × 4 layout.
pub fn swizzled_storage(rows: usize, groups: usize) -> usize {
    rows.div_ceil(128) * groups.div_ceil(4) * 512
}

/// Chunk permutation of a shared-memory swizzle of `span` bytes at a row.
fn swizzle_mask(span: u32, row: usize) -> usize {
    match span {
        128 => row % 8,
        64 => row / 2 % 4,
        32 => row / 4 % 2,
        _ => 0,
    }
}

/// One operand under one probe.
pub struct Operand<'a> {
    target: &'a Target,
    side: &'a Side,
    knobs: &'a SideKnobs,
    is_a: bool,
    no_zero_fill: bool,
    values: &'a Values,
    /// Whose tensor it is: another operand's, when the two are exchanged.
    stored: &'a Side,
    padding: f64,
    scales: &'a [f64],
    scale: Option<(BlockScale, usize, usize)>,
    /// The other operand's factors, their rows and columns, where they are taken besides.
    other: Option<(BlockScale, &'a [f64], usize, usize)>,
    /// What padding holds, read as a factor: of this operand, and of the other.
    nothing: (f64, f64),
    plain: bool,
}

/// What storage that holds no factor is read as. The smallest factor is zero: nothing is left of it beside any other.
fn scale_padding(scale: Option<BlockScale>, poisoned: bool, poison: Option<f64>) -> f64 {
    let Some(scale) = scale else { return 1.0 };
    let value = match poison {
        Some(value) if poisoned => value,
        _ if poisoned => format::poison(scale.element),
        _ => format::value(scale.element, 0),
    };
    if value.abs() < NOTHING { 0.0 } else { value }
}

/// What is below this vanishes beside any sum of the probes.
const NOTHING: f64 = 1.0 / (1_u128 << 100) as f64;

impl<'a> Operand<'a> {
    /// a, or b.
    pub fn new(target: &'a Target, inputs: &'a Inputs, knobs: &'a Knobs, is_a: bool) -> Self {
        let (side, other) = if is_a { (&target.a, &target.b) } else { (&target.b, &target.a) };
        let own = if is_a { &knobs.a } else { &knobs.b };
        let swapped = own.other_scale;
        let scaled = if swapped { other } else { side };
        let scales = if is_a != swapped { &inputs.a_scale } else { &inputs.b_scale };
        let own_values = is_a != own.other_tensor;
        let extent = scaled.scale.zip(scaled.scale_extent(target.k)).map(|(s, (rows, groups))| (s, rows, groups));
        Operand {
            target,
            side,
            knobs: own,
            is_a,
            no_zero_fill: knobs.no_zero_fill,
            values: if own_values { &inputs.a } else { &inputs.b },
            stored: if own.other_tensor { other } else { side },
            padding: if own_values { inputs.a_padding } else { inputs.b_padding },
            scales,
            scale: extent,
            other: (own.also_other_scale)
                .then(|| {
                    let (rows, groups) = other.scale_extent(target.k)?;
                    Some((other.scale?, if is_a { inputs.b_scale.as_slice() } else { &inputs.a_scale }, rows, groups))
                })
                .flatten(),
            nothing: (
                scale_padding(scaled.scale, inputs.poisoned, own.scale_poison),
                scale_padding(other.scale, inputs.poisoned, own.scale_poison),
            ),
            plain: *own == SideKnobs::default(),
        }
    }

    /// The row of the tensor that padded row r takes.
    fn source_row(&self, r: usize) -> usize {
        let tile = self.side.tile;
        let local = self.target.local_row(self.is_a, r) % tile;
        let (base, half) = (r - local, tile / 2);
        match &self.knobs.rows {
            None => r,
            Some(RowMap::HalfDuplicate) => base + if local >= half { local - half } else { local },
            Some(RowMap::HalfSwap) => base + if local >= half { local - half } else { local + half },
            Some(RowMap::Table(table)) => table.get(r).copied().unwrap_or(r),
        }
    }

    fn at_address(&self, address: i64) -> f64 {
        let Ok(address) = usize::try_from(address) else { return self.padding };
        let (line, column) = (address / self.stored.leading, address % self.stored.leading);
        let (r, k) = if self.stored.k_major { (line, column) } else { (column, line) };
        if r < self.stored.rows && k < self.target.k { self.values.get(r, k) } else { self.padding }
    }

    fn element(&self, r: usize, k: usize) -> f64 {
        let knobs = self.knobs;
        if let Some(map) = &knobs.map {
            let inside = r < self.side.rows && k < self.target.k;
            let index = if inside { map[r * self.target.k + k] } else { None };
            let none = if knobs.map_padding { self.padding } else { 0.0 };
            return index.map_or(none, |index| self.values.flat(index as usize));
        }
        if let Some(tiled) = &knobs.tiled {
            let (row, column) = tiled.source(r, k);
            let (Ok(row), Ok(column)) = (usize::try_from(row), usize::try_from(column)) else { return 0.0 };
            let inside = row < self.side.rows && column < self.target.k;
            return if inside { self.values.get(row, column) } else { 0.0 };
        }
        let row = self.source_row(r);
        let mut column = k;
        if let Some((write, read)) = knobs.swizzle {
            let chunk = (128 / self.side.element.bits()).max(1) as usize;
            let tile = self.target.tile_k;
            let chunks = (tile / chunk).max(1);
            let local = self.target.local_row(self.is_a, r) % self.side.tile;
            let mask = (swizzle_mask(write, local) ^ swizzle_mask(read, local)) % chunks;
            let within = column % tile;
            column = column / tile * tile + ((within / chunk) ^ mask) * chunk + within % chunk;
        }
        if knobs.nibble {
            column ^= 1;
        }
        let rows = knobs.row_limit.unwrap_or(self.side.rows);
        if row >= rows || (column >= self.target.k && !self.no_zero_fill) {
            return 0.0;
        }
        match knobs.affine {
            None if column < self.target.k && !knobs.other_tensor => self.values.get(row, column),
            affine => {
                let (a, b, g) = affine.unwrap_or_else(|| self.side.affine());
                self.at_address(row as i64 * a + column as i64 * b + g)
            }
        }
    }

    fn decoded(&self, x: f64) -> f64 {
        if let Some(values) = &self.knobs.values {
            let code = format::code(self.side.element, x) as usize;
            return values.get(code).copied().flatten().unwrap_or(x);
        }
        match self.knobs.decode {
            None => x,
            Some(Decode::Half) => x / 2.0,
            Some(Decode::As(other)) => format::value(other, format::code(self.side.element, x)),
            Some(Decode::Flushed) => format::flushed(self.side.element, x),
        }
    }

    fn factor(&self, r: usize, k: usize) -> f64 {
        self.own_factor(r, k) * self.other_factor(r, k)
    }

    /// The other operand's factor at this row.
    fn other_factor(&self, r: usize, k: usize) -> f64 {
        let Some((scale, scales, rows, groups)) = self.other else { return 1.0 };
        let (row, group) = (r / scale.row_block, (k / scale.k_block).min(groups - 1));
        if row < rows { scales[row * groups + group] } else { self.nothing.1 }
    }

    fn own_factor(&self, r: usize, k: usize) -> f64 {
        let Some((scale, rows, groups)) = self.scale else { return 1.0 };
        let local = self.target.local_row(self.is_a, r) % self.side.tile;
        let (r, tile_row) = (r.min(self.side.rows - 1), r - local);
        // Another operand's factors are taken at this operand's own places.
        let row_block = self.side.scale.map_or(scale.row_block, |own| own.row_block);
        let row = (r / row_block) % rows;
        let group = (k / scale.k_block).min(groups - 1);
        let get = |row: usize, group: usize| self.scales[row * groups + group];
        match &self.knobs.scale {
            None => get(row, group),
            Some(ScaleFault::Ignored) => 1.0,
            Some(ScaleFault::Coarse) => get(row, (k / (2 * scale.k_block)).min(groups - 1)),
            Some(ScaleFault::Fine) => get(row, (2 * k / scale.k_block).min(groups - 1)),
            Some(ScaleFault::Next { clamp }) if group + 1 >= groups => {
                if *clamp {
                    get(row, groups - 1)
                } else {
                    self.nothing.0
                }
            }
            Some(ScaleFault::Next { .. }) => get(row, group + 1),
            Some(ScaleFault::Previous) => get(row, group.saturating_sub(1)),
            Some(ScaleFault::RowMajor) => {
                let flat = swizzled_position(row, group, groups);
                if flat < rows * groups { self.scales[flat] } else { 1.0 }
            }
            Some(ScaleFault::Bound(bound)) => {
                if swizzled_position(row, group, groups) < *bound {
                    get(row, group)
                } else {
                    format::value(scale.element, 0)
                }
            }
            Some(ScaleFault::Transposed) => {
                let flat = row * groups + group;
                self.scales[flat % rows * groups + flat / rows]
            }
            Some(ScaleFault::As(other)) => format::value(*other, format::code(scale.element, get(row, group))),
            Some(ScaleFault::Values(values)) => {
                let x = get(row, group);
                values.get(format::code(scale.element, x) as usize).copied().flatten().unwrap_or(x)
            }
            Some(ScaleFault::Beyond) if k / scale.k_block >= groups => self.at_place(row, k / scale.k_block),
            Some(ScaleFault::Beyond) => get(row, group),
            Some(ScaleFault::Flushed) => format::flushed(scale.element, get(row, group)),
            Some(ScaleFault::TileRow) => get((tile_row / scale.row_block) % rows, group),
            Some(ScaleFault::Map(map)) => {
                let cell = if k < self.target.k { map[r * self.target.k + k] } else { ScaleCell::Padding };
                match cell {
                    ScaleCell::At(index) => self.scales[index as usize],
                    ScaleCell::Padding => self.nothing.0,
                    ScaleCell::Zero => 0.0,
                }
            }
        }
    }

    /// What lies at the place of a factor beyond the last block of k.
    fn at_place(&self, row: usize, group: usize) -> f64 {
        let Some((scale, rows, groups)) = self.scale else { return 1.0 };
        let (row, group) = if scale.swizzled {
            let place = swizzled_position(row, group, groups);
            let (tile, within, wide) = (place / 512, place % 512, groups.div_ceil(4));
            (tile / wide * 128 + within % 16 / 4 * 32 + within / 16, tile % wide * 4 + within % 4)
        } else {
            let place = row * groups + group;
            (place / groups, place % groups)
        };
        if row < rows && group < groups { self.scales[row * groups + group] } else { self.nothing.0 }
    }

    /// The values, where the multiplier sees them unchanged.
    pub fn untouched(&self) -> Option<&'a Values> {
        (self.plain && self.scale.is_none() && !self.no_zero_fill).then_some(self.values)
    }

    /// Appends rows as the multiplier sees them, where they are those of the tensor.
    pub fn plain_rows(&self, rows: &[usize], out: &mut Vec<f64>) -> bool {
        let plain = self.plain && self.scale.is_none() && !self.no_zero_fill;
        if !plain || rows.iter().any(|r| *r >= self.side.rows) {
            return false;
        }
        rows.iter().for_each(|r| self.values.append(*r, out));
        true
    }

    /// Row r, as the multiplier sees it, over all slots: k of the element, and of its factor.
    pub fn row(&self, r: usize, ks: &mut dyn Iterator<Item = (u32, u32)>) -> Vec<f64> {
        let scaled = self.scale.is_some() || self.other.is_some();
        let factor = |r, k: u32| if scaled { self.factor(r, k as usize) } else { 1.0 };
        if self.plain && r < self.side.rows && !self.no_zero_fill {
            let line = self.values.line(r);
            return ks.map(|(k, of)| line.get(k as usize).copied().unwrap_or(0.0) * factor(r, of)).collect();
        }
        ks.map(|(k, of)| self.multiplied(self.decoded(self.element(r, k as usize)), k as usize) * factor(r, of))
            .collect()
    }

    /// What an element contributes where one operand takes the place of both: the square of it, and one for the other.
    fn multiplied(&self, x: f64, k: usize) -> f64 {
        match self.knobs.twice {
            Some((Twice::Own, every, first)) if k % every == first => x * x,
            Some((Twice::Other, every, first)) if k % every == first => 1.0,
            _ => x,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{swizzled_position, swizzled_storage};

    #[test]
    fn the_128x4_layout_is_a_bijection_into_its_storage() {
        let (rows, groups) = (128, 8);
        let mut seen = vec![false; swizzled_storage(rows, groups)];
        for r in 0..rows {
            for g in 0..groups {
                let at = swizzled_position(r, g, groups);
                assert!(!std::mem::replace(&mut seen[at], true));
            }
        }
        assert_eq!((swizzled_position(33, 5, 8), seen.len()), (512 + 16 + 4 + 1, 1024));
    }
}
