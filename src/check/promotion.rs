//! S27: the interval at which fp8 sums are promoted, against the instructions of a K block.

use super::number::{down, up};
use crate::model::{Accumulator, Finding, Findings, Reproducer, Weight};

/// k of one fp8 MMA instruction.
const DEPTH: u64 = 32;

pub(super) fn check(reproducer: &Reproducer, out: &mut Findings) {
    let contract = &reproducer.contract;
    if contract.accumulator.value != Accumulator::Fp8Hopper {
        return;
    }
    let parameters = &reproducer.kernel.signature.template_parameters;
    let arguments = &reproducer.instantiation.template_arguments;
    let named = parameters.iter().zip(arguments).find_map(|(parameter, argument)| {
        let named = parameter.name.to_lowercase().contains("promot");
        Some((argument.value.trim().parse::<u64>().ok().filter(|_| named)?, &argument.origin))
    });
    // The contract has the depth along k.
    let promised = contract.tile.promotion.as_ref().map(|depth| (depth.value / DEPTH, &depth.origin));
    let (Some((interval, origin)), Some(tile)) = (promised.or(named), &contract.tile.k) else {
        out.skip("K-S27", "the interval of promotion, or the depth of a tile");
        return;
    };
    let each = tile.value / DEPTH;
    if each == 0 || (interval > 0 && interval.is_multiple_of(each)) {
        return;
    }
    out.push(
        Finding::new(
            "K-S27",
            Weight::Predict,
            format!("sums are promoted every {interval} MMAs, and a tile of {} along k has {each}: no multiple", tile.value),
        )
        .of("interval of promotion", origin)
        .of("depth of a tile", &tile.origin)
        .then(
            "the counter steps over the interval, so promotion happens too seldom or never: the error of the 14-bit sums grows with k \
             and is not seen on small integers",
        )
        .help(format!("the nearest legal intervals are {} and {}", down(interval, each).max(each), up(interval.max(1), each))),
    );
}
