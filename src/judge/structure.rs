//! Figures of what the probes show: metrics of failing ones, and where the errors of one lie.

use crate::model::{Fill, Heat, Metrics, Number, Role, RungResult, RungStatus, Slab, Structure};

use super::diagnosis::Kind;
use super::diagnosis::evidence::{Evidence, Shown};
use super::diagnosis::format::{self, Rounding};
use super::diagnosis::inputs::fill_of;
use super::diagnosis::seen::{Seen, same};
use super::diagnosis::target::Target;

/// Lines and fields of a heat map at most.
const GRID: (usize, usize) = (16, 64);

/// The figures of one probe.
pub(super) fn metrics(evidence: &Evidence<'_>, shown: &Shown) -> Metrics {
    compare(evidence.target, shown.seen(), &shown.expected.nearest(&shown.seen().values))
}

/// The figures of what was seen against values of the whole storage.
pub(super) fn compare(t: &Target, seen: &Seen, expected: &[f64]) -> Metrics {
    let mut m = Metrics { exact: true, guard_hits: seen.guard_hits, ..Metrics::default() };
    let (mut error, mut expected_square, mut observed_square, mut cross, mut abs) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let (mut floor, mut zeros, mut counted) = (0.0, 0_u64, 0_u64);
    for r in (0..t.m()).filter(|r| t.group(*r).is_some()) {
        for q in 0..t.n() {
            let at = t.address(r, q);
            let (x, e) = (seen.values[at], expected[at]);
            m.elements += 1;
            if !seen.written[at] {
                m.unwritten += 1;
                m.wrong += 1;
                continue;
            }
            m.wrong += u64::from(!same(x, e));
            zeros += u64::from(x == 0.0);
            if !x.is_finite() || !e.is_finite() {
                m.non_finite += u64::from(!x.is_finite() && e.is_finite());
                continue;
            }
            counted += 1;
            let d = (x - e).abs();
            m.max_abs = Number(m.max_abs.0.max(d));
            if e != 0.0 {
                m.max_rel = Number(m.max_rel.0.max(d / e.abs()));
            }
            abs += d;
            error += d * d;
            expected_square += e * e;
            observed_square += x * x;
            cross += x * e;
            let again = format::convert(t.out, e, Rounding::NearestEven, true);
            floor += (again - e) * (again - e);
        }
    }
    m.mean_abs = Number(abs / counted.max(1) as f64);
    m.rel_l2 = Number((error / expected_square).sqrt());
    m.rel_l2_floor = Number((floor / expected_square).sqrt());
    m.cosine = Number(cross / (expected_square * observed_square).sqrt());
    m.snr_db = Number(10.0 * (expected_square / error).log10());
    m.ratio = Number(cross / expected_square);
    m.zeros = Number(zeros as f64 / m.elements.max(1) as f64);
    m
}

/// Failing probes as rows of the table, the first twelve.
pub(super) fn rows(evidence: &Evidence<'_>) -> Vec<RungResult> {
    let failing = evidence.shown.iter().filter(|s| s.fails).take(12);
    failing
        .map(|shown| RungResult {
            name: format!("probe.{}", shown.rung.probe.name),
            status: RungStatus::Fail,
            why: String::new(),
            launches: shown.launches.len() as u32,
            deterministic: shown.launches.iter().all(|l| l.other_shared || l.equals(&shown.launches[0])),
            follows_shared: false,
            shared_filled: shown.launches.iter().all(|l| l.shared_filled),
            metrics: Some(metrics(evidence, shown)),
            failures: vec![],
            milliseconds: 0.0,
        })
        .collect()
}

/// Where the errors of the most telling probe lie.
pub(super) fn structure(evidence: &Evidence<'_>) -> Option<Structure> {
    let failing = |kind| evidence.of(kind).find(|s| s.fails);
    let shown = failing(Kind::Random)
        .or_else(|| failing(Kind::RandomLarge))
        .or_else(|| evidence.shown.iter().find(|s| s.fails))?;
    let t = evidence.target;
    let (m, n) = (t.m(), t.n());
    let mut wrong = vec![false; m * n];
    for address in shown.seen().disagreements(&shown.expected) {
        if let Some((r, q)) = t.place(address) {
            wrong[r * n + q] = true;
        }
    }
    let (row_span, column_span) = (m.div_ceil(GRID.0), n.div_ceil(GRID.1));
    let (lines, fields) = (m.div_ceil(row_span), n.div_ceil(column_span));
    let mut share = Vec::with_capacity(lines * fields);
    for line in 0..lines {
        for field in 0..fields {
            let rows = line * row_span..((line + 1) * row_span).min(m);
            let columns = field * column_span..((field + 1) * column_span).min(n);
            let all = rows.len() * columns.len();
            let count = rows.flat_map(|r| columns.clone().map(move |q| r * n + q)).filter(|i| wrong[*i]).count();
            share.push(count as f64 / all as f64);
        }
    }
    Some(Structure {
        probe: shown.rung.probe.name.clone(),
        wrong: wrong.iter().filter(|w| **w).count() as u64,
        elements: (m * n) as u64,
        pattern: pattern(&wrong, (m, n), (t.a.tile, t.b.tile)),
        heat: Heat { row_span: row_span as u64, column_span: column_span as u64, columns: fields as u64, share },
        slabs: slabs(evidence),
    })
}

fn listed(what: &str, indices: &[usize]) -> String {
    if let [first, .., last] = indices
        && last - first + 1 == indices.len()
    {
        return format!("structured: only {what} {first} to {last}");
    }
    let shown: Vec<String> = indices.iter().take(8).map(ToString::to_string).collect();
    let more = if indices.len() > 8 { format!(" and {} more", indices.len() - 8) } else { String::new() };
    format!("structured: only {what} {}{more}", shown.join(", "))
}

