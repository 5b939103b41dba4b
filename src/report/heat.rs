//! Where errors lie, drawn with characters.

use std::fmt::Write as _;

use crate::model::Structure;

/// From no wrong element to all.
const SHADES: [char; 6] = ['.', '-', '+', 'x', 'X', '#'];

/// The pattern, the map and the slabs of k.
pub(super) fn heat(structure: &Structure) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "\nError of `{}`: {} of {} elements, {}",
        structure.probe, structure.wrong, structure.elements, structure.pattern
    );
    let heat = &structure.heat;
    let _ =
        writeln!(out, "  one character: {} × {} elements; . none wrong, # all wrong", heat.row_span, heat.column_span);
    for (line, shares) in heat.share.chunks(heat.columns.max(1) as usize).enumerate() {
        let shade = |share: &f64| {
            let level = (share * (SHADES.len() - 1) as f64).ceil() as usize;
            SHADES[if *share >= 1.0 { SHADES.len() - 1 } else { level.min(SHADES.len() - 2) }]
        };
        let drawn: String = shares.iter().map(shade).collect();
        let _ = writeln!(out, "  {:>6}  {drawn}", line as u64 * heat.row_span);
    }
    for slab in structure.slabs.iter().take(12) {
        let (low, high) = slab.count;
        let count = if low == high { format!("{low}") } else { format!("{low} to {high}") };
        let _ = writeln!(out, "  k from {} to {} is summed {count} times", slab.from, slab.to);
    }
    if structure.slabs.len() > 12 {
        let _ = writeln!(out, "  and {} more slabs of k", structure.slabs.len() - 12);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::heat;
    use crate::model::{Heat, Slab, Structure};

    #[test]
    fn shares_are_shaded_and_slabs_listed() {
        let structure = Structure {
            probe: "random".into(),
            wrong: 3,
            elements: 8,
            pattern: "structured: only rows 1".into(),
            heat: Heat {
                row_span: 1,
                column_span: 1,
                columns: 4,
                share: vec![0.0, 0.0, 0.01, 0.0, 1.0, 0.99, 0.5, 0.0],
            },
            slabs: vec![Slab { from: 64, to: 128, count: (0.0, 0.0) }],
        };
        let text = heat(&structure);
        assert!(text.contains("     0  ..-.\n") && text.contains("     1  #Xx.\n"), "{text}");
        assert!(text.contains("k from 64 to 128 is summed 0 times"));
    }
}
