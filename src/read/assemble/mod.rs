//! From what was read to a [`Reproducer`]: the manifest's rules applied to one instantiation.

mod attribution;
mod awaited;
mod contract;
mod descriptor;
mod harness;
mod host_text;
mod launch;
mod operand;
mod overrides;
mod passed;
mod prologue;
mod seen_launch;
mod share;
mod terms;

use std::collections::BTreeMap;
use std::sync::Arc;

use regex::Regex;

pub use attribution::PrintedMaps;
pub use awaited::awaited;
pub use overrides::Overrides;
pub use terms::Evaluate;

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{
    Awaited, CompileCommand, Contract, DescriptorSource, Emitted, Fact, InputFile, Instantiation, KernelRef,
    KernelSignature, Origin, Reproducer, TensorMap, ToolchainFacts, UnknownName,
};
use crate::read::manifest::Manifest;
use crate::read::prints::PrintedLaunch;
use crate::source::{Place, Source, Spot};
use host_text::HostText;
use terms::Terms;

/// Everything that the readers found.
pub struct Facts<'a> {
    /// Stem of the generated files.
    pub name: String,
    /// The header as the user named it.
    pub header: String,
    /// How it is included, with delimiters.
    pub include: String,
    /// Instructions in its text that not every target has.
    pub uses: Vec<Fact<String>>,
    /// Macros of which the headers demand one.
    pub demands: Vec<Fact<Vec<String>>>,
    /// Names of the emission that the headers do not have.
    pub unknown_names: Vec<UnknownName>,
    /// Where the header declares dynamic shared memory, if it does.
    pub dynamic_shared: Option<Place>,
    /// The kernel's signature.
    pub signature: KernelSignature,
    /// The emitted text.
    pub instantiation: Instantiation,
    /// Production's symbol of the kernel, where one is known.
    pub production_symbol: Option<Fact<String>>,
    /// The launch that production printed.
    pub printed_launch: Option<PrintedLaunch>,
    /// The descriptors that production printed for it, and which of them the user said is whose.
    pub printed_maps: PrintedMaps,
    /// What the site was evaluated with.
    pub leaves: BTreeMap<String, Fact<String>>,
    /// The scaffold.
    pub manifest: &'a Manifest,
    /// Its text.
    pub manifest_source: &'a Arc<Source>,
    /// Values of the kernel's template parameters and aliases.
    pub evaluator: &'a dyn Evaluate,
    /// Macros that annotate its declaration, as they were given.
    pub annotation_macros: Vec<String>,
    /// What the kernel awaits on its barriers.
    pub awaited: Vec<Awaited>,
    /// The recovered command.
    pub compile: CompileCommand,
    /// What the user said about contract, launch and scalars.
    pub overrides: &'a Overrides,
    /// Which descriptor is encoded.
    pub descriptor_source: DescriptorSource,
    /// Compilers and libraries.
    pub toolchain: ToolchainFacts,
    /// What is kept under `inputs/`.
    pub inputs: Vec<InputFile>,
}

/// What the host half of a printed unit says.
struct Printed {
    /// `grid`, `block`, `shared_memory`, `cluster`.
    launch: BTreeMap<&'static str, Vec<Fact<u64>>>,
    /// By the parameter's name.
    descriptors: BTreeMap<String, TensorMap>,
}

/// Reads the host half; expressions may then name `PARAMETER::global_dim_0` and so on.
fn printed(facts: &Facts<'_>, terms: &Terms<'_>) -> Result<Printed, Diagnostics> {
    let text = HostText::new(facts, terms);
    let mut descriptors = BTreeMap::new();
    for parameter in &facts.signature.parameters {
        if let Some(map) = text.descriptor(&parameter.name)? {
            for (index, extent) in map.global_dim.iter().enumerate() {
                terms.bind(format!("{}::global_dim_{index}", parameter.name), extent);
            }
            terms.bind_text(format!("{}::element", parameter.name), host_text::cxx_element(&map), &map.swizzle.origin);
            descriptors.insert(parameter.name.clone(), map);
        }
    }
    Ok(Printed { launch: text.launch()?, descriptors })
}

/// Says so where the manifest knows the kernel for one that is no GEMM.
fn no_oracle(facts: &Facts<'_>) -> Result<(), Diagnostics> {
    let last = facts.signature.name.rsplit("::").next().unwrap_or_default();
    for entry in &facts.manifest.no_oracle {
        let pattern = Regex::new(entry.kernel.get_ref()).map_err(|error| {
            let spot = Spot::new(facts.manifest_source, entry.kernel.span());
            Diagnostic::error("K-MANIFEST", format!("no regular expression: {error}")).at(spot, "")
        })?;
        if pattern.is_match(last) {
            let text = &facts.instantiation.kernel.value;
            let arguments: Vec<&str> =
                facts.instantiation.template_arguments.iter().map(|a| a.value.as_str()).collect();
            let message =
                format!("krepro has no oracle for `{}`: it computes {}", facts.signature.name, entry.computes);
            return Err(Diagnostic::error("K-NO-ORACLE", message)
                .because(format!("site and signature were read, and fit: `{text}<{}>`", arguments.join(", ")))
                .because("krepro compares with a host GEMM, so there is nothing to compare this kernel with")
                .help("if it is a GEMM after all: --contract m=EXPR n=EXPR k=EXPR a=SLOT b=SLOT out=SLOT")
                .into());
        }
    }
    Ok(())
}

