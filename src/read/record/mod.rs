//! `repro.toml` back to the model.

use std::sync::Arc;

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::Reproducer;
use crate::source::{Source, Spot};

/// Reads `repro.toml`.
///
/// # Errors
/// Broken UTF-8 or TOML, a missing or wrong field, another version than 1: located in `source`.
pub fn parse(source: &Arc<Source>) -> Result<Reproducer, Diagnostics> {
    let text = std::str::from_utf8(source.bytes()).map_err(|error| {
        let at = error.valid_up_to();
        Diagnostic::error("K-RECORD", "repro.toml is not UTF-8").at(Spot::new(source, at..at + 1), "first broken byte")
    })?;
    let record: Reproducer = toml::from_str(text).map_err(|error| {
        Diagnostic::error("K-RECORD", error.message().to_owned())
            .at(Spot::new(source, error.span().unwrap_or(0..0)), "")
            .help("a value is written { value = …, from = \"given\", by = \"edit\" }")
            .help("`krepro new` writes the whole record again")
    })?;
    if record.version != 1 {
        return Err(Diagnostic::error(
            "K-RECORD",
            format!("repro.toml has version {}, this krepro reads 1", record.version),
        )
        .at(Spot::new(source, 0..0), "")
        .help("make it again with `krepro new`")
        .into());
    }
    Ok(record)
}
