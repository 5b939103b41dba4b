//! How the magnitudes of real operands are spread: outliers decide what a scale leaves of the rest.

use crate::model::{Distribution, Number};

/// Upper ends of the histogram's fields, in units of the root mean square.
const ENDS: [f64; 8] = [0.125, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0];

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
    use super::spread;

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
