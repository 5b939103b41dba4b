//! Executing `tcgen05.mma` and `tcgen05.cp`.

use super::cluster::Cluster;
use super::failure::{Cause, Window};
use super::tmem::{Kind, Rows};
use super::trace::{Described, Operands};
use super::track::Origin;
use crate::tensor::accumulate::{Adder, Tile, multiply};
use crate::tensor::instruction::{Instruction, Scaling, element};
use crate::tensor::operand::{Descriptor, Element, fetch};
use crate::tensor::scaled::{self, Scale, Scaled};

/// Where the scale factors of a product lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scales {
    /// Addresses in tensor memory, those of A and those of B.
    pub(super) at: [u32; 2],
    /// Elements along K that share a scale.
    pub(super) block: usize,
}

/// A product with its operands resolved.
#[derive(Debug, Clone)]
pub(super) struct Product {
    pub(super) kind: Kind,
    /// Address in tensor memory.
    pub(super) d: u32,
    /// Descriptor, or address in tensor memory.
    pub(super) a: u64,
    pub(super) a_in_tensor_memory: bool,
    pub(super) b: u64,
    pub(super) instruction: u32,
    pub(super) keep: bool,
    pub(super) scales: Option<Scales>,
    /// Whether two CTAs share it.
    pub(super) pair: bool,
}

/// Shape and element types of a product, checked.
struct Shape {
    instruction: Instruction,
    scaling: Option<Scaling>,
    elements: [Element; 2],
    depth: usize,
    /// Rows that each CTA holds.
    m: usize,
}

/// The lane that holds row `row` of an accumulator with `m` rows.
fn lane_of_row(m: usize, row: usize) -> usize {
    if m == 64 { row / 16 * 32 + row % 16 } else { row }
}

/// Lane and column of an address in tensor memory.
fn place(address: u32) -> (usize, usize) {
    ((address >> 16 & 0x3fff) as usize, (address & 0xffff) as usize)
}

impl Product {
    fn unsupported(&self, what: &str) -> Cause {
        Cause::Unsupported(format!("tcgen05.mma with {what} (descriptor {:#010x})", self.instruction))
    }

    fn shape(&self) -> Result<Shape, Cause> {
        let bits = self.instruction;
        let (instruction, scaling) = match self.scales {
            None => (Instruction::new(bits).ok_or_else(|| self.unsupported("a sparse operand"))?, None),
            Some(_) => {
                let both = Scaling::new(bits).ok_or_else(|| self.unsupported("a sparse operand or 96 along K"))?;
                (both.0, Some(both.1))
            }
        };
        let of = |code: u32| element(self.kind, code).ok_or_else(|| self.unsupported("these operand types"));
        let elements = [of(instruction.types[0])?, of(instruction.types[1])?];
        let Instruction { m, n, accumulator, transposed, .. } = instruction;
        let rows = match (self.pair, scaling) {
            (true, _) => &[256][..],
            (false, Some(_)) => &[128],
            (false, None) => &[64, 128],
        };
        if self.pair && m == 128 {
            return Err(self.unsupported("cta_group::2 and 128 rows"));
        }
        if !rows.contains(&m) || !(8..=256).contains(&n) {
            return Err(Cause::Operand(format!("tcgen05.mma of {m} x {n} (descriptor {bits:#010x})")));
        }
        if (self.kind == Kind::I8) != (accumulator == 2) || accumulator == 0 {
            return Err(self.unsupported("this accumulator type"));
        }
        let small = |i: usize| elements[i].chunk().1 < 8;
        if (0..2).any(|i| small(i) && transposed[i]) {
            return Err(Cause::Operand(format!(
                "tcgen05.mma with MN-major elements of less than a byte (descriptor {bits:#010x})"
            )));
        }
        if self.a_in_tensor_memory && (small(0) || transposed[0]) {
            return Err(self.unsupported("these elements in tensor memory"));
        }
        Ok(Shape { instruction, scaling, elements, depth: elements[0].depth(), m: if self.pair { m / 2 } else { m } })
    }
}

