//! The C++ around the instantiation.

use std::sync::LazyLock;

use regex::Regex;

use super::Facts;
use super::operand::by_value;
use super::passed::{By, differs};
use super::terms::Terms;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Contract, DescriptorPair, HarnessText, Launch, LaunchKind, Parameter};
use crate::read::manifest::{KernelRule, Slot};

/// A C++ literal of a number, a truth value or a null pointer: passed as it stands.
static LITERAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let real =
        r"(?:[0-9]{1,19}\.[0-9]{0,19}|\.[0-9]{1,19})(?:[eE][-+]?[0-9]{1,3})?[fF]?|[0-9]{1,19}[eE][-+]?[0-9]{1,3}[fF]?";
    Regex::new(&format!(
        r"^(?:-?(?:[0-9]{{1,19}}[uUlL]{{0,3}}|0[xX][0-9a-fA-F]{{1,16}}[uUlL]{{0,3}}|{real})|true|false|nullptr)$"
    ))
    .ok()
});

fn literal(text: &str) -> Option<String> {
    LITERAL.as_ref()?.is_match(text).then(|| text.to_owned())
}

pub(super) fn harness(
    rule: Option<&KernelRule>,
    contract: &Contract,
    launch: &Launch,
    descriptors: &[DescriptorPair],
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    problems: &mut Diagnostics,
) -> Option<HarnessText> {
    match launch.kind.value {
        LaunchKind::Wrapped => Some(wrapped(rule, contract, descriptors, facts, terms, problems)),
        LaunchKind::Global | LaunchKind::Host => global(rule, contract, descriptors, facts, terms, problems),
        LaunchKind::Struct => Some(HarnessText {
            emitted: facts.manifest.harness.emitted,
            declarations: facts.manifest.harness.declarations.clone(),
            host: host(rule, facts, terms, problems),
            ..HarnessText::default()
        }),
    }
}

/// Host statements of the manifest, then those of the kernel's block; `{=EXPRESSION}` stands for its value.
fn host(rule: Option<&KernelRule>, facts: &Facts<'_>, terms: &Terms<'_>, problems: &mut Diagnostics) -> String {
    let own = rule.map_or("", |r| r.host.as_str());
    let parts = [facts.manifest.harness.host.trim_end(), own.trim_end()];
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("{=") {
        let Some((expression, behind)) = after.split_once('}') else { break };
        out.push_str(before);
        match terms.given(expression, format!("`{expression}` in the host statements")) {
            Ok(value) => out.push_str(&value.value.to_string()),
            Err(problem) => problems.push(problem),
        }
        rest = behind;
    }
    out + rest
}

fn wrapped(
    rule: Option<&KernelRule>,
    contract: &Contract,
    descriptors: &[DescriptorPair],
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    problems: &mut Diagnostics,
) -> HarnessText {
    let text = &facts.manifest.harness;
    let mut host = vec![host(rule, facts, terms, problems)];
    let mut bind = |binding: &str, template: [&Option<String>; 2], name: &str, value: &str| {
        let (template, index) = match binding.parse() {
            Ok(Slot::Input(index)) => (template[0], index),
            Ok(Slot::Output(index)) => (template[1], index),
            _ => (&None, 0),
        };
        match template {
            Some(statement) => {
                host.push(statement.replace("{index}", &index.to_string()).replace(&format!("{{{name}}}"), value))
            }
            // What goes through a descriptor needs no address of its own.
            None if name == "address" && descriptors.iter().any(|d| d.binding == binding) => {}
            None => problems.push(
                Diagnostic::error(
                    "K-MANIFEST",
                    format!("scaffold `{}` does not say how to bind `{binding}`", facts.manifest.name),
                )
                .help("add the statement to [harness.bind]"),
            ),
        }
    };
    for operand in &contract.operands {
        let value = format!("buffers.address(\"{}\")", operand.role.value);
        bind(&operand.binding, [&text.bind.input, &text.bind.output], "address", &value);
    }
    for descriptor in descriptors {
        let value = format!("buffers.map_on_device(\"{}\")", descriptor.name);
        bind(&descriptor.binding, [&text.bind.input_descriptor, &text.bind.output_descriptor], "map", &value);
    }
    HarnessText {
        emitted: text.emitted,
        declarations: text.declarations.clone(),
        parameters: text.parameters.clone(),
        prologue: text.prologue.clone(),
        host: host.join("\n"),
        arguments: text.arguments.clone(),
    }
}

