//! The map of an operand's block scales, read out of the results: which place of their storage each is taken from, the padding of the
//! storage included.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{ElementType, Role};

use super::evidence::{Evidence, Shown};
use super::kind::Kind;
use super::knobs::{ScaleCell, ScaleFault, SideKnobs};
use super::map_probes::scale_planes;
use super::maps::{hot_column, mode};
use super::operand::swizzled_position;

/// Below any factor that a probe fills in, above what the padding of every type holds.
const LEAST: f64 = 1e-30;

/// Row and column of a factor.
type Factor = (usize, usize);

/// What is measured of the scales of one operand.
pub(super) struct ScaleMap {
    /// At (r, k) of the operand; cells that read zero are [`ScaleCell::Padding`].
    cells: Vec<ScaleCell>,
    /// Rows and columns of the scales, in storage order.
    layout: Layout,
    /// Rows of the operand and k that share a factor.
    block: (usize, usize),
    k: usize,
    element: ElementType,
}

/// What the code of no number is where a kernel decodes it as it does all others.
pub(super) fn plain_poison(element: ElementType) -> Option<f64> {
    (element == ElementType::Ue4m3).then_some(480.0)
}

/// Where factors lie.
#[derive(Debug, Clone, Copy)]
struct Layout {
    rows: usize,
    groups: usize,
    swizzled: bool,
}

impl Layout {
    fn place(&self, row: usize, group: usize) -> i64 {
        if self.swizzled {
            swizzled_position(row, group, self.groups) as i64
        } else {
            (row * self.groups + group) as i64
        }
    }

    /// Row and column of the factor at a place; none for padding and what is beyond.
    fn logical(&self) -> HashMap<i64, (usize, usize)> {
        let all = (0..self.rows).flat_map(|row| (0..self.groups).map(move |group| (row, group)));
        all.map(|(row, group)| (self.place(row, group), (row, group))).collect()
    }
}

impl ScaleMap {
    /// Reads the map of a or of b; none where it was not probed, or where something else than one factor is read.
    pub(super) fn read(evidence: &Evidence<'_>, is_a: bool) -> Option<ScaleMap> {
        let t = evidence.target;
        let (side, kind, hot) = if is_a { (&t.a, Kind::ScaleMapA, Role::B) } else { (&t.b, Kind::ScaleMapB, Role::A) };
        let scale = side.scale?;
        let count = scale_planes(side, t.k);
        let planes: Vec<&Shown> = evidence.of(kind).collect();
        let scales = |s: &Shown| if is_a { s.rung.inputs.a_scale.clone() } else { s.rung.inputs.b_scale.clone() };
        let first: Vec<Vec<f64>> = planes.iter().take(count).map(|s| scales(s)).collect();
        let key = |values: &mut dyn Iterator<Item = f64>| values.map(f64::to_bits).collect::<Vec<_>>();
        let mut places: HashMap<Vec<u64>, Vec<u32>> = HashMap::new();
        for i in 0..first.first()?.len() {
            places.entry(key(&mut first.iter().map(|plane| plane[i]))).or_default().push(i as u32);
        }
        let (rows, groups) = side.scale_extent(t.k)?;
        let half = (scale.k_block / 2).max(1);
        let mut cells: Vec<Option<ScaleCell>> = vec![None; side.rows * t.k];
        for planes in planes.chunks(count) {
            let outputs: Vec<Vec<f64>> = planes.iter().map(|s| evidence.output(s)).collect();
            for r in 0..t.m() {
                for q in 0..t.n() {
                    let (row, other) = if is_a { (r, q) } else { (q, r) };
                    let column = hot_column(planes[0], hot, t.k, other);
                    if !column.is_multiple_of(half) {
                        continue;
                    }
                    let seen = || outputs.iter().map(|o| o[r * t.n() + q]);
                    let own = (row / scale.row_block * groups + column / scale.k_block) as u32;
                    let cell = if seen().all(|x| x.abs() < LEAST) {
                        ScaleCell::Padding
                    } else {
                        let found = places.get(&key(&mut seen()))?;
                        ScaleCell::At(if found.contains(&own) { own } else { found[0] })
                    };
                    // Two outputs that show the same place must agree, unless the other operand's factor is zero in one of them.
                    for k in column..(column + half).min(t.k) {
                        let known = &mut cells[row * t.k + k];
                        match (*known, cell) {
                            (Some(ScaleCell::At(_)), ScaleCell::Padding) => {}
                            (Some(ScaleCell::At(old)), ScaleCell::At(new)) if old != new => return None,
                            _ => *known = Some(cell),
                        }
                    }
                }
            }
        }
        Some(ScaleMap {
            cells: cells.into_iter().collect::<Option<Vec<_>>>()?,
            layout: Layout { rows, groups, swizzled: scale.swizzled },
            block: (scale.row_block, scale.k_block),
            k: t.k,
            element: scale.element,
        })
    }

