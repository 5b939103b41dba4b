//! Where the elements of the output lie: line by line, and a line is a row or a column.

use super::target::Target;

impl Target {
    /// Lines of the output, and elements of one: m rows of n, or n columns of m.
    pub fn lines(&self) -> (usize, usize) {
        if self.out_by_columns { (self.n(), self.m()) } else { (self.m(), self.n()) }
    }

    /// Elements of storage of the output.
    pub fn storage(&self) -> usize {
        let (lines, length) = self.lines();
        (lines - 1) * self.out_leading + length
    }

    /// Where (r, q) lies.
    pub fn address(&self, r: usize, q: usize) -> usize {
        if self.out_by_columns { q * self.out_leading + r } else { r * self.out_leading + q }
    }

    /// Row and column of what lies at an address; none between the lines and behind the last one.
    pub fn place(&self, address: usize) -> Option<(usize, usize)> {
        let (line, at) = (address / self.out_leading, address % self.out_leading);
        let (lines, length) = self.lines();
        (line < lines && at < length).then_some(if self.out_by_columns { (at, line) } else { (line, at) })
    }

    /// Addresses of all elements, row by row, whatever lies beside what.
    pub fn addresses(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.m()).flat_map(move |r| (0..self.n()).map(move |q| self.address(r, q)))
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::diagnosis::rounding_to;
    use crate::judge::diagnosis::target::{Side, Splits, Target};
    use crate::model::ElementType;

    fn target(out_by_columns: bool, out_leading: usize) -> Target {
        let side = |rows| Side { element: ElementType::Bf16, rows, leading: 16, k_major: true, scale: None, tile: 16 };
        Target {
            k: 16,
            a: side(3),
            b: side(5),
            out: ElementType::Bf16,
            out_leading,
            out_by_columns,
            tile_k: 16,
            instruction_k: 16,
            stages: 2,
            splits: Splits::none(16),
            groups: None,
            alpha_of_group: false,
            gate: None,
            accumulator_bits: 24,
            promote: None,
            epilogue: vec![rounding_to(ElementType::Bf16)],
            accumulate: false,
            zeroed: false,
            padding_zero: false,
            types: vec![],
        }
    }

    #[test]
    fn every_element_has_one_address_and_padding_has_no_place() {
        for (by_columns, leading, storage) in [(false, 5, 15), (false, 8, 21), (true, 3, 15), (true, 4, 19)] {
            let t = target(by_columns, leading);
            assert_eq!(t.storage(), storage);
            let found: Vec<(usize, usize)> = t.addresses().filter_map(|address| t.place(address)).collect();
            assert_eq!(found, Vec::from_iter((0..15).map(|i| (i / 5, i % 5))));
            assert_eq!((0..storage + 9).filter(|address| t.place(*address).is_some()).count(), 15);
        }
        assert_eq!(target(true, 4).address(2, 3), 14);
    }
}
