//! Writing the folder of a new reproducer.

use camino::Utf8PathBuf;

use super::inputs::Inputs;
use crate::cli::Failure;
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::model::Reproducer;
use crate::pipeline::Made;
use crate::render::sealed;
use crate::store::{Folder, RECORD};
use crate::sys::System;

/// Writes record, rendered files and inputs, and returns their paths; files that a person edited are kept and refused.
pub(super) fn write(
    system: &dyn System,
    folder: &Folder,
    made: &Made,
    inputs: &Inputs,
) -> Result<Vec<Utf8PathBuf>, Failure> {
    folder.refuse_edited(system, &made.rendered)?;
    folder.refuse_foreign(system, &inputs.files().map(|(name, _)| name).collect::<Vec<_>>())?;
    let mut written = Vec::new();
    for (name, bytes) in inputs.files() {
        system.write(&folder.file(name), bytes)?;
        written.push(folder.file(name));
    }
    written.extend(folder.write(system, &made.rendered)?);
    // The record last: a folder that has one is whole.
    write_record(system, folder, made.checked.reproducer())?;
    written.push(folder.file(RECORD));
    Ok(written)
}

/// Writes the record alone.
///
/// # Errors
/// A file error; a record that TOML cannot hold (a defect of krepro).
pub fn write_record(system: &dyn System, folder: &Folder, reproducer: &Reproducer) -> Result<(), Failure> {
    let record = reproducer.to_toml().map_err(|error| Failure {
        exit: Exit::Bug,
        diagnostics: Diagnostic::error("K-BUG", error.to_string()).into(),
    })?;
    system.write(&folder.file(RECORD), sealed(&record, "#").as_bytes())?;
    Ok(())
}
