//! What a diagnosis adds to the answer of the ladder.

use crate::model::{Accumulator, Answer, Confound, Contract, Outcome, Verdict};

use super::assumption;
use super::diagnosis::observable::unobservable;
use super::diagnosis::{Conclusion, Diagnosis, Kind, Sureness};
use super::isolation::{isolation, smallest};
use super::next_step::next_step;
use super::scope::UNLISTED;
use super::structure;

/// What sm_90 does to a sum of fp8 products.
const HARDWARE: &str = "known hardware numerics: the tensor core of sm_90 keeps 13 fraction bits of an fp8 sum";

/// Fields of the contract that a class contradicts: if one of them is assumed, the assumption may be the fault.
fn contradicted(class: &str) -> &'static [&'static str] {
    match class {
        "TRANSPOSED_OPERAND" => &["a.major", "b.major", "a.role", "b.role"],
        "ROW_STRIDE_WRONG" | "AFFINE_ADDRESS" => &["a.leading_dimension", "b.leading_dimension", "k"],
        "OUT_STRIDE_WRONG" => &["out.leading_dimension", "m", "n"],
        "OUT_MAJOR_WRONG" => &["out.major", "out.leading_dimension"],
        "K_TAIL_OOB_READ" => &["padding_zero", "k"],
        "K_BLOCK_MISSING" | "K_BLOCK_DOUBLE" | "K_LOOP_REPEAT" | "ACC_FLAG_RESET" => &["k"],
        "ACC_DTYPE_NARROW" | "ACC_NOT_PROMOTED" => &["accumulator"],
        "OUTPUT_OVERWRITTEN" => &["output"],
        "DTYPE_MISREAD" | "INT8_SIGNEDNESS" => &["a.element", "b.element"],
        "STORE_TRANSPOSED" => &["out.major", "out.role"],
        "TILE_UNWRITTEN" | "N_TAIL_UNWRITTEN" | "M_TAIL_UNWRITTEN" => &["m", "n", "out.rows", "out.columns"],
        _ if class.starts_with("RESIDUAL") => &["residual.role", "residual.leading_dimension", "epilogue"],
        _ if class.starts_with("BIAS") => &["bias.role", "epilogue"],
        _ if class.starts_with("ROUNDING") || class == "DOUBLE_ROUNDING" => &["epilogue", "out.element"],
        _ if class.starts_with("ACT") || class.starts_with("ALPHA") || class.starts_with("GATE") => {
            &["epilogue", "alpha.role"]
        }
        _ if class.starts_with("BETA") => &["epilogue", "beta.role", "residual.role"],
        "SPLITK_REDUCTION_TYPE" => &["split_k.partial", "split_k.sum", "split_k.order"],
        _ if class.starts_with("SPLITK") => &["split_k.count", "split_k.length", "split_k.through", "k"],
        _ if class.starts_with("GROUP") => &["groups.first", "groups.rows", "groups.index"],
        _ if class.starts_with("TOKEN")
            || class.starts_with("CHANNEL")
            || class.starts_with("SF_")
            || class == "SCALES_SWAPPED" =>
        {
            &["scale_a.role", "scale_b.role", "scale_a.rows", "scale_b.rows", "epilogue"]
        }
        _ => &[],
    }
}

/// Assumed fields that one of the classes contradicts.
fn assumptions(contract: &Contract, classes: &[String]) -> Vec<Confound> {
    let touched = |name: &str| {
        let fields = classes.iter().flat_map(|class| contradicted(class));
        fields.clone().any(|field| name == *field || (*field == "epilogue" && name.starts_with("epilogue[")))
    };
    let so = format!("{} would be right under another value of it", classes.join(" or "));
    let list = contract.assumed().into_iter().filter(|(name, _)| touched(name));
    assumption::confounds(list.map(|(name, why)| (name, why, so.clone())))
}