/// What expressions may name once the contract is known.
fn named(contract: &Contract) -> impl Iterator<Item = (String, &Fact<u64>)> {
    contract.operands.iter().map(|o| (format!("{}::leading_dimension", o.role.value), &o.leading_dimension))
}

/// Applies the manifest to the facts; what the user should know comes beside the reproducer.
///
/// # Errors
/// Every expression that cannot be evaluated, and every question that nothing read answers (which parameter is which
/// operand, how large the grid is), each with what to type.
pub fn reproducer(facts: Facts<'_>) -> Result<(Reproducer, Diagnostics), Diagnostics> {
    let mut problems = Diagnostics::new();
    let rule = facts.manifest.kernel(&facts.signature.name);
    if rule.is_none() && facts.overrides.contract.is_empty() {
        no_oracle(&facts)?;
    }
    if rule.is_none() && !facts.manifest.kernel.is_empty() && facts.overrides.contract.is_empty() {
        let known: Vec<_> = facts.manifest.kernel.iter().map(|k| k.name.as_str()).collect();
        problems.push(
            Diagnostic::error(
                "K-MANIFEST-KERNEL",
                format!("scaffold `{}` says nothing about `{}`", facts.manifest.name, facts.signature.name),
            )
            .because(format!("it knows {}", known.join(", ")))
            .help("add a [[kernel]] block for it to a manifest of your own and pass it with --scaffold FILE")
            .help("or answer with --contract m=EXPR n=EXPR k=EXPR a=SLOT b=SLOT out=SLOT"),
        );
        return Err(problems);
    }
    let terms = Terms::new(&facts);
    let printed = match printed(&facts, &terms) {
        Ok(printed) => printed,
        Err(found) => {
            problems.append(found);
            return Err(problems);
        }
    };
    let contract = contract::contract(rule, &facts, &terms, &mut problems);
    for (name, fact) in contract.iter().flat_map(named) {
        terms.bind(name, fact);
    }
    let launch = launch::launch(rule, &facts, &printed.launch, &terms, &mut problems);
    let descriptors = contract
        .as_ref()
        .map(|contract| descriptor::descriptors(rule, contract, &facts, &printed.descriptors, &terms, &mut problems))
        .unwrap_or_default();
    let harness = match (&contract, &launch) {
        (Some(contract), Some(launch)) => {
            harness::harness(rule, contract, launch, &descriptors, &facts, &terms, &mut problems)
        }
        _ => None,
    };
    let prologue = contract
        .as_ref()
        .map(|contract| prologue::prologues(rule, contract, &facts, &terms, &mut problems))
        .unwrap_or_default();
    // What comes after an error was not asked yet.
    for key in facts.overrides.unused(contract.is_some(), harness.is_some()) {
        problems.push(key);
    }
    let (Some(contract), Some(launch), Some(harness)) = (contract, launch, harness) else { return Err(problems) };
    if problems.has_errors() {
        return Err(problems);
    }
    let mut includes: Vec<String> = rule.map(|rule| rule.includes.clone()).unwrap_or_default();
    includes.extend(facts.manifest.harness.includes.iter().cloned());
    // A unit that defines its kernel needs no header.
    let file = |origin: &Origin| origin.place().map(|place| place.file.clone());
    let defined = file(&facts.signature.text.origin) == file(&facts.instantiation.kernel.origin);
    if !(defined && facts.manifest.harness.emitted == Emitted::Unit) {
        includes.push(facts.include);
    }
    let before = rule
        .into_iter()
        .flat_map(|rule| &rule.prologue)
        .filter(|one| prologue.iter().any(|p| p.name == *one.name.get_ref()));
    for include in before.filter_map(|one| one.include.clone()) {
        if !includes.contains(&include) {
            includes.push(include);
        }
    }
    let reproducer = Reproducer {
        version: 1,
        name: facts.name,
        scaffold: facts.manifest.name.clone(),
        descriptor_source: facts.descriptor_source,
        kernel: KernelRef {
            header: facts.header,
            includes,
            signature: facts.signature,
            uses: facts.uses,
            demands: facts.demands,
            unknown_names: facts.unknown_names,
            annotation_macros: facts.annotation_macros,
            production_symbol: facts.production_symbol,
        },
        instantiation: facts.instantiation,
        leaves: facts.leaves,
        contract,
        descriptors,
        awaited: facts.awaited,
        launch,
        prologue,
        harness,
        compile: facts.compile,
        toolchain: facts.toolchain,
        inputs: facts.inputs,
    };
    Ok((reproducer, problems))
}
