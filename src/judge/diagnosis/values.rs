//! The values of an operand under a fill. Formulas are kept as formulas: a weight matrix of production size is only laid out where
//! its values are random.

use crate::model::{ElementType, Fill};

use super::draw::Draw;
use super::fill::{evaluate, raw};
use super::format::{self, Rounding};

/// Values at (r, k).
#[derive(Debug, Clone)]
pub struct Values {
    rows: usize,
    k: usize,
    form: Form,
    size: Option<Size>,
}

/// How they are kept.
#[derive(Debug, Clone)]
pub enum Form {
    /// One value.
    Constant(f64),
    /// One value at one k of each row.
    OneHot {
        /// k from one row's to the next row's.
        stride: u64,
        /// k of row 0.
        offset: u64,
        /// The value.
        value: f64,
    },
    /// 1 in one block of k of each row.
    Blocks {
        /// k of a block.
        width: usize,
    },
    /// A formula of small integers.
    Formula(Fill, ElementType),
    /// Drawn when they are asked for.
    Drawn(Draw),
    /// All of them, row by row; every value of an operand type is one of f32.
    Dense(Vec<f32>),
}

/// Size of the values: what a proof needs.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Every value is a multiple of 2^unit.
    pub unit: i32,
    /// Largest magnitude.
    pub largest: f64,
    /// Largest sum of magnitudes of a row.
    pub row: f64,
    /// Largest number of non-zeros of a row.
    pub count: usize,
}

impl Size {
    /// Of rows of values.
    pub fn of<R: Iterator<Item = f64>>(rows: impl Iterator<Item = R>) -> Self {
        // A quarter of the range: units are added.
        let mut size = Size { unit: i32::MAX / 4, largest: 0.0, row: 0.0, count: 0 };
        for row in rows {
            let (mut sum, mut count) = (0.0, 0);
            for x in row.filter(|x| *x != 0.0) {
                size.unit = size.unit.min(lowest_bit(x));
                size.largest = size.largest.max(x.abs());
                sum += x.abs();
                count += 1;
            }
            size.row = size.row.max(sum);
            size.count = size.count.max(count);
        }
        size
    }
}

/// Exponent of the lowest set bit of a finite value that is not zero.
pub fn lowest_bit(x: f64) -> i32 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    exponent + mantissa.trailing_zeros() as i32
}

impl Values {
    /// rows × k under `fill`; none for a file. What meets a one-hot operand is seldom needed whole: `few` values are drawn one by one.
    pub fn new(fill: &Fill, element: ElementType, (rows, k): (usize, usize), few: bool) -> Option<Self> {
        let mut size = None;
        let convert = |x| format::convert(element, x, Rounding::NearestEven, true);
        let form = match fill {
            Fill::File { .. } => return None,
            Fill::Constant { value } => Form::Constant(convert(*value)),
            Fill::OneHot { stride, offset, value } => {
                Form::OneHot { stride: *stride, offset: *offset, value: convert(*value) }
            }
            Fill::Blocks { width } => Form::Blocks { width: (*width).max(1) as usize },
            Fill::Address { .. } | Fill::RowDigits { .. } | Fill::ColumnDigits { .. } => {
                Form::Formula(fill.clone(), element)
            }
            _ => match Draw::new(fill, element) {
                Some(draw) if few => Form::Drawn(draw),
                Some(draw) => {
                    let (values, found) = laid_out(&draw, rows, k);
                    size = Some(found);
                    Form::Dense(values)
                }
                None => {
                    Form::Dense(evaluate(fill, element, rows as u64, k as u64)?.into_iter().map(|x| x as f32).collect())
                }
            },
        };
        Some(Values { rows, k, form, size })
    }

    /// How they are kept.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// k of the non-zero of row `r`, for one-hot values.
    pub fn hot(&self, r: usize) -> Option<usize> {
        match self.form {
            Form::OneHot { stride, offset, .. } => {
                Some(((r as u128 * u128::from(stride) + u128::from(offset)) % self.k.max(1) as u128) as usize)
            }
            _ => None,
        }
    }

    /// The value at (r, k), both within the tensor.
    pub fn get(&self, r: usize, k: usize) -> f64 {
        match &self.form {
            Form::Constant(value) => *value,
            Form::OneHot { value, .. } => {
                if self.hot(r) == Some(k) {
                    *value
                } else {
                    0.0
                }
            }
            Form::Blocks { width } => {
                if k / width == r % self.k.div_ceil(*width) {
                    1.0
                } else {
                    0.0
                }
            }
            Form::Formula(fill, element) => {
                let x = raw(fill, *element, self.k as u64, r as u64, k as u64).unwrap_or(0.0);
                format::convert(*element, x, Rounding::NearestEven, true)
            }
            Form::Drawn(draw) => f64::from(draw.at(r as u64, k as u64)),
            Form::Dense(values) => f64::from(values[r * self.k + k]),
        }
    }

    /// The value at a flat index.
    pub fn flat(&self, index: usize) -> f64 {
        self.get(index / self.k, index % self.k)
    }