impl Cluster<'_> {
    /// The CTAs that an operation of this CTA concerns.
    pub(super) fn pair(&self, rank: usize, pair: bool) -> Result<std::ops::RangeInclusive<usize>, Cause> {
        match pair {
            false => Ok(rank..=rank),
            true if rank | 1 < self.ctas.len() => Ok(rank & !1..=rank | 1),
            true => Err(Cause::Operand(format!("cta_group::2 in a cluster of {} CTAs", self.ctas.len()))),
        }
    }

    /// Computes one product; `warp` and `pc` tell where it was started.
    pub(super) fn tensor_multiply(&mut self, rank: usize, warp: u32, pc: u32, product: &Product) -> Result<(), Cause> {
        let shape = product.shape()?;
        let ranks = self.pair(rank, product.pair)?;
        let descriptor = |bits: u64| Descriptor::blackwell(bits).ok_or_else(|| product.unsupported("this swizzle"));
        let Shape { instruction: Instruction { n, transposed, .. }, elements, depth, m, .. } = shape;
        // Each CTA of a pair holds its rows of A and its half of the columns of B.
        let mut b = Vec::with_capacity(n * depth);
        for rank in ranks.clone() {
            let lines = n / ranks.clone().count();
            b.extend(self.shared_operand(rank, descriptor(product.b)?, elements[1], !transposed[1], lines, depth)?);
        }
        for rank in ranks {
            let a = if product.a_in_tensor_memory {
                self.tensor_operand(rank, product.a as u32, m, depth, elements[0])?
            } else {
                self.shared_operand(rank, descriptor(product.a)?, elements[0], !transposed[0], m, depth)?
            };
            self.multiply_rows(rank, warp, pc, product, &shape, [&a, &b])?;
        }
        Ok(())
    }

    /// The rows of a product that one CTA holds, from raw elements line by line.
    fn multiply_rows(
        &mut self,
        rank: usize,
        warp: u32,
        pc: u32,
        product: &Product,
        shape: &Shape,
        raw: [&[u32]; 2],
    ) -> Result<(), Cause> {
        let Shape { instruction: Instruction { n, negate, .. }, elements, depth, m, .. } = *shape;
        if product.kind == Kind::I8 {
            return self.multiply_integers(rank, product, shape, raw);
        }
        let [a, b] = [0, 1].map(|i| elements[i].decode_all(raw[i], negate[i]));
        let origins = self.product_origins(rank, (warp, pc), product, shape)?;
        let (lane, column) = place(product.d);
        let mut sums = vec![0.0; m * n];
        for (row, sums) in sums.chunks_exact_mut(n).enumerate() {
            // The whole accumulator must be allocated, even one that is not read.
            let cells = self.ctas[rank].tensor.row(lane + lane_of_row(m, row), column, n)?;
            if product.keep {
                sums.iter_mut().zip(cells).for_each(|(sum, bits)| *sum = f32::from_bits(*bits));
            }
        }
        let mut operands = self.env.options.trace.then(|| Operands::new(&a, &b, depth));
        if let (Some(scales), Some(scaling)) = (product.scales, shape.scaling) {
            let powers = scaling.powers;
            if !powers && scales.block == 32 {
                return Err(product.unsupported("UE4M3 scales of 32 elements"));
            }
            let of_a = self.scale_factors(rank, scales.at[0], scaling.first[0], m, depth / scales.block, powers)?;
            let of_b = self.scale_factors(rank, scales.at[1], scaling.first[1], n, depth / scales.block, powers)?;
            if operands.is_some() {
                let worth = |values: &[f32], of: &[Scale]| -> Vec<f32> {
                    values.iter().enumerate().map(|(i, v)| v * of[i / scales.block].value()).collect()
                };
                operands = Some(Operands::new(&worth(&a, &of_a), &worth(&b, &of_b), depth));
            }
            let a = Scaled { values: &a, lowest: elements[0].lowest(), scales: &of_a };
            let b = Scaled { values: &b, lowest: elements[1].lowest(), scales: &of_b };
            scaled::multiply(depth, a, b, &mut sums);
        } else {
            let mut columns = vec![0.0; n * depth];
            for (column, line) in b.chunks_exact(depth).enumerate() {
                line.iter().enumerate().for_each(|(k, value)| columns[k * n + column] = *value);
            }
            let adder = match product.kind {
                Kind::Tf32 => Adder::TF32,
                Kind::F8f6f4 => Adder::BLACKWELL_F8,
                _ => Adder::F16,
            };
            let (a, b) = (Tile::new(a, elements[0].lowest()), Tile::new(columns, elements[1].lowest()));
            multiply(adder, &a, &b, n, &mut sums);
        }
        for (row, sums) in sums.chunks_exact(n).enumerate() {
            let cells = self.ctas[rank].tensor.row(lane + lane_of_row(m, row), column, n)?;
            cells.iter_mut().zip(sums).for_each(|(cell, sum)| *cell = sum.to_bits());
        }
        if let Some(mut operands) = operands {
            [operands.a.origins, operands.b.origins] = origins;
            (operands.tile, operands.fresh) = (product.d, !product.keep);
            self.record(rank, warp, pc, operands, &sums);
        }
        Ok(())
    }

    fn multiply_integers(
        &mut self,
        rank: usize,
        product: &Product,
        shape: &Shape,
        raw: [&[u32]; 2],
    ) -> Result<(), Cause> {
        let Shape { instruction: Instruction { n, saturate, .. }, elements, depth, m, .. } = *shape;
        let decode = |i: usize| -> Vec<i64> { raw[i].iter().map(|&bits| elements[i].decode(bits) as i64).collect() };
        let [a, b] = [decode(0), decode(1)];
        let (lane, column) = place(product.d);
        for row in 0..m {
            let left = &a[row * depth..][..depth];
            let cells = self.ctas[rank].tensor.row(lane + lane_of_row(m, row), column, n)?;
            for (cell, right) in cells.iter_mut().zip(b.chunks_exact(depth)) {
                let before = if product.keep { i64::from(*cell as i32) } else { 0 };
                let sum = before + left.iter().zip(right).map(|(a, b)| a * b).sum::<i64>();
                *cell = if saturate { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum } as u32;
            }
        }
        Ok(())
    }

    /// Where the lines of both operands come from; the instruction at the second of `by`, in that warp, reads them.
    fn product_origins(
        &mut self,
        rank: usize,
        by: (u32, u32),
        product: &Product,
        shape: &Shape,
    ) -> Result<[Vec<Origin>; 2], Cause> {
        let Shape { instruction: Instruction { n, transposed, .. }, elements, depth, m, .. } = *shape;
        let ranks = self.pair(rank, product.pair)?;
        let mut of = |rank: usize, which: usize, bits: u64, lines: usize| {
            let descriptor = Descriptor::blackwell(bits).ok_or_else(|| product.unsupported("this swizzle"))?;
            let (element, k_contiguous) = (elements[which], !transposed[which]);
            let described = Described { descriptor, element, k_contiguous, first: 0, lines, depth };
            Ok::<_, Cause>(self.origins(rank, by.0, by.1, &described))
        };
        let a = if product.a_in_tensor_memory { Vec::new() } else { of(rank, 0, product.a, m)? };
        let mut b = Vec::new();
        let lines = n / ranks.clone().count();
        for rank in ranks {
            b.extend(of(rank, 1, product.b, lines)?);
        }
        Ok([a, b])
    }

    fn shared_operand(
        &self,
        rank: usize,
        descriptor: Descriptor,
        element: Element,
        k_contiguous: bool,
        lines: usize,
        depth: usize,
    ) -> Result<Vec<u32>, Cause> {
        let shared = &self.ctas[rank].shared;
        let size = shared.len() as u64;
        fetch(shared, &descriptor, element, k_contiguous, 0, lines, depth).map_err(|at| Cause::Window {
            window: Window::Shared,
            offset: at.into(),
            bytes: 1,
            size,
        })
    }

    /// A left operand that lies in tensor memory, elements packed into 32-bit columns.
    fn tensor_operand(
        &mut self,
        rank: usize,
        address: u32,
        m: usize,
        depth: usize,
        element: Element,
    ) -> Result<Vec<u32>, Cause> {
        let each = 4 / element.bytes();
        let bits = 8 * element.bytes() as u32;
        let (lane, column) = place(address);
        let mut out = Vec::with_capacity(m * depth);
        for row in 0..m {
            let cells = self.ctas[rank].tensor.row(lane + lane_of_row(m, row), column, depth / each)?;
            out.extend((0..depth).map(|k| cells[k / each] >> (bits * (k % each) as u32) & (u32::MAX >> (32 - bits))));
        }
        Ok(out)
    }

    /// The scale factors of `lines` rows or columns, `blocks` each. Line l has byte `first` and those behind it of the
    /// word in lane l % 32 and column l / 32, the same in every quarter of the lanes.
    fn scale_factors(
        &mut self,
        rank: usize,
        address: u32,
        first: u32,
        lines: usize,
        blocks: usize,
        powers: bool,
    ) -> Result<Vec<Scale>, Cause> {
        let (_, column) = place(address);
        if first as usize + blocks > 4 {
            return Err(Cause::Operand(format!("tcgen05.mma takes {blocks} scales from byte {first} of a word on")));
        }
        let mut out = Vec::with_capacity(lines * blocks);
        for line in 0..lines {
            let at = |quarter: usize| (quarter * 32 + line % 32, column + line / 32);
            let mut words = [0; 4];
            for (quarter, word) in words.iter_mut().enumerate() {
                *word = self.ctas[rank].tensor.row(at(quarter).0, at(quarter).1, 1)?[0];
            }
            let bytes = |word: u32| word.to_le_bytes()[first as usize..][..blocks].to_vec();
            if words.iter().any(|&word| bytes(word) != bytes(words[0])) {
                return Err(Cause::Operand(format!(
                    "the scale factors of line {line} differ between the quarters of the lanes: {words:#010x?} (column {})",
                    at(0).1
                )));
            }
            out.extend(bytes(words[0]).into_iter().map(if powers { Scale::power } else { Scale::ue4m3 }));
        }
        Ok(out)
    }

    /// `tcgen05.cp`
    pub(super) fn copy_rows(&mut self, rank: usize, rows: Rows, to: u32, from: u64) -> Result<(), Cause> {
        let descriptor = Descriptor::blackwell(from)
            .ok_or_else(|| Cause::Unsupported(format!("tcgen05.cp with this swizzle (descriptor {from:#x})")))?;
        let words = rows.bytes / 4;
        let tf32 = self.shared_operand(rank, descriptor, Element::Tf32, true, rows.count, words)?;
        let (_, column) = place(to);
        for lane in 0..128 {
            let row = rows.quarters[lane / 32] + lane % 32;
            let cells = self.ctas[rank].tensor.row(lane, column, words)?;
            cells.copy_from_slice(&tf32[row * words..][..words]);
        }
        Ok(())
    }
}
