//! The entry: one function of a site, evaluated.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use tree_sitter::Node;

use super::effect::Surroundings;
use super::emission::{Emission, EmittedLine};
use super::interpreter::Interpreter;
use super::leaves::Leaves;
use super::{conditional, poison, report};
use crate::diag::{Diagnostic, Diagnostics};
use crate::read::cxx::document::{Document, Grammar, children, span};
use crate::read::cxx::functions::{Function, functions};
use crate::read::cxx::mask::MaskOptions;
use crate::source::{Source, Span, Spot};

/// Evaluates a C++ site that prints through an emitter (`code.e("… $ …", a, b)`), under the given leaves.
///
/// `function` names the site (qualified or not); without it the only function that emits is taken, or the whole text as
/// one block.
///
/// # Errors
///
/// The function is missing; leaves are unknown (all of them at once, each with the option to type); an assertion of the
/// site is false; a construct is not evaluated.
pub fn evaluate(
    source: &Arc<Source>,
    function: Option<&str>,
    leaves: &BTreeMap<String, String>,
) -> Result<Emission, Diagnostics> {
    evaluate_with(source, function, leaves, &[])
}

/// The same, where `defines` are macros that the command line defines: they choose the site's `#if` branches.
///
/// # Errors
///
/// As [`evaluate`]; a macro that a branch asks for and that is not known.
pub fn evaluate_with(
    source: &Arc<Source>,
    function: Option<&str>,
    leaves: &BTreeMap<String, String>,
    defines: &[(String, Option<String>)],
) -> Result<Emission, Diagnostics> {
    let mut given = Leaves::new(leaves);
    let mut document = Document::parse(source, Grammar::Cpp, &MaskOptions::default());
    let part = {
        let all = functions(&document);
        match choose(&document, &all, function) {
            Ok(Some(chosen)) => Some(span(chosen.outer)),
            Ok(None) => None,
            // Branches may tell functions of one name apart.
            Err(_) => None,
        }
    };
    let part = part.unwrap_or(Span::new(0, source.bytes().len()));
    if let Some(dropped) = conditional::branches(&document, part, defines, &mut given)? {
        document = Document::parse(source, Grammar::Cpp, &MaskOptions { dropped, ..MaskOptions::default() });
    }
    let all = functions(&document);
    let chosen = choose(&document, &all, function)?;
    let mut interpreter = Interpreter::new(&document, given);
    let extent = document.spot(chosen.map_or(document.root(), |function| function.outer));
    let (name, block) = match chosen {
        Some(function) => {
            let parameters = parameters(&document, function);
            interpreter.parameters =
                parameters.into_iter().map(|(name, of)| (name, interpreter.spelled(&of))).collect();
            interpreter.constants = constants(&document, function);
            (function.name.clone(), function.body.unwrap_or(function.outer))
        }
        None => (String::new(), document.root()),
    };
    interpreter.surroundings = Rc::new(Surroundings::of(&document, &all, block));
    interpreter.scopes.enter();
    interpreter.block(block, 0);
    let errors = report::errors(&interpreter);
    if errors.has_errors() {
        return Err(errors);
    }
    let (lines, terminated) = match &interpreter.result {
        Some(text) if interpreter.emitters.iter().all(|(_, emitter)| emitter.lines.is_empty()) => text.lines(),
        _ => (lines(&interpreter, &document, block, &name)?, true),
    };
    Ok(Emission {
        source: Arc::clone(source),
        function: name,
        extent,
        lines,
        terminated,
        leaves: interpreter.leaves.used.clone(),
        returned: interpreter.returned.clone(),
        assertions: interpreter.assertions,
        warnings: report::warnings(&interpreter.leaves, &interpreter.computed),
    })
}

/// Whether a text prints through an emitter anywhere.
pub fn emits(source: &Arc<Source>) -> bool {
    let document = Document::parse(source, Grammar::Cpp, &MaskOptions::default());
    poison::emits(&document, document.root())
}

