//! Formulas behind a map of which only windows are known: linear in tiles, or with the period of a tile.

use std::collections::HashMap;
use std::sync::Arc;

use super::knobs::Tiled;
use super::maps::{Cell, Map, mode};

/// What is known of a map: row and column of a place, and what is read there (none: zero).
struct Known {
    at: (usize, usize),
    from: Option<(usize, usize)>,
}

fn known(map: &Map, k: usize) -> Vec<Known> {
    let cell = |(i, cell): (usize, &Cell)| {
        let at = (i / k, i % k);
        match cell {
            Cell::Unknown => None,
            Cell::Zero => Some(Some(Known { at, from: None })),
            Cell::From(j) => Some(Some(Known { at, from: Some((*j as usize / k, *j as usize % k)) })),
            Cell::Mixed => Some(None),
        }
    };
    // A place that holds no single element makes every formula wrong there.
    map.cells.iter().enumerate().filter_map(cell).flatten().collect()
}

impl Map {
    /// Row and column of what is read, linear in the coordinates of tiles and within them, for at least nineteen in twenty places.
    pub fn tiled(&self, rows: usize, k: usize, tile: (usize, usize)) -> Option<Tiled> {
        let known = known(self, k);
        let (tr, tk) = (tile.0.min(rows), tile.1.min(k));
        let read: HashMap<(usize, usize), (i64, i64)> =
            known.iter().filter_map(|x| x.from.map(|f| (x.at, (f.0 as i64, f.1 as i64)))).collect();
        if read.len() < 24 {
            return None;
        }
        // Steps along: tile row, row within, tile column, column within; what they are where nothing is moved.
        let steps = [(tr, 0), (1, 0), (0, tk), (0, 1)];
        let own = [(tr as i64, 0), (1, 0), (0, tk as i64), (0, 1)];
        let mut factors = [[0_i64; 5]; 2];
        for (index, (step, own)) in steps.into_iter().zip(own).enumerate() {
            let within = |at: (usize, usize)| match index {
                1 => at.0 % tr + 1 < tr,
                3 => at.1 % tk + 1 < tk,
                _ => true,
            };
            let pairs = || {
                let next = |at: &(usize, usize)| read.get(&(at.0 + step.0, at.1 + step.1));
                read.iter().filter(|(at, _)| within(**at)).filter_map(move |(at, from)| Some((from, next(at)?)))
            };
            factors[0][index] = mode(pairs().map(|(x, y)| y.0 - x.0)).unwrap_or(own.0);
            factors[1][index] = mode(pairs().map(|(x, y)| y.1 - x.1)).unwrap_or(own.1);
        }
        let mut tiled = Tiled { tile: (tr, tk), row: factors[0], column: factors[1] };
        let off = |(at, from): (&(usize, usize), &(i64, i64)), tiled: &Tiled| {
            let (row, column) = tiled.source(at.0, at.1);
            (from.0 - row, from.1 - column)
        };
        let base = tiled;
        tiled.row[4] = mode(read.iter().map(|x| off(x, &base).0))?;
        tiled.column[4] = mode(read.iter().map(|x| off(x, &base).1))?;
        let right = read.iter().filter(|x| off(*x, &tiled) == (0, 0)).count();
        (right * 20 >= read.len() * 19).then_some(tiled)
    }

    /// The whole map, where what is known repeats with the period of a tile.
    pub(super) fn extended(&self, rows: usize, k: usize, tile: (usize, usize)) -> Option<Arc<Vec<Option<u32>>>> {
        if self.cells.contains(&Cell::Mixed) {
            return None;
        }
        let (tr, tk) = (tile.0.min(rows), tile.1.min(k));
        let known = known(self, k);
        let mut moved: Vec<Option<(i64, i64)>> = vec![None; tr * tk];
        let mut probed = vec![false; tr * tk];
        for Known { at, from } in &known {
            let residue = at.0 % tr * tk + at.1 % tk;
            probed[residue] = true;
            let Some(from) = from else { continue };
            let by = (from.0 as i64 - at.0 as i64, from.1 as i64 - at.1 as i64);
            match moved[residue] {
                None => moved[residue] = Some(by),
                Some(old) if old == by => {}
                Some(_) => return None,
            }
        }
        if probed.iter().any(|p| !p) {
            return None;
        }
        let source = |r: usize, c: usize| {
            let (dr, dc) = moved[r % tr * tk + c % tk]?;
            let (row, column) = (r as i64 + dr, c as i64 + dc);
            let inside = (0..rows as i64).contains(&row) && (0..k as i64).contains(&column);
            inside.then(|| (row as usize * k + column as usize) as u32)
        };
        let agrees = |x: &Known| source(x.at.0, x.at.1) == x.from.map(|f| (f.0 * k + f.1) as u32);
        if !known.iter().all(agrees) {
            return None;
        }
        Some(Arc::new((0..rows * k).map(|i| source(i / k, i % k)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::maps::{Cell, Map};

    fn map(rows: usize, k: usize, window: impl Fn(usize, usize) -> bool, from: impl Fn(usize, usize) -> i64) -> Map {
        let cell = |i: usize| match (window(i / k, i % k), from(i / k, i % k)) {
            (false, _) => Cell::Unknown,
            (_, at) if at < 0 => Cell::Zero,
            (_, at) => Cell::From(at as u32),
        };
        Map { cells: (0..rows * k).map(cell).collect(), first: vec![] }
    }

    #[test]
    fn exchanged_coordinates_of_tiles_are_found_from_windows() {
        // 8 × 16 tiles of a 32 × 64 matrix: the tile at (k, row) instead of (row, k).
        let from = |r: usize, k: usize| {
            let (row, column) = (k / 16 * 16 + r % 8, r / 8 * 8 + k % 16);
            if row < 32 && column < 64 { (row * 64 + column) as i64 } else { -1 }
        };
        let tiled = map(32, 64, |_, k| !(20..60).contains(&k), from).tiled(32, 64, (8, 16)).unwrap();
        assert_eq!((tiled.row, tiled.column), ([0, 1, 16, 0, 0], [8, 0, 0, 1, 0]));
    }

    #[test]
    fn a_periodic_map_is_extended_and_another_is_not() {
        let swap = |r: usize, k: usize| (r * 64 + (k ^ if r % 2 == 1 { 8 } else { 0 })) as i64;
        let whole = map(32, 64, |_, k| !(16..56).contains(&k), swap).extended(32, 64, (8, 16)).unwrap();
        assert!((0..32 * 64).all(|i| whole[i] == Some(swap(i / 64, i % 64) as u32)));
        let drift = |r: usize, k: usize| ((r * 64 + k + r / 8) % 2048) as i64;
        assert!(map(32, 64, |_, k| k < 16, drift).extended(32, 64, (8, 16)).is_none());
        assert!(map(32, 64, |_, k| k < 8, swap).extended(32, 64, (8, 16)).is_none());
    }
}
