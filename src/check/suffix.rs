//! S17 and S42: instructions of the kernel against the targets of the compile command.

use super::Context;
use crate::model::{Architecture, Fact, Finding, Findings, Needs, Origin, Reproducer, Target, Weight};

pub(super) fn check(reproducer: &Reproducer, context: &Context<'_>, targets: &[Target], out: &mut Findings) {
    let uses = &reproducer.kernel.uses;
    if reproducer.descriptors.is_empty() && uses.is_empty() {
        return;
    }
    if targets.is_empty() {
        out.skip("K-S42", "an architecture in the compile command");
    }
    for target in targets {
        let Some(architecture) = context.architecture(target) else {
            out.skip("K-S17", format!("features of {target}"));
            continue;
        };
        if !reproducer.descriptors.is_empty() && takes(architecture, "cp_async_bulk_tensor", target) == Some(false) {
            out.push(tma(reproducer, target));
        }
        for used in uses {
            if used.value == "cp_async_bulk_tensor" && !reproducer.descriptors.is_empty() {
                continue;
            }
            match takes(architecture, &used.value, target) {
                Some(true) => {}
                Some(false) => out.push(missing(used, architecture, target, context)),
                None => out.skip("K-S17", format!("what a target needs for {}", used.value)),
            }
        }
    }
}

fn takes(architecture: &Architecture, feature: &str, target: &Target) -> Option<bool> {
    architecture.takes(feature, target.arch.suffix)
}

fn tma(reproducer: &Reproducer, target: &Target) -> Finding {
    Finding::new(
        "K-S42",
        Weight::Refuse,
        format!(
            "the kernel loads through {} TMA descriptors, and the command builds for {target}",
            reproducer.descriptors.len()
        ),
    )
    .of("compile command", &Origin::Transcribed { at: target.at.clone() })
    .then("ptxas refuses it: Feature 'cp.async.bulk.tensor' requires .target sm_90 or higher")
    .help(format!("drop the -gencode of {target}; the nearest legal target is sm_90"))
}

/// Code that is guarded by the architecture builds all the same, and then does nothing useful: so this is no refusal.
fn missing(used: &Fact<String>, architecture: &Architecture, target: &Target, context: &Context<'_>) -> Finding {
    let name = used.value.replace('_', ".");
    let suffixes = match architecture.features.get(&used.value) {
        Some(Needs::Suffix(suffixes)) => suffixes.as_slice(),
        _ => &[],
    };
    let number = target.arch.number;
    let finding = Finding::new(
        "K-S17",
        Weight::Predict,
        match suffixes {
            [] => format!("the kernel uses {name}, which {target} does not have, whatever its suffix"),
            _ => format!("the kernel uses {name}, and the command builds for {target}, where it needs a suffix"),
        },
    )
    .of(name.as_str(), &used.origin)
    .of("compile command", &Origin::Transcribed { at: target.at.clone() })
    .then(
        "ptxas refuses bare assembly (`not supported on .target`); code behind an architecture macro, as CUTLASS has it, \
         builds without a word, runs, and does nothing useful",
    );
    if let Some(suffix) = suffixes.first() {
        return finding.help(format!(
            "the nearest legal target: -gencode=arch=compute_{number}{suffix},code=sm_{number}{suffix} (the short form \
             -arch=sm_{number}{suffix} also builds a plain image)"
        ));
    }
    let others: Vec<String> = context
        .architectures
        .iter()
        .filter_map(|other| match other.features.get(&used.value)? {
            Needs::Never => None,
            Needs::Plain => Some(format!("sm_{}", other.limits.number)),
            Needs::Suffix(suffixes) => {
                Some(format!("sm_{}{}", other.limits.number, suffixes.first().copied().unwrap_or_default()))
            }
        })
        .collect();
    finding
        .help(format!("no flag helps: build for one of {}, or use the kernel written for {target}", others.join(", ")))
}
