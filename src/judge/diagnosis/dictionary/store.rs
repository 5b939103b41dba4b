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
        for more in [1, 2, 4, 8, 16, 32].into_iter().filter(|more| 2 * more <= t.b.tile) {
            let (pitch, width) = (t.b.tile + more, t.b.tile);
            let cause = format!("rows of the staged tile lie {pitch} elements apart and are stored as if {width}");
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
        for delta in [-64_i64, -40, -32, -24, -16, -8, -4, -2, -1, 1, 2, 4, 8, 16, 24, 32, 40, 64] {
            let leading = t.out_leading as i64 + delta;
            if leading > 0 {
                let cause = format!("the stride of the output is {leading} elements instead of {}", t.out_leading);
                self.store_fault("OUT_STRIDE_WRONG", cause, StoreFault::Leading(leading as usize), WRITTEN);
            }
        }
        if t.out_leading != t.n() && !(t.out_leading as i64 - t.n() as i64).unsigned_abs().is_power_of_two() {
            let cause = format!("the stride of the output is n = {} instead of {}", t.n(), t.out_leading);
            self.store_fault("OUT_STRIDE_WRONG", cause, StoreFault::Leading(t.n()), WRITTEN);
        }
        for by in [-8, -4, -2, -1, 1, 2, 4, 8] {
            let cause = format!("the base of the output is off by {by} elements");
            self.store_fault("OUT_BASE_WRONG", cause, StoreFault::Offset(by), WRITTEN);
        }
    }
}
