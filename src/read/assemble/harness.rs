//! The C++ around the instantiation.

use super::Facts;
use super::terms::Terms;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Contract, DescriptorPair, HarnessText, Launch, LaunchKind, Parameter};
use crate::read::manifest::{KernelRule, Slot};

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
        LaunchKind::Wrapped => Some(wrapped(contract, descriptors, facts, problems)),
        LaunchKind::Global => global(rule, contract, descriptors, facts, terms, problems),
    }
}

fn wrapped(
    contract: &Contract,
    descriptors: &[DescriptorPair],
    facts: &Facts<'_>,
    problems: &mut Diagnostics,
) -> HarnessText {
    let text = &facts.manifest.harness;
    let mut host = vec![text.host.trim_end().to_owned()];
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
            Ok(argument) => arguments.push(argument),
            Err(problem) => problems.push(problem),
        }
    }
    (arguments.len() == count).then(|| HarnessText {
        declarations: text.declarations.clone(),
        host: text.host.clone(),
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
) -> Result<String, Diagnostic> {
    let name = &parameter.name;
    if let Some(map) = descriptors.iter().find(|d| d.name == *name) {
        return Ok(format!("buffers.map(\"{}\")", map.name));
    }
    let slot = Slot::Parameter(name.clone()).to_string();
    if let Some(operand) = contract.operands.iter().find(|o| o.binding == slot) {
        return Ok(format!("buffers.address(\"{}\")", operand.role.value));
    }
    if name == "workspace" && parameter.declared.contains('*') {
        return Ok("buffers.workspace()".to_owned());
    }
    let value = match (facts.overrides.scalar(name), rule.and_then(|r| r.scalar.get(name))) {
        (Some((text, by)), _) => Some(terms.given(text, by)?.value),
        (None, Some(expression)) => Some(terms.quantity(expression)?.value),
        (None, None) => facts.instantiation.arguments.get(index).and_then(|piece| piece.value.trim().parse().ok()),
    };
    match value {
        Some(value) => Ok(value.to_string()),
        None => Err(Diagnostic::error(
            "K-QUESTION",
            format!("what is passed for the parameter `{} {name}`?", parameter.declared),
        )
        .help(format!("--scalar {name}=EXPR for a number, --contract ROLE={name} for an operand"))),
    }
}