/// The answer with what the probes of `diagnosis` show. An answer that the ladder already gives is never weakened, except that
/// a class that contradicts an assumed field makes it a draft.
pub fn diagnosed(mut answer: Answer, contract: &Contract, diagnosis: &Diagnosis<'_>) -> Answer {
    let evidence = &diagnosis.evidence;
    let probes = evidence.shown.len();
    for (name, proof) in &diagnosis.refused {
        answer.notes.push(format!(
            "probe `{name}` is not run: its sums reach 2^{:.1} units and the accumulator holds 2^{} exactly ({})",
            (proof.bound / 2_f64.powi(proof.unit)).log2(),
            proof.bits,
            match proof.largest_k {
                0 => "one product is too large".to_owned(),
                k => format!("k up to {k}"),
            }
        ));
    }
    if !evidence.padding.is_empty() {
        answer.notes.push(format!(
            "depends on initialised padding: {} differ where it is poisoned; the contract promises zero there, so this is no defect",
            few(&evidence.padding.iter().map(String::as_str).collect::<Vec<_>>())
        ));
    }
    answer.scope.unobservable.retain(|line| line != UNLISTED);
    answer.structure = structure::structure(evidence);
    answer.details.isolation = isolation(evidence);
    answer.details.smallest = smallest(evidence);
    answer.rungs.extend(structure::rows(evidence));
    let failing: Vec<&str> = evidence.shown.iter().filter(|s| s.fails).map(|s| s.rung.probe.name.as_str()).collect();
    match &diagnosis.conclusion {
        Conclusion::Clean => {
            let blind = unobservable(evidence);
            if !blind.is_empty() {
                answer
                    .scope
                    .unobservable
                    .insert(0, format!("at this shape and with these operands: {}", blind.join(", ")));
            }
            let within = if evidence.target.gain() > 1.0 {
                ", or within what an approximation of the activation may be away"
            } else {
                ""
            };
            let all = format!("{probes} further probes give the predicted output bit for bit{within}");
            if matches!(answer.outcome, Outcome::Reproduced { .. }) {
                answer.notes.push(format!("{all}: only what the ladder shows above fails"));
            } else {
                answer.evidence.push(all);
            }
        }
        Conclusion::Open { why, hints } => {
            answer.notes.push(format!("diagnosis: {why}; failing probes: {}", few(&failing)));
            let sums_alone = evidence.shown.iter().filter(|s| s.fails).all(|s| s.rung.kind == Kind::Accumulator);
            if sums_alone && !failing.is_empty() && contract.accumulator.value == Accumulator::Fp8Hopper {
                answer.notes.push(format!(
                    "{HARDWARE}; only sums too long for that fail here, so look at the promotion first: at which k it is made, and whether it is"
                ));
            }
            for hint in hints {
                if !answer.hints.contains(hint) {
                    answer.hints.push(*hint);
                }
            }
            wrong(&mut answer, contract, None);
        }
        Conclusion::Named { by, classes, stages, causes } => {
            let cause = match by {
                Sureness::Class | Sureness::Classes => alternatives(causes),
                Sureness::Maps => {
                    format!("no class of the dictionary, but the {} predicts every output", classes.join(" or the "))
                }
                Sureness::TwoFaults => format!("two faults together: {}", classes.join(" and ")),
            };
            let named = matches!(by, Sureness::Class | Sureness::Classes);
            let verdict = Verdict {
                stages: stages.clone(),
                prologues: vec![],
                classes: if named { classes.clone() } else { vec![] },
                cause,
                held_out: evidence.held_out(),
            };
            let before = matches!(&answer.outcome, Outcome::Reproduced { verdict: Some(verdict) } if !verdict.prologues.is_empty());
            let exactly = if evidence.target.gain() > 1.0 {
                "bit for bit where the activation is exact, and within what a kernel's approximation of it may be away elsewhere,"
            } else {
                "bit for bit"
            };
            let unstable = classes.iter().any(|class| class == "RACE" || class == "STATE_LEFT_BEHIND");
            let sure = format!(
                "{} predicts the wrong output {exactly} on all {probes} probes, {} values of random inputs among them that no parameter \
                 was fitted to; failing probes: {}",
                if before { "the kernel alone: this" } else { "this" },
                verdict.held_out,
                few(&failing)
            );
            if !unstable {
                answer.evidence.insert(0, sure);
            }
            if classes.iter().any(|c| c == "ACC_NOT_PROMOTED") {
                answer.notes.push(format!(
                    "{HARDWARE}: without promotion this is the hardware's arithmetic, and a defect only if promotion is promised"
                ));
            }
            let confounds = assumptions(contract, classes);
            if confounds.is_empty() {
                wrong(&mut answer, contract, Some(verdict))
            } else if before {
                answer
                    .notes
                    .extend(confounds.into_iter().map(|confound| format!("of the kernel alone: {}", confound.text)));
            } else {
                answer.outcome = Outcome::Draft { confounds }
            }
        }
    }
    let real = answer.rungs.iter().any(|r| r.family() == "real");
    answer.next = next_step(&answer.outcome, &answer.rungs, &answer.hints, real);
    answer
}

