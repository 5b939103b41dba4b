//! Fills and storage codes, written from docs/harness.md: what the harness runtime is held against.

use krepro::model::{ElementType, Fill};

fn hash(seed: u64, row: u64, column: u64) -> u64 {
    let index = (row << 32).wrapping_add(column).wrapping_add(1);
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(index));
    x ^= x >> 30;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn gaussian(seed: u64, scale: f64, row: u64, column: u64) -> f64 {
    let pieces = |x: u64| (x & 0xffff) + (x >> 16 & 0xffff) + (x >> 32 & 0xffff) + (x >> 48);
    let sum: u64 = (0..3).map(|i| pieces(hash(seed.wrapping_add(i), row, column))).sum();
    scale * (sum as f64 - 12.0 * 32767.5) / 65536.0
}

/// A drawn integer in `low..=high`.
fn drawn(seed: u64, low: i64, high: i64, row: u64, column: u64) -> i64 {
    let span = high.wrapping_sub(low).wrapping_add(1) as u64;
    low + ((hash(seed, row, column) >> 32) % span) as i64
}

fn digit(number: u64, base: u64, digit: u32, first: i64) -> f64 {
    let value = base.checked_pow(digit).map_or(0, |divisor| number / divisor % base);
    (first + value as i64) as f64
}

/// The value at (`row`, `column`) of a tensor with `columns` columns, before it is rounded to the element type. `None`
/// for codes and files, which are codes and no values.
fn value(fill: &Fill, row: u64, column: u64, columns: u64) -> Option<f64> {
    Some(match *fill {
        Fill::Constant { value } => value,
        Fill::Integers { low, high, seed } => drawn(seed, low, high, row, column) as f64,
        Fill::Gaussian { seed, scale } => gaussian(seed, scale, row, column),
        Fill::Uniform { low, high, seed } => {
            low + (high - low) * ((hash(seed, row, column) >> 40) as f64 / 16_777_216.0)
        }
        Fill::Outlier { seed, scale } => {
            let value = gaussian(seed, scale, row, column);
            if hash(seed.wrapping_add(3), row, column).is_multiple_of(200) { value * 64.0 } else { value }
        }
        Fill::OneHot { stride, offset, value } => {
            let chosen = row.wrapping_mul(stride).wrapping_add(offset) % columns;
            if column == chosen { value } else { 0.0 }
        }
        Fill::Window { start, value } => {
            if column == start.wrapping_add(row) {
                value
            } else {
                0.0
            }
        }
        Fill::Blocks { width } => {
            if column / width == row % columns.div_ceil(width) {
                1.0
            } else {
                0.0
            }
        }
        Fill::Address { base, digit: which, pitch, first } => {
            digit(row.wrapping_mul(pitch).wrapping_add(column), base, which, first)
        }
        Fill::RowDigits { base, digit: which, first } => digit(row, base, which, first),
        Fill::ColumnDigits { base, digit: which, first } => digit(column, base, which, first),
        Fill::Powers { low, high, seed } => 2f64.powi(drawn(seed, low, high, row, column) as i32),
        Fill::Codes { .. } | Fill::File { .. } => return None,
    })
}

/// The storage code at (`row`, `column`); `None` for a file.
pub fn code(fill: &Fill, element: ElementType, row: u64, column: u64, columns: u64) -> Option<u64> {
    if let Fill::Codes { step } = *fill {
        let mask = u64::MAX >> (64 - element.bits());
        let code = step.wrapping_mul(row).wrapping_add(column) & mask;
        // The top bit of ue4m3 is no sign and no part of any code.
        let sign =
            if matches!(element, ElementType::Ue8m0 | ElementType::Ue4m3) { 0 } else { 1 << (element.bits() - 1) };
        let finite = layout(element).is_none_or(|layout| (code & !sign) >> layout.unused <= layout.largest);
        return Some(if finite { code } else { 0 });
    }
    value(fill, row, column, columns).map(|value| encode(element, value))
}

