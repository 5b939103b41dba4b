//! Tables of aligned columns.

/// Rows of cells under a head; the first column is aligned to the left, all others to the right.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain(head.get(column).map(|cell| cell.chars().count())).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for (column, (cell, width)) in cells.zip(&widths).enumerate() {
            let fill = " ".repeat(width.saturating_sub(cell.chars().count()));
            line.push_str("  ");
            line.push_str(&if column == 0 { format!("{cell}{fill}") } else { format!("{fill}{cell}") });
        }
        format!("{}\n", line.trim_end())
    };
    let mut text = line(&mut head.iter().copied());
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

/// In place of a figure that there is not.
pub(super) const NONE: &str = "-";

/// Three significant digits, in the form that is shorter to read; [`NONE`] for NaN, which only a division by zero gives.
pub(super) fn figure(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    if x.is_nan() {
        return NONE.to_owned();
    }
    if x.is_infinite() {
        return x.to_string();
    }
    match x.abs() {
        size if (1e-2..1e5).contains(&size) => {
            let digits = (2 - size.log10().floor() as i32).max(0) as usize;
            format!("{x:.digits$}")
        }
        _ => format!("{x:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{figure, table};

    #[test]
    fn columns_are_aligned() {
        let rows = vec![vec!["ones".into(), "7".into()], vec!["x".into(), "123".into()]];
        assert_eq!(table(&["rung", "n"], &rows), "  rung    n\n  ones    7\n  x     123\n");
    }

    #[test]
    fn figures_have_three_digits() {
        assert_eq!(
            [0.0, 1.0, 0.0016612, 6144.0, 1e9, -0.5].map(figure),
            ["0", "1.00", "1.66e-3", "6144", "1.00e9", "-0.500"]
        );
        assert_eq!([f64::NEG_INFINITY, f64::INFINITY, f64::NAN].map(figure), ["-inf", "inf", "-"]);
    }
}