fn choose<'a, 't>(
    document: &Document,
    all: &'a [Function<'t>],
    wanted: Option<&str>,
) -> Result<Option<&'a Function<'t>>, Diagnostics> {
    let source = &document.source;
    let defined = |f: &&Function<'t>| f.body.is_some();
    let places = |list: &[&'a Function<'t>]| -> Vec<(String, Spot)> {
        list.iter().map(|f| (f.name.clone(), document.spot(f.name_node))).collect()
    };
    let bodies: Vec<_> = all.iter().filter(defined).collect();
    let Some(wanted) = wanted else {
        let emitting: Vec<_> =
            bodies.iter().copied().filter(|f| f.body.is_some_and(|b| poison::emits(document, b))).collect();
        return match emitting[..] {
            [] if bodies.len() == 1 => Ok(Some(bodies[0])),
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => Err(report::several(source, "emit", &places(&emitting)).into()),
        };
    };
    let found: Vec<_> = bodies.iter().copied().filter(|f| f.is_named(wanted)).collect();
    match found[..] {
        [one] => Ok(Some(one)),
        [] => Err(report::missing(source, wanted, &places(&bodies)).into()),
        _ => Err(report::ambiguous(wanted, &places(&found)).into()),
    }
}

/// The parameters that are `const`.
fn constants(document: &Document, function: &Function<'_>) -> BTreeSet<String> {
    let is_constant = |node: &Node<'_>| {
        let text = document.squeezed(*node);
        let head = text.split(['*', '&']).next().unwrap_or_default();
        // What it is or refers to; `std::vector<int const *> &` is not.
        let head = head.split('<').next().unwrap_or_default().to_owned() + head.rsplit('>').next().unwrap_or_default();
        head.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "const")
    };
    children(function.parameters)
        .into_iter()
        .filter(is_constant)
        .filter_map(|node| parameter_name(document, node))
        .collect()
}

fn parameter_name(document: &Document, node: Node<'_>) -> Option<String> {
    let mut declarator = node.child_by_field_name("declarator");
    while let Some(inner) = declarator.filter(|d| d.kind() != "identifier") {
        declarator = inner.child_by_field_name("declarator").or_else(|| children(inner).first().copied());
    }
    declarator.map(|name| document.squeezed(name))
}

/// The parameters with their types, qualifiers and references left out.
fn parameters(document: &Document, function: &Function<'_>) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for node in children(function.parameters) {
        let declared = node.child_by_field_name("type").map(|t| document.squeezed(t)).unwrap_or_default();
        if let Some(name) = parameter_name(document, node) {
            out.insert(name, declared.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    out
}

/// The lines of the emitter that the site returns, or of the only one.
fn lines(
    interpreter: &Interpreter<'_>,
    document: &Document,
    block: Node<'_>,
    name: &str,
) -> Result<Vec<EmittedLine>, Diagnostics> {
    let returned = interpreter.returned.as_ref().map(|spot| spot.text().into_owned()).unwrap_or_default();
    let spoken: Vec<_> = interpreter.emitters.iter().filter(|(_, emitter)| !emitter.lines.is_empty()).collect();
    let of_return: Vec<_> = spoken.iter().filter(|(variable, _)| returned.contains(&format!("{variable}."))).collect();
    match (&spoken[..], &of_return[..]) {
        ([(_, only)], _) | (_, [(_, only)]) => Ok(only.lines.clone()),
        ([], _) => {
            let what = if name.is_empty() { "the text".to_owned() } else { format!("`{name}`") };
            let error = Diagnostic::error("K-SITE-EMPTY", format!("{what} emits nothing"))
                .at(Spot::new(&document.source, block.start_byte()..block.start_byte()), "begins here")
                .help("name the function that emits: `--site FILE:NAME`");
            Err(error.into())
        }
        _ => {
            let names: Vec<_> = spoken.iter().map(|(variable, _)| variable.as_str()).collect();
            let message = format!("{} emitters hold lines: {}", names.len(), names.join(", "));
            Err(Diagnostic::error("K-SITE-EMITTER", message)
                .at(document.spot(block), "in this site")
                .help("paste the text that the generator printed, and give that as the site")
                .into())
        }
    }
}
