//! Global memory, box loads with zero fill, swizzled shared tiles, scale factors.

use std::sync::OnceLock;

use crate::judge::diagnosis::format;
use crate::judge::diagnosis::target::{BlockScale, Side};
use crate::judge::diagnosis::values::Values;
use crate::model::ElementType;

/// Elements of guard before and after each tensor.
pub(super) const GUARD: usize = 512;

/// Values of all codes of a type of at most 16 bits.
fn table(element: ElementType) -> &'static [f64] {
    static TABLES: [OnceLock<Vec<f64>>; 12] = [const { OnceLock::new() }; 12];
    let index = ElementType::ALL.iter().position(|e| *e == element).unwrap_or(0);
    TABLES[index].get_or_init(|| (0..1_u32 << element.bits()).map(|code| format::value(element, code)).collect())
}

/// The value of a code.
pub(super) fn value(element: ElementType, code: u32) -> f64 {
    if element.bits() > 16 { format::value(element, code) } else { table(element)[code as usize] }
}

/// A tensor in global memory between its guards, as codes.
pub(super) struct Tensor {
    pub(super) codes: Vec<u32>,
}

impl Tensor {
    /// Places logical values (rows × k) where the contract says; everything else holds `padding`.
    pub(super) fn place(side: &Side, k: usize, values: &Values, padding: f64) -> Self {
        let lines = if side.k_major { side.rows } else { k };
        let mut codes = vec![format::code(side.element, padding); 2 * GUARD + lines * side.leading];
        for r in 0..side.rows {
            for c in 0..k {
                let offset = if side.k_major { r * side.leading + c } else { c * side.leading + r };
                codes[GUARD + offset] = format::code(side.element, values.get(r, c));
            }
        }
        Tensor { codes }
    }

    /// Code at an address relative to the first element; beyond the guards, the guard goes on.
    pub(super) fn read(&self, address: i64) -> u32 {
        let at = (address + GUARD as i64).clamp(0, self.codes.len() as i64 - 1);
        self.codes[at as usize]
    }
}

/// Where a 16-byte chunk of a row lies in a shared tile that is swizzled over `span` bytes.
pub(super) fn chunk_slot(span: u32, row: usize, chunk: usize, chunks: usize) -> usize {
    let mask = match span {
        128 => row & 7,
        64 => (row >> 1) & 3,
        32 => (row >> 2) & 1,
        _ => 0,
    };
    if chunks.is_power_of_two() { chunk ^ (mask & (chunks - 1)) } else { chunk }
}

/// Scale factors as the kernel reads them: packed into atoms of 128 rows × 4 groups, or row-major.
pub(super) struct Scales {
    codes: Vec<u32>,
    rows: usize,
    groups: usize,
    swizzled: bool,
    /// Code of what holds no factor.
    padding: u32,
}

/// What a repack of the factors may do wrong.
#[derive(Default)]
pub(super) struct Repack {
    pub(super) bounded: bool,
    /// Padding holds zero; every factor is there.
    pub(super) empty: bool,
    pub(super) row_major: bool,
    pub(super) transposed: bool,
    pub(super) permuted: Option<u64>,
}

/// Position in the packed layout: atoms of 512 factors, groups of four fastest, then 32 rows apart by 16, then the four row quarters.
fn packed(row: usize, group: usize, groups: usize) -> usize {
    let atoms_per_row = groups.div_ceil(4);
    let atom = row / 128 * atoms_per_row + group / 4;
    let (quarter, line) = ((row % 128) / 32, row % 32);
    atom * 512 + line * 16 + quarter * 4 + group % 4
}

impl Scales {
    /// Places factors (rows × groups); everything else holds the code of NaN where padding is poisoned, and zero elsewhere.
    pub(super) fn place(
        scale: &BlockScale,
        (rows, groups): (usize, usize),
        values: &[f64],
        repack: &Repack,
        poisoned: bool,
    ) -> Self {
        let padding = match (poisoned, scale.element) {
            (false, _) => 0,
            // A conversion to it gives no NaN.
            (true, ElementType::Ue4m3) => 0x7f,
            (true, element) => format::code(element, f64::NAN),
        };
        let code = |row: usize, group: usize| {
            let (mut row, mut group) = (row, group);
            if repack.transposed {
                let flat = row * groups + group;
                (row, group) = (flat % rows, flat / rows);
            }
            if let Some(seed) = repack.permuted {
                row = (row + 1 + seed as usize % (rows - 1).max(1)) % rows;
            }
            format::code(scale.element, values[row * groups + group])
        };
        if !scale.swizzled {
            let codes = (0..rows * groups).map(|i| code(i / groups, i % groups)).collect();
            return Scales { codes, rows, groups, swizzled: false, padding };
        }
        let size = rows.div_ceil(128) * groups.div_ceil(4) * 512;
        let mut codes = vec![if repack.bounded || repack.empty { 0 } else { padding }; size];
        for row in 0..rows {
            for group in 0..groups {
                let at = if repack.row_major { row * groups + group } else { packed(row, group, groups) };
                if at < size && !(repack.bounded && at >= rows * groups) {
                    codes[at] = code(row, group);
                }
            }
        }
        Scales { codes, rows, groups, swizzled: true, padding }
    }

    /// Where a factor lies.
    pub(super) fn address(&self, row: usize, group: usize) -> i64 {
        if self.swizzled { packed(row, group, self.groups) as i64 } else { (row * self.groups + group) as i64 }
    }

    /// What lies at an address, the storage's padding and what surrounds it included.
    pub(super) fn at(&self, address: i64) -> u32 {
        usize::try_from(address).ok().and_then(|at| self.codes.get(at)).copied().unwrap_or(self.padding)
    }

    pub(super) fn read(&self, row: usize, group: usize) -> u32 {
        if !self.swizzled {
            return self.codes[row.min(self.rows - 1) * self.groups + group.min(self.groups - 1)];
        }
        let group = group.min(self.groups.div_ceil(4) * 4 - 1);
        self.codes[packed(row, group, self.groups).min(self.codes.len() - 1)]
    }
}
