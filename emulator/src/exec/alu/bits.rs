//! Bit-field and byte instructions on one lane.

/// `bfe.u`: `length` bits of `value` from bit `start`, zero-extended.
pub(super) fn extract(value: u64, start: u32, length: u32, width: u32) -> u64 {
    let (start, length) = (start & 0xff, length & 0xff);
    if length == 0 || start >= width {
        return 0;
    }
    let length = length.min(width - start);
    value >> start & (u64::MAX >> (64 - length))
}

/// `bfe.s`: as [`extract`], sign-extended from the field's (or the value's) top bit.
pub(super) fn extract_signed(value: u64, start: u32, length: u32, width: u32) -> u64 {
    let (start, length) = (start & 0xff, length & 0xff);
    if length == 0 {
        return 0;
    }
    let top = (start + length - 1).min(width - 1);
    let sign = value >> top & 1 != 0;
    let field = extract(value, start, length, width);
    let kept = if start >= width { 0 } else { length.min(width - start) };
    if sign && kept < 64 { field | u64::MAX << kept } else { field }
}

/// `bfi`: `length` low bits of `field` put into `value` at bit `start`.
pub(super) fn insert(field: u64, value: u64, start: u32, length: u32, width: u32) -> u64 {
    let (start, length) = (start & 0xff, length & 0xff);
    if length == 0 || start >= width {
        return value;
    }
    let mask = (u64::MAX >> (64 - length.min(width - start))) << start;
    value & !mask | field << start & mask
}

/// `prmt`, default mode: four bytes of `b:a` chosen by the nibbles of `selector`.
pub(super) fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let mut out = 0;
    for i in 0..4 {
        let nibble = selector >> (4 * i) & 0xf;
        let mut byte = (bytes >> (8 * (nibble & 7))) as u8;
        if nibble & 8 != 0 {
            byte = ((byte as i8) >> 7) as u8;
        }
        out |= u32::from(byte) << (8 * i);
    }
    out
}

/// The other modes of `prmt`, as the selector of the default mode that does the same.
pub(super) fn permute_mode(mode: &str, selector: u32) -> u32 {
    let s = selector & 3;
    let pick = |f: &dyn Fn(u32) -> u32| (0..4).fold(0, |all, i| all | f(i) << (4 * i));
    match mode {
        "f4e" => pick(&|i| s + i),
        "b4e" => pick(&|i| s.wrapping_sub(i) & 7),
        "rc8" => pick(&|_| s),
        "ecl" => pick(&|i| i.max(s)),
        "ecr" => pick(&|i| i.min(s)),
        _ => pick(&|i| (s & 1) * 2 + (i & 1)),
    }
}

/// `lop3`: bitwise function of three inputs given by its truth table.
#[inline(always)]
pub(super) fn lop3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let term = |bit: u32, x: u32| if table >> bit & 1 != 0 { x } else { 0 };
    term(0, !a & !b & !c)
        | term(1, !a & !b & c)
        | term(2, !a & b & !c)
        | term(3, !a & b & c)
        | term(4, a & !b & !c)
        | term(5, a & !b & c)
        | term(6, a & b & !c)
        | term(7, a & b & c)
}

/// `bfind` (with `shift`: `bfind.shiftamt`): position of the most significant bit that is not the sign.
pub(super) fn find(value: u64, width: u32, signed: bool, shift: bool) -> u32 {
    let value = if signed && value >> (width - 1) & 1 != 0 { !value & (u64::MAX >> (64 - width)) } else { value };
    if value == 0 {
        return u32::MAX;
    }
    let top = 63 - value.leading_zeros();
    if shift { width - 1 - top } else { top }
}

/// `dp4a`: four byte products added to `c`.
pub(super) fn dot4(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let part = |v: u32, i: u32, signed: bool| {
        let byte = (v >> (8 * i)) as u8;
        if signed { i32::from(byte as i8) } else { i32::from(byte) }
    };
    (0..4).fold(c, |sum, i| sum.wrapping_add((part(a, i, a_signed) * part(b, i, b_signed)) as u32))
}

