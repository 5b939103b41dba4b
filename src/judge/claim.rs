//! Whether a run in which no rung fails contradicts what somebody claims.

use crate::model::{Claim, Contract, Metrics, Role, RungResult};

use super::Context;
use super::units::ulp;

/// What a clean run says of a claim.
pub(super) enum Against {
    /// It contradicts it: the sentence with the figures.
    Contradicted(String),
    /// It neither shows nor contradicts it: why not.
    Open(String),
}

/// What makes a right kernel look as if it over-amplified, to be ruled out before the claim is made again; for claims about magnitude.
pub(super) fn readings(claim: Claim, contract: &Contract) -> Vec<String> {
    if !matches!(claim, Claim::Ratio(_) | Claim::MaxAbs(_) | Claim::RelL2(_)) {
        return vec![];
    }
    let m = contract.m.value;
    let rows = match contract.tile.m.as_ref().map(|tile| tile.value).filter(|tile| !m.is_multiple_of((*tile).max(1))) {
        Some(tile) => {
            let last = m.div_ceil(tile) * tile;
            format!(
                "rows {m} to {} of the last tile are no rows of this operand: a copy clamped to {m} rows leaves there what was there before, and a \
                 largest magnitude over all rows of the tile reads it. Such a reading looks like an operand that is too large, and is none",
                last - 1
            )
        }
        None => format!(
            "where a tile has more rows than the batch, the rest holds what was there before, and a largest magnitude over all its rows reads \
             it: read real rows only ({})",
            match contract.tile.m {
                Some(_) => format!("here {m} rows fill their tiles"),
                None => format!("here {m}; how many rows a tile has is not known"),
            }
        ),
    };
    vec![
        rows,
        "a trace over all invocations mixes layers: activations of late layers are larger, by a factor of ten and more".to_owned(),
        "a flag that one operation sets at run time and another reads is not in step with a pipelined kernel: key a trace on the instantiation"
            .to_owned(),
    ]
}

/// Looks at rungs that all passed.
pub(super) fn against(claim: Claim, contract: &Contract, rungs: &[RungResult], context: &Context) -> Against {
    let ran: Vec<(&RungResult, &Metrics)> =
        rungs.iter().filter_map(|rung| Some((rung, rung.metrics.as_ref()?))).filter(|(_, m)| m.elements > 0).collect();
    if ran.is_empty() {
        return Against::Open("no rung compared anything".to_owned());
    }
    if !context.chosen.is_empty() {
        return Against::Open(format!("only {} were run; a claim needs the whole ladder", context.chosen.join(", ")));
    }
    let real = || ran.iter().filter(|(rung, _)| rung.family() == "real");
    let of_the_data = matches!(claim, Claim::Nan | Claim::RelL2(_) | Claim::MaxAbs(_) | Claim::Zeros(_));
    if of_the_data && !(context.production_inputs && real().next().is_some()) {
        return Against::Open(format!(
            "no rung of controlled inputs shows it, and whether {claim} comes out depends on the values that production gives; give all \
             of them with --input ROLE=FILE"
        ));
    }
    match claim {
        Claim::Ratio(claimed) => {
            // ones: half an ulp of the output at 1 each way; the slope over random inputs: 1e-3.
            let unit = contract.operand(Role::Out).map_or(0.0, |o| ulp(o.element.value, 1.0));
            let slopes: Vec<_> = ran
                .iter()
                .map(|(rung, m)| (rung.name.as_str(), m.ratio.0, if m.exact { unit } else { 1e-3 }))
                .collect();
            let Some(far) = slopes.iter().map(|(_, ratio, reach)| (ratio - 1.0).abs().max(*reach)).reduce(f64::max)
            else {
                return Against::Open("no rung has a slope".to_owned());
            };
            let shown: Vec<_> = slopes.iter().map(|(name, ratio, _)| format!("{name} {ratio:.6}")).collect();
            if far.is_finite() && (claimed - 1.0).abs() > 2.0 * far {
                Against::Contradicted(format!(
                    "the slope of the output on the expectation is 1, not {claimed}: {}",
                    shown.join(", ")
                ))
            } else {
                Against::Open(format!("a ratio of {claimed} is within what this run cannot tell from 1 ({far:.2e})"))
            }
        }
        Claim::Nan => {
            let elements: u64 = real().map(|(_, m)| m.elements).sum();
            let bad: u64 = real().map(|(_, m)| m.non_finite).sum();
            if bad == 0 {
                Against::Contradicted(format!(
                    "on production's inputs none of {elements} compared elements is NaN or infinite"
                ))
            } else {
                Against::Open(format!("{bad} elements are NaN or infinite, as the expectation is"))
            }
        }
        Claim::Hang => {
            let launches: u32 = rungs.iter().map(|rung| rung.launches).sum();
            Against::Open(format!(
                "all {launches} launches ended, which does not exclude a hang under other timing, beside other kernels or in a larger grid"
            ))
        }
        Claim::RelL2(claimed) => match real().map(|(_, m)| m.rel_l2.0).reduce(f64::max) {
            Some(worst) if claimed > 3.0 * worst => Against::Contradicted(format!(
                "on production's inputs the relative L2 error is {worst:.2e}, where rounding alone gives {:.2e}; the claim says {claimed}",
                real().map(|(_, m)| m.rel_l2_floor.0).fold(0.0, f64::max)
            )),
            Some(worst) => Against::Open(format!(
                "the relative L2 error of this run is {worst:.2e}: the claimed {claimed} is no defect"
            )),
            None => Against::Open("no rung with production's inputs was run".to_owned()),
        },
        Claim::MaxAbs(claimed) => match real().map(|(_, m)| m.max_abs.0).reduce(f64::max) {
            Some(worst) if claimed > 3.0 * worst => Against::Contradicted(format!(
                "on the given inputs the largest error is {worst:.3e}; the claim says {claimed}"
            )),
            Some(worst) => {
                Against::Open(format!("on the given inputs the largest error is {worst:.3e}, within tolerance"))
            }
            None => Against::Open("no rung with production's inputs was run".to_owned()),
        },
        Claim::Zeros(claimed) => match real().map(|(_, m)| m.zeros.0).reduce(f64::max) {
            Some(worst) if claimed > 2.0 * worst => Against::Contradicted(format!(
                "{:.1} % of the output is zero, where {:.1} % was claimed",
                worst * 100.0,
                claimed * 100.0
            )),
            Some(worst) => {
                Against::Open(format!("{:.1} % of the output is zero, as the expectation is", worst * 100.0))
            }
            None => Against::Open("no rung with production's inputs was run".to_owned()),
        },
        Claim::Nondeterministic => {
            let launches: u32 = rungs.iter().map(|rung| rung.launches).max().unwrap_or_default();
            match rungs.iter().find(|rung| !rung.deterministic || rung.follows_shared) {
                Some(rung) => Against::Open(format!("the launches of `{}` differ, within tolerance", rung.name)),
                None => Against::Open(format!(
                    "{launches} launches of a rung are equal bit for bit, which does not exclude a rarer difference; run with --launches 100"
                )),
            }
        }
    }
}
