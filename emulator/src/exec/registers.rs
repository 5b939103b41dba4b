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

    /// [`Registers::put_w`] for small functions: the choice of lanes is made in place.
    #[inline(always)]
    pub fn merge_w(&mut self, index: u32, mask: u32, value: Words) {
        let to = &mut self.w[index as usize];
        if mask == ALL {
            *to = value;
            return;
        }
        let (chosen, old) = (spread(mask), *to);
        let mut new = [0; 32];
        for lane in 0..32 {
            new[lane] = old[lane] ^ (old[lane] ^ value[lane]) & chosen[lane];
        }
        *to = new;
    }

    /// [`Registers::put_d`] for small functions.
    #[inline(always)]
    pub fn merge_d(&mut self, index: u32, mask: u32, value: Doubles) {
        let to = &mut self.d[index as usize];
        if mask == ALL {
            *to = value;
            return;
        }
        let (chosen, old) = (spread(mask), *to);
        let mut new = [0; 32];
        for lane in 0..32 {
            new[lane] = old[lane] ^ (old[lane] ^ value[lane]) & chosen[lane] as i32 as i64 as u64;
        }
        *to = new;
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

/// All ones in the lanes of a mask, zero in the others.
#[inline(always)]
pub fn spread(mask: u32) -> Words {
    let mut out = [0; 32];
    for (lane, out) in out.iter_mut().enumerate() {
        *out = ((mask << (31 - lane)) as i32 >> 31) as u32;
    }
    out
}

/// The lanes of which `flags` is all ones; in the others it is zero. `WIDE` is only for code compiled for AVX2.
#[inline(always)]
pub fn gathered<const WIDE: bool>(flags: &Words) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if WIDE {
        // SAFETY: code with `WIDE` runs only where the processor was asked for AVX2.
        #[allow(unsafe_code)]
        return unsafe { sign_bits(flags) };
    }
    flags.iter().enumerate().fold(0, |mask, (lane, flag)| mask | flag & 1 << lane)
}

/// The top bit of every lane.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn sign_bits(flags: &Words) -> u32 {
    use std::arch::x86_64::{_mm256_castsi256_ps, _mm256_movemask_ps, _mm256_setr_epi32};
    let mut mask = 0;
    for (i, part) in flags.as_chunks::<8>().0.iter().enumerate() {
        let [a, b, c, d, e, f, g, h] = part.map(|flag| flag as i32);
        let eight = _mm256_setr_epi32(a, b, c, d, e, f, g, h);
        mask |= (_mm256_movemask_ps(_mm256_castsi256_ps(eight)) as u32) << (8 * i);
    }
    mask
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
