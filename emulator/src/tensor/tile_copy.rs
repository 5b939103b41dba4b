//! Which bytes a tensor copy moves: the rows of a box, clipped to the tensor.

use super::swizzle::Pattern;
use crate::tensor_map::{ElementType, Interleave, OobFill, Swizzle, TensorMap};

/// No CTA has more shared memory.
const MOST_BYTES: u64 = 1 << 18;

/// One innermost row of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Byte offset in shared memory from the start of the box, before swizzling.
    pub shared: u32,
    /// Device address of the first byte inside the tensor.
    pub global: u64,
    /// Bytes before the first byte inside the tensor.
    pub before: u32,
    /// Bytes inside the tensor; 0 for a row that lies outside.
    pub inside: u32,
}

/// A box at a place of a tensor.
#[derive(Debug, Clone)]
pub struct Tile {
    /// Its rows.
    pub rows: Vec<Row>,
    /// Bytes of a row in shared memory.
    pub row_bytes: u32,
    /// Bytes of global memory that go into 16 bytes of shared memory: 16 but for types that are spread out.
    pub packed: u32,
    /// Chunk permutation in shared memory.
    pub pattern: Pattern,
    /// Byte pattern of an element outside of the tensor.
    pub fill: [u8; 8],
    /// Rows that are wholly outside.
    pub rows_outside: u32,
}

impl Tile {
    /// The box of `map` at these coordinates (one a dimension, innermost first).
    pub fn new(map: &TensorMap, coordinates: &[i32]) -> Result<Tile, String> {
        let rank = usize::from(map.rank);
        if !(1..=5).contains(&rank) {
            return Err(format!("the tensor map has rank {rank}, which is not in 1..5"));
        }
        if rank != coordinates.len() {
            return Err(format!("the tensor map has rank {rank}, the copy {} coordinates", coordinates.len()));
        }
        if map.interleave != Interleave::None {
            return Err(format!("interleave {:?} is not emulated", map.interleave));
        }
        if map.element_strides[..rank].iter().any(|&s| s != 1) {
            return Err(format!("element strides {:?} are not emulated", &map.element_strides[..rank]));
        }
        if map.box_dims[..rank].iter().any(|&n| !(1..=256).contains(&n)) {
            return Err(format!("box dimensions {:?} are not in 1..256", &map.box_dims[..rank]));
        }
        let pattern = match map.swizzle {
            Swizzle::None => Pattern::None,
            Swizzle::B32 => Pattern::B32,
            Swizzle::B64 => Pattern::B64,
            Swizzle::B128 => Pattern::B128,
            other => return Err(format!("swizzle {other:?} is not emulated")),
        };
        let bits = u64::from(map.element.bits());
        let elements = map.box_dims[..rank].iter().fold(1u64, |all, &n| all * u64::from(n));
        if map.element.shared_bytes(elements) > MOST_BYTES {
            return Err(format!("a box of {:?} elements does not fit into shared memory", &map.box_dims[..rank]));
        }
        let row_bytes = map.element.shared_bytes(map.box_dims[0].into()) as u32;
        let packed = if map.element.is_align16() { 2 * bits as u32 } else { 16 };
        let count: u32 = map.box_dims[1..rank].iter().product();
        let mut rows = Vec::with_capacity(count as usize);
        let mut rows_outside = 0;
        // The part of a row that lies in the tensor is the same for all rows.
        let first = i64::from(coordinates[0]);
        let (low, high) = (first.max(0), (first + i64::from(map.box_dims[0])).min(map.dims[0].min(1 << 40) as i64));
        let (before, inside) = if low < high {
            (((low - first) as u64 * bits / 8) as u32, ((high - low) as u64 * bits / 8) as u32)
        } else {
            (0, 0)
        };
        for index in 0..count {
            let mut rest = index;
            let mut global = map.address.wrapping_add(low.max(0) as u64 * bits / 8);
            let mut outside = inside == 0;
            for (d, &coordinate) in coordinates.iter().enumerate().skip(1) {
                let at = i64::from(coordinate) + i64::from(rest % map.box_dims[d]);
                rest /= map.box_dims[d];
                outside |= at < 0 || at as u64 >= map.dims[d];
                global = global.wrapping_add((at as u64).wrapping_mul(map.strides[d - 1]));
            }
            rows_outside += u32::from(outside);
            rows.push(Row { shared: index * row_bytes, global, before, inside: if outside { 0 } else { inside } });
        }
        Ok(Tile { rows, row_bytes, packed, pattern, fill: fill(map), rows_outside })
    }

    /// Bytes that the copy's mbarrier receives: those of the whole box, without the gaps of types that are spread out (as
    /// CUTLASS counts them).
    pub fn counted(&self) -> u32 {
        self.bytes() / 16 * self.packed + self.bytes() % 16
    }

    /// Bytes of the whole box in shared memory.
    pub fn bytes(&self) -> u32 {
        self.row_bytes * self.rows.len() as u32
    }
}

/// An out-of-bounds element, repeated over 8 bytes.
fn fill(map: &TensorMap) -> [u8; 8] {
    match (map.fill, map.element) {
        (OobFill::Zero, _) => [0; 8],
        (OobFill::Nan, ElementType::F64) => 0x7fff_ffff_ffff_ffffu64.to_le_bytes(),
        (OobFill::Nan, ElementType::F16 | ElementType::Bf16) => 0x7fff_7fff_7fff_7fffu64.to_le_bytes(),
        (OobFill::Nan, _) => 0x7fff_ffff_7fff_ffffu64.to_le_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor_map::L2Promotion;

    fn map() -> TensorMap {
        TensorMap {
            element: ElementType::Bf16,
            rank: 2,
            address: 0x10000,
            dims: [100, 8, 1, 1, 1],
            strides: [256, 0, 0, 0],
            box_dims: [64, 16, 1, 1, 1],
            element_strides: [1; 5],
            interleave: Interleave::None,
            swizzle: Swizzle::B128,
            l2_promotion: L2Promotion::None,
            fill: OobFill::Zero,
        }
    }

    #[test]
    fn a_box_is_clipped_but_counts_in_full() {
        let tile = Tile::new(&map(), &[64, -2]).unwrap();
        assert_eq!(tile.bytes(), 64 * 16 * 2);
        assert_eq!(tile.rows_outside, 2 + 6);
        assert_eq!(tile.rows[1].inside, 0);
        assert_eq!(tile.rows[2], Row { shared: 256, global: 0x10000 + 128, before: 0, inside: 72 });
        let tile = Tile::new(&map(), &[-10, 0]).unwrap();
        assert_eq!(tile.rows[0], Row { shared: 0, global: 0x10000, before: 20, inside: 108 });
    }

    #[test]
    fn what_is_not_emulated_is_refused() {
        assert!(Tile::new(&map(), &[0]).is_err());
        assert!(Tile::new(&TensorMap { element_strides: [2; 5], ..map() }, &[0, 0]).is_err());
        assert!(Tile::new(&TensorMap { swizzle: Swizzle::B128Atom64, ..map() }, &[0, 0]).is_err());
        assert!(Tile::new(&TensorMap { box_dims: [u32::MAX; 5], ..map() }, &[0, 0]).is_err());
        assert!(Tile::new(&TensorMap { rank: 5, box_dims: [256; 5], ..map() }, &[0; 5]).is_err());
        let everywhere = TensorMap { dims: [u64::MAX; 5], strides: [u64::MAX; 4], ..map() };
        Tile::new(&everywhere, &[i32::MAX, i32::MIN]).unwrap();
    }
}
