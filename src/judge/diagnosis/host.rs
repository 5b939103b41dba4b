//! The closed-form model of a kernel: the output that a contract, or a fault, predicts for a probe.

use std::collections::BTreeMap;

use super::epilogue::Epilogue;
use super::format::cut;
use super::inputs::Inputs;
use super::knobs::{Carry, Knobs};
use super::operand::Operand;
use super::proof::{seen, window};
use super::store::Store;
use super::target::{Sum, Target};
use super::values::{Form, Values};

/// Predicted storage of the output.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// Value of each element of storage; meaningless where nothing is written.
    pub values: Vec<f64>,
    /// How often each element is written.
    pub writes: Vec<u8>,
    /// Whether something is written outside the storage.
    pub beyond: bool,
}

/// A contract, its knobs and one probe.
pub struct Host<'a> {
    target: &'a Target,
    inputs: &'a Inputs,
    knobs: &'a Knobs,
    a: Operand<'a>,
    b: Operand<'a>,
    store: Store<'a>,
}

/// A block of accumulators for some rows and columns, which may repeat.
struct Block {
    values: Vec<f64>,
    columns: usize,
}

/// Columns of the output that are multiplied at a time, so that their rows of b are still in a cache.
const AT_A_TIME: usize = 128;

#[allow(unsafe_code, reason = "the gemm crate takes raw pointers; lengths are checked here")]
/// C = A · Bᵀ of row-major matrices with `depth` columns; rows of C lie `stride` elements apart.
fn multiply(c: &mut [f64], stride: usize, a: &[f64], b: &[f64], (rows, columns, depth): (usize, usize, usize)) {
    if rows == 0 || columns == 0 || depth == 0 {
        return;
    }
    assert!(a.len() >= rows * depth && b.len() >= columns * depth && c.len() >= (rows - 1) * stride + columns);
    // SAFETY: the three slices hold rows × depth, columns × depth and rows × columns elements with these strides.
    unsafe {
        gemm_f64::gemm::f64::get_gemm_fn()(
            rows,
            columns,
            depth,
            c.as_mut_ptr(),
            1,
            stride as isize,
            false,
            a.as_ptr(),
            1,
            depth as isize,
            b.as_ptr(),
            depth as isize,
            1,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm_common::Parallelism::None,
        );
    }
}

impl<'a> Host<'a> {
    /// The model of `target` with `knobs` under `inputs`.
    pub fn new(target: &'a Target, inputs: &'a Inputs, knobs: &'a Knobs) -> Self {
        Host {
            target,
            inputs,
            knobs,
            a: Operand::new(target, inputs, knobs, true),
            b: Operand::new(target, inputs, knobs, false),
            store: Store::new(target, knobs.store.as_ref()),
        }
    }

    fn depth(&self) -> usize {
        self.knobs.slots.as_ref().map_or(self.target.k, |slots| slots.len())
    }

    fn operand_rows(&self, rows: &[usize], is_a: bool) -> Vec<f64> {
        let operand = if is_a { &self.a } else { &self.b };
        let mut out = Vec::with_capacity(rows.len() * self.depth());
        if self.knobs.slots.is_none() && operand.plain_rows(rows, &mut out) {
            return out;
        }
        for &r in rows {
            let row = match &self.knobs.slots {
                None => operand.row(r, &mut (0..self.target.k as u32)),
                Some(slots) if is_a => operand.row(r, &mut slots.iter().map(|s| s.0)),
                Some(slots) => operand.row(r, &mut slots.iter().map(|s| s.1)),
            };
            out.extend(row);
        }
        out
    }

    fn narrow(&self, a: &[f64], b: &[f64]) -> f64 {
        let t = self.target;
        let split = t.k_blocks().div_ceil(t.splits) * t.tile_k;
        // A sum that is not promoted is narrow over the whole length.
        let window = t.promote.filter(|_| self.knobs.sum != Sum::Cut(14)).unwrap_or(split).min(split).max(1);
        let mut total = 0.0;
        for (a, b) in a.chunks(split.max(1)).zip(b.chunks(split.max(1))) {
            for (a, b) in a.chunks(window).zip(b.chunks(window)) {
                let mut sum = 0.0;
                for (a, b) in a.chunks(t.instruction_k).zip(b.chunks(t.instruction_k)) {
                    sum = self.kept(sum + a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>());
                }
                total += sum;
            }
        }
        total
    }