    /// Appends row `r`.
    pub fn append(&self, r: usize, out: &mut Vec<f64>) {
        match &self.form {
            Form::Dense(values) => out.extend(values[r * self.k..(r + 1) * self.k].iter().map(|x| f64::from(*x))),
            Form::Drawn(draw) => out.extend(draw.row(r as u64, self.k as u64).map(f64::from)),
            _ => out.extend(self.line(r)),
        }
    }

    /// Row `r`, laid out.
    pub fn line(&self, r: usize) -> Vec<f64> {
        match &self.form {
            Form::Constant(value) => vec![*value; self.k],
            Form::OneHot { value, .. } => {
                let mut line = vec![0.0; self.k];
                if let Some(hot) = self.hot(r) {
                    line[hot] = *value;
                }
                line
            }
            Form::Dense(_) | Form::Drawn(_) => {
                let mut line = Vec::with_capacity(self.k);
                self.append(r, &mut line);
                line
            }
            _ => (0..self.k).map(|k| self.get(r, k)).collect(),
        }
    }

    /// Σ_k of row `r`.
    pub fn sum(&self, r: usize) -> f64 {
        match &self.form {
            Form::Constant(value) => value * self.k as f64,
            Form::OneHot { value, .. } => *value,
            _ => self.line(r).iter().sum(),
        }
    }

    /// Their size; an upper bound for formulas and for what is drawn.
    pub fn size(&self) -> Size {
        if let Some(size) = self.size {
            return size;
        }
        let k = self.k;
        let of = |value: f64, row: f64, count| match value {
            0.0 => Size { unit: 0, largest: 0.0, row: 0.0, count: 0 },
            value => Size { unit: lowest_bit(value), largest: value.abs(), row, count },
        };
        match &self.form {
            Form::Constant(value) => of(*value, value.abs() * k as f64, k),
            Form::OneHot { value, .. } => of(*value, value.abs(), 1),
            Form::Blocks { width } => of(1.0, *width as f64, *width),
            Form::Formula(fill, _) => {
                let (base, first) = match fill {
                    Fill::Address { base, first, .. }
                    | Fill::RowDigits { base, first, .. }
                    | Fill::ColumnDigits { base, first, .. } => (*base as i64, *first),
                    _ => (1, 0),
                };
                let largest = first.abs().max((first + base - 1).abs()) as f64;
                Size { unit: 0, largest, row: largest * k as f64, count: k }
            }
            Form::Drawn(draw) => {
                let largest = draw.largest();
                Size { unit: draw.unit(), largest, row: largest * k as f64, count: k }
            }
            Form::Dense(values) => Size::of(values.chunks(k.max(1)).map(|row| row.iter().map(|x| f64::from(*x)))),
        }
    }

    /// Rows of the tensor.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

/// All values of a draw, row by row, and their size: unit and largest of what can be drawn, rows as they were.
fn laid_out(draw: &Draw, rows: usize, k: usize) -> (Vec<f32>, Size) {
    let mut values = Vec::with_capacity(rows * k);
    let mut size = Size { unit: draw.unit(), largest: draw.largest(), row: 0.0, count: k };
    for r in 0..rows {
        values.extend(draw.row(r as u64, k as u64));
        size.row = size.row.max(magnitudes(&values[r * k..]));
    }
    (values, size)
}

/// The sum of magnitudes, in eight sums at a time.
fn magnitudes(row: &[f32]) -> f64 {
    let mut sums = [0.0_f64; 8];
    let (whole, rest) = row.as_chunks::<8>();
    for chunk in whole {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum += f64::from(x.abs());
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(|x| f64::from(x.abs())).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::{Values, lowest_bit};
    use crate::judge::diagnosis::fill::evaluate;
    use crate::model::{ElementType, Fill};

    #[test]
    fn formulas_and_layouts_give_the_same_values() {
        let fills = [
            Fill::Constant { value: 3.0 },
            Fill::OneHot { stride: 7, offset: 3, value: 2.0 },
            Fill::Blocks { width: 8 },
            Fill::Address { base: 15, digit: 1, pitch: 20, first: 1 },
            Fill::RowDigits { base: 3, digit: 0, first: -1 },
            Fill::Integers { low: -3, high: 3, seed: 5 },
        ];
        for fill in fills {
            for few in [false, true] {
                let values = Values::new(&fill, ElementType::Bf16, (9, 20), few).unwrap();
                let all = evaluate(&fill, ElementType::Bf16, 9, 20).unwrap();
                assert!((0..180).all(|i| values.flat(i) == all[i]), "{fill:?}");
                assert!((0..9).all(|r| values.line(r) == all[r * 20..(r + 1) * 20]), "{fill:?}");
                let size = values.size();
                let within = |x: f64| x.abs() <= size.largest && (x == 0.0 || lowest_bit(x) >= size.unit);
                assert!(all.iter().all(|x| within(*x)), "{fill:?}");
                let rows = all.chunks(20).map(|row| row.iter().map(|x| x.abs()).sum::<f64>());
                assert!(rows.fold(0.0, f64::max) <= size.row, "{fill:?}");
            }
        }
    }

    #[test]
    fn the_lowest_bit_is_found() {
        assert_eq!([1.0, 6.0, 0.375, -96.0].map(lowest_bit), [0, 1, -3, 5]);
    }
}