/// Wrong, as the probes show: a verdict for an answer that is reproduced, and reproduced where the ladder saw nothing.
fn wrong(answer: &mut Answer, contract: &Contract, verdict: Option<Verdict>) {
    match &mut answer.outcome {
        Outcome::Reproduced { verdict: place } => *place = with(place.take(), verdict),
        Outcome::NotReproduced | Outcome::Refuted { .. } => {
            let assumed = contract.assumed();
            answer.outcome = if assumed.is_empty() {
                Outcome::Reproduced { verdict }
            } else {
                let so = "a probe fails that the ladder has not".to_owned();
                let assumed = assumed.into_iter().map(|(name, why)| (name, why, so.clone()));
                Outcome::Draft { confounds: assumption::confounds(assumed) }
            };
        }
        Outcome::Draft { .. } => {
            if let Some(verdict) = verdict {
                let stages: Vec<_> = verdict.stages.iter().map(|s| s.name()).collect();
                answer.notes.push(format!("if the contract holds: {} ({})", stages.join(" or "), verdict.cause));
            }
        }
        Outcome::Hang { .. } => {}
    }
}

/// The kernel's verdict beside that of the launches before it.
fn with(before: Option<Verdict>, kernel: Option<Verdict>) -> Option<Verdict> {
    match (before.filter(|before| !before.prologues.is_empty()), kernel) {
        (None, kernel) => kernel,
        (before, None) => before,
        (Some(before), Some(kernel)) => Some(Verdict {
            stages: before.stages.into_iter().chain(kernel.stages).collect(),
            prologues: before.prologues,
            cause: format!("{}: {}", before.cause, kernel.cause),
            ..kernel
        }),
    }
}

/// Causes of which one holds; those that differ in one number are one sentence.
fn alternatives(causes: &[String]) -> String {
    let mut sentences: Vec<(Vec<&str>, Option<usize>, Vec<&str>)> = vec![];
    for cause in causes {
        let words: Vec<&str> = cause.split(' ').collect();
        let like = sentences.iter_mut().find_map(|(known, at, numbers)| {
            let differs = only_number(known, &words)?;
            (at.is_none() || *at == Some(differs)).then_some((at, numbers, differs))
        });
        match like {
            Some((at, numbers, differs)) => {
                *at = Some(differs);
                numbers.push(words[differs]);
            }
            None => sentences.push((words, None, vec![])),
        }
    }
    let one = |(words, at, numbers): &(Vec<&str>, Option<usize>, Vec<&str>)| {
        let word = |(index, word): (usize, &&str)| match (numbers.split_last(), *at == Some(index)) {
            (Some((last, before)), true) => {
                let first = std::iter::once(*word).chain(before.iter().copied()).collect::<Vec<_>>().join(", ");
                format!("{first} or {last}")
            }
            _ => (*word).to_owned(),
        };
        words.iter().enumerate().map(word).collect::<Vec<_>>().join(" ")
    };
    sentences.iter().map(one).collect::<Vec<_>>().join("; or ")
}

/// The place of the only word that differs, where both are numbers.
fn only_number(a: &[&str], b: &[&str]) -> Option<usize> {
    if a.len() != b.len() {
        return None;
    }
    let mut differing = (0..a.len()).filter(|index| a[*index] != b[*index]);
    let at = differing.next().filter(|_| differing.next().is_none())?;
    let number = |word: &str| word.parse::<u64>().is_ok();
    (number(a[at]) && number(b[at])).then_some(at)
}

fn few(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        names if names.len() <= 6 => names.join(", "),
        names => format!("{}, and {} more", names[..6].join(", "), names.len() - 6),
    }
}

#[cfg(test)]
mod tests {
    use super::alternatives;

    #[test]
    fn causes_that_differ_in_a_number_are_one_sentence() {
        let told = |causes: &[&str]| alternatives(&causes.iter().map(|cause| (*cause).to_owned()).collect::<Vec<_>>());
        assert_eq!(told(&["n down to 16", "n down to 32", "the tile at 64"]), "n down to 16 or 32; or the tile at 64");
        assert_eq!(told(&["1 elements", "2 elements", "4 elements"]), "1, 2 or 4 elements");
        // Not where two numbers differ, or another one than before, or words.
        assert_eq!(told(&["1 of 2", "2 of 3"]), "1 of 2; or 2 of 3");
        assert_eq!(told(&["1 of 2", "1 of 3", "2 of 2"]), "1 of 2 or 3; or 2 of 2");
        assert_eq!(told(&["in f16", "in bf16"]), "in f16; or in bf16");
        assert_eq!(told(&["a: b"]), "a: b");
    }
}