    /// The knobs that this is: what reads zero is padding, or zero whatever the padding holds.
    pub(super) fn knobs(&self) -> Vec<SideKnobs> {
        let with =
            |cells: Vec<ScaleCell>| SideKnobs { scale: Some(ScaleFault::Map(Arc::new(cells))), ..SideKnobs::default() };
        let mut list = vec![with(self.cells.clone())];
        if self.cells.contains(&ScaleCell::Padding) {
            list.extend(
                plain_poison(self.element)
                    .map(|_| SideKnobs { scale_poison: plain_poison(self.element), ..with(self.cells.clone()) }),
            );
            let zero = |cell: &ScaleCell| if *cell == ScaleCell::Padding { ScaleCell::Zero } else { *cell };
            list.push(with(self.cells.iter().map(zero).collect()));
        }
        list
    }

    /// Row and column of each factor, and what is read there; none where halves of a block differ.
    fn factors(&self) -> Option<Vec<(Factor, ScaleCell)>> {
        let mut list = Vec::new();
        for row in 0..self.layout.rows {
            for group in 0..self.layout.groups {
                let (first, k) = (row * self.block.0, group * self.block.1);
                let rows = self.cells.len() / self.k;
                let cell = self.cells[first * self.k + k];
                let end = (k + self.block.1).min(self.k);
                let all = (first..(first + self.block.0).min(rows))
                    .all(|r| self.cells[r * self.k + k..r * self.k + end].iter().all(|other| *other == cell));
                if !all {
                    return None;
                }
                list.push(((row, group), cell));
            }
        }
        Some(list)
    }

    /// What the map is, in words: the simplest form that every factor agrees with, and how many read padding.
    pub(super) fn words(&self) -> String {
        let Some(factors) = self.factors() else { return "places within a block differ".to_owned() };
        let padding = factors.iter().filter(|f| f.1 == ScaleCell::Padding).count();
        let off = factors
            .iter()
            .filter(|((row, group), cell)| *cell != ScaleCell::At((row * self.layout.groups + group) as u32))
            .count();
        let form =
            self.form(&factors).unwrap_or_else(|| format!("{off} of {} are read at another place", factors.len()));
        match padding {
            0 => form,
            _ => format!("{form}; {padding} of {} read padding", factors.len()),
        }
    }

    fn form(&self, factors: &[(Factor, ScaleCell)]) -> Option<String> {
        let layout = self.layout;
        let logical = layout.logical();
        let at = |index: u32| (index as usize / layout.groups, index as usize % layout.groups);
        let known = || {
            factors.iter().filter_map(|(own, cell)| match cell {
                ScaleCell::At(index) => Some((*own, at(*index))),
                _ => None,
            })
        };
        let place = |(row, group): (usize, usize)| layout.place(row, group);
        // A form says where each factor is read; where that is no factor, padding must have been read.
        let fits = |form: &dyn Fn((usize, usize)) -> i64| {
            factors.iter().all(|(own, cell)| match (logical.get(&form(*own)), cell) {
                (Some((row, group)), ScaleCell::At(index)) => (row * layout.groups + group) as u32 == *index,
                (None, ScaleCell::Padding) => true,
                _ => false,
            })
        };
        let by = mode(known().map(|(own, from)| place(from) - place(own)))?;
        if by != 0 && fits(&|own| place(own) + by) {
            return Some(format!("each is read {by:+} places away in storage"));
        }
        let x = mode(known().map(|(own, from)| place(from) ^ place(own)))?;
        if x != 0 && fits(&|own| place(own) ^ x) {
            return Some(format!("each is read at its place xor {x} in storage"));
        }
        if layout.swizzled && fits(&|(row, group)| (row * layout.groups + group) as i64) {
            return Some("the 128 × 4 layout is read as if it were row-major".to_owned());
        }
        let (rows, columns) = (
            mode(known().map(|(own, from)| from.0 as i64 - own.0 as i64))?,
            mode(known().map(|(own, from)| from.1 as i64 - own.1 as i64))?,
        );
        let moved = |(row, group): (usize, usize), by: (i64, i64)| -> i64 {
            let (row, group) = (row as i64 + by.0, group as i64 + by.1);
            if row < 0 || group < 0 { -1 } else { layout.place(row as usize, group as usize) }
        };
        if (rows, columns) != (0, 0) && fits(&|own| moved(own, (rows, columns))) {
            return Some(format!("each is read {rows:+} rows and {columns:+} blocks away"));
        }
        let x = mode(known().map(|(own, from)| (own.0 ^ from.0) as i64))? as usize;
        if x != 0 && fits(&|(row, group)| layout.place(row ^ x, group)) {
            return Some(format!("rows r and r xor {x} are exchanged"));
        }
        self.linear(&known().collect::<Vec<_>>()).filter(|form| fits(&|own| form.at(own))).map(|form| form.words())
    }