    /// What the accumulator keeps of a sum.
    fn kept(&self, sum: f64) -> f64 {
        match self.knobs.sum {
            Sum::Exact => sum,
            Sum::Nearest(11) => f64::from(half::f16::from_f64(sum)),
            Sum::Nearest(8) => f64::from(half::bf16::from_f64(sum)),
            Sum::Nearest(bits) => crate::judge::units::rounded(sum, bits),
            Sum::Cut(bits) => cut(sum, bits),
            Sum::Wrap(bits) => {
                let range = 2_f64.powi(bits as i32);
                (sum + range / 2.0).rem_euclid(range) - range / 2.0
            }
        }
    }

    /// Sums that need no multiplication of matrices: one operand is one-hot, or both are constant or count.
    fn short(&self, rows: &[usize], columns: &[usize]) -> Option<Vec<f64>> {
        if self.knobs.slots.is_some() || self.knobs.sum != Sum::Exact {
            return None;
        }
        let (a, b) = (self.a.untouched()?, self.b.untouched()?);
        let k = self.target.k;
        let width = |values: &Values, r: usize| match values.form() {
            Form::Blocks { width } => {
                let from = r % k.div_ceil(*width) * width;
                Some((from + width).min(k) - from)
            }
            Form::Constant(_) => Some(k),
            _ => None,
        };
        let sum = |r: usize, q: usize| -> Option<f64> {
            if r >= a.rows() || q >= b.rows() {
                return Some(0.0);
            }
            match (a.form(), b.form()) {
                (Form::OneHot { value, .. }, _) => Some(value * b.get(q, a.hot(r)?)),
                (_, Form::OneHot { value, .. }) => Some(value * a.get(r, b.hot(q)?)),
                (Form::Constant(x), Form::Constant(y)) => Some(x * y * k as f64),
                (Form::Constant(x), Form::Blocks { .. }) => Some(x * width(b, q)? as f64),
                (Form::Blocks { .. }, Form::Constant(y)) => Some(y * width(a, r)? as f64),
                _ => None,
            }
        };
        let mut values = Vec::with_capacity(rows.len() * columns.len());
        for &r in rows {
            for &q in columns {
                values.push(sum(r, q)?);
            }
        }
        Some(values)
    }

    /// Sums of products for distinct rows and columns.
    fn block(&self, rows: &[usize], columns: &[usize]) -> Block {
        if let Some(values) = self.short(rows, columns) {
            return Block { values, columns: columns.len() };
        }
        let depth = self.depth();
        let a = self.operand_rows(rows, true);
        let mut values = vec![0.0; rows.len() * columns.len()];
        for (index, chunk) in columns.chunks(AT_A_TIME).enumerate() {
            let (from, b) = (index * AT_A_TIME, self.operand_rows(chunk, false));
            if self.knobs.sum == Sum::Exact {
                let part = &mut values[from.min(rows.len() * columns.len())..];
                multiply(part, columns.len(), &a, &b, (rows.len(), chunk.len(), depth));
                continue;
            }
            for (r, a) in a.chunks(depth.max(1)).take(rows.len()).enumerate() {
                for (q, b) in b.chunks(depth.max(1)).take(chunk.len()).enumerate() {
                    values[r * columns.len() + from + q] = self.narrow(a, b);
                }
            }
        }
        Block { values, columns: columns.len() }
    }

    /// Accumulators whose sum is that of (r, q).
    fn parts(&self, r: usize, q: usize) -> Vec<(usize, usize)> {
        let t = self.target;
        let (tile_r, tile_q) = (r / t.a.tile, q / t.b.tile);
        let (local_r, local_q) = (r % t.a.tile, q % t.b.tile);
        let (rows, columns) = (t.a.tiles(), t.b.tiles());
        let mut tiles = vec![(tile_r, tile_q)];
        if let Some(carry) = self.knobs.carry {
            let order: Vec<(usize, usize)> = match carry {
                Carry::RowsFirst => (0..columns).flat_map(|q| (0..rows).map(move |r| (r, q))).collect(),
                Carry::ColumnsFirst => (0..rows).flat_map(|r| (0..columns).map(move |q| (r, q))).collect(),
            };
            let end = order.iter().position(|&tile| tile == (tile_r, tile_q)).unwrap_or(0);
            tiles = order[..=end].to_vec();
        }
        let place = |(tr, tq): (usize, usize)| {
            let from_r = if self.knobs.a.tile_swap { tq % rows } else { tr };
            let from_q = if self.knobs.b.tile_swap { tr % columns } else { tq };
            (from_r * t.a.tile + local_r, from_q * t.b.tile + local_q)
        };
        tiles.into_iter().map(place).collect()
    }

