//! Where matrix elements sit in the registers of a warp.

/// Row and column of an accumulator element: register `register` (32-bit, one element) of `lane`, columns in groups of 8.
#[inline(always)]
pub fn accumulator(lane: usize, register: usize) -> (usize, usize) {
    (lane / 4 + 8 * (register >> 1 & 1), register / 4 * 8 + lane % 4 * 2 + (register & 1))
}

/// Row and first column of the elements in register `register` of the left operand, 16 rows high; a register holds
/// `each` elements side by side.
#[inline(always)]
pub fn left(lane: usize, register: usize, each: usize) -> (usize, usize) {
    (lane / 4 + 8 * (register & 1), lane % 4 * each + 4 * each * (register >> 1))
}

/// First row and column of the elements in register `register` of the right operand, 8 columns wide; a register holds
/// `each` elements one below the other.
#[inline(always)]
pub fn right(lane: usize, register: usize, each: usize) -> (usize, usize) {
    (lane % 4 * each + 4 * each * register, lane / 4)
}

/// Which matrix of `d = a * b + c` a fragment of `wmma` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// a, rows by depth.
    Left,
    /// b, depth by columns.
    Right,
    /// c or d, rows by columns.
    Sum,
}

/// A fragment of `wmma`: each lane holds the elements of some slots. The ISA leaves the order open; that of sums is the
/// hardware's since sm_80 where a 16 by 8 tile divides them, that of the operands is row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// Rows, columns and depth of the product.
    pub shape: [usize; 3],
    /// The matrix.
    pub part: Part,
}

impl Fragment {
    /// Whether `wmma` has this shape.
    pub fn known(self) -> bool {
        matches!(self.shape, [16, 16, 16 | 8] | [8, 32, 16] | [32, 8, 16])
    }

    /// Rows and columns of the matrix.
    pub fn extents(self) -> (usize, usize) {
        let [m, n, k] = self.shape;
        match self.part {
            Part::Left => (m, k),
            Part::Right => (k, n),
            Part::Sum => (m, n),
        }
    }

    /// Elements of a lane.
    pub fn elements(self) -> usize {
        let (rows, columns) = self.extents();
        rows * columns / 32
    }

    fn tiled(self) -> bool {
        self.part == Part::Sum && self.shape[0] != 8
    }

    /// Lane `l` holds, in slot 0, row `l >> shift` and column `(l & ((1 << shift) - 1)) << step`: shift and step.
    pub fn lanes(self) -> (u32, u32) {
        if self.tiled() { (2, 1) } else { (self.extents().1.trailing_zeros(), 0) }
    }

    /// How much further the row and the column of `slot` lie than those of slot 0.
    pub fn slot(self, slot: usize) -> (usize, usize) {
        if !self.tiled() {
            return (slot * 32 / self.extents().1, 0);
        }
        let (row, column) = accumulator(0, slot % 4);
        if self.shape[1] == 8 { (row + 16 * (slot / 4), column) } else { (row, column + 8 * (slot / 4)) }
    }

    /// Row and column of an element.
    pub fn place(self, lane: usize, slot: usize) -> (usize, usize) {
        let (shift, step) = self.lanes();
        let (row, column) = self.slot(slot);
        (row + (lane >> shift), column + ((lane & ((1 << shift) - 1)) << step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_element_sits_somewhere_once() {
        let mut seen = HashSet::new();
        for lane in 0..32 {
            for register in 0..32 {
                assert!(seen.insert(accumulator(lane, register)));
            }
        }
        assert!((0..16).all(|r| (0..64).all(|c| seen.contains(&(r, c)))));
        for each in [1, 2, 4] {
            let mut seen = HashSet::new();
            for (lane, register, e) in (0..32).flat_map(|l| (0..4).flat_map(move |r| (0..each).map(move |e| (l, r, e))))
            {
                let (row, column) = left(lane, register, each);
                assert!(row < 16 && column + e < 8 * each && seen.insert((row, column + e)));
            }
            let mut seen = HashSet::new();
            for (lane, register, e) in (0..32).flat_map(|l| (0..2).flat_map(move |r| (0..each).map(move |e| (l, r, e))))
            {
                let (row, column) = right(lane, register, each);
                assert!(row + e < 8 * each && column < 8 && seen.insert((row + e, column)));
            }
        }
    }

    #[test]
    fn every_element_of_a_fragment_sits_in_one_lane() {
        for shape in [[16, 16, 16], [16, 16, 8], [8, 32, 16], [32, 8, 16]] {
            for part in [Part::Left, Part::Right, Part::Sum] {
                let fragment = Fragment { shape, part };
                let (rows, columns) = fragment.extents();
                let all = (0..32).flat_map(|lane| (0..fragment.elements()).map(move |slot| fragment.place(lane, slot)));
                let seen: HashSet<_> = all.collect();
                assert_eq!(seen.len(), rows * columns, "{fragment:?}");
                assert!(seen.iter().all(|&(row, column)| row < rows && column < columns), "{fragment:?}");
            }
        }
    }
}
