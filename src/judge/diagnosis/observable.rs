//! The classes that no probe of this run could have shown.

use std::collections::BTreeMap;

use super::dictionary::{Dictionary, Fits, Hypothesis};
use super::evidence::Evidence;
use super::host::Host;
use super::kind::Kind;
use super::knobs::Knobs;

/// Whether `knobs` would have shown in one of the probes: on samples of all, then on the whole of the random ones.
fn shows(evidence: &Evidence<'_>, knobs: &Knobs, samples: &[(usize, Vec<usize>)]) -> bool {
    let on_sample = samples.iter().any(|(index, addresses)| {
        let shown = &evidence.shown[*index];
        let predicted = Host::new(evidence.target, &shown.rung.inputs, knobs).at(addresses);
        let right = Host::new(evidence.target, &shown.rung.inputs, &Knobs::default()).at(addresses);
        predicted.iter().zip(right).any(|(p, r)| p.1 != r.1 || super::seen::apart(p.0, r.0))
    });
    on_sample
        || evidence.of(Kind::Random).chain(evidence.of(Kind::RandomPoisoned)).any(|shown| {
            let predicted = Host::new(evidence.target, &shown.rung.inputs, knobs).full();
            predicted.beyond != shown.expected.beyond
                || predicted.writes != shown.expected.writes
                || (0..predicted.values.len())
                    .any(|at| super::seen::apart(predicted.range(at), shown.expected.range(at)))
        })
}

/// Whether it depends on values that probes must meet which of the hypotheses of a class show: roundings and widths of sums.
fn depends_on_values(hypothesis: &Hypothesis) -> bool {
    ["ROUNDING_", "DOUBLE_ROUNDING", "SATURATION_", "ACC_DTYPE_", "SPLITK_REDUCTION_TYPE"]
        .iter()
        .any(|class| hypothesis.class.starts_with(class))
}

/// Classes of the dictionary, none of whose hypotheses would have changed an output of this run, and single hypotheses of classes that
/// depend on values: `CLASS (cause)`.
pub fn unobservable(evidence: &Evidence<'_>) -> Vec<String> {
    let fits = Fits { repeats: vec![2], blocks: Some(vec![0]), ..Fits::default() };
    let samples = evidence.samples();
    let mut classes: BTreeMap<String, bool> = BTreeMap::new();
    for hypothesis in Dictionary::all(evidence.target, &fits) {
        let name = match depends_on_values(&hypothesis) {
            true => format!("{} ({})", hypothesis.class, hypothesis.cause),
            false => hypothesis.class.to_owned(),
        };
        let seen = classes.entry(name).or_default();
        *seen = *seen || shows(evidence, &hypothesis.knobs, &samples);
    }
    classes.into_iter().filter(|(_, seen)| !seen).map(|(class, _)| class).collect()
}
