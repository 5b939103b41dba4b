//! Address maps read out of the results, and the knobs that they make.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{Fill, Role};

use super::coverage::{Coverage, counts_of_k, coverage};
use super::dictionary::Fits;
use super::evidence::{Evidence, Shown};
use super::inputs::fill_of;
use super::kind::Kind;
use super::knobs::{Knobs, SideKnobs, StoreFault};
use super::target::Side;

/// What was read at one place of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// Not probed.
    Unknown,
    /// Zero: outside the tensor, or nothing.
    Zero,
    /// This logical element, flat.
    From(u32),
    /// No single element.
    Mixed,
}

/// The map of one operand.
#[derive(Debug, Clone)]
pub struct Map {
    /// Rows × k.
    pub cells: Vec<Cell>,
    /// What (m, n) of the first window answers with, row-major.
    pub first: Vec<Cell>,
}

/// Column of the other operand's row r under a one-hot fill.
pub(super) fn hot_column(shown: &Shown, role: Role, k: usize, r: usize) -> usize {
    match fill_of(&shown.rung.probe, role) {
        Fill::OneHot { stride, offset, .. } => {
            ((r as u128 * u128::from(stride) + u128::from(offset)) % k as u128) as usize
        }
        _ => 0,
    }
}

/// Cells of the logical output, decoded from the digits of one window.
fn window(
    evidence: &Evidence<'_>,
    kinds: (Kind, Kind),
    window: usize,
    elements: usize,
    role: Role,
) -> Option<Vec<Cell>> {
    let count = evidence.output(evidence.of(kinds.0).find(|s| s.rung.index == window * 16)?);
    let mut index = vec![0_u64; count.len()];
    let mut place = 1_u64;
    let mut valid = vec![true; count.len()];
    for digit in 0..16 {
        let Some(shown) = evidence.of(kinds.1).find(|s| s.rung.index == window * 16 + digit) else { break };
        let Fill::Address { base, first, .. } = fill_of(&shown.rung.probe, role) else { return None };
        for ((value, index), valid) in evidence.output(shown).iter().zip(&mut index).zip(&mut valid) {
            let digit = value - first as f64;
            *valid &= digit >= 0.0 && digit < base as f64 && digit.fract() == 0.0;
            *index = index.saturating_add((digit.max(0.0) as u64).saturating_mul(place));
        }
        place = place.saturating_mul(base);
    }
    let cell = |((count, index), valid): ((&f64, &u64), &bool)| match *count {
        0.0 => Cell::Zero,
        1.0 if *valid && (*index as usize) < elements => Cell::From(*index as u32),
        _ => Cell::Mixed,
    };
    Some(count.iter().zip(&index).zip(&valid).map(cell).collect())
}

impl Map {
    /// Reads the map of a or of b; none if it was not probed.
    pub fn read(evidence: &Evidence<'_>, is_a: bool) -> Option<Map> {
        let t = evidence.target;
        let (side, kinds, own, hot) = if is_a {
            (&t.a, (Kind::CountA, Kind::MapA), Role::A, Role::B)
        } else {
            (&t.b, (Kind::CountB, Kind::MapB), Role::B, Role::A)
        };
        let mut cells = vec![Cell::Unknown; side.rows * t.k];
        let mut first = None;
        for shown in evidence.of(kinds.0) {
            let decoded = window(evidence, kinds, shown.rung.index / 16, side.rows * t.k, own)?;
            for r in 0..t.m() {
                for q in 0..t.n() {
                    let (row, other) = if is_a { (r, q) } else { (q, r) };
                    cells[row * t.k + hot_column(shown, hot, t.k, other)] = decoded[r * t.n() + q];
                }
            }
            first.get_or_insert(decoded);
        }
        Some(Map { cells, first: first? })
    }

    /// Whether it is known everywhere, element for element.
    fn whole(&self) -> bool {
        self.cells.iter().all(|c| matches!(c, Cell::Zero | Cell::From(_)))
    }

    /// Whether it is the identity where it is known.
    pub fn identity(&self) -> bool {
        self.cells.iter().enumerate().all(|(i, c)| matches!(c, Cell::Unknown) || *c == Cell::From(i as u32))
    }

    fn table(&self) -> Arc<Vec<Option<u32>>> {
        Arc::new(self.cells.iter().map(|c| if let Cell::From(i) = c { Some(*i) } else { None }).collect())
    }

    /// Whether k is right wherever an element is read, so that only rows are moved.
    pub fn rows_only(&self, k: usize) -> bool {
        self.cells.iter().enumerate().all(|(at, c)| match c {
            Cell::From(i) => *i as usize % k == at % k,
            _ => true,
        })
    }

