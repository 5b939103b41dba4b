//! What a build that succeeded still has to be told about: machine code without the instructions it is about, notes of ptxas.

use std::io;

use super::{Session, findings};
use crate::build::fidelity::Fidelity;
use crate::check::{MachineCode, built};
use crate::explain::{Catalogue, Explanation, Known, explain};
use crate::model::{Findings, Reproducer};

/// Findings about the machine code, and the known messages that the compiler printed.
pub struct AfterBuild {
    /// Of the rules that are asked after a build.
    pub findings: Findings,
    /// Warnings and notes that are known.
    pub notes: Explanation,
}

/// Looks at a build.
pub fn after_build(reproducer: &Reproducer, fidelity: &Fidelity, output: &str) -> AfterBuild {
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
    AfterBuild { findings: built(reproducer, &code), notes }
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
