//! The table of figures, a row a rung.

use std::fmt::Write as _;

use crate::model::{Metrics, RungResult, RungStatus};

use super::table::{NONE, figure, table};

/// Names of the columns.
const HEAD: [&str; 13] = [
    "rung", "", "wrong", "of", "max abs", "mean abs", "max rel", "relL2", "floor", "slope", "cosine", "SNR dB",
    "err/tol",
];

/// Whether every wrong element is one that no figure counts: unwritten, NaN or infinite.
fn says_nothing(metrics: &Metrics) -> bool {
    metrics.wrong > 0 && metrics.wrong <= metrics.unwritten + metrics.non_finite
}

/// Whether the expectation is zero everywhere, so that nothing is relative to it.
fn is_relative_to_nothing(metrics: &Metrics) -> bool {
    metrics.ratio.0.is_nan() && !says_nothing(metrics)
}

fn row(name: &str, status: &str, metrics: &Metrics) -> Vec<String> {
    let fixed = |x: f64, digits: usize| if x.is_finite() { format!("{x:.digits$}") } else { figure(x) };
    let mut figures = vec![
        figure(metrics.max_abs.0),
        figure(metrics.mean_abs.0),
        figure(metrics.max_rel.0),
        figure(metrics.rel_l2.0),
        figure(metrics.rel_l2_floor.0),
        fixed(metrics.ratio.0, 6),
        fixed(metrics.cosine.0, 6),
        fixed(metrics.snr_db.0, 1),
        if metrics.exact { "exact".to_owned() } else { figure(metrics.max_err_over_tol.0) },
    ];
    if says_nothing(metrics) {
        figures.iter_mut().filter(|figure| *figure != "exact").for_each(|figure| *figure = NONE.to_owned());
    }
    let counts = [metrics.wrong.to_string(), metrics.elements.to_string()];
    [name.to_owned(), status.to_owned()].into_iter().chain(counts).chain(figures).collect()
}

/// Rows under the head, and below them what a row without figures, or with figures of some of its elements, means.
pub(super) fn figures<'m>(rows: impl IntoIterator<Item = (&'m str, &'m str, &'m Metrics)>) -> String {
    let rows: Vec<(&str, &str, &Metrics)> = rows.into_iter().collect();
    let mut out =
        table(&HEAD, &rows.iter().map(|(name, status, metrics)| row(name, status, metrics)).collect::<Vec<_>>());
    if rows.iter().any(|(.., metrics)| says_nothing(metrics)) {
        out.push_str("  no figures: all that is wrong there was never written, or is NaN or infinite, and has no error to measure\n");
    }
    if rows.iter().any(|(.., metrics)| is_relative_to_nothing(metrics)) {
        out.push_str("  no relative figures: there the right output is zero everywhere\n");
    }
    for (name, _, metrics) in rows {
        let apart = metrics.unwritten + metrics.non_finite;
        if apart > 0 && !says_nothing(metrics) {
            let _ = writeln!(
                out,
                "  {name}: the figures leave out {} unwritten elements, and {} that are NaN or infinite",
                metrics.unwritten, metrics.non_finite
            );
        }
    }
    out
}

/// Every rung of the run; those that were skipped with their reason.
pub(super) fn rungs(out: &mut String, rungs: &[RungResult]) {
    if rungs.is_empty() {
        return;
    }
    let word = |rung: &RungResult| match rung.status {
        RungStatus::Pass => "pass",
        RungStatus::Fail => "FAIL",
        RungStatus::Skip => "skip",
    };
    let rows = rungs.iter().filter_map(|rung| Some((rung.name.as_str(), word(rung), rung.metrics.as_ref()?)));
    let _ = write!(out, "\nRungs\n{}", figures(rows));
    for rung in rungs.iter().filter(|rung| rung.status == RungStatus::Skip) {
        let _ = writeln!(out, "  {} skipped: {}", rung.name, rung.why);
    }
}

#[cfg(test)]
mod tests {
    use super::figures;
    use crate::model::{Metrics, Number};

    fn wrong() -> Metrics {
        Metrics {
            elements: 8,
            wrong: 4,
            max_abs: Number(0.0624),
            mean_abs: Number(0.0123),
            max_rel: Number(3.77e-3),
            rel_l2: Number(1.63e-3),
            rel_l2_floor: Number(1.62e-3),
            ratio: Number(1.000_043),
            cosine: Number(0.999_999),
            snr_db: Number(55.71),
            max_err_over_tol: Number(0.997),
            ..Metrics::default()
        }
    }

    /// The last line of a table of one row, and what stands below it.
    fn told(metrics: Metrics) -> (Vec<String>, String) {
        let text = figures([("x", "FAIL", &metrics)]);
        let mut lines = text.lines().skip(1);
        let cells = lines.next().unwrap().split_whitespace().map(str::to_owned).collect();
        (cells, lines.collect())
    }

    #[test]
    fn every_figure_stands_in_its_column() {
        let all = "x FAIL 4 8 0.0624 0.0123 3.77e-3 1.63e-3 1.62e-3 1.000043 0.999999 55.7 0.997";
        assert_eq!(told(wrong()), (all.split(' ').map(str::to_owned).collect(), String::new()));
    }

    #[test]
    fn what_is_wrong_without_an_error_does_not_look_perfect() {
        let exact =
            Metrics { exact: true, max_abs: Number(0.0), snr_db: Number(f64::INFINITY), unwritten: 4, ..wrong() };
        let (cells, below) = told(exact);
        assert_eq!(cells.join(" "), "x FAIL 4 8 - - - - - - - - exact");
        assert!(below.contains("no figures: all that is wrong there was never written"), "{below}");
        // One more that is written and wrong has an error.
        let (cells, below) = told(Metrics { unwritten: 2, non_finite: 1, ..wrong() });
        assert!(cells.contains(&"0.0624".to_owned()), "{cells:?}");
        assert!(below.contains("leave out 2 unwritten elements, and 1 that are NaN or infinite"), "{below}");
    }

    #[test]
    fn nothing_is_relative_to_zero() {
        let none = Number(f64::NAN);
        let (cells, below) = told(Metrics {
            wrong: 0,
            rel_l2: none,
            rel_l2_floor: none,
            ratio: none,
            cosine: none,
            snr_db: none,
            ..wrong()
        });
        assert_eq!(cells[7..12].join(" "), "- - - - -");
        assert!(below.contains("the right output is zero everywhere"), "{below}");
    }
}