    /// Whether whole columns of k are missing.
    pub fn lacks_columns(&self, k: usize) -> bool {
        (0..k).any(|column| self.cells.iter().skip(column).step_by(k).all(|c| *c == Cell::Zero))
    }

    /// r · .0 + k · .1 + .2 for at least nineteen in twenty cells.
    pub fn fit(&self, side: &Side, k: usize) -> Option<(i64, i64, i64)> {
        let own = side.affine();
        let address = |at: usize| match self.cells.get(at) {
            Some(Cell::From(i)) => Some((*i as usize / k) as i64 * own.0 + (*i as usize % k) as i64 * own.1),
            _ => None,
        };
        let known: Vec<(i64, i64, i64)> =
            (0..self.cells.len()).filter_map(|at| Some(((at / k) as i64, (at % k) as i64, address(at)?))).collect();
        if known.len() < 24 {
            return None;
        }
        let along = |distance: usize, same_row: bool| {
            mode((0..self.cells.len()).filter_map(|at| {
                let next = at + distance;
                if same_row && at / k != next / k {
                    return None;
                }
                Some(address(next)? - address(at)?)
            }))
        };
        let a = if side.rows > 1 { along(k, false)? } else { own.0 };
        let b = along(1, true)?;
        let g = mode(known.iter().map(|(r, c, address)| address - r * a - c * b))?;
        let fits = known.iter().filter(|(r, c, address)| r * a + c * b + g == *address).count();
        (fits * 20 >= known.len() * 19).then_some((a, b, g))
    }
}

/// The most frequent value.
pub(super) fn mode(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut counts: HashMap<i64, usize> = HashMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(value, count)| (*count, -value.abs(), *value)).map(|(value, _)| value)
}

/// Parameters for the dictionary.
pub fn fits(evidence: &Evidence<'_>, a: Option<&Map>, b: Option<&Map>) -> Fits {
    let t = evidence.target;
    let mut fits = Fits {
        a: a.filter(|m| !m.identity()).and_then(|m| m.fit(&t.a, t.k)),
        b: b.filter(|m| !m.identity()).and_then(|m| m.fit(&t.b, t.k)),
        repeats: vec![2, 3, 4],
        ..Fits::default()
    };
    if t.k_blocks() > 24 {
        let mut blocks = Vec::new();
        for (kind, role, is_a) in [(Kind::CoverA, Role::A, true), (Kind::CoverB, Role::B, false)] {
            for shown in evidence.of(kind) {
                let Fill::Blocks { width } = fill_of(&shown.rung.probe, role) else { continue };
                let groups = t.k.div_ceil(width as usize);
                for address in shown.seen().disagreements(&shown.expected) {
                    let Some((r, q)) = t.place(address) else { continue };
                    let row = if is_a { r } else { q };
                    let first = row % groups * width as usize;
                    blocks.extend(first / t.tile_k..=(first + width as usize - 1).min(t.k - 1) / t.tile_k);
                }
            }
        }
        blocks.sort_unstable();
        blocks.dedup();
        fits.blocks = Some(blocks);
    }
    fits
}

/// Knobs of an operand's measured map, or of windows of it, where they repeat with the period of a tile. What holds no element is zero or
/// padding; a zero point is multiplied by the sums of b, or of what is read as b.
pub fn load_knobs(evidence: &Evidence<'_>, map: &Map, is_a: bool) -> Vec<Knobs> {
    let t = evidence.target;
    let own = if is_a { &t.a } else { &t.b };
    let table = if map.whole() { Some(map.table()) } else { map.extended(own.rows, t.k, (own.tile, t.tile_k)) };
    let Some(table) = table.filter(|_| !map.identity()) else { return vec![] };
    let missing = table.iter().any(Option::is_none);
    let with = |map_padding, sums_of_read| {
        let side = SideKnobs { map: Some(table.clone()), map_padding, ..SideKnobs::default() };
        let knobs = Knobs { sums_of_read, ..Knobs::default() };
        if is_a { Knobs { a: side, ..knobs } } else { Knobs { b: side, ..knobs } }
    };
    let paddings = if missing { &[false, true][..] } else { &[false] };
    let sums = if !is_a && t.has_zero_point() { &[false, true][..] } else { &[false] };
    paddings.iter().flat_map(|padding| sums.iter().map(|sums| with(*padding, *sums))).collect()
}

