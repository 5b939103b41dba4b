//! Two kernels on the same probes, element by element, beside the host GEMM.

use crate::model::{OracleRung, Plan, RawLaunch};

use super::diagnosis::evidence::Evidence;
use super::diagnosis::target::Target;
use super::diagnosis::{Builder, Kind, Rung};
use super::structure::compare;

/// What both run.
const KINDS: [Kind; 9] = [
    Kind::Ones,
    Kind::CodesA,
    Kind::CodesB,
    Kind::Order,
    Kind::Round,
    Kind::Accumulator,
    Kind::Random,
    Kind::RandomLarge,
    Kind::RandomScales,
];

fn rungs(target: &Target, seed: u64) -> Vec<Rung> {
    Builder::new(target, seed).tier0().rungs.into_iter().filter(|r| KINDS.contains(&r.kind)).collect()
}

/// The probes for both kernels.
pub fn plan(target: &Target, seed: u64) -> Plan {
    Plan { probes: rungs(target, seed).into_iter().map(|r| r.probe).collect() }
}

/// Why another contract cannot stand beside `target`; none if it can.
pub fn unlike(target: &Target, other: &Target) -> Option<String> {
    let shape = |t: &Target| (t.m(), t.n(), t.k);
    let types = |t: &Target| (t.a.element, t.b.element, t.a.scale.map(|s| s.element), t.b.scale.map(|s| s.element));
    if shape(target) != shape(other) {
        return Some(format!("its shape is {:?} and not {:?}", shape(other), shape(target)));
    }
    if types(target) != types(other) {
        return Some("its operands have other element types".to_owned());
    }
    (target.epilogue.len() != other.epilogue.len() || target.accumulate != other.accumulate)
        .then(|| "its epilogue is another one".to_owned())
}

/// Compares the launches of [`plan`] by the two.
pub fn beside(target: &Target, seed: u64, here: &[RawLaunch], there: &[RawLaunch], other: &Target) -> Vec<OracleRung> {
    let (own, others) =
        (Evidence::new(target, rungs(target, seed), here), Evidence::new(other, rungs(target, seed), there));
    let wrong = |shown: &super::diagnosis::evidence::Shown| shown.seen().disagreements(&shown.expected).count() as u64;
    own.shown
        .iter()
        .filter_map(|shown| {
            let name = &shown.rung.probe.name;
            let twin = others.shown.iter().find(|s| s.rung.probe.name == *name)?;
            // The other kernel may store its lines further apart, or columns where this one stores rows.
            let of = |(r, q): (usize, usize)| twin.seen().values.get(other.address(r, q)).copied().unwrap_or(0.0);
            let values: Vec<f64> = (0..target.storage()).map(|at| target.place(at).map_or(0.0, of)).collect();
            Some(OracleRung {
                probe: name.clone(),
                against: compare(target, shown.seen(), &values),
                wrong_here: wrong(shown),
                wrong_there: wrong(twin),
            })
        })
        .collect()
}

/// What the comparison says, in one sentence.
pub fn says(folder: &str, rungs: &[OracleRung]) -> String {
    let count = |of: fn(&OracleRung) -> u64| rungs.iter().filter(|r| of(r) > 0).count();
    let (differ, here, there) = (count(|r| r.against.wrong), count(|r| r.wrong_here), count(|r| r.wrong_there));
    match (differ, here, there) {
        (0, 0, 0) => format!(
            "the kernel of {folder} and this one give the host GEMM's output bit for bit on {} probes",
            rungs.len()
        ),
        (0, _, _) => format!(
            "the kernel of {folder} gives the same wrong output on all {} probes: look at the contract before the kernel, or at what the two share",
            rungs.len()
        ),
        (_, _, 0) => format!(
            "the kernel of {folder} is right on all {} probes, and this one differs from it on {differ}",
            rungs.len()
        ),
        (_, 0, _) => {
            format!("this kernel is right on all {} probes, and that of {folder} is not on {there}", rungs.len())
        }
        _ => format!("both kernels are wrong, on {here} and {there} probes, and differ from one another on {differ}"),
    }
}
