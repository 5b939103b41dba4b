//! What failing rungs show, and the stages they point at. A pointer, never a proof: several stages can give the same figures.

use crate::model::{Contract, Metrics, Role, RungResult, Stage};

/// Sentences and stages, in the order of the rungs.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) sentences: Vec<String>,
    pub(super) stages: Vec<Stage>,
}

impl Shown {
    fn say(&mut self, stage: impl Into<Option<Stage>>, sentence: String) {
        self.sentences.push(sentence);
        if let Some(stage) = stage.into()
            && !self.stages.contains(&stage)
        {
            self.stages.push(stage);
        }
    }
}

/// The first failures have one ratio of observed to expected.
fn constant_ratio(rung: &RungResult) -> Option<f64> {
    let mut ratios = rung.failures.iter().map(|f| f.observed.0 / f.expected.0);
    let first = ratios.next().filter(|r| r.is_finite())?;
    ratios.all(|r| r == first).then_some(first)
}

fn place(rung: &RungResult) -> String {
    match rung.failures.first() {
        Some(f) => {
            format!("; first at row {}, column {}: {} instead of {}", f.row, f.column, f.observed.0, f.expected.0)
        }
        None => String::new(),
    }
}

/// Where all listed failures lie, if that says something.
fn structure(rung: &RungResult, metrics: &Metrics) -> String {
    let listed = &rung.failures;
    if metrics.wrong == metrics.elements {
        return ", everywhere".to_owned();
    }
    if listed.len() < 2 || (listed.len() as u64) < metrics.wrong.min(8) {
        return String::new();
    }
    let whole = listed.len() as u64 == metrics.wrong;
    let say = |what: &str, at: u64| format!(", {} in {what} {at}", if whole { "all" } else { "the first ones" });
    if whole && listed.iter().all(|f| f.row == listed[0].row) {
        return say("row", listed[0].row);
    }
    if listed.iter().all(|f| f.column == listed[0].column) {
        return say("column", listed[0].column);
    }
    String::new()
}

