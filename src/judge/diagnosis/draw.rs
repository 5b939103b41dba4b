//! Random integers and powers of a small range: each value of the range is made once, and a row is drawn at a time.

use crate::model::{ElementType, Fill};

use super::fill::{STEP, hash, mixed};
use super::format::{self, Rounding};
use super::values::lowest_bit;

/// A fill, rounded to an element type.
#[derive(Debug, Clone)]
pub struct Draw {
    table: Vec<f32>,
    seed: u64,
    /// ⌈2^64 / values⌉: what a division by their number becomes.
    inverse: u64,
}

/// The largest range that is laid out as a table.
const MOST: u64 = 4096;

impl Draw {
    /// None for fills of another kind, and for large ranges.
    pub fn new(fill: &Fill, element: ElementType) -> Option<Self> {
        let (low, high, seed) = match *fill {
            Fill::Integers { low, high, seed } | Fill::Powers { low, high, seed } if high.abs_diff(low) < MOST => {
                (low, high, seed)
            }
            _ => return None,
        };
        let power = matches!(fill, Fill::Powers { .. });
        let value = |x: i64| if power { 2_f64.powi(x as i32) } else { x as f64 };
        let of = |x| format::convert(element, value(x), Rounding::NearestEven, true) as f32;
        let table: Vec<f32> = (low..=high.max(low)).map(of).collect();
        let inverse = (u64::MAX / table.len() as u64).wrapping_add(1);
        Some(Draw { table, seed, inverse })
    }

    /// The value that the upper half of a hash draws: that at the remainder of its division by their number, without a division
    /// (Lemire, Kaser and Kurz 2019, exact for 32 bits).
    fn drawn(&self, hash: u64) -> f32 {
        let fraction = self.inverse.wrapping_mul(hash >> 32);
        self.table[((u128::from(fraction) * self.table.len() as u128) >> 64) as usize]
    }

    /// The value at (r, c).
    pub fn at(&self, r: u64, c: u64) -> f32 {
        self.drawn(hash(self.seed, r, c))
    }

    /// The values of row `r`.
    pub fn row(&self, r: u64, columns: u64) -> impl Iterator<Item = f32> + '_ {
        let first = self.seed.wrapping_add(STEP.wrapping_mul((r << 32).wrapping_add(1)));
        (0..columns).map(move |c| self.drawn(mixed(first.wrapping_add(STEP.wrapping_mul(c)))))
    }

    /// The largest magnitude that can be drawn.
    pub fn largest(&self) -> f64 {
        self.table.iter().fold(0.0, |most, x| f64::from(x.abs()).max(most))
    }

    /// All that can be drawn are multiples of 2 to this.
    pub fn unit(&self) -> i32 {
        let bits = self.table.iter().filter(|x| **x != 0.0).map(|x| lowest_bit(f64::from(*x)));
        bits.min().unwrap_or(i32::MAX / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::Draw;
    use crate::judge::diagnosis::fill::evaluate;
    use crate::judge::diagnosis::values::lowest_bit;
    use crate::model::{ElementType, Fill};

    #[test]
    fn what_is_drawn_from_a_table_is_what_the_formula_gives() {
        let integers = |low, high| Fill::Integers { low, high, seed: 9 };
        let fills = [integers(-300, 300), integers(0, 0), integers(-1, 2046), integers(3, 4098)];
        for fill in fills.into_iter().chain([Fill::Powers { low: -3, high: 12, seed: 4 }]) {
            for element in [ElementType::Bf16, ElementType::E4m3, ElementType::S8] {
                let all = evaluate(&fill, element, 70, 333).unwrap();
                let draw = Draw::new(&fill, element).unwrap();
                let rows: Vec<f64> = (0..70).flat_map(|r| draw.row(r, 333)).map(f64::from).collect();
                assert_eq!(all, rows, "{fill:?} {element}");
                assert_eq!(f64::from(draw.at(69, 332)), all[70 * 333 - 1]);
                let (largest, unit) = (draw.largest(), draw.unit());
                assert!(all.iter().all(|x| x.abs() <= largest && (*x == 0.0 || lowest_bit(*x) >= unit)));
            }
        }
        assert!(Draw::new(&integers(0, 4096), ElementType::F32).is_none());
        assert!(Draw::new(&Fill::Gaussian { seed: 1, scale: 1.0 }, ElementType::F32).is_none());
    }
}
