//! Measured deviations of the epilogue: index maps, powers and factors, read out of the results.

use std::sync::Arc;

use super::evidence::Evidence;
use super::kind::Kind;
use super::knobs::Knobs;
use super::target::{Index, Step, Tensor};

/// An epilogue with measured parameters, and what was measured.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// The steps, where they differ from the contract's.
    pub steps: Option<Arc<Vec<Step>>>,
    /// What differs, one clause each.
    pub what: Vec<String>,
}

/// Index map out of digit planes of base 100 that begin at 1.
fn decode(evidence: &Evidence<'_>, kind: Kind, limit: usize) -> Option<Vec<usize>> {
    let planes: Vec<Vec<f64>> = evidence.of(kind).map(|shown| evidence.output(shown)).collect();
    // Digits of a probe begin at 1, or higher where an activation wants it.
    let least = evidence.of(kind).next().map_or(1.0, |shown| shown.rung.first);
    let digit = |x: f64| ((least..least + 100.0).contains(&x) && x.fract() == 0.0).then_some((x - least) as usize);
    let index = |at: usize| {
        planes
            .iter()
            .rev()
            .try_fold(0_usize, |index, plane| Some(index * 100 + digit(plane[at])?))
            .filter(|i| *i < limit)
    };
    (0..planes.first()?.len()).map(index).collect()
}

fn constant(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values = values;
    let first = values.next()?;
    (first.is_finite() && values.all(|v| v == first)).then_some(first)
}

/// Reads what the epilogue probes show.
pub fn measured_epilogue(evidence: &Evidence<'_>) -> Measured {
    let t = evidence.target;
    let (m, n) = (t.m(), t.n());
    if !t.is_plain() {
        return Measured::default();
    }
    let mut steps = t.epilogue.clone();
    let mut what = Vec::new();
    for step in &mut steps {
        match step {
            Step::Add { tensor: Tensor::Bias, index, factor, .. } if evidence.fails(Kind::Bias) => {
                if let Some(map) = decode(evidence, Kind::Bias, n) {
                    *index = Index::Map(Arc::new(map));
                    what.push("bias index map".to_owned());
                } else if let Some(shown) = evidence.of(Kind::Bias).next() {
                    let ratio = evidence.output(shown).into_iter().zip(evidence.expected(shown)).map(|(x, e)| x / e);
                    if let Some(found) = constant(ratio).filter(|f| *f != 1.0) {
                        *factor = found;
                        what.push(format!("bias factor {found}"));
                    }
                }
            }
            Step::Add { tensor: Tensor::Residual, index, factor, .. } if evidence.fails(Kind::Residual) => {
                if let Some(map) = decode(evidence, Kind::Residual, m * n) {
                    *index = Index::Map(Arc::new(map));
                    what.push("residual index map".to_owned());
                } else if let Some(shown) = evidence.of(Kind::Residual).next() {
                    let ratio = evidence.output(shown).into_iter().zip(evidence.expected(shown)).map(|(x, e)| x / e);
                    if let Some(found) = constant(ratio).filter(|f| *f != 1.0) {
                        *factor = found;
                        what.push(format!("residual factor {found}"));
                    }
                }
            }
            Step::Multiply { tensor: Tensor::ScaleA, index, .. } if evidence.fails(Kind::ScaleA) => {
                if let Some(map) = decode(evidence, Kind::ScaleA, m) {
                    *index = Index::Map(Arc::new(map));
                    what.push("scale_a index map".to_owned());
                }
            }
            Step::Multiply { tensor: Tensor::ScaleB, index, .. } if evidence.fails(Kind::ScaleB) => {
                if let Some(map) = decode(evidence, Kind::ScaleB, n) {
                    *index = Index::Map(Arc::new(map));
                    what.push("scale_b index map".to_owned());
                }
            }
            Step::Multiply { tensor: Tensor::Alpha, power, .. } if evidence.fails(Kind::Alpha) => {
                let found = evidence.of(Kind::Alpha).next().and_then(|s| constant(evidence.output(s).into_iter()));
                let exponent = found.filter(|x| *x > 0.0).map(|x| x.log2() / 2.0);
                if let Some(exponent) = exponent.filter(|e| e.fract() == 0.0 && *e != 1.0 && e.abs() < 8.0) {
                    *power = exponent as i32;
                    what.push(format!("alpha to the power {exponent}"));
                }
            }
            Step::ZeroPoint { factor } if evidence.fails(Kind::ZeroPoint) && t.gain() == 1.0 => {
                let Some(shown) = evidence.of(Kind::ZeroPoint).next() else { continue };
                let inputs = &shown.rung.inputs;
                let found = evidence.output(shown).into_iter().enumerate().filter_map(|(at, x)| {
                    let whole = inputs.zero_point * inputs.column_sum[at % n];
                    (whole != 0.0).then_some((1.0 - x) / whole)
                });
                if let Some(found) = constant(found).filter(|f| *f != 1.0) {
                    *factor = found;
                    what.push(format!("zero-point factor {found}"));
                }
            }
            _ => {}
        }
    }
    Measured { steps: (!what.is_empty()).then(|| Arc::new(steps)), what }
}

/// A factor at every output, from the probe with sum 1 and alpha 4; with it, whether it is one constant.
pub fn output_factor(evidence: &Evidence<'_>) -> Option<(Knobs, bool)> {
    let shown = evidence.of(Kind::Alpha).next().filter(|_| evidence.target.is_plain())?;
    let factors: Vec<f64> =
        evidence.output(shown).into_iter().zip(evidence.expected(shown)).map(|(x, e)| x / e).collect();
    if factors.iter().any(|f| !f.is_finite() || *f == 0.0) || factors.iter().all(|f| *f == 1.0) {
        return None;
    }
    let uniform = constant(factors.iter().copied()).is_some();
    Some((Knobs { out_factor: Some(Arc::new(factors)), ..Knobs::default() }, uniform))
}
