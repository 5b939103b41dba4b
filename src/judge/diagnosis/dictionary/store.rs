//! Where results are written.

use crate::model::Stage;

use super::super::kind::Kind;
use super::super::knobs::{Knobs, StoreFault};
use super::{Dictionary, OPERAND};

/// Empty: tried when the written elements are not the expected ones.
const WRITTEN: &[Kind] = &[];

impl Dictionary<'_> {
    fn store_fault(&mut self, class: &'static str, cause: String, fault: StoreFault, gate: &'static [Kind]) {
        self.add(class, Stage::Store, cause, Knobs { store: Some(fault), ..Knobs::default() }, gate);
    }

    pub(super) fn store(&mut self) {
        let t = self.target;
        let (rows, columns) = (t.a.tiles(), t.column_tiles());
        self.edges();
        if t.groups.is_some() {
            return;
        }
        if rows * columns > 1 && rows * columns <= 4096 {
            for tile in (0..rows).flat_map(|r| (0..columns).map(move |q| (r, q))) {
                let cause =
                    format!("the tile at rows {} and columns {} is not written", tile.0 * t.a.tile, tile.1 * t.b.tile);
                self.store_fault("TILE_UNWRITTEN", cause, StoreFault::Unwritten { tile }, WRITTEN);
            }
        }
        for (limit, what) in [(t.a.tile - 1, "last row"), (t.a.tile / 2, "upper half of the rows")] {
            let cause = format!("the {what} of every tile is not written");
            self.store_fault("TILE_PART_UNWRITTEN", cause, StoreFault::TileRowsFrom(limit), WRITTEN);
        }
        for (limit, what) in [(t.b.tile - 1, "last column"), (t.b.tile / 2, "upper half of the columns")] {
            let cause = format!("the {what} of every tile is not written");
            self.store_fault("TILE_PART_UNWRITTEN", cause, StoreFault::TileColumnsFrom(limit), WRITTEN);
        }
        let (line, width) = if t.out_by_columns { ("columns", t.a.tile) } else { ("rows", t.b.tile) };
        for more in [1, 2, 4, 8, 16, 32].into_iter().filter(|more| 2 * more <= width) {
            let pitch = width + more;
            let cause = format!("{line} of the staged tile lie {pitch} elements apart and are stored as if {width}");
            self.store_fault("STAGED_PITCH_WRONG", cause, StoreFault::Pitch(pitch), OPERAND);
        }
        if t.a.tile == t.b.tile {
            self.store_fault(
                "STORE_TRANSPOSED",
                "each tile is stored transposed".to_owned(),
                StoreFault::Transposed,
                OPERAND,
            );
        }
        for x in [1, 2, 4, 8, 16, 32] {
            if x < t.b.tile {
                let cause = format!("columns c and c xor {x} are exchanged");
                self.store_fault("STORE_COL_PERM", cause, StoreFault::ColumnXor(x), OPERAND);
            }
            if x < t.a.tile {
                let cause = format!("rows r and r xor {x} are exchanged");
                self.store_fault("STORE_ROW_PERM", cause, StoreFault::RowXor(x), OPERAND);
            }
        }
        if t.a.tile.is_multiple_of(16) {
            let cause = "the 8-row halves of 16-row fragments are interleaved".to_owned();
            self.store_fault("STORE_ROW_PERM", cause, StoreFault::RowInterleave, OPERAND);
        }
        if rows * columns > 1 {
            self.store_fault(
                "STORE_TILE_SWAP",
                "the first two tiles are exchanged".to_owned(),
                StoreFault::TileSwap,
                OPERAND,
            );
        }
        if !t.m().is_multiple_of(t.a.tile) || !t.n().is_multiple_of(t.b.tile) {
            let cause = "the overhang of the last tiles is written too".to_owned();
            self.store_fault("OOB_TILE_WRITE", cause, StoreFault::Unmasked, WRITTEN);
        }
    }

    /// Ends, stride and base of the output.
    fn edges(&mut self) {
        let t = self.target;
        for unit in [8, 4, 16, 32, 64] {
            let limit = t.n() / unit * unit;
            if limit < t.n() && limit > 0 {
                let cause = format!("columns from {limit} on are not written: n was rounded down to {unit}");
                self.store_fault("N_TAIL_UNWRITTEN", cause, StoreFault::ColumnsFrom(limit), WRITTEN);
            }
            let limit = t.m() / unit * unit;
            if t.groups.is_none() && limit < t.m() && limit > 0 {
                let cause = format!("rows from {limit} on are not written: m was rounded down to {unit}");
                self.store_fault("M_TAIL_UNWRITTEN", cause, StoreFault::RowsFrom(limit), WRITTEN);
            }
        }
        self.strides();
        for by in [-8, -4, -2, -1, 1, 2, 4, 8] {
            let cause = format!("the base of the output is off by {by} elements");
            self.store_fault("OUT_BASE_WRONG", cause, StoreFault::Offset(by), WRITTEN);
        }
    }

    /// Other strides of the output, and the other order of it.
    fn strides(&mut self) {
        let t = self.target;
        let near = [-64_i64, -40, -32, -24, -16, -8, -4, -2, -1, 1, 2, 4, 8, 16, 24, 32, 40, 64];
        for leading in near.iter().map(|delta| t.out_leading as i64 + delta).filter(|leading| *leading > 0) {
            let cause = format!("the stride of the output is {leading} elements instead of {}", t.out_leading);
            self.store_fault("OUT_STRIDE_WRONG", cause, StoreFault::Leading(leading as usize), WRITTEN);
        }
        let (_, length) = t.lines();
        if !near.contains(&(length as i64 - t.out_leading as i64)) && length != t.out_leading {
            let cause = format!(
                "the stride of the output is {} = {length} instead of {}",
                if t.out_by_columns { "m" } else { "n" },
                t.out_leading
            );
            self.store_fault("OUT_STRIDE_WRONG", cause, StoreFault::Leading(length), WRITTEN);
        }
        if t.m() == 1 || t.n() == 1 {
            return;
        }
        let (is, should) = if t.out_by_columns { ("rows", "columns") } else { ("columns", "rows") };
        let mut tried = Vec::new();
        for (name, leading) in [("n", t.n()), ("m", t.m()), ("the leading dimension", t.out_leading)] {
            if !tried.contains(&leading) {
                tried.push(leading);
                let cause =
                    format!("{is} of the output are contiguous instead of {should}, {name} = {leading} elements apart");
                self.store_fault("OUT_MAJOR_WRONG", cause, StoreFault::OtherMajor(leading), OPERAND);
            }
        }
    }
}
