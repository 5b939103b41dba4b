//! A refused build: where the first error stands, what it means, and what to do.

use camino::Utf8Path;

use crate::build;
use crate::diag::Diagnostics;
use crate::explain::{Catalogue, Known, explain};
use crate::model::Reproducer;
use crate::sys::System;

/// The located error with the catalogue's cause and remedies.
pub fn refused(system: &dyn System, folder: &Utf8Path, reproducer: &Reproducer, output: &str) -> Diagnostics {
    let located = build::explain(system, folder, reproducer, output);
    let Ok(catalogue) = Catalogue::builtin() else { return located };
    let targets = reproducer.compile.targets();
    let written: Vec<&str> =
        reproducer.instantiation.template_arguments.iter().map(|piece| piece.value.as_str()).collect();
    let explanation = explain(output, &catalogue, &Known { targets: &targets, written: &written });
    let Some(first) = explanation.first_error() else { return located };
    let told = located.into_iter().map(|mut diagnostic| {
        diagnostic.notes.extend(first.cause.clone());
        diagnostic.help.splice(0..0, first.remedy.iter().cloned());
        if !first.rules.is_empty() {
            diagnostic.help.push(format!("`krepro check` sees it before the build: {}", first.rules.join(", ")));
        }
        diagnostic
    });
    told.collect()
}
