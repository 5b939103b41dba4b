//! Finding one kernel in a header.

use std::sync::Arc;

use super::{attribute, class, parameter};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::Fact;
use crate::model::KernelSignature;
use crate::read::cxx::document::{Document, Grammar, span};
use crate::read::cxx::functions::{Function, functions};
use crate::read::cxx::mask::MaskOptions;
use crate::read::cxx::nearest::nearest;
use crate::source::{Source, Span, Spot};

/// What else decides how a header reads.
#[derive(Debug, Clone, Default)]
pub struct SignatureOptions {
    /// `-D` definitions of the compile command; they choose `#if` branches, where the kernel needs a choice.
    pub defines: Vec<(String, Option<String>)>,
    /// Macros that only annotate, beyond the built-in table: `NAME`, or `NAME=KEYWORDS` for one that stands for them.
    pub annotation_macros: Vec<String>,
}

/// Finds the kernel `name` (qualified or not) and reads its signature.
///
/// # Errors
///
/// The header declares no such function, several, or one that the parser cannot read.
pub fn find(source: &Arc<Source>, name: &str, options: &SignatureOptions) -> Result<KernelSignature, Diagnostics> {
    let all = MaskOptions { annotation_macros: options.annotation_macros.clone(), ..MaskOptions::default() };
    let document = Document::parse(source, Grammar::Cuda, &all);
    let conditional = source.bytes().windows(3).any(|w| w == b"#if");
    // Branches that cut a brace in two cost every kernel of the file its namespace.
    let cut = conditional && document.root().has_error();
    let first = match choose(&document, name) {
        Choice::One(signature) if !cut => return Ok(*signature),
        Choice::None(error) if !conditional => return Err(error.into()),
        other => other,
    };
    let chosen = MaskOptions { branches: Some(options.defines.clone()), ..all };
    match (choose(&Document::parse(source, Grammar::Cuda, &chosen), name), first) {
        (Choice::One(signature), _) | (_, Choice::One(signature)) => Ok(*signature),
        (Choice::Unclear(error), _) | (Choice::None(_), Choice::None(error) | Choice::Unclear(error)) => {
            Err(error.into())
        }
    }
}

/// Every function that a header declares or defines, in order; those that cannot be read are told one by one.
pub fn all(source: &Arc<Source>, options: &SignatureOptions) -> Vec<Result<KernelSignature, Diagnostic>> {
    let mask = MaskOptions { annotation_macros: options.annotation_macros.clone(), ..MaskOptions::default() };
    let document = Document::parse(source, Grammar::Cuda, &mask);
    let found = functions(&document);
    if !found.iter().any(|function| function.stumbled(&document)) {
        return found.iter().map(|function| Ok(signature(&document, function))).collect();
    }
    let mask = MaskOptions { branches: Some(options.defines.clone()), ..mask };
    let chosen = Document::parse(source, Grammar::Cuda, &mask);
    let others = functions(&chosen);
    let read = |function: &Function<'_>| {
        let same = |other: &&Function<'_>| span(other.name_node) == span(function.name_node);
        match function.stumbled(&document) {
            false => Ok(signature(&document, function)),
            true => match others.iter().find(same).filter(|other| !other.stumbled(&chosen)) {
                Some(other) => Ok(signature(&chosen, other)),
                None => Err(unreadable(&document, &function.name, function)),
            },
        }
    };
    found.iter().map(read).collect()
}

enum Choice {
    One(Box<KernelSignature>),
    None(Diagnostic),
    Unclear(Diagnostic),
}

