//! The parts of the data path, each tested with the others held still, and the smallest sum that comes out wrong.

use crate::model::{Isolation, Number, Smallest};

use super::diagnosis::evidence::{Evidence, Shown};
use super::diagnosis::format::{self, Rounding};
use super::diagnosis::target::Target;
use super::diagnosis::{Kind, fill};

/// A part, and the probes that test it alone.
const PARTS: [(&str, &[Kind]); 6] = [
    ("element codes, one product a sum", &[Kind::CodesA, Kind::CodesB]),
    (
        "accumulation alone: every scale 1, nothing added",
        &[Kind::Ones, Kind::CoverA, Kind::CoverB, Kind::Accumulator, Kind::Repeat],
    ),
    (
        "dequantising epilogue alone: every sum 1",
        &[Kind::ScaleA, Kind::ScaleB, Kind::Alpha, Kind::Order, Kind::ZeroPoint],
    ),
    ("what the epilogue adds: every sum 0", &[Kind::Bias, Kind::Residual, Kind::Zero]),
    ("block scales alone: every element 1", &[Kind::ScaleMapA, Kind::ScaleMapB, Kind::RandomScales]),
    ("rounding and saturation of the output", &[Kind::Round, Kind::Saturate]),
];

fn wrong(shown: &Shown) -> usize {
    shown.seen().disagreements(&shown.expected).count()
}

/// Every part, tested or not.
pub(super) fn isolation(evidence: &Evidence<'_>) -> Vec<Isolation> {
    let t = evidence.target;
    let mut list: Vec<Isolation> = PARTS
        .iter()
        .map(|(what, kinds)| {
            let probes: Vec<&Shown> = evidence.shown.iter().filter(|s| kinds.contains(&s.rung.kind)).collect();
            let failing: Vec<String> = probes
                .iter()
                .filter(|s| s.fails)
                .map(|s| format!("{} of {} elements of `{}`", wrong(s), t.m() * t.n(), s.rung.probe.name))
                .collect();
            let shows = match (probes.len(), failing.len()) {
                (0, _) => "no probe of this run".to_owned(),
                (1, 0) => format!("1 probe exact on {} elements", t.m() * t.n()),
                (probes, 0) => format!("{probes} probes exact on {} elements", probes * t.m() * t.n()),
                (_, 1..4) => format!("wrong: {}", failing.join(", ")),
                (_, more) => format!("wrong: {}, and {} more probes", failing[..2].join(", "), more - 2),
            };
            Isolation { what: (*what).to_owned(), right: (!probes.is_empty()).then_some(failing.is_empty()), shows }
        })
        .collect();
    if t.a.element.bits() <= 8 {
        list.insert(0, round_trip(t.a.element));
    }
    list
}

/// Quantise and dequantise normal values, one scale a row of 256, on the host: the reference's own conversion.
fn round_trip(element: crate::model::ElementType) -> Isolation {
    let largest = format::largest(element);
    let spread = |row: u64| -> Vec<f64> {
        (0..256)
            .map(|c| fill::raw(&crate::model::Fill::Gaussian { seed: 1, scale: 1.0 }, element, 256, row, c))
            .map(|x| x.unwrap_or(0.0))
            .collect()
    };
    let mut worst = 0.0_f64;
    for row in (0..16).map(spread) {
        let scale = row.iter().fold(0.0_f64, |most, x| most.max(x.abs())) / largest;
        for x in row {
            let back = format::convert(element, x / scale, Rounding::NearestEven, true) * scale;
            // A scale of integers, half the spacing of the code for floats.
            let step = format::spacing(element, x / scale) * scale;
            worst = worst.max((x - back).abs() / step);
        }
    }
    Isolation {
        what: format!("quantise-dequantise round trip of {element}, on the host"),
        right: Some(worst <= 0.5 + 1e-9),
        shows: format!("largest error {worst:.3} of a step, 4096 values with one scale a row of 256"),
    }
}

/// The wrong element with the fewest products in its sum.
pub(super) fn smallest(evidence: &Evidence<'_>) -> Option<Smallest> {
    let t = evidence.target;
    let mut best: Option<(u64, &Shown, usize)> = None;
    for shown in evidence.shown.iter().filter(|s| s.fails) {
        if best.as_ref().is_some_and(|(terms, _, _)| *terms <= 1) {
            break;
        }
        let inside = |at: usize| t.place(at).map(|place| (at, place));
        for (at, (r, q)) in shown.seen().disagreements(&shown.expected).filter_map(inside).take(16) {
            let terms = ks(t, shown, r, q).len() as u64;
            if best.as_ref().is_none_or(|(least, _, _)| terms < *least) {
                best = Some((terms, shown, at));
            }
        }
    }
    let (terms, shown, at) = best?;
    let (row, column) = t.place(at)?;
    let list = ks(t, shown, row, column);
    let written = shown.seen().written[at];
    Some(Smallest {
        probe: shown.rung.probe.name.clone(),
        row: row as u64,
        column: column as u64,
        terms,
        k: list.first().zip(list.last()).map(|(first, last)| (*first, *last)),
        observed: Number(if written { shown.seen().values[at] } else { f64::NAN }),
        unwritten: !written,
        expected: Number(shown.expected.values[at]),
    })
}

/// k whose product is not zero in the sum at (r, q).
fn ks(t: &Target, shown: &Shown, r: usize, q: usize) -> Vec<u64> {
    let of_b = t.group(r).unwrap_or(0) * t.wide() + q;
    let (a, b) = (shown.rung.inputs.a.line(r), shown.rung.inputs.b.line(of_b));
    (0_u64..).zip(a.iter().zip(&b)).filter(|(_, (x, y))| **x != 0.0 && **y != 0.0).map(|(k, _)| k).collect()
}
