//! Where elements of a and b are taken from, and how they are read.

use crate::model::{ElementType, Stage};

use super::super::kind::Kind;
use super::super::knobs::{Decode, Knobs, RowMap, SideKnobs, Tiled, Twice};
use super::{Dictionary, OPERAND};

const PADDED: &[Kind] = &[Kind::PoisonedOnes, Kind::RandomPoisoned, Kind::Random, Kind::MapA, Kind::MapB];

impl Dictionary<'_> {
    fn one_side(&mut self, class: &'static str, is_a: bool, cause: &str, side: SideKnobs) {
        let name = if is_a { "a" } else { "b" };
        let mut knobs = Knobs::default();
        *(if is_a { &mut knobs.a } else { &mut knobs.b }) = side;
        self.add(class, Stage::OperandLoad, format!("{name}: {cause}"), knobs, OPERAND);
    }

    pub(super) fn load(&mut self) {
        let t = self.target;
        for is_a in [true, false] {
            let (side, fit) = if is_a { (t.a, self.fits.a) } else { (t.b, self.fits.b) };
            self.addresses(is_a, fit);
            for (write, read) in [(128, 64), (128, 32), (128, 0), (64, 32), (64, 0), (32, 0)] {
                let cause = format!(
                    "tiles are written with the {write}-byte swizzle and read with {read} bytes, or the reverse"
                );
                self.one_side(
                    "SWIZZLE_MISMATCH",
                    is_a,
                    &cause,
                    SideKnobs { swizzle: Some((write, read)), ..SideKnobs::default() },
                );
            }
            let rows = |rows| SideKnobs { rows: Some(rows), ..SideKnobs::default() };
            self.one_side(
                "ROW_HALF_DUP",
                is_a,
                "the upper half of each tile repeats the lower",
                rows(RowMap::HalfDuplicate),
            );
            self.one_side("ROW_HALF_SWAP", is_a, "the halves of each tile are exchanged", rows(RowMap::HalfSwap));
            for unit in [4, 8, 16, 32, 64, 128] {
                let limit = side.rows / unit * unit;
                if limit < side.rows && limit > 0 {
                    let cause = format!("rows from {limit} on are zero: the extent was rounded down to {unit}");
                    self.one_side(
                        "ROW_CLAMP_ZERO",
                        is_a,
                        &cause,
                        SideKnobs { row_limit: Some(limit), ..SideKnobs::default() },
                    );
                }
            }
            if t.is_plain() && (side.tiles() > 1 || (if is_a { t.b.tiles() } else { t.a.tiles() }) > 1) {
                let cause = "the tile coordinate of the other axis is taken";
                self.one_side("TILE_COORD_WRONG", is_a, cause, SideKnobs { tile_swap: true, ..SideKnobs::default() });
            }
            if side.element == ElementType::E2m1 {
                self.one_side(
                    "NIBBLE_SWAP",
                    is_a,
                    "the two values of a byte are exchanged",
                    SideKnobs { nibble: true, ..SideKnobs::default() },
                );
            }
        }
        if t.is_plain() {
            self.exchanged();
        }
        self.stale();
        self.decode();
        if !t.k.is_multiple_of(t.tile_k) {
            let knobs = Knobs { no_zero_fill: true, slots: Some(self.blocks(0..t.k_blocks())), ..Knobs::default() };
            self.add(
                "K_TAIL_OOB_READ",
                Stage::OperandLoad,
                format!("memory beyond k = {} is read and summed", t.k),
                knobs,
                PADDED,
            );
        }
    }

    /// The two tensors exchanged, one of them in place of both, and the coordinates of each tile.
    fn exchanged(&mut self) {
        let t = self.target;
        for (every, odd) in [(1, false), (2, false), (2, true)] {
            let side = |twice| SideKnobs { twice: Some((twice, every, usize::from(odd))), ..SideKnobs::default() };
            for (is_a, own, other) in [(true, Twice::Own, Twice::Other), (false, Twice::Other, Twice::Own)] {
                let (name, other_name) = if is_a { ("a", "b") } else { ("b", "a") };
                let k = match (every, odd) {
                    (1, _) => "",
                    (_, false) => ", at even k",
                    _ => ", at odd k",
                };
                let knobs = Knobs { a: side(own), b: side(other), ..Knobs::default() };
                let cause = format!("{name} is multiplied by itself instead of by {other_name}{k}");
                self.add("OPERAND_TWICE", Stage::OperandLoad, cause, knobs, OPERAND);
            }
        }
        if t.a.element == t.b.element {
            let side = SideKnobs { other_tensor: true, ..SideKnobs::default() };
            let knobs = Knobs { a: side.clone(), b: side, ..Knobs::default() };
            self.add("OPERANDS_SWAPPED", Stage::OperandLoad, "a and b are exchanged", knobs, OPERAND);
        }
        for (is_a, side) in [(true, t.a), (false, t.b)] {
            let (rows, depth) = (side.tile as i64, t.tile_k as i64);
            let tiled = Tiled { tile: (side.tile, t.tile_k), row: [0, 1, depth, 0, 0], column: [rows, 0, 0, 1, 0] };
            let cause = "the coordinates of each tile are exchanged: (k, row) instead of (row, k)";
            self.one_side("TRANSPOSED_OPERAND", is_a, cause, SideKnobs { tiled: Some(tiled), ..SideKnobs::default() });
        }
    }

    fn addresses(&mut self, is_a: bool, fit: Option<(i64, i64, i64)>) {
        let t = self.target;
        let side = if is_a { t.a } else { t.b };
        let affine = |to| SideKnobs { affine: Some(to), ..SideKnobs::default() };
        let own = side.affine();
        let crossed = [side.rows as i64, side.leading as i64, t.k as i64];
        for (index, leading) in crossed.iter().enumerate() {
            if crossed[..index].contains(leading) {
                continue;
            }
            let to = if side.k_major { (1, *leading, 0) } else { (*leading, 1, 0) };
            if to != own {
                self.one_side("TRANSPOSED_OPERAND", is_a, "rows and columns are exchanged", affine(to));
            }
        }
        let Some(fit) = fit.filter(|fit| *fit != own) else { return };
        let (line, step) = if side.k_major { (fit.0, fit.1) } else { (fit.1, fit.0) };
        let leading = side.leading as i64;
        if step == 1 && line != leading && fit.2 == 0 {
            let cause = format!("the stride is {line} elements instead of {leading}");
            self.one_side("ROW_STRIDE_WRONG", is_a, &cause, affine(fit));
        } else if step == 1 && line == leading {
            self.one_side("BASE_OFFSET", is_a, &format!("the base is off by {} elements", fit.2), affine(fit));
        } else if !(line == 1 && crossed.contains(&step) && fit.2 == 0) {
            let cause = format!("element (r, k) is read at r · {} + k · {} + {}", fit.0, fit.1, fit.2);
            self.one_side("AFFINE_ADDRESS", is_a, &cause, affine(fit));
        }
    }

    fn stale(&mut self) {
        let t = self.target;
        let blocks = t.k_blocks();
        let stages = if t.stages > 0 { t.stages..=t.stages } else { 2..=8 };
        for count in stages {
            if blocks <= count || t.splits.count > 1 {
                continue;
            }
            for stage in 0..count.min(blocks - count) {
                for first in [true, false] {
                    let old = |i: usize| {
                        if i % count == stage && i >= count { if first { i % count } else { i - count } } else { i }
                    };
                    if !first && blocks <= 2 * count + stage {
                        continue;
                    }
                    let cause = format!(
                        "stage {stage} of {count} is read before it is filled: {} data",
                        if first { "the first lap's" } else { "the last lap's" }
                    );
                    for (name, parts) in [("a", (true, false)), ("b", (false, true)), ("a and b", (true, true))] {
                        let pair = |i: usize| (if parts.0 { old(i) } else { i }, if parts.1 { old(i) } else { i });
                        let slots = self.pairs((0..blocks).map(pair));
                        let knobs = Knobs { slots: Some(slots), ..Knobs::default() };
                        self.add("STALE_STAGE", Stage::OperandLoad, format!("{name}: {cause}"), knobs, OPERAND);
                    }
                }
            }
        }
    }

    fn decode(&mut self) {
        let t = self.target;
        let readings = |element| -> &'static [(&'static str, Decode, &'static str)] {
            match element {
                ElementType::E4m3 => &[
                    ("DTYPE_MISREAD", Decode::As(ElementType::E5m2), "codes are read as e5m2"),
                    ("DTYPE_MISREAD", Decode::Half, "codes are read with the exponent bias of fnuz"),
                    ("SUBNORMAL_FLUSHED", Decode::Flushed, "subnormal values are read as zero"),
                ],
                ElementType::E5m2 => &[
                    ("DTYPE_MISREAD", Decode::As(ElementType::E4m3), "codes are read as e4m3"),
                    ("SUBNORMAL_FLUSHED", Decode::Flushed, "subnormal values are read as zero"),
                ],
                ElementType::Bf16 => &[("DTYPE_MISREAD", Decode::As(ElementType::F16), "codes are read as f16")],
                ElementType::F16 => &[("DTYPE_MISREAD", Decode::As(ElementType::Bf16), "codes are read as bf16")],
                ElementType::S8 => &[("INT8_SIGNEDNESS", Decode::As(ElementType::U8), "codes are read as unsigned")],
                ElementType::U8 => &[("INT8_SIGNEDNESS", Decode::As(ElementType::S8), "codes are read as signed")],
                _ => &[],
            }
        };
        for (class, decode, cause) in readings(t.a.element) {
            self.one_side(class, true, cause, SideKnobs { decode: Some(*decode), ..SideKnobs::default() });
            if t.a.element == t.b.element {
                let side = SideKnobs { decode: Some(*decode), ..SideKnobs::default() };
                let knobs = Knobs { a: side.clone(), b: side, ..Knobs::default() };
                self.add(class, Stage::OperandLoad, format!("a and b: {cause}"), knobs, OPERAND);
            }
        }
        for (class, decode, cause) in readings(t.b.element) {
            self.one_side(class, false, cause, SideKnobs { decode: Some(*decode), ..SideKnobs::default() });
        }
    }
}
