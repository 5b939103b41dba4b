//! The code that fills a CUtensorMap at run time, evaluated: what it gives to `cuTensorMapEncodeTiled`.

mod encode;
mod machine;
mod statement;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diag::{Diagnostic, Diagnostics};
use crate::read::cxx::document::{Document, Grammar};
use crate::read::cxx::functions::{Function, functions};
use crate::read::cxx::mask::MaskOptions;
use crate::read::cxx::nearest::nearest;
use crate::read::cxx::problem::Problem;
use crate::read::prints::PrintedMap;
use crate::source::Source;
use machine::Machine;

/// A file of fill code with its functions.
pub(super) struct Unit<'d> {
    document: &'d Document,
    functions: Vec<Function<'d>>,
}

/// Evaluates `function` of the first source under the given leaves: the values of its parameters, of their members and of calls
/// whose code is in none of the sources. Calls of functions in the sources are followed.
///
/// # Errors
/// The function is missing; leaves are unknown; an assertion is false; a construct is not evaluated; no descriptor is encoded, or
/// several.
pub fn evaluate(
    sources: &[Arc<Source>],
    function: &str,
    leaves: &BTreeMap<String, String>,
) -> Result<PrintedMap, Diagnostics> {
    let documents: Vec<Document> =
        sources.iter().map(|source| Document::parse(source, Grammar::Cpp, &MaskOptions::default())).collect();
    let units: Vec<Unit<'_>> =
        documents.iter().map(|document| Unit { document, functions: functions(document) }).collect();
    let Some(first) = units.first() else { return Err(missing(function, &units).into()) };
    let defined = |f: &&Function<'_>| f.is_named(function) && f.body.is_some();
    let Some(entry) = first.functions.iter().find(defined) else { return Err(missing(function, &units).into()) };
    let mut machine = Machine::new(&units, leaves);
    machine.enter(first.document, entry);
    let mut encoded = machine.encoded;
    if machine.problems.is_empty() && encoded.len() == 1 {
        return encoded.pop().ok_or_else(Diagnostics::new);
    }
    let mut out = Diagnostics::new();
    for problem in &machine.problems {
        out.push(told(problem));
    }
    if out.is_empty() {
        let (count, at) = (encoded.len(), first.document.spot(entry.name_node));
        let message = format!("`{function}` encodes {count} descriptors under these values");
        out.push(
            Diagnostic::error("K-FILL-DESCRIPTOR", message)
                .at(at, "this function")
                .help("give the values that choose one: --fill-set NAME:LEAF=VALUE"),
        );
    }
    Err(out)
}

fn told(problem: &Problem) -> Diagnostic {
    match problem {
        Problem::Unknown(leaf) => {
            Diagnostic::error("K-FILL-LEAF", format!("the fill code needs `{}`, which is not known", leaf.name))
                .at(leaf.used.clone(), "used here")
                .help(format!(
                    "--fill-set '{}=VALUE', a value or an expression over the kernel's template parameters",
                    leaf.name
                ))
        }
        Problem::Unsupported { what, at } => {
            Diagnostic::error("K-FILL-CONSTRUCT", format!("{what} is not evaluated")).at(at.clone(), "in the fill code")
        }
        Problem::Undefined { what, at } => {
            Diagnostic::error("K-FILL-ASSERT", what.clone()).at(at.clone(), "in the fill code")
        }
    }
}

fn missing(function: &str, units: &[Unit<'_>]) -> Diagnostic {
    let names = units.first().map(|unit| unit.functions.iter().map(|f| f.name.as_str()).collect::<Vec<_>>());
    let near = nearest(function, names.unwrap_or_default());
    let mut out = Diagnostic::error("K-FILL-FUNCTION", format!("the fill code defines no function `{function}`"));
    for name in near {
        out = out.help(format!("did you mean `{name}`?"));
    }
    out
}