    /// Values after the epilogue at sources (r, q), given in any order.
    fn values(&self, sources: &[(usize, usize)]) -> Vec<f64> {
        let simple = self.knobs.carry.is_none() && !self.knobs.a.tile_swap && !self.knobs.b.tile_swap;
        let mut rows = BTreeMap::new();
        let mut columns = BTreeMap::new();
        let mut parts_of = Vec::new();
        for &(r, q) in sources {
            let parts = if simple { vec![] } else { self.parts(r, q) };
            for (r, q) in parts.iter().copied().chain(simple.then_some((r, q))) {
                rows.insert(r, 0);
                columns.insert(q, 0);
            }
            if !simple {
                parts_of.push(parts);
            }
        }
        for map in [&mut rows, &mut columns] {
            map.values_mut().enumerate().for_each(|(index, value)| *value = index);
        }
        let block = self.block(&Vec::from_iter(rows.keys().copied()), &Vec::from_iter(columns.keys().copied()));
        let at = |(r, q): (usize, usize)| block.values[rows[&r] * block.columns + columns[&q]];
        let epilogue = Epilogue::new(self.target, self.inputs, self.knobs);
        sources
            .iter()
            .enumerate()
            .map(|(index, &(r, q))| {
                let sum = if simple { at((r, q)) } else { parts_of[index].iter().map(|&part| at(part)).sum() };
                epilogue.value(sum, r, q)
            })
            .collect()
    }

    /// Whether every partial sum is exact with these knobs. Codes that are read as another type's can have more bits than the
    /// probe's own proof allows for.
    pub fn exact(&self) -> bool {
        if !self.knobs.a.misreads() && !self.knobs.b.misreads() {
            return true;
        }
        let size = |rows: usize, is_a| seen(&self.operand_rows(&Vec::from_iter(0..rows), is_a), self.depth());
        window(&size(self.target.m(), true), &size(self.target.n(), false), self.target).holds
    }

    /// The whole storage.
    pub fn full(&self) -> Predicted {
        if self.knobs.store.is_none() {
            return self.full_plain();
        }
        let storage = self.target.storage();
        let mut writes = vec![0; storage];
        let mut sources = Vec::new();
        let mut of = vec![usize::MAX; storage];
        for (address, (count, of)) in writes.iter_mut().zip(&mut of).enumerate() {
            let found = self.store.sources(address);
            *count = found.len().min(255) as u8;
            if let [source] = found.as_slice() {
                *of = sources.len();
                sources.push(*source);
            }
        }
        let computed = self.values(&sources);
        let values = of.iter().map(|&index| computed.get(index).copied().unwrap_or(0.0)).collect();
        Predicted { values, writes, beyond: self.store.beyond() }
    }

    fn full_plain(&self) -> Predicted {
        let t = self.target;
        let (m, n) = (t.m(), t.n());
        let mut values = vec![0.0; t.storage()];
        let mut writes = vec![0; t.storage()];
        let simple = self.knobs.carry.is_none() && !self.knobs.a.tile_swap && !self.knobs.b.tile_swap;
        let computed = if simple {
            let block = self.block(&Vec::from_iter(0..m), &Vec::from_iter(0..n));
            let epilogue = Epilogue::new(t, self.inputs, self.knobs);
            block.values.iter().enumerate().map(|(i, &sum)| epilogue.value(sum, i / n, i % n)).collect()
        } else {
            self.values(&Vec::from_iter((0..m).flat_map(|r| (0..n).map(move |q| (r, q)))))
        };
        for r in 0..m {
            let at = r * t.out_leading;
            values[at..at + n].copy_from_slice(&computed[r * n..(r + 1) * n]);
            writes[at..at + n].fill(1);
        }
        Predicted { values, writes, beyond: false }
    }

    /// Only these addresses: value, and how often written.
    pub fn at(&self, addresses: &[usize]) -> Vec<(f64, u8)> {
        let found: Vec<Vec<(usize, usize)>> = addresses.iter().map(|&address| self.store.sources(address)).collect();
        let sources: Vec<(usize, usize)> = found.iter().filter(|f| f.len() == 1).map(|f| f[0]).collect();
        let mut computed = self.values(&sources).into_iter();
        found
            .iter()
            .map(|f| {
                let value = if f.len() == 1 { computed.next().unwrap_or(0.0) } else { 0.0 };
                (value, f.len().min(255) as u8)
            })
            .collect()
    }
}
