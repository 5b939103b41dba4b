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
}
