//! What a build that succeeded still has to be told about: machine code without the instructions it is about, notes of ptxas.

use std::io;

use super::{Session, findings};
use crate::build::fidelity::Fidelity;
use crate::build::kernels;
use crate::check::{MachineCode, built, device};
use crate::explain::{Catalogue, Explanation, Known, explain};
use crate::model::{Findings, Reproducer};
use crate::read::ptx::device_code;

/// Findings about the machine code, and the known messages that the compiler printed.
pub struct AfterBuild {
    /// Of the rules that are asked after a build.
    pub findings: Findings,
    /// Warnings and notes that are known.
    pub notes: Explanation,
}

/// Looks at a build: what it says of itself, its machine code, and the PTX that lies beside it in `executable`.
pub fn after_build(reproducer: &Reproducer, fidelity: &Fidelity, output: &str, executable: &[u8]) -> AfterBuild {
    let usage = fidelity.usage.as_ref();
    let code = MachineCode {
        registers: usage.map(|usage| usage.registers),
        spill_stores: usage.map_or(0, |usage| usage.spill_stores),
        instructions: &fidelity.instructions,
    };
    let mut notes = match Catalogue::builtin() {
        Ok(catalogue) => {
            let targets = reproducer.compile.targets();
            explain(output, &catalogue, &Known { targets: &targets, written: &[] })
        }
        Err(_) => Explanation::default(),
    };
    // Spills are among the findings, with the kernel's own figure.
    notes.messages.retain(|note| note.cause.is_some() && note.message.as_deref() != Some("ptxas-spills"));
    let mut findings = built(reproducer, &code);
    match kernels::ptx(executable).first() {
        Some(text) => {
            let kernel = fidelity.mangled.as_deref().unwrap_or_default();
            let found = device(reproducer, &device_code(text, kernel));
            findings.findings.extend(found.findings);
            findings.skipped.extend(found.skipped);
        }
        None => findings.skip("K-S24", "PTX beside the machine code"),
    }
    AfterBuild { findings, notes }
}

/// Says it on standard error.
pub fn show(session: &mut Session<'_>, after: &AfterBuild) -> io::Result<()> {
    findings::show(session, &after.findings)?;
    for note in &after.notes.messages {
        writeln!(session.err(), "the compiler said: {}", note.text)?;
        for line in note.cause.iter().map(|cause| format!("cause: {cause}")).chain(note.remedy.iter().cloned()) {
            writeln!(session.err(), "  {line}")?;
        }
    }
    Ok(())
}