/// How a floating type lies in its storage.
struct Layout {
    /// Stored bits after the point.
    mantissa: u32,
    /// Exponent of the smallest normal number.
    least: i32,
    /// Code of the largest finite magnitude.
    largest: u64,
    /// Code of infinity; without one, too large clamps.
    infinity: Option<u64>,
    /// Code of NaN.
    nan: Option<u64>,
    signed: bool,
    /// Low bits of storage that hold nothing.
    unused: u32,
}

fn layout(element: ElementType) -> Option<Layout> {
    let of = |mantissa, least, largest, infinity, nan, signed, unused| {
        Some(Layout { mantissa, least, largest, infinity, nan, signed, unused })
    };
    match element {
        ElementType::Bf16 => of(7, -126, 0x7f7f, Some(0x7f80), Some(0x7fc0), true, 0),
        ElementType::F16 => of(10, -14, 0x7bff, Some(0x7c00), Some(0x7e00), true, 0),
        ElementType::F32 => of(23, -126, 0x7f7f_ffff, Some(0x7f80_0000), Some(0x7fc0_0000), true, 0),
        ElementType::Tf32 => of(10, -126, 0x3_fbff, Some(0x3_fc00), Some(0x3_fe00), true, 13),
        ElementType::E4m3 => of(3, -6, 0x7e, None, Some(0x7f), true, 0),
        ElementType::E5m2 => of(2, -14, 0x7b, None, Some(0x7f), true, 0),
        ElementType::E2m1 => of(1, 0, 0x7, None, None, true, 0),
        ElementType::Ue4m3 => of(3, -6, 0x7e, None, Some(0x7f), false, 0),
        ElementType::Ue8m0 => of(0, -127, 0xfe, None, Some(0xff), false, 0),
        ElementType::S8 | ElementType::U8 | ElementType::S32 => None,
    }
}

/// The storage code of `value`, rounded once to nearest even. Too large becomes infinity where the type has one, else the
/// largest magnitude; negative becomes 0 where there is no sign; NaN of an integer 0.
fn encode(element: ElementType, value: f64) -> u64 {
    match layout(element) {
        Some(layout) => encode_float(element.bits(), &layout, value),
        None => encode_integer(element, value),
    }
}

fn encode_float(bits: u32, layout: &Layout, value: f64) -> u64 {
    let raw = value.to_bits();
    let magnitude = raw & (u64::MAX >> 1);
    let negative = raw >> 63 != 0;
    let mut code;
    if value.is_nan() {
        code = layout.nan.unwrap_or(0);
        if !layout.signed {
            return code << layout.unused;
        }
    } else {
        let exponent = (magnitude >> 52) as i32 - 1023;
        let hidden = if exponent == -1023 { 0 } else { 1 << 52 };
        let significand = (magnitude & ((1 << 52) - 1)) | hidden;
        let below = (layout.least - exponent).max(0) as u32;
        let drop = 52 - layout.mantissa + below;
        code = if drop < 54 { round_even(significand, drop) } else { 0 };
        code += ((exponent - layout.least).max(0) as u64) << layout.mantissa;
        if layout.mantissa == 0 {
            code = code.saturating_sub(1);
        }
        if code > layout.largest {
            code = layout.infinity.unwrap_or(layout.largest);
        }
        if negative && !layout.signed {
            return 0;
        }
    }
    if negative {
        code |= 1 << (bits - layout.unused - 1);
    }
    code << layout.unused
}

/// `number` without its lowest `drop` bits, to nearest even.
fn round_even(number: u64, drop: u32) -> u64 {
    let rest = number & ((1 << drop) - 1);
    let half = 1 << (drop - 1);
    let cut = number >> drop;
    cut + u64::from(rest > half || (rest == half && cut & 1 != 0))
}

fn encode_integer(element: ElementType, value: f64) -> u64 {
    let (low, high) = match element {
        ElementType::S8 => (-128.0, 127.0),
        ElementType::U8 => (0.0, 255.0),
        _ => (f64::from(i32::MIN), f64::from(i32::MAX)),
    };
    let whole = if value.is_nan() { 0.0 } else { value.round_ties_even().clamp(low, high) };
    (whole as i64 as u64) & (u64::MAX >> (64 - element.bits()))
}
