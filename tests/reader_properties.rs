//! Whatever is pasted, the readers end and never panic; masking keeps every length and every line break.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use krepro::read::cxx::mask::{MaskOptions, mask};
use krepro::read::fill;
use krepro::read::instantiation::{Select, expand, parse_text, symbol};
use krepro::read::prints;
use krepro::read::signature::{SignatureOptions, find};
use krepro::read::site::{read, task_graph};
use krepro::source::Source;
use proptest::prelude::*;

const SEEDS: &[(&str, &str)] = &[
    ("a.cc", include_str!("sites/conditional.cc")),
    ("b.hpp", include_str!("sites/fmt_raw.hpp")),
    ("c.cuh", include_str!("sites/clamped.cuh")),
    ("d.jinja", include_str!("sites/trio.jinja")),
    ("e.py", include_str!("sites/trio.py")),
    ("f.rs", include_str!("sites/trio.rs")),
    (
        "g.log",
        "n = 3\nMaking TMA desc: global memory: 64 8, shared memory: 64 8, outer stride: 64, swizzle: 128 (base: 0), elem size: 2\nGenerated kernel code:\nstatic void f() {\n};\nLaunch kernel with {1, 2} x 3, shared memory: 4 bytes\nglobalDim (1,2)\nboxDim (1,2)\n",
    ),
    (
        "h.h",
        "void fill(M *m, T const &t, int n) { int d[2] = {n, 1}; for (int i = 0; i < n; ++i) d[0] += i; switch (t.k) { case A: cuTensorMapEncodeTiled(m, X, 2, t.p, d, &d[1], d, o, c, CU_TENSOR_MAP_SWIZZLE_NONE, l, f); } }",
    ),
];

/// A seed with a few bytes cut out, doubled or replaced.
fn mutated() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let edit = (any::<prop::sample::Index>(), 0usize..12, prop::collection::vec(any::<u8>(), 0..4));
    (0..SEEDS.len(), prop::collection::vec(edit, 1..6)).prop_map(|(seed, edits)| {
        let (name, text) = SEEDS[seed];
        let mut bytes = text.as_bytes().to_vec();
        for (at, cut, with) in edits {
            let start = at.index(bytes.len() + 1);
            let end = (start + cut).min(bytes.len());
            bytes.splice(start..end, with);
        }
        (name, bytes)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn masking_keeps_lengths_and_line_breaks((_, bytes) in mutated(), raw in prop::collection::vec(any::<u8>(), 0..200)) {
        let branches = Some(vec![("A".to_owned(), None)]);
        for text in [&bytes, &raw] {
            for options in [MaskOptions::default(), MaskOptions { branches: branches.clone(), ..MaskOptions::default() }] {
                let out = mask(text, &options);
                prop_assert_eq!(out.text.len(), text.len());
                prop_assert_eq!(out.stripped.len(), text.len());
                let breaks = |t: &[u8]| t.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i).collect::<Vec<_>>();
                prop_assert_eq!(breaks(&out.text), breaks(text));
            }
        }
    }

    #[test]
    fn the_readers_end_on_any_text((name, bytes) in mutated()) {
        let source = Source::new(name, bytes);
        let leaves = BTreeMap::from([("rows".to_owned(), "8".to_owned()), ("tile".to_owned(), "x".to_owned())]);
        let _ = read(&source, None, &leaves);
        let _ = parse_text(&source, &Select::default());
        let _ = find(&source, "clamped", &SignatureOptions::default());
        let _ = symbol::parse_symbol(&source);
        let _ = task_graph::leaves(&source, "1", 0);
        let printed = prints::read(&source);
        prop_assert!(printed.code.iter().all(|code| code.bytes().len() <= source.bytes().len()));
        let _ = expand(&source, std::slice::from_ref(&source));
        for function in ["site", "clamped", "fill"] {
            let _ = fill::evaluate(std::slice::from_ref(&source), function, &leaves);
            let _ = read(&source, Some(function), &leaves);
        }
    }
}
