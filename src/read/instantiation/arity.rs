//! Template and call arguments against the signature.

use std::sync::Arc;

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Fact, Instantiation, KernelSignature, Origin};
use crate::source::{Place, Source, Span, Spot};

/// Checks that the numbers of template and call arguments fit the signature; `sources` are the texts that both were read
/// from, so that the errors can show them.
///
/// Template arguments that a call may deduce from its types are not asked for; a text without a call is not asked for
/// call arguments.
pub fn check_arity(signature: &KernelSignature, instantiation: &Instantiation, sources: &[Arc<Source>]) -> Diagnostics {
    let mut out = Diagnostics::new();
    let places = Places(sources);
    let parameters = &signature.template_parameters;
    let given = instantiation.template_arguments.len();
    let missing = parameters.iter().skip(given).any(|p| {
        p.default.is_none() && !p.pack && !signature.parameters.iter().any(|f| mentions(&f.declared, &p.name))
    });
    let most = if parameters.iter().any(|p| p.pack) { usize::MAX } else { parameters.len() };
    if missing || given > most {
        let names: Vec<_> = parameters.iter().map(|p| p.name.as_str()).collect();
        let message = format!(
            "`{}` takes {} template arguments, and {given} are given",
            signature.name,
            range(signature.required_template_arguments(), most)
        );
        out.push(
            places
                .both(Diagnostic::error("K-ARITY-TEMPLATE", message), signature, instantiation)
                .because(format!("it takes {}", names.join(", "))),
        );
    }
    let (required, most) = (signature.required_arguments(), signature.parameters.len());
    let given = instantiation.arguments.len();
    let pack = signature.parameters.iter().any(|p| p.declared.contains("..."));
    if given > 0 && (given < required || (given > most && !pack)) {
        let names: Vec<_> = signature.parameters.iter().map(|p| format!("{} {}", p.declared, p.name)).collect();
        let message = format!("`{}` takes {} arguments, and {given} are given", signature.name, range(required, most));
        out.push(
            places
                .both(Diagnostic::error("K-ARITY-CALL", message), signature, instantiation)
                .because(format!("it takes {}", names.join(", "))),
        );
    }
    out
}

fn range(least: usize, most: usize) -> String {
    match most {
        usize::MAX => format!("at least {least}"),
        most if most == least => format!("{most}"),
        most => format!("{least} to {most}"),
    }
}

fn mentions(text: &str, name: &str) -> bool {
    !name.is_empty() && text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
}

struct Places<'a>(&'a [Arc<Source>]);

impl Places<'_> {
    fn both(&self, error: Diagnostic, signature: &KernelSignature, instantiation: &Instantiation) -> Diagnostic {
        let mut error = error;
        if let Some(spot) = self.spot(&instantiation.kernel) {
            error = error.at(spot, "instantiated here");
        }
        if let Some(spot) = self.spot(&signature.text) {
            error = error.at(spot, "declared here");
        }
        error
    }

    fn spot(&self, fact: &Fact<String>) -> Option<Spot> {
        let (Origin::Transcribed { at: place } | Origin::Read { at: place, .. }) = &fact.origin else { return None };
        self.0.iter().find_map(|source| {
            let start = offset(source, place)?;
            Some(Spot::new(source, Span::new(start, start + fact.value.len())))
        })
    }
}

fn offset(source: &Source, place: &Place) -> Option<usize> {
    if source.name() != place.file {
        return None;
    }
    let line = source.line_span(place.line)?;
    Some(line.start + place.column - 1).filter(|start| *start <= line.end)
}