fn one(rung: &RungResult, contract: &Contract, others: &[RungResult], shown: &mut Shown) {
    let Some(metrics) = &rung.metrics else {
        shown.say(None, format!("`{}` fails: {}", rung.name, rung.why));
        return;
    };
    let name = &rung.name;
    if !rung.deterministic {
        shown.say(Stage::Synchronisation, format!("`{name}`: {} launches with equal inputs differ", rung.launches));
    }
    if rung.follows_shared {
        let text = "launches differ with what shared memory held before them: a place is read that the launch never writes, or before it is written";
        shown.say(Stage::OperandLoad, format!("`{name}`: {text}"));
    }
    if metrics.unwritten > 0 {
        let share = format!("{} of {} elements", metrics.unwritten, metrics.elements);
        shown.say(Stage::Store, format!("`{name}`: {share} are never written{}", place(rung)));
    }
    if metrics.guard_hits > 0 || metrics.padding_hits > 0 {
        let bytes =
            format!("{} bytes outside the buffers and {} between rows", metrics.guard_hits, metrics.padding_hits);
        shown.say(Stage::Store, format!("`{name}`: {bytes} are overwritten"));
    }
    if metrics.input_hits > 0 {
        shown.say(Stage::Store, format!("`{name}`: {} bytes of inputs are overwritten", metrics.input_hits));
    }
    let wrong = metrics.wrong.saturating_sub(metrics.unwritten);
    if wrong == 0 {
        if rung.deterministic && !rung.follows_shared && metrics.wrong == 0 {
            shown.say(None, format!("`{name}` fails: {}", rung.why));
        }
        return;
    }
    let passes =
        |family: &str| others.iter().any(|r| r.family() == family && r.status == crate::model::RungStatus::Pass);
    let fails = |family: &str| others.iter().any(|r| r.family() == family && r.failed());
    let place = format!("{}{}", structure(rung, metrics), place(rung));
    let of = format!("{wrong} of {} elements", metrics.elements);
    // What is no number without poison too, a function that leaves the range, says nothing of padding.
    let of_padding = rung.family() == "padding"
        && !others.iter().any(|r| {
            !matches!(r.family(), "padding" | "real") && r.metrics.is_some_and(|metrics| metrics.non_finite > 0)
        });
    if metrics.non_finite > 0 && !of_padding {
        let whose = if rung.family() == "real" { ": an overflow, or values that production's inputs hold" } else { "" };
        shown.say(None, format!("`{name}`: {of} are wrong, {} are NaN or infinite{whose}{place}", metrics.non_finite));
        return;
    }
    if metrics.non_finite > 0 && !contract.padding_zero.value {
        shown.say(
            Stage::OperandLoad,
            format!(
                "`{name}`: {} elements are NaN or infinite; with poisoned padding that is a read outside the logical operands{place}",
                metrics.non_finite
            ),
        );
        return;
    }
    let k = contract.k.value as f64;
    match rung.family() {
        "ones" => match constant_ratio(rung) {
            Some(ratio) if (ratio * k).fract() == 0.0 => {
                let terms = ratio * k;
                shown.say(
                    Stage::MmaAccumulate,
                    format!("`{name}`: {of} are {terms} instead of {k}: the sum has {terms} terms of {k}{place}"),
                );
            }
            _ => shown.say(Stage::MmaAccumulate, format!("`{name}`: {of} are wrong: not every k is summed once{place}")),
        },
        "one_hot" if passes("ones") => shown.say(
            Stage::OperandLoad,
            format!("`{name}`: {of} are wrong while the count is right, as when an element of a or b is taken from a wrong place{place}"),
        ),
        "one_hot" => shown.say(Stage::OperandLoad, format!("`{name}`: {of} are wrong{place}")),
        "codes" if passes("integers") && !fails("one_hot") => {
            let scale = rung.name.contains("scale");
            shown.say(
                if scale { Stage::QuantisationScale } else { Stage::OperandLoad },
                format!(
                    "`{name}`: {of} are wrong while small integers are right: some codes {} are taken for other values{place}",
                    if scale { "of the scale" } else { "of the operand" }
                ),
            );
        }
        "padding" if passes("integers") => shown.say(
            Stage::OperandLoad,
            format!("`{name}`: {of} are wrong only where padding is poisoned: it is read{place}"),
        ),
        "epilogue" if passes("ones") => shown.say(
            Stage::Epilogue,
            format!("`{name}`: {of} are wrong while every sum is 1: an operand or a rounding of the epilogue is wrong{place}"),
        ),
        "integers" if passes("ones") && !fails("one_hot") => {
            let epilogue = contract.epilogue.len() > 1;
            shown.say(
                if epilogue { Stage::Epilogue } else { Stage::OperandLoad },
                format!("`{name}`: {of} are wrong in exact arithmetic, while ones and one_hot pass{place}"),
            );
        }
        "integers" => shown.say(None, format!("`{name}`: {of} are wrong in exact arithmetic{place}")),
        _ if !metrics.exact && metrics.rel_l2.0 > metrics.rel_l2_floor.0 && !fails("integers") && !fails("ones") && !fails("one_hot") => shown.say(
            Stage::MmaAccumulate,
            format!(
                "`{name}`: only inexact arithmetic fails: relative L2 {:.2e} where rounding alone gives {:.2e}, worst element {:.3} \
                 tolerances: accumulator width, rounding or range{}{place}",
                metrics.rel_l2.0,
                metrics.rel_l2_floor.0,
                metrics.max_err_over_tol.0,
                if contract.operands.iter().any(|o| matches!(o.role.value, Role::ScaleA | Role::ScaleB) && o.columns.value > 1) {
                    ", or operands that are rounded once their block scale is in them, of which the contract says nothing"
                } else {
                    ""
                }
            ),
        ),
        _ => shown.say(
            None,
            format!(
                "`{name}`: {of} are wrong, slope {:.6}, relative L2 {:.2e} where rounding alone gives {:.2e}{place}",
                metrics.ratio.0, metrics.rel_l2.0, metrics.rel_l2_floor.0
            ),
        ),
    }
}

/// All failing rungs.
pub(super) fn shown(rungs: &[RungResult], contract: &Contract) -> Shown {
    let mut shown = Shown::default();
    for rung in rungs.iter().filter(|rung| rung.failed()) {
        one(rung, contract, rungs, &mut shown);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{contract, rung};
    use super::shown;
    use crate::model::{Metrics, Stage};

    #[test]
    fn nan_without_poison_says_nothing_of_padding() {
        let nan = |name: &str, count| {
            let mut made = rung(name, count);
            made.metrics = made.metrics.map(|metrics| Metrics { non_finite: count, ..metrics });
            made
        };
        let alone = shown(&[nan("integers", 0), nan("padding", 4)], &contract());
        assert!(
            alone.sentences[0].contains("read outside") && alone.stages == [Stage::OperandLoad],
            "{:?}",
            alone.sentences
        );
        let both = shown(&[nan("integers", 2), nan("padding", 4)], &contract());
        assert!(!both.sentences.join(" ").contains("outside") && both.stages.is_empty(), "{:?}", both.sentences);
    }
}