    /// place = tile of rows · .0 + row within 32 · .1 + row / 32 · .2 + tile of blocks · .3 + block within 4 · .4 + .5, if the layout is 128 × 4.
    fn linear(&self, known: &[(Factor, Factor)]) -> Option<Digits> {
        if !self.layout.swizzled {
            return None;
        }
        let place = |from: &(usize, usize)| self.layout.place(from.0, from.1);
        let at: HashMap<(usize, usize), i64> = known.iter().map(|(own, from)| (*own, place(from))).collect();
        let along = |within: &dyn Fn((usize, usize)) -> bool, step: (usize, usize)| {
            mode(
                at.iter()
                    .filter(|(own, _)| within(**own))
                    .filter_map(|(own, place)| Some(at.get(&(own.0 + step.0, own.1 + step.1))? - place)),
            )
            .unwrap_or(0)
        };
        let mut digits = Digits {
            factors: [
                along(&|_| true, (128, 0)),
                along(&|own| own.0 % 32 < 31, (1, 0)),
                along(&|own| own.0 % 128 < 96, (32, 0)),
                along(&|_| true, (0, 4)),
                along(&|own| own.1 % 4 < 3, (0, 1)),
            ],
            first: 0,
        };
        digits.first = mode(known.iter().map(|(own, from)| place(from) - digits.at(*own)))?;
        Some(digits)
    }
}

/// A place that is linear in the digits of the 128 × 4 layout.
struct Digits {
    factors: [i64; 5],
    first: i64,
}

impl Digits {
    fn at(&self, (row, group): (usize, usize)) -> i64 {
        let digits = [row / 128, row % 32, row % 128 / 32, group / 4, group % 4].map(|x| x as i64);
        self.factors.iter().zip(digits).map(|(f, x)| f * x).sum::<i64>() + self.first
    }

    fn words(&self) -> String {
        let [tile, row, quarter, blocks, block] = self.factors;
        format!(
            "each is read at row / 128 · {tile} + row % 32 · {row} + row % 128 / 32 · {quarter} + block / 4 · {blocks} + block % 4 · {block} + {}",
            self.first
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, ScaleMap};
    use crate::judge::diagnosis::knobs::ScaleCell;
    use crate::model::ElementType;

    /// 5 rows of 6 blocks of 16, each read where `from` says: place in storage.
    fn said(from: impl Fn(usize, usize) -> i64) -> String {
        let layout = Layout { rows: 5, groups: 6, swizzled: true };
        let logical = layout.logical();
        let cell = |i: usize| match logical.get(&from(i / 96, i % 96 / 16)) {
            Some((row, group)) => ScaleCell::At((row * 6 + group) as u32),
            None => ScaleCell::Padding,
        };
        let cells = (0..5 * 96).map(cell).collect();
        ScaleMap { cells, layout, block: (1, 16), k: 96, element: ElementType::Ue4m3 }.words()
    }

    #[test]
    fn simple_forms_are_said_in_words() {
        let place = |row: usize, group: usize| Layout { rows: 5, groups: 6, swizzled: true }.place(row, group);
        assert_eq!(said(|r, g| place(r, g) + 1), "each is read +1 places away in storage; 10 of 30 read padding");
        assert_eq!(said(|r, g| place(r, g) ^ 1), "each is read at its place xor 1 in storage");
        assert!(said(|r, g| (r * 6 + g) as i64).starts_with("the 128 × 4 layout is read as if it were row-major"));
        let literal = said(|r, g| (g / 4 * 512 + r * 17 + g % 4) as i64);
        assert!(literal.contains("row % 32 · 17"), "{literal}");
    }
}
