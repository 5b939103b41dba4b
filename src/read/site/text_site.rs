//! The last step of the sites that are one formatted text.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::emission::Emission;
use super::expression::Expressions;
use super::line::Pieces;
use super::report::{self, set};
use crate::diag::{Diagnostic, Diagnostics};
use crate::source::{Source, Spot};

/// The emission of a text, or everything that keeps it from being evaluated.
pub fn finish(source: &Arc<Source>, expressions: Expressions, pieces: Pieces) -> Result<Emission, Diagnostics> {
    let mut errors = expressions.errors;
    for leaf in &expressions.unknown {
        errors.push(
            Diagnostic::error("K-SITE-LEAF", format!("the value of `{}` is not known", leaf.name))
                .at(leaf.used.clone(), "used here")
                .because(format!("`{}` comes from outside the site", leaf.name))
                .help(format!("add {}", set(&leaf.name))),
        );
    }
    errors.append(report::unfit(&expressions.leaves));
    if errors.has_errors() {
        return Err(errors);
    }
    let warnings = report::warnings(&expressions.leaves, &BTreeMap::new());
    let (lines, terminated) = pieces.lines();
    Ok(Emission {
        source: Arc::clone(source),
        extent: Spot::new(source, 0..source.bytes().len()),
        function: String::new(),
        lines,
        terminated,
        leaves: expressions.leaves.used.clone(),
        returned: None,
        assertions: 0,
        warnings,
    })
}