/// Knobs of a store in which a and b move together, and what it is in words.
pub fn store_knobs(evidence: &Evidence<'_>, a: &Map, b: &Map) -> Option<(String, Knobs)> {
    let t = evidence.target;
    let written = &evidence.of(Kind::CountA).next()?.seen().written;
    let mut sources = Vec::new();
    for (at, (a, b)) in a.first.iter().zip(&b.first).enumerate() {
        let row = |cell: &Cell| match cell {
            Cell::From(i) => Some(*i as usize / t.k),
            _ => None,
        };
        match (row(a), row(b)) {
            _ if !written[t.address(at / t.n(), at % t.n())] => sources.push(None),
            (Some(r), Some(q)) => sources.push(Some((r, q))),
            // Both zero: from the overhang, where every sum is empty.
            (None, None) if *a == Cell::Zero && *b == Cell::Zero && t.b.padded() > t.n() => {
                sources.push(Some((at / t.n(), t.b.padded() - 1)));
            }
            _ => return None,
        }
    }
    let moved = sources.iter().enumerate().any(|(at, s)| s.is_some_and(|s| s != (at / t.n(), at % t.n())));
    let beyond = evidence.shown.iter().any(|shown| shown.seen().guard_hits > 0);
    let words = store_words(&|r, q| t.address(r, q), t.n(), &sources).unwrap_or_default();
    moved.then(|| (words, Knobs { store: Some(StoreFault::Map(Arc::new(sources), beyond)), ..Knobs::default() }))
}

/// The address of (m, n), where it is linear in both.
fn store_words(
    address: &dyn Fn(usize, usize) -> usize,
    n: usize,
    sources: &[Option<(usize, usize)>],
) -> Option<String> {
    let known: HashMap<(usize, usize), i64> = sources
        .iter()
        .enumerate()
        .filter_map(|(at, source)| Some(((*source)?, address(at / n, at % n) as i64)))
        .collect();
    let along = |step: (usize, usize)| {
        mode(known.iter().filter_map(|(from, address)| Some(known.get(&(from.0 + step.0, from.1 + step.1))? - address)))
    };
    let (row, column) = (along((1, 0)).unwrap_or(address(1, 0) as i64), along((0, 1))?);
    let first = mode(known.iter().map(|(from, address)| address - from.0 as i64 * row - from.1 as i64 * column))?;
    let fits = known.iter().all(|(from, at)| from.0 as i64 * row + from.1 as i64 * column + first == *at);
    fits.then(|| format!(" (element (m, n) is stored at m · {row} + n · {column} + {first})"))
}

/// Knobs of the counts that the two cover probes agree on, or of those of each k.
pub fn coverage_knobs(evidence: &Evidence<'_>) -> Option<Knobs> {
    let covered = covered_knobs(evidence);
    covered.or_else(|| {
        let counts = counts_of_k(evidence).filter(|counts| counts.iter().any(|count| *count != 1))?;
        let of = |(k, count): (usize, &usize)| std::iter::repeat_n((k as u32, k as u32), *count);
        let slots = counts.iter().enumerate().flat_map(of).collect();
        Some(Knobs { slots: Some(Arc::new(slots)), ..Knobs::default() })
    })
}

fn covered_knobs(evidence: &Evidence<'_>) -> Option<Knobs> {
    let t = evidence.target;
    let (a, b) = (coverage(evidence, true)?, coverage(evidence, false)?);
    let finer = if a.width <= b.width { &a } else { &b };
    let whole = |x: &f64| (0.0..64.0).contains(x) && x.fract() == 0.0;
    let moved = |c: &Coverage| c.counts.iter().any(|x| *x != 1.0);
    if !finer.counts.iter().all(whole) || !moved(&a) || !moved(&b) {
        return None;
    }
    let slots =
        (0..t.k).flat_map(|k| std::iter::repeat_n((k as u32, k as u32), finer.counts[k / finer.width] as usize));
    Some(Knobs { slots: Some(Arc::new(slots.collect())), ..Knobs::default() })
}

#[cfg(test)]
mod tests {
    use super::store_words;

    #[test]
    fn a_linear_store_is_said_in_words() {
        // (m, n) at 4 m - n: the first column stays, the others go to the row before.
        let sources: Vec<_> = (0..12_usize)
            .map(|at| if at % 4 == 0 { Some((at / 4, 0)) } else { Some((at / 4 + 1, 4 - at % 4)).filter(|s| s.0 < 3) })
            .collect();
        assert_eq!(
            store_words(&|r, q| 4 * r + q, 4, &sources).unwrap(),
            " (element (m, n) is stored at m · 4 + n · -1 + 0)"
        );
        assert_eq!(store_words(&|r, q| 4 * r + q, 4, &[Some((0, 0)), Some((0, 2)), Some((0, 1)), Some((0, 3))]), None);
    }
}
