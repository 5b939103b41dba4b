//! The register files of a warp: 32 lanes side by side.

/// All lanes of a warp.
pub const ALL: u32 = u32::MAX;

/// One word register of 32 lanes.
pub type Words = [u32; 32];
/// One double-word register of 32 lanes.
pub type Doubles = [u64; 32];

/// The register files. 8- and 16-bit values are kept zero-extended in words; floats as their bits; a predicate is a
/// mask of lanes.
#[derive(Default)]
pub struct Registers {
    /// Words.
    pub w: Vec<Words>,
    /// Double words.
    pub d: Vec<Doubles>,
    /// Predicates.
    pub p: Vec<u32>,
}

impl Registers {
    /// Writes the lanes of `mask`.
    #[inline(always)]
    pub fn put_w(&mut self, index: u32, mask: u32, value: Words) {
        let to = &mut self.w[index as usize];
        if mask == ALL {
            *to = value;
        } else {
            blend(to, mask, &value);
        }
    }

    /// Writes the lanes of `mask`.
    #[inline(always)]
    pub fn put_d(&mut self, index: u32, mask: u32, value: Doubles) {
        let to = &mut self.d[index as usize];
        if mask == ALL {
            *to = value;
        } else {
            blend(to, mask, &value);
        }
    }

    /// Writes the lanes of `mask`.
    #[inline(always)]
    pub fn put_p(&mut self, index: u32, mask: u32, value: u32) {
        let to = &mut self.p[index as usize];
        *to = *to & !mask | value & mask;
    }

    /// The value of a word register in one lane.
    #[inline(always)]
    pub fn word(&self, index: u32, lane: usize) -> u32 {
        self.w[index as usize][lane & 31]
    }

    /// The value of a double register in one lane.
    #[inline(always)]
    pub fn double(&self, index: u32, lane: usize) -> u64 {
        self.d[index as usize][lane & 31]
    }
}

/// Writes some lanes; apart, to keep the interpreter's loop small.
#[inline(never)]
fn blend<T: Copy>(to: &mut [T; 32], mask: u32, value: &[T; 32]) {
    for (lane, (to, value)) in to.iter_mut().zip(value).enumerate() {
        *to = if mask >> lane & 1 != 0 { *value } else { *to };
    }
}

/// The lanes of a mask, in order.
#[inline(always)]
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}