fn pattern(wrong: &[bool], (m, n): (usize, usize), (tile_m, tile_n): (usize, usize)) -> String {
    let total = wrong.iter().filter(|w| **w).count();
    if total == 0 {
        return "none within the output".to_owned();
    }
    let rows: Vec<usize> = (0..m).filter(|r| wrong[r * n..(r + 1) * n].iter().any(|w| *w)).collect();
    let columns: Vec<usize> = (0..n).filter(|q| (0..m).any(|r| wrong[r * n + q])).collect();
    if rows.len() * 2 <= m && rows.len() < columns.len() {
        return listed("rows", &rows);
    }
    if columns.len() * 2 <= n {
        return listed("columns", &columns);
    }
    let tiles: Vec<(usize, usize, f64)> = (0..m.div_ceil(tile_m))
        .flat_map(|r| (0..n.div_ceil(tile_n)).map(move |q| (r, q)))
        .map(|(r, q)| {
            let rows = r * tile_m..((r + 1) * tile_m).min(m);
            let columns = q * tile_n..((q + 1) * tile_n).min(n);
            let all = rows.len() * columns.len();
            let count = rows.flat_map(|r| columns.clone().map(move |q| r * n + q)).filter(|i| wrong[*i]).count();
            (r, q, count as f64 / all as f64)
        })
        .collect();
    let touched: Vec<&(usize, usize, f64)> = tiles.iter().filter(|t| t.2 > 0.0).collect();
    if touched.len() < tiles.len() {
        let names: Vec<String> = touched.iter().take(6).map(|t| format!("({}, {})", t.0, t.1)).collect();
        return format!("structured: only tiles {} of {} × {} elements", names.join(", "), tile_m, tile_n);
    }
    let (low, high) = tiles.iter().fold((1.0_f64, 0.0_f64), |(low, high), t| (low.min(t.2), high.max(t.2)));
    if high - low < 0.25 {
        format!("uniform: {:.0} % of every tile", 100.0 * total as f64 / wrong.len() as f64)
    } else {
        format!("in every tile, {:.0} to {:.0} % of it", low * 100.0, high * 100.0)
    }
}

fn slabs(evidence: &Evidence<'_>) -> Vec<Slab> {
    let t = evidence.target;
    let by_rows = evidence.of(Kind::CoverA).next().map(|s| (s, Role::A, true));
    let by_columns = evidence.of(Kind::CoverB).next().map(|s| (s, Role::B, false));
    let width = |found: &Option<(&Shown, Role, bool)>| match found {
        Some((shown, role, _)) => match fill_of(&shown.rung.probe, *role) {
            Fill::Blocks { width } => width as usize,
            _ => usize::MAX,
        },
        None => usize::MAX,
    };
    let finer = if width(&by_columns) < width(&by_rows) { by_columns } else { by_rows };
    let Some((shown, _, is_a)) = finer.filter(|f| f.0.fails && t.is_plain()) else { return vec![] };
    let width = width(&finer);
    let groups = t.k.div_ceil(width);
    let mut counts = vec![(f64::INFINITY, f64::NEG_INFINITY); groups];
    let (output, expected) = (evidence.output(shown), evidence.expected(shown));
    for (at, (x, e)) in output.iter().zip(&expected).enumerate() {
        let group = if is_a { at / t.n() } else { at % t.n() } % groups;
        let ratio = x / e;
        if ratio.is_finite() {
            counts[group] = (counts[group].0.min(ratio), counts[group].1.max(ratio));
        }
    }
    let slab = |(group, count): (usize, &(f64, f64))| Slab {
        from: (group * width) as u64,
        to: ((group + 1) * width).min(t.k) as u64,
        count: *count,
    };
    let mut joined: Vec<Slab> = Vec::new();
    for slab in counts.iter().enumerate().filter(|(_, c)| **c != (1.0, 1.0) && c.0.is_finite()).map(slab) {
        match joined.last_mut() {
            Some(last) if last.to == slab.from && last.count == slab.count => last.to = slab.to,
            _ => joined.push(slab),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::pattern;

    /// The pattern of 32 × 64 elements in tiles of 16 × 32, of which those are wrong.
    fn of(wrong: impl Fn(usize, usize) -> bool) -> String {
        let list: Vec<bool> = (0..32 * 64).map(|at| wrong(at / 64, at % 64)).collect();
        pattern(&list, (32, 64), (16, 32))
    }

    #[test]
    fn rows_columns_tiles_and_everywhere_are_told_apart() {
        for (told, expected) in [
            (of(|r, _| r == 3), "structured: only rows 3"),
            (of(|r, _| r >= 24), "structured: only rows 24 to 31"),
            (of(|r, _| r % 8 == 1), "structured: only rows 1, 9, 17, 25"),
            (of(|_, q| q >= 56), "structured: only columns 56 to 63"),
            (of(|_, q| q % 4 == 0), "structured: only columns 0, 4, 8, 12, 16, 20, 24, 28 and 8 more"),
            (of(|r, q| (r < 16) != (q < 32)), "structured: only tiles (0, 1), (1, 0) of 16 × 32 elements"),
            (of(|_, _| true), "uniform: 100 % of every tile"),
            (of(|r, q| (r + q) % 2 == 0), "uniform: 50 % of every tile"),
            (of(|r, q| r < 16 || (r + q) % 4 == 0), "in every tile, 25 to 100 % of it"),
            (of(|_, _| false), "none within the output"),
        ] {
            assert_eq!(told, expected);
        }
    }
}
