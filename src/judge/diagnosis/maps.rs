//! Address maps read out of the results, and the knobs that they make.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{Fill, Role};

use super::coverage::{Coverage, counts_of_k, coverage};
use super::dictionary::Fits;
use super::evidence::{Evidence, Shown};
use super::inputs::fill_of;
use super::kind::Kind;
use super::knobs::{Knobs, ScaleFault, SideKnobs, StoreFault};
use super::map_probes::scale_planes;
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

/// Knobs of an operand's measured map; of windows of it, where they repeat with the period of a tile.
pub fn load_knobs(evidence: &Evidence<'_>, map: &Map, is_a: bool) -> Option<Knobs> {
    if map.identity() {
        return None;
    }
    let t = evidence.target;
    let own = if is_a { &t.a } else { &t.b };
    let table = if map.whole() { map.table() } else { map.extended(own.rows, t.k, (own.tile, t.tile_k))? };
    let side = SideKnobs { map: Some(table), ..SideKnobs::default() };
    Some(if is_a { Knobs { a: side, ..Knobs::default() } } else { Knobs { b: side, ..Knobs::default() } })
}

/// Knobs of a store in which a and b move together.
pub fn store_knobs(evidence: &Evidence<'_>, a: &Map, b: &Map) -> Option<Knobs> {
    let t = evidence.target;
    let mut sources = Vec::new();
    for (at, (a, b)) in a.first.iter().zip(&b.first).enumerate() {
        let row = |cell: &Cell| match cell {
            Cell::From(i) => Some(*i as usize / t.k),
            _ => None,
        };
        match (row(a), row(b)) {
            (Some(r), Some(q)) => sources.push((r, q)),
            // Both zero: from the overhang, where every sum is empty.
            (None, None) if *a == Cell::Zero && *b == Cell::Zero && t.b.padded() > t.n() => {
                sources.push((at / t.n(), t.b.padded() - 1));
            }
            _ => return None,
        }
    }
    let moved = sources.iter().enumerate().any(|(at, s)| *s != (at / t.n(), at % t.n()));
    moved.then(|| Knobs { store: Some(StoreFault::Map(Arc::new(sources))), ..Knobs::default() })
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

/// Knobs of the measured block scales of one operand.
pub fn scale_knobs(evidence: &Evidence<'_>, is_a: bool) -> Option<SideKnobs> {
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
    let (_, groups) = side.scale_extent(t.k)?;
    let half = (scale.k_block / 2).max(1);
    let mut map: Vec<Option<u32>> = vec![None; side.rows * t.k];
    let mut known = vec![false; side.rows * t.k];
    for planes in planes.chunks(count) {
        let outputs: Vec<Vec<f64>> = planes.iter().map(|s| evidence.output(s)).collect();
        for r in 0..t.m() {
            for q in 0..t.n() {
                let (row, other) = if is_a { (r, q) } else { (q, r) };
                let column = hot_column(planes[0], hot, t.k, other);
                if !column.is_multiple_of(half) {
                    continue;
                }
                let found = places.get(&key(&mut outputs.iter().map(|o| o[r * t.n() + q])))?;
                let own = (row / scale.row_block * groups + column / scale.k_block) as u32;
                let index = if found.contains(&own) { own } else { found[0] };
                for k in column..(column + half).min(t.k) {
                    map[row * t.k + k] = Some(index);
                    known[row * t.k + k] = true;
                }
            }
        }
    }
    if !known.iter().all(|k| *k) {
        return None;
    }
    Some(SideKnobs { scale: Some(ScaleFault::Map(Arc::new(map))), ..SideKnobs::default() })
}
