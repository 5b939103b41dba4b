//! Isolated parts, the smallest failing case, the operands' spread and the other kernel, as text.

use std::fmt::Write as _;

use crate::model::{Details, Distribution};

use super::table::{figure, table};

/// All that is there, each under its title.
pub(super) fn details(details: &Details) -> String {
    let mut out = String::new();
    if !details.isolation.is_empty() {
        let word = |right: Option<bool>| match right {
            Some(true) => "right",
            Some(false) => "WRONG",
            None => "not tested",
        };
        let _ = writeln!(out, "\nIsolated parts");
        for part in &details.isolation {
            let _ = writeln!(out, "  {}: {}; {}", part.what, word(part.right), part.shows);
        }
    }
    if let Some(smallest) = &details.smallest {
        let k = match smallest.k {
            Some((first, last)) if first == last => format!(" (k = {first})"),
            Some((first, last)) => format!(" (k from {first} to {last})"),
            None => String::new(),
        };
        let observed = if smallest.unwritten { "nothing written".to_owned() } else { smallest.observed.0.to_string() };
        let _ = writeln!(
            out,
            "\nSmallest failing set\n  row {}, column {} of `{}`, {} product{}{k}: {observed} instead of {}",
            smallest.row,
            smallest.column,
            smallest.probe,
            smallest.terms,
            if smallest.terms == 1 { "" } else { "s" },
            smallest.expected.0
        );
    }
    if let Some(shrunk) = &details.shrunk {
        let [m, n, k] = shrunk.shape;
        let _ = writeln!(
            out,
            "\nSmallest failing shape\n  {m} × {n} × {k}: {}, in {}",
            named(&shrunk.leaves),
            shrunk.folder
        );
        for tried in &shrunk.tried {
            let [m, n, k] = tried.shape;
            let _ = writeln!(out, "  {m} × {n} × {k} {}: {}", tried.answer, named(&tried.leaves));
        }
    }
    if !details.operands.is_empty() {
        out.push_str(&spread(&details.operands));
    }
    if let Some((folder, rungs)) = &details.oracle {
        let _ = writeln!(out, "\nBeside the kernel of {folder}");
        let rows: Vec<Vec<String>> = rungs
            .iter()
            .map(|r| {
                let against = &r.against;
                let figures = [against.max_abs, against.rel_l2].map(|x| figure(x.0));
                let counts = [against.wrong, against.elements, r.wrong_here, r.wrong_there].map(|x| x.to_string());
                std::iter::once(r.probe.clone()).chain(counts).chain(figures).collect()
            })
            .collect();
        let head = ["probe", "differ", "of", "wrong here", "wrong there", "max abs", "relL2"];
        out.push_str(&table(&head, &rows));
    }
    out
}

fn named(leaves: &str) -> &str {
    if leaves.is_empty() { "as given" } else { leaves }
}

fn spread(operands: &[Distribution]) -> String {
    let rows: Vec<Vec<String>> = operands
        .iter()
        .map(|d| {
            let mut row = vec![d.operand.clone(), d.count.to_string(), d.non_finite.to_string(), d.zeros.to_string()];
            row.extend([d.largest.0, d.rms.0, d.row_spread.0].map(figure));
            row.extend(d.histogram.iter().map(u64::to_string));
            row
        })
        .collect();
    let head = [
        "operand",
        "values",
        "not finite",
        "zero",
        "largest",
        "rms",
        "row spread",
        "<1/8",
        "<1/2",
        "<1",
        "<2",
        "<4",
        "<8",
        "<16",
        "<64",
        "more",
    ];
    let mut out = format!("\nSpread of the operands, by |x| / rms\n{}", table(&head, &rows));
    for d in operands.iter().filter(|d| d.row_spread.0 > 10.0 || d.histogram[7] + d.histogram[8] > 0) {
        let _ = writeln!(
            out,
            "  {}: outliers; one scale for the whole tensor would leave most of its codes near zero",
            d.operand
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::details;
    use crate::model::{Details, Distribution, Isolation, Number, Shrunk, Smallest, Tried};

    #[test]
    fn every_part_is_told_under_its_title() {
        let told = details(&Details {
            isolation: vec![
                Isolation { what: "accumulation alone".into(), right: Some(true), shows: "5 probes".into() },
                Isolation { what: "block scales alone".into(), right: None, shows: "no probe".into() },
            ],
            smallest: Some(Smallest {
                probe: "codes_a".into(),
                row: 3,
                column: 5,
                terms: 1,
                k: Some((7, 7)),
                observed: Number(2.0),
                unwritten: false,
                expected: Number(4.0),
            }),
            shrunk: Some(Shrunk {
                leaves: "k=64".into(),
                shape: [16, 64, 64],
                folder: "r/shrink".into(),
                tried: vec![Tried { leaves: "k=32".into(), shape: [16, 64, 32], answer: "passes".into() }],
            }),
            operands: vec![Distribution {
                operand: "a".into(),
                count: 64,
                non_finite: 0,
                zeros: 1,
                largest: Number(640.0),
                rms: Number(10.0),
                histogram: [60, 0, 0, 0, 0, 0, 0, 3, 0],
                row_spread: Number(64.0),
            }],
            oracle: None,
        });
        for said in [
            "accumulation alone: right; 5 probes",
            "block scales alone: not tested",
            "row 3, column 5 of `codes_a`, 1 product (k = 7): 2 instead of 4",
            "16 × 64 × 64: k=64, in r/shrink",
            "16 × 64 × 32 passes: k=32",
            "a: outliers",
        ] {
            assert!(told.contains(said), "{said}: {told}");
        }
        assert_eq!(details(&Details::default()), "");
    }
}
