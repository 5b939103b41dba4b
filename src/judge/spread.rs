//! How the magnitudes of real operands are spread: outliers decide what a scale leaves of the rest.

use crate::model::{Distribution, ElementType, Number, Operand};

use super::diagnosis::format;

/// Upper ends of the histogram's fields, in units of the root mean square.
const ENDS: [f64; 8] = [0.125, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0];

/// The values of a file for `operand`: an .npy file or raw bytes, in the operand's own type, or in f32. None for other contents.
pub fn values(operand: &Operand, bytes: &[u8]) -> Option<Vec<f64>> {
    let data = match bytes.strip_prefix(b"\x93NUMPY") {
        None => bytes,
        Some(rest) => {
            let length = match rest.first()? {
                1 => usize::from(u16::from_le_bytes([*rest.get(2)?, *rest.get(3)?])) + 4,
                _ => u32::from_le_bytes([*rest.get(2)?, *rest.get(3)?, *rest.get(4)?, *rest.get(5)?]) as usize + 6,
            };
            rest.get(length..)?
        }
    };
    let count = usize::try_from(operand.rows.value.checked_mul(operand.columns.value)?).ok()?;
    let own = operand.element.value;
    let bits = own.bits() as usize;
    let element = if data.len() * 8 == count * bits {
        own
    } else if data.len() == count * 4 {
        ElementType::F32
    } else {
        return None;
    };
    let code = |i: usize| match element.bits() as usize {
        4 => u32::from(data[i / 2] >> (i % 2 * 4) & 0xf),
        bits => data[i * bits / 8..(i + 1) * bits / 8].iter().rev().fold(0, |code, byte| code << 8 | u32::from(*byte)),
    };
    Some((0..count).map(|i| format::value(element, code(i))).collect())
}

/// The spread of row-major values with `columns` a row.
pub fn spread(operand: &str, values: &[f64], columns: usize) -> Distribution {
    let finite = || values.iter().copied().filter(|x| x.is_finite()).map(f64::abs);
    let rms = (finite().map(|x| x * x).sum::<f64>() / finite().count().max(1) as f64).sqrt();
    let mut histogram = [0; 9];
    for x in finite() {
        histogram[ENDS.iter().position(|end| x < end * rms).unwrap_or(ENDS.len())] += 1;
    }
    let mut rows: Vec<f64> = values
        .chunks(columns.max(1))
        .map(|row| row.iter().filter(|x| x.is_finite()).fold(0.0_f64, |most, x| most.max(x.abs())))
        .collect();
    rows.sort_unstable_by(f64::total_cmp);
    let (median, most) = (rows.get(rows.len() / 2).copied().unwrap_or(0.0), rows.last().copied().unwrap_or(0.0));
    Distribution {
        operand: operand.to_owned(),
        count: values.len() as u64,
        non_finite: values.iter().filter(|x| !x.is_finite()).count() as u64,
        zeros: values.iter().filter(|x| **x == 0.0).count() as u64,
        largest: Number(most),
        rms: Number(rms),
        histogram,
        row_spread: Number(if median > 0.0 { most / median } else { 0.0 }),
    }
}

#[cfg(test)]
mod tests {
    use super::{spread, values};
    use crate::judge::fixture::operand;
    use crate::model::{ElementType, Role};

    #[test]
    fn files_in_the_operands_type_and_in_f32_are_read() {
        let a = operand(Role::A, ElementType::Bf16, 1, 2);
        let bf16: Vec<u8> = [0x3f80_u16, 0xc000].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(values(&a, &bf16), Some(vec![1.0, -2.0]));
        let mut npy = b"\x93NUMPY\x01\x00\x04\x00{ }\n".to_vec();
        npy.extend([1.0_f32, -2.0].iter().flat_map(|x| x.to_le_bytes()));
        assert_eq!(values(&a, &npy), Some(vec![1.0, -2.0]));
        assert_eq!(values(&a, &[0; 3]), None);
        assert_eq!(values(&a, b"\x93NUMPY\x01"), None);
    }

    #[test]
    fn outliers_show_in_the_histogram_and_between_rows() {
        let mut x = vec![1.0; 64 * 64];
        x[70] = 1000.0;
        x[3] = f64::NAN;
        let d = spread("a", &x, 64);
        assert_eq!((d.non_finite, d.histogram[8] + d.histogram[7], d.row_spread.0), (1, 1, 1000.0));
        assert_eq!(d.histogram.iter().sum::<u64>() + d.non_finite, d.count);
    }
}