fn choose(document: &Document, name: &str) -> Choice {
    let all = functions(document);
    let mut found: Vec<&Function<'_>> = all.iter().filter(|f| f.is_named(name)).collect();
    if found.is_empty() {
        if let Some(signature) = class::find(document, name) {
            return Choice::One(Box::new(signature));
        }
        return Choice::None(missing(document, name, &all));
    }
    if found.iter().any(|f| f.body.is_some()) {
        found.retain(|f| f.body.is_some());
    }
    let global = |f: &Function<'_>| attribute::is_global(document, head_before_parameters(document, f));
    if found.len() > 1 && found.iter().any(|f| global(f)) {
        found.retain(|f| global(f));
    }
    let first_text = document.squeezed(found[0].parameters);
    if found.iter().all(|f| f.body.is_none() && document.squeezed(f.parameters) == first_text) {
        found.truncate(1);
    }
    match found[..] {
        [one] if one.stumbled(document) => Choice::Unclear(unreadable(document, name, one)),
        [one] => Choice::One(Box::new(signature(document, one))),
        _ => Choice::Unclear(several(document, name, &found)),
    }
}

fn head_before_parameters(document: &Document, function: &Function<'_>) -> Span {
    Span::new(function.head(document).start, function.parameters.start_byte())
}

fn signature(document: &Document, function: &Function<'_>) -> KernelSignature {
    let head = function.head(document);
    let spot = Spot::new(&document.source, head);
    let before = head_before_parameters(document, function);
    KernelSignature {
        name: function.name.clone(),
        text: Fact::transcribed(spot.text().into_owned(), spot.place()),
        template_parameters: function
            .template_parameters
            .map(|list| parameter::template_parameters(document, list, Some(function.parameters)))
            .unwrap_or_default(),
        parameters: parameter::parameters(document, function.parameters),
        global: attribute::is_global(document, before),
        launch_bounds: attribute::arguments(document, before, "__launch_bounds__"),
        cluster_dims: attribute::arguments(document, before, "__cluster_dims__"),
    }
}

fn missing(document: &Document, name: &str, all: &[Function<'_>]) -> Diagnostic {
    let source = &document.source;
    let mut out = Diagnostic::error("K-SIG-NAME", format!("`{}` declares no function `{name}`", source.name()));
    let near = nearest(name, all.iter().map(|f| f.name.as_str()));
    for candidate in &near {
        if let Some(function) = all.iter().find(|f| f.name == *candidate) {
            out = out.at(document.spot(function.name_node), "did you mean this one?");
            out = out.help(format!("write `{}:{candidate}`", source.name()));
        }
    }
    if near.is_empty() {
        let kernels: Vec<&str> = all
            .iter()
            .filter(|f| attribute::is_global(document, head_before_parameters(document, f)))
            .map(|f| f.name.as_str())
            .take(8)
            .collect();
        out = out.at(Spot::new(source, 0..source.bytes().iter().position(|b| *b == b'\n').unwrap_or(0)), "");
        out = match (kernels.is_empty(), all.len()) {
            (false, _) => out.help(format!("kernels declared here: {}", kernels.join(", "))),
            (true, 0) => out.because("it declares no function at all: is it the right file?"),
            (true, count) => out.because(format!("it declares {count} functions, none with a similar name")),
        };
    }
    out
}

fn several(document: &Document, name: &str, found: &[&Function<'_>]) -> Diagnostic {
    let mut out = Diagnostic::error("K-SIG-AMBIGUOUS", format!("`{name}` names {} functions", found.len()));
    for function in found.iter().take(6) {
        out = out.at(document.spot(function.name_node), format!("`{}`", function.name));
    }
    let different = found.iter().any(|f| f.name != found[0].name);
    if different {
        out.help(format!("write the qualified name, for example `{}`", found[0].name))
    } else {
        out.help("give the `-D` definitions of the compile command, if `#if` branches tell them apart")
            .help("or give a header that holds one of them only")
    }
}

fn unreadable(document: &Document, name: &str, function: &Function<'_>) -> Diagnostic {
    let spot = Spot::new(&document.source, function.head(document));
    Diagnostic::error("K-SIG-UNREADABLE", format!("the declaration of `{name}` cannot be read"))
        .at(spot, "the parser stumbles in here")
        .help("name a macro that only annotates with `--annotation-macro NAME`, one that stands for keywords with `NAME=__global__`")
        .help("give the `-D` definitions of the compile command, if `#if` branches cut the declaration")
}
