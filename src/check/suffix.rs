//! S17 and S42: features of the kernel against the targets of the compile command.

use super::Target;
use crate::model::{Finding, Findings, Reproducer, Weight};

pub(super) fn check(reproducer: &Reproducer, targets: &[Target], out: &mut Findings) {
    if reproducer.descriptors.is_empty() {
        return;
    }
    if targets.is_empty() {
        out.skip("K-S42", "an architecture in the compile command");
    }
    for target in targets.iter().filter(|target| target.number < 90) {
        out.push(
            Finding::new(
                "K-S42",
                Weight::Refuse,
                format!(
                    "the kernel loads through {} TMA descriptors, and the command builds for {target}",
                    reproducer.descriptors.len()
                ),
            )
            .of("compile command", &crate::model::Origin::Transcribed { at: target.at.clone() })
            .then("ptxas refuses it: Feature 'cp.async.bulk.tensor' requires .target sm_90 or higher")
            .help(format!("drop the -gencode of {target}; the nearest legal target is sm_90")),
        );
    }
}
