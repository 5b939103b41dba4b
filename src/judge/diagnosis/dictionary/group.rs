//! Groups of rows with weights of their own: which group a row is taken for, and which rows are left out.

use std::sync::Arc;

use crate::model::Stage;

use super::super::kind::Kind;
use super::super::knobs::{Knobs, StoreFault};
use super::{Dictionary, OPERAND};

/// Empty: tried when the written elements are not the expected ones.
const WRITTEN: &[Kind] = &[];

impl Dictionary<'_> {
    fn grouped(&mut self, class: &'static str, cause: String, of: impl Fn(usize) -> Option<usize>) {
        let t = self.target;
        let table: Vec<Option<usize>> = (0..t.m()).map(|row| t.group(row).and_then(|_| of(row))).collect();
        if (0..t.m()).any(|row| table[row] != t.group(row)) {
            let knobs = Knobs { group_of: Some(Arc::new(table)), ..Knobs::default() };
            self.add(class, Stage::OperandLoad, cause, knobs, OPERAND);
        }
    }

    pub(super) fn groups(&mut self) {
        let t = self.target;
        let Some(groups) = &t.groups else { return };
        let count = groups.len();
        let end = groups.iter().map(|(first, rows)| first + rows).max().unwrap_or(0);
        for by in [-1_i64, 1] {
            let shifted = |row: usize| {
                let row = (row as i64 - by).clamp(0, end as i64 - 1) as usize;
                (0..=row).rev().find_map(|row| t.group(row)).or(Some(0))
            };
            self.grouped("GROUP_OFFSET", format!("the first row of every group is off by {by}"), shifted);
            // Of two, the next one is the exchange.
            if count > 2 {
                let next = |row: usize| t.group(row).map(|group| (group as i64 + by).rem_euclid(count as i64) as usize);
                self.grouped("GROUP_WRONG", format!("the weights are those of the group {by} further"), next);
            }
            let next = |row: usize| t.group(row).map(|group| (group as i64 + by).clamp(0, count as i64 - 1) as usize);
            self.grouped("GROUP_WRONG", format!("the weights are those of the group {by} further, clamped"), next);
        }
        self.grouped("GROUP_WRONG", "all rows take the weights of the first group".to_owned(), |_| Some(0));
        let base = |row: usize| t.group(row - t.local_row(true, row) % t.a.tile);
        self.grouped("GROUP_OF_TILE", "a tile takes the group of its first row".to_owned(), base);
        let base = |row: usize| t.group(row / t.a.tile * t.a.tile);
        self.grouped(
            "GROUP_OF_TILE",
            "tiles begin at multiples of their size, in the group of their first row".to_owned(),
            base,
        );
        if count <= 16 {
            for (x, y) in (0..count).flat_map(|x| (x + 1..count).map(move |y| (x, y))) {
                let swap = |group: usize| {
                    if group == x {
                        y
                    } else if group == y {
                        x
                    } else {
                        group
                    }
                };
                let cause = format!("the weights of groups {x} and {y} are exchanged");
                self.grouped("GROUP_SWAPPED", cause, |row| t.group(row).map(swap));
            }
        }
        self.group_strides();
        let last = count.saturating_sub(1);
        let cause = format!("the last group, from row {}, is not written", groups[last].0);
        let rows = |row: usize| t.group(row).filter(|group| *group != last);
        let table = (0..t.m()).map(rows).collect();
        let knobs = Knobs { group_of: Some(Arc::new(table)), ..Knobs::default() };
        self.add("GROUP_TAIL_CUT", Stage::Store, cause, knobs, WRITTEN);
        for (which, cut) in [("the last group", vec![last]), ("every group", Vec::from_iter(0..count))] {
            let end =
                |group: usize| groups[group].0 + groups[group].1.saturating_sub(usize::from(cut.contains(&group)));
            let rows = |row: usize| t.group(row).filter(|group| row < end(*group));
            let knobs = Knobs { group_of: Some(Arc::new((0..t.m()).map(rows).collect())), ..Knobs::default() };
            let cause = format!("the last row of {which} is not written");
            self.add("GROUP_TAIL_CUT", Stage::Store, cause, knobs, WRITTEN);
        }
        for unit in [2, 4, 8, 16, 32, 64, 128] {
            let knobs = Knobs { store: Some(StoreFault::GroupRowsDown(unit)), ..Knobs::default() };
            let cause = format!("rows of each group are written up to a multiple of {unit}");
            self.add("GROUP_TAIL_CUT", Stage::Store, cause, knobs, WRITTEN);
            if groups[last].1 % unit != 0 {
                let (first, limit) = (groups[last].0, groups[last].1 / unit * unit);
                let rows = |row: usize| t.group(row).filter(|group| *group != last || row < first + limit);
                let table = (0..t.m()).map(rows).collect();
                let knobs = Knobs { group_of: Some(Arc::new(table)), ..Knobs::default() };
                let cause = format!("the last group is written up to a multiple of {unit} rows");
                self.add("GROUP_TAIL_CUT", Stage::Store, cause, knobs, WRITTEN);
            }
        }
    }

    /// Rows of b from group to group.
    fn group_strides(&mut self) {
        let t = self.target;
        let wide = t.wide();
        let near = [-8_i64, -4, -2, -1, 1, 2, 4, 8].map(|by| wide as i64 + by);
        let tiled = [wide.next_multiple_of(t.b.tile) as i64, (wide / t.b.tile * t.b.tile) as i64, t.n() as i64];
        let mut tried = vec![wide as i64, 0];
        for stride in near.into_iter().chain(tiled) {
            if !tried.contains(&stride) && stride > 0 {
                tried.push(stride);
                let knobs = Knobs { group_stride: Some(stride as usize), ..Knobs::default() };
                let cause = format!(
                    "the weights of a group begin {stride} rows behind those of the one before, instead of {wide}"
                );
                self.add("GROUP_STRIDE_WRONG", Stage::OperandLoad, cause, knobs, OPERAND);
            }
        }
    }
}
