//! Python sites: a function is interpreted, or a pasted block.

mod call;
mod change;
mod expression;
mod format;
mod literal;
mod machine;
mod method;
mod operate;
mod spec;
mod statement;
#[cfg(test)]
mod tests;
mod tree;
mod value;

pub use value::float;

use std::collections::BTreeMap;
use std::sync::Arc;

use tree_sitter::Node;

use self::machine::{Frame, Machine, Slot, State};
use self::tree::{Function, Script};
use self::value::{Py, Traced};
use super::emission::Emission;
use super::leaves::Leaves;
use super::line::Pieces;
use super::report;
use crate::diag::{Diagnostic, Diagnostics};
use crate::read::cxx::document::children;
use crate::read::cxx::problem::Problem;
use crate::source::{Source, Spot};

/// Evaluates a Python site under the given leaves: the text that a function returns or writes, or that a pasted block
/// makes.
///
/// # Errors
///
/// The function is missing; leaves are unknown (all at once); an assertion is false; a construct is not evaluated.
pub fn evaluate(
    source: &Arc<Source>,
    function: Option<&str>,
    leaves: &BTreeMap<String, String>,
) -> Result<Emission, Diagnostics> {
    let script = Script::parse(source);
    let functions = script.functions();
    let mut machine = Machine {
        script: &script,
        functions: &functions,
        leaves: Leaves::new(leaves),
        state: State::default(),
        problems: vec![],
        errors: Diagnostics::new(),
        computed: BTreeMap::new(),
        assertions: 0,
        speculative: 0,
        strayed: false,
        steps: 0,
        depth: 0,
    };
    if let Some(at) = script.stumbled() {
        return Err(Diagnostic::error("K-SITE-TEMPLATE", "this is no Python").at(at, "here").into());
    }
    machine.state.frames.push(Frame::default());
    let chosen = choose(&machine, &functions, function)?;
    match chosen {
        Some(function) => run(&mut machine, function),
        None => {
            machine.block(script.root(), 0);
        }
    }
    let text = text(&mut machine, chosen, script.root());
    let mut errors = report::problems(&machine.problems, &machine.leaves);
    errors.append(machine.errors.clone());
    let text = match text {
        Ok(text) if !errors.has_errors() => text,
        Err(error) if !errors.has_errors() => return Err(error.into()),
        _ => return Err(errors),
    };
    let extent = match chosen {
        Some(function) if !machine.strayed && function.class.is_empty() => script.spot(function.node),
        _ => Spot::new(source, 0..source.bytes().len()),
    };
    let (lines, terminated) = text.lines();
    Ok(Emission {
        source: Arc::clone(source),
        extent,
        function: chosen.map(|function| function.name.clone()).unwrap_or_default(),
        lines,
        terminated,
        leaves: machine.leaves.used.clone(),
        returned: machine.state.result.as_ref().map(|(_, at)| at.clone()),
        assertions: machine.assertions,
        warnings: report::warnings(&machine.leaves, &machine.computed),
    })
}

/// The function that was named, or the only one that formats text; none for a pasted block.
fn choose<'a, 'd>(
    machine: &Machine<'_>,
    functions: &'a [Function<'d>],
    wanted: Option<&str>,
) -> Result<Option<&'a Function<'d>>, Diagnostics> {
    let source = &machine.script.source;
    let places = |list: &[&Function<'_>]| -> Vec<(String, Spot)> {
        list.iter().map(|f| (f.name.clone(), machine.script.spot(f.name_node()))).collect()
    };
    let all: Vec<_> = functions.iter().collect();
    let Some(wanted) = wanted else {
        let formatting: Vec<_> = all.iter().copied().filter(|f| machine.formats(f.body)).collect();
        return match formatting[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => Err(report::several(source, "format text", &places(&formatting)).into()),
        };
    };
    let found: Vec<_> = all.iter().copied().filter(|f| f.is_named(wanted)).collect();
    match found[..] {
        [one] => Ok(Some(one)),
        [] => Err(report::missing(source, wanted, &places(&all)).into()),
        _ => Err(report::ambiguous(wanted, &places(&found)).into()),
    }
}

/// The module's constants, then the function.
fn run(machine: &mut Machine<'_>, function: &Function<'_>) {
    constants(machine);
    let mut frame = Frame { class: function.class.clone(), ..Frame::default() };
    for (name, ..) in function.parameters(machine.script) {
        frame.names.insert(name.trim_start_matches('*').to_owned(), Slot::Entry);
    }
    machine.state.frames.push(frame);
    machine.block(function.body, 0);
}