/// `dp2a`: two products of a 16-bit half of `a` with a byte of `bytes`, added to `c`.
pub(super) fn dot2(a: u32, bytes: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let part = |i: u32| {
        let half = (a >> (16 * i)) as u16;
        let byte = (bytes >> (8 * i)) as u8;
        let half = if a_signed { i32::from(half as i16) } else { i32::from(half) };
        half * if b_signed { i32::from(byte as i8) } else { i32::from(byte) }
    };
    c.wrapping_add(part(0) as u32).wrapping_add(part(1) as u32)
}

/// The differences of four unsigned bytes.
pub(super) fn differences4(a: u32, b: u32) -> [u8; 4] {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    std::array::from_fn(|i| a[i].abs_diff(b[i]))
}

/// `fns`: position of the set bit of `mask` that is the `offset`-th from `base` on (upward from 1, downward from -1, 0: at `base`).
pub(super) fn find_nth(mask: u32, base: u32, offset: u32) -> u32 {
    let offset = offset as i32;
    if base > 31 {
        return u32::MAX;
    }
    let set = |bit: &u32| mask >> bit & 1 != 0;
    let found = match offset {
        0 => Some(base).filter(set),
        1.. => (base..32).filter(set).nth(offset as usize - 1),
        _ => (0..=base).rev().filter(set).nth(offset.unsigned_abs() as usize - 1),
    };
    found.unwrap_or(u32::MAX)
}

/// `szext`: the low `bits` of a word, extended to all of it.
pub(super) fn clamped(value: u32, bits: u32, signed: bool) -> u32 {
    match bits {
        0 => 0,
        32.. => value,
        _ if signed => ((value << (32 - bits)) as i32 >> (32 - bits)) as u32,
        _ => value & (u32::MAX >> (32 - bits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        assert_eq!(extract(0xabcd_1234, 8, 8, 32), 0x12);
        assert_eq!(extract(0xabcd_1234, 24, 32, 32), 0xab);
        assert_eq!(extract_signed(0xabcd_1234, 24, 8, 32) as u32, 0xffff_ffab);
        assert_eq!(extract_signed(0x8000_0000, 40, 8, 32) as u32, u32::MAX);
        assert_eq!(insert(0xff, 0, 28, 8, 32), 0xf000_0000);
        assert_eq!(insert(5, u64::MAX, 3, 64, 64), 5 << 3 | 7);
    }

    #[test]
    fn permutation_modes_follow_the_table_of_the_isa() {
        assert_eq!(permute(0x3322_1100, 0x7766_5544, 0x7531), 0x7755_3311);
        assert_eq!(permute(0x0000_0080, 0, 0x8888), u32::MAX);
        let modes = ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"];
        let wanted = [0x4321, 0x6701, 0x1111, 0x3211, 0x1110, 0x3232];
        assert_eq!(modes.map(|m| permute_mode(m, 1)), wanted);
    }

    #[test]
    fn truth_tables() {
        let (a, b, c) = (0xff00_ff00, 0xf0f0_f0f0, 0xcccc_cccc);
        assert_eq!(lop3(a, b, c, 0xc0), a & b);
        assert_eq!(lop3(a, b, c, 0x96), a ^ b ^ c);
        assert_eq!(find(0x0000_8000, 32, false, false), 15);
        assert_eq!(find(0xffff_fff0, 32, true, false), 3);
        assert_eq!(dot4(0xff01_0203, 0x0101_0101, 10, true, true), 10 - 1 + 1 + 2 + 3);
    }

    #[test]
    fn halves_bytes_and_set_bits() {
        assert_eq!(dot2(0xffff_0003, 0x0201, 10, false, false), 3 + 2 * 0xffff + 10);
        assert_eq!(dot2(0xffff_0003, 0xff01, 10, true, true), 3 + 1 + 10);
        assert_eq!(differences4(0x01ff_0080, 0x0301_0080), [0, 0, 0xfe, 2]);
        assert_eq!([1, 2, 3, 0, u32::MAX].map(|n| find_nth(0b1011_0100, 2, n)), [2, 4, 5, 2, 2]);
        assert_eq!(find_nth(0b100, 3, 1), u32::MAX);
        assert_eq!([clamped(0xfc, 3, true), clamped(0xfc, 3, false), clamped(9, 40, true)], [u32::MAX - 3, 4, 9]);
    }
}