fn global(
    rule: Option<&KernelRule>,
    contract: &Contract,
    descriptors: &[DescriptorPair],
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    problems: &mut Diagnostics,
) -> Option<HarnessText> {
    let text = &facts.manifest.harness;
    let mut arguments = Vec::new();
    let count = facts.signature.parameters.len();
    for (index, parameter) in facts.signature.parameters.iter().enumerate() {
        match argument(index, parameter, rule, contract, descriptors, facts, terms) {
            Ok((argument, said)) => {
                arguments.push(argument);
                said.into_iter().for_each(|said| problems.push(said));
            }
            Err(problem) => problems.push(problem),
        }
    }
    let host = host(rule, facts, terms, problems);
    (arguments.len() == count).then(|| HarnessText {
        emitted: text.emitted,
        declarations: text.declarations.clone(),
        host,
        arguments,
        ..HarnessText::default()
    })
}

fn argument(
    index: usize,
    parameter: &Parameter,
    rule: Option<&KernelRule>,
    contract: &Contract,
    descriptors: &[DescriptorPair],
    facts: &Facts<'_>,
    terms: &Terms<'_>,
) -> Result<(String, Option<Diagnostic>), Diagnostic> {
    let name = &parameter.name;
    let alone = |text: String| Ok((text, None));
    if let Some(map) = descriptors.iter().find(|d| d.name == *name) {
        return alone(format!("buffers.map(\"{}\")", map.name));
    }
    let slots = [Slot::Parameter(name.clone()).to_string(), Slot::Parameter(index.to_string()).to_string()];
    if let Some(text) = rule.and_then(|r| r.argument.get(name)) {
        return alone(text.clone());
    }
    if let Some(operand) = contract.operands.iter().find(|o| slots.contains(&o.binding)) {
        let how = if by_value(operand, facts) { "value" } else { "address" };
        return alone(format!("buffers.{how}(\"{}\")", operand.role.value));
    }
    if name == "workspace" && parameter.declared.contains('*') {
        return alone("buffers.workspace()".to_owned());
    }
    if parameter.declared.contains("cudaStream_t") {
        return alone("cudaStream_t{}".to_owned());
    }
    let given = facts.overrides.scalar(name).or_else(|| facts.overrides.scalar(&index.to_string()));
    let printed = facts.instantiation.arguments.get(index);
    let (value, by) = match (given, rule.and_then(|r| r.scalar.get(name))) {
        (Some((text, by)), _) => match literal(text.trim()) {
            Some(text) => (Some(text), Some(By::Option(by))),
            None => (Some(terms.given(text, by.clone())?.value.to_string()), Some(By::Option(by))),
        },
        (None, Some(expression)) => {
            let fact = terms.quantity(expression)?;
            (Some(fact.value.to_string()), Some(By::manifest(terms.spot(expression), &fact)))
        }
        (None, None) => (printed.and_then(|piece| literal(piece.value.trim())), None),
    };
    let said = match (printed, &value, &by) {
        (Some(printed), Some(value), Some(by)) => differs(name, printed, value, by),
        _ => None,
    };
    match value.as_deref() {
        Some("0") if parameter.declared.contains('*') => Ok(("nullptr".to_owned(), said)),
        Some(value) => Ok((value.to_owned(), said)),
        None => Err(Diagnostic::error(
            "K-QUESTION",
            format!("what is passed for the parameter `{} {name}`?", parameter.declared),
        )
        .help(format!("--scalar {name}=EXPR for a number, --contract ROLE={name} for an operand"))),
    }
}