/// What the module assigns to its names; one that it assigns more than once, or within something, is not known.
fn constants(machine: &mut Machine<'_>) {
    let root = machine.script.root();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    crate::read::cxx::document::any(root, |node| {
        let module = module_level(node);
        if matches!(node.kind(), "assignment" | "augmented_assignment" | "for_statement") && module {
            for name in assigned_names(machine.script, node) {
                *names.entry(name).or_default() += 1;
            }
        }
        if node.kind() == "named_expression"
            && module
            && let Some(name) = node.child_by_field_name("name")
        {
            *names.entry(machine.script.text(name)).or_default() += 2;
        }
        if node.kind() == "global_statement" {
            for name in children(node) {
                *names.entry(machine.script.text(name)).or_default() += 2;
            }
        }
        false
    });
    for statement in children(root) {
        if matches!(statement.kind(), "import_statement" | "import_from_statement") {
            machine.imported(statement);
        }
        for node in children(statement).into_iter().filter(|n| n.kind() == "assignment") {
            let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
            else {
                continue;
            };
            let outcome = machine.value(right);
            machine.unpack(left, outcome, right);
        }
    }
    let lost = machine.refused(root, "a name that the module assigns more than once").problems;
    for (name, times) in names {
        let simple = machine.state.frames[0].names.contains_key(&name);
        if times > 1 || !simple {
            let mut problems = lost.clone();
            if let Some(Problem::Unsupported { what, at }) = problems.first_mut() {
                *what = format!("`{name}`, which the module assigns more than once or within a block,");
                *at = Spot::new(&machine.script.source, 0..0);
            }
            machine.state.frames[0].names.insert(name, Slot::Lost(machine::Miss { problems, path: None }));
        }
    }
    machine.computed.clear();
    machine.state.formed.clear();
    machine.problems.clear();
    machine.strayed |= !machine.state.frames[0].names.is_empty();
}

/// Whether a node stands outside every function and class.
fn module_level(node: Node<'_>) -> bool {
    let mut node = node;
    while let Some(parent) = node.parent() {
        if matches!(parent.kind(), "function_definition" | "class_definition" | "lambda") {
            return false;
        }
        node = parent;
    }
    true
}

fn assigned_names(script: &Script, node: Node<'_>) -> Vec<String> {
    let mut out = vec![];
    let mut open: Vec<_> = node.child_by_field_name("left").into_iter().collect();
    while let Some(node) = open.pop() {
        match node.kind() {
            "identifier" => out.push(script.text(node)),
            "attribute" | "subscript" => {}
            _ => open.extend(children(node)),
        }
    }
    out
}

/// The text of the site: what it returns, else what it writes, else the one text that a block makes.
fn text(machine: &mut Machine<'_>, chosen: Option<&Function<'_>>, root: Node<'_>) -> Result<Pieces, Diagnostic> {
    let mut targets: Vec<String> = machine.state.written.iter().map(|(to, _)| to.clone()).collect();
    targets.sort();
    targets.dedup();
    let written = match &targets[..] {
        [one] => machine.written_to(one),
        _ => None,
    };
    let result = machine.state.result.clone();
    match result {
        Some((Ok(Traced { value: Py::Text(returned), .. }), at)) => {
            let differs = |text: &Pieces| text.text().trim() != returned.text().trim();
            if targets.len() > 1 || written.as_ref().is_some_and(differs) {
                let message = "the site returns one text and writes another";
                return Err(Diagnostic::error("K-SITE-EMITTER", message)
                    .at(at, "returned here")
                    .because(format!("it writes to {}", targets.join(", ")))
                    .help("paste the text that the generator printed, and give that as the site"));
            }
            return Ok(returned);
        }
        Some((Err(miss), _)) if targets.is_empty() => {
            machine.note(miss.problems);
            return Ok(Pieces::default());
        }
        _ => {}
    }
    if targets.len() > 1 {
        let message = format!("the site writes to {} objects: {}", targets.len(), targets.join(", "));
        let at = machine.script.spot(chosen.map_or(root, |function| function.name_node()));
        return Err(Diagnostic::error("K-SITE-EMITTER", message)
            .at(at, "in this site")
            .help("paste the text that the generator printed, and give that as the site"));
    }
    if let Some(written) = written {
        return Ok(written);
    }
    let at = chosen.map_or_else(
        || Spot::new(&machine.script.source, 0..machine.script.source.text().find('\n').unwrap_or_default()),
        |function| machine.script.spot(function.name_node()),
    );
    match (&machine.state.formed[..], chosen) {
        ([(_, one)], None) => Ok(one.clone()),
        ([], None) => Err(Diagnostic::error("K-SITE-EMPTY", "the text formats no string").at(at, "begins here").help(
            "paste an f-string, `\"…\".format(…)` or `\"…\" % (…)`, or name the function: `--site FILE:FUNCTION`",
        )),
        (several, None) => {
            let names: Vec<_> = several.iter().map(|(name, _)| super::interpreter::short(name)).collect();
            let message = format!("the text makes {} texts: {}", several.len(), names.join(", "));
            Err(Diagnostic::error("K-SITE-EMITTER", message)
                .at(at, "begins here")
                .help("paste the statements of one of them"))
        }
        (_, Some(function)) => {
            let message = format!("`{}` returns no text and writes none", function.name);
            Err(Diagnostic::error("K-SITE-EMPTY", message)
                .at(at, "this function")
                .help("name the function that makes the text: `--site FILE:FUNCTION`")
                .help("or paste the text that the generator printed, and give that as the site"))
        }
    }
}
