//! The probes of tier 1, which read address maps out of the result.

use crate::model::{ElementType, Fill, Padding, Role};

use super::kind::Kind;
use super::probes::{Builder, Rungs, constant, one_hot, whole_numbers};
use super::target::Side;

/// Planes of 15 powers that tell all block scales of a side apart: so many that two of them hardly ever agree in all.
pub(super) fn scale_planes(side: &Side, k: usize) -> usize {
    let (rows, groups) = side.scale_extent(k).unwrap_or((1, 1));
    let pairs = ((rows * groups) as f64).powi(2);
    (4..8).find(|planes| 15_f64.powi(*planes) >= 64.0 * pairs).unwrap_or(8) as usize
}

impl Builder<'_> {
    /// Windows of a map: one-hot rows cover `rows` columns of k each. If there are more than `limit`, those of the first tile, and
    /// others at the beginnings of tiles and at the end.
    fn windows(&self, rows: usize, limit: usize) -> Vec<u64> {
        let t = self.target;
        let count = t.k.div_ceil(rows);
        let taken = count.min(limit.max(2));
        if taken == count {
            return (0..count).map(|i| (i * rows) as u64).collect();
        }
        let first = t.tile_k.div_ceil(rows).min(taken / 2).max(1);
        let rest = taken - first;
        let mut windows: Vec<usize> = (0..first).map(|i| i * rows).collect();
        windows.extend((1..rest).map(|i| (i * t.k_blocks() / rest).max(i) * t.tile_k).filter(|at| at + rows <= t.k));
        windows.push(t.k - rows);
        windows.sort_unstable();
        windows.dedup();
        windows.into_iter().map(|at| at as u64).collect()
    }

    /// Base of address digits that survive operand and output.
    fn base(&self, side: &Side) -> u64 {
        whole_numbers(side.element).min(whole_numbers(self.target.out)).min(255) as u64
    }

    /// Tier 1: address maps of a and b, at most `windows` windows of k for each.
    pub fn maps(mut self, windows: usize) -> Rungs {
        let t = self.target;
        if !t.is_plain() {
            return self.out;
        }
        let gain = t.gain();
        for is_a in [true, false] {
            let (side, other) = if is_a { (&t.a, &t.b) } else { (&t.b, &t.a) };
            let base = self.base(side);
            let elements = (side.rows * t.k) as u128;
            let digits = (1..40).find(|d| u128::from(base).pow(*d) >= elements).unwrap_or(1);
            let (own, hot) = if is_a { (Role::A, Role::B) } else { (Role::B, Role::A) };
            let (count, map) = if is_a { (Kind::CountA, Kind::MapA) } else { (Kind::CountB, Kind::MapB) };
            for (window, offset) in self.windows(other.rows, windows).into_iter().enumerate() {
                let (high, lift) = self.lift(hot);
                let mut fills = vec![(own, constant(1.0)), (hot, one_hot(1, offset, high))];
                fills.extend(lift.clone());
                self.add_gained(count, window * 16, (fills, gain), Padding::Zero, 1);
                for digit in 0..digits {
                    let fill = Fill::Address { base, digit, pitch: t.k as u64, first: 1 };
                    let mut fills = vec![(own, fill), (hot, one_hot(1, offset, high))];
                    fills.extend(lift.clone());
                    self.add_gained(map, window * 16 + digit as usize, (fills, gain), Padding::Zero, 1);
                }
            }
        }
        self.out
    }

    /// Tier 1: maps of the block scales, two places of each block.
    pub fn scale_maps(mut self) -> Rungs {
        let t = self.target;
        if !t.is_plain() {
            return self.out;
        }
        for is_a in [true, false] {
            let (side, other) = if is_a { (&t.a, &t.b) } else { (&t.b, &t.a) };
            let Some(scale) = side.scale else { continue };
            // Under an activation with a curve, the other operand's scales lift all factors beyond it.
            let (gain, others) = match (t.gain() > 1.0, other.scale) {
                (true, Some(_)) => (256.0, if is_a { Some(Role::ScaleB) } else { Some(Role::ScaleA) }),
                _ => (1.0, None),
            };
            let (low, high) = if gain > 1.0 {
                (-3, 8)
            } else if scale.element == ElementType::Ue4m3 {
                (-6, 8)
            } else {
                (-7, 7)
            };
            let (own, hot, scales) =
                if is_a { (Role::A, Role::B, Role::ScaleA) } else { (Role::B, Role::A, Role::ScaleB) };
            let kind = if is_a { Kind::ScaleMapA } else { Kind::ScaleMapB };
            let blocks = t.k.div_ceil(scale.k_block);
            let mut window = 0;
            for half in 0..2_u64 {
                // Few rows see each block again, so that zeros in the factors of the one that sees it first hide nothing.
                let step = if other.rows < 4 * blocks && blocks <= 8 { 1 } else { other.rows };
                for first in (0..blocks).step_by(step) {
                    let offset = (first * scale.k_block) as u64 + half * scale.k_block as u64 / 2;
                    for plane in 0..scale_planes(side, t.k) as u64 {
                        let mut fills = vec![
                            (own, constant(1.0)),
                            (hot, one_hot(scale.k_block as u64, offset, 1.0)),
                            (scales, self.powers(low, high, 500 + plane)),
                        ];
                        fills.extend(others.map(|role| (role, constant(gain))));
                        self.add_gained(kind, window * 16 + plane as usize, (fills, gain), Padding::Zero, 1);
                    }
                    window += 1;
                }
            }
        }
        self.out
    }
}
