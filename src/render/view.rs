//! The model as the templates see it.

use serde::Serialize;
use tera::Context;

use super::{carried, runtime, seal, share};
use crate::model::{
    Accumulator, BuildLine, Destination, Emitted, EpilogueStep, Fact, GatePairs, LINK_FOLDER, LaunchKind, Layout,
    Major, Origin, OutputRole, Prepares, Prologue, Reproducer, Role, STUB_FOLDER, TensorMap,
};
use crate::template::shell;

#[derive(Serialize)]
struct OperandView {
    role: &'static str,
    element: &'static str,
    rows: u64,
    columns: u64,
    leading_dimension: u64,
    major: &'static str,
    swizzled: &'static str,
    packed: &'static str,
    powers: &'static str,
}

#[derive(Serialize)]
struct StepView {
    does: &'static str,
    to: &'static str,
    operand: &'static str,
    factor: &'static str,
}

#[derive(Serialize)]
struct DescriptorView {
    name: String,
    source: &'static str,
    operand: String,
    copies: u64,
    box_bytes: u64,
    rank: usize,
    data_type: String,
    global_dim: String,
    global_strides: String,
    box_dim: String,
    element_strides: String,
    swizzle: &'static str,
    l2_promotion: String,
    out_of_bounds: &'static str,
}

#[derive(Serialize)]
struct PrologueView {
    name: String,
    call: &'static str,
    entry: String,
    does: &'static str,
    role: &'static str,
    element: &'static str,
    rows: u64,
    columns: u64,
    leading_dimension: u64,
    major: &'static str,
    swizzled: &'static str,
    packed: &'static str,
    into: String,
    scales: &'static str,
    scales_into: String,
    zeroed: &'static str,
    grid: String,
    block: String,
    shared_memory: u64,
    arguments: Vec<String>,
}

#[derive(Serialize)]
struct AliasView {
    name: String,
    text: String,
}

/// The wrapper kernel of a reproducer.
const WRAPPER: &str = "krepro_kernel";

pub(super) fn context(reproducer: &Reproducer) -> Context {
    let mut context = Context::new();
    let contract = &reproducer.contract;
    let launch = &reproducer.launch;
    let harness = &reproducer.harness;
    let line = BuildLine::new(&reproducer.compile, None);
    let name = &reproducer.name;

    context.insert("name", name);
    context.insert("hash", seal::BLANK);
    context.insert("kernel", &entry(reproducer));
    context.insert("provenance", &provenance(reproducer));
    context.insert("command", &command_line(name, &line));
    context.insert("includes", &reproducer.kernel.includes);
    context.insert("runtime_first", &runtime::first());
    context.insert("runtime", &runtime::rest());

    context.insert("kernel_name", WRAPPER);
    context.insert("carried", &carried::carried(reproducer));
    context.insert("wrapped", &(launch.kind.value == LaunchKind::Wrapped));
    context.insert("unit", &(harness.emitted == Emitted::Unit));
    context.insert("call", call(launch.kind.value));
    context.insert("declarations", &harness.declarations);
    context.insert("parameters", &harness.parameters);
    context.insert("prologue", &indent(&harness.prologue));
    context.insert("lines", &reproducer.instantiation.lines);
    context.insert("launch_bounds", &launch.launch_bounds.as_ref().map_or("", |bounds| bounds.value.as_str()));
    let aliases: Vec<AliasView> = reproducer
        .instantiation
        .aliases
        .iter()
        .map(|alias| AliasView { name: alias.name.clone(), text: alias.text.value.clone() })
        .collect();
    context.insert("aliases", &aliases);
    context.insert("entry", &launched(reproducer));
    context.insert("host", &indent(&harness.host));
    context.insert("arguments", &harness.arguments);
    context.insert("launch_types", &launch_types(reproducer).join(", "));
    context.insert("kernel_index", &0);

    context.insert("notes", &notes(reproducer));
    context.insert("operands", &operands(reproducer));
    context.insert("steps", &contract.epilogue.iter().map(|step| step_view(&step.value)).collect::<Vec<_>>());
    context.insert("descriptors", &descriptors(reproducer));
    context.insert("prologues", &prologues(reproducer));
    context.insert("m", &contract.m.value);
    context.insert("n", &contract.n.value);
    context.insert("k", &contract.k.value);
    let tile = |fact: &Option<Fact<u64>>| fact.as_ref().map_or(0, |f| f.value);
    context.insert("tile_m", &tile(&contract.tile.m));
    context.insert("tile_n", &tile(&contract.tile.n));
    context.insert("tile_k", &tile(&contract.tile.k));
    context.insert("promotion", &tile(&contract.tile.promotion));
    context.insert("accumulator", accumulator(contract.accumulator.value));
    context.insert("accumulates", word(contract.output.value == OutputRole::Accumulate));
    context.insert("padding_zero", word(contract.padding_zero.value));
    context.insert("split", &share::split(contract));
    context.insert("groups", &share::group_rows(contract));
    context.insert("group_index", share::group_index(contract));
    context.insert("grid", &list(launch.grid.iter().map(|f| f.value)));
    context.insert("cluster", &list(launch.cluster.iter().map(|f| f.value)));
    context.insert("block", &list(launch.threads.extents.iter().map(|f| f.value)));
    context.insert("shared_memory", &launch.shared_memory.value);
    context.insert("workspace", &launch.workspace.value);
    context.insert("workspace_fill", &launch.workspace_fill.value);

    context.insert("compiler", &reproducer.compile.compiler);
    context.insert("nvcc_arguments", &line.arguments());
    context.insert("changes", &changes(reproducer, &line));
    context.insert("libcuda", &line.libcuda);
    context.insert("link_folder", LINK_FOLDER);
    context.insert("stub_folder", STUB_FOLDER);
    context
}

/// The kernel's parameter types as the host half of a build in two halves knows them: any pointer is a `void*`, other types are
/// spelled as they stand, without qualifiers.
fn launch_types(reproducer: &Reproducer) -> Vec<String> {
    let wrapper = split_parameters(&reproducer.harness.parameters);
    let declared: Vec<String> = match reproducer.launch.kind.value {
        LaunchKind::Wrapped => wrapper.iter().map(|text| without_name(text)).collect(),
        LaunchKind::Global => reproducer.kernel.signature.parameters.iter().map(|p| p.declared.clone()).collect(),
        LaunchKind::Host | LaunchKind::Struct => vec![],
    };
    let plain = |text: &String| {
        if text.contains('*') {
            return "void*".to_owned();
        }
        let kept = text.split_whitespace().filter(|word| !["const", "__grid_constant__", "volatile"].contains(word));
        kept.collect::<Vec<_>>().join(" ")
    };
    declared.iter().map(plain).collect()
}

/// Parameters of a list, at its commas outside of brackets.
fn split_parameters(list: &str) -> Vec<String> {
    let mut depth = 0_i32;
    let mut parts = vec![String::new()];
    for c in list.chars() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

/// A declaration without the name that it ends with.
fn without_name(declaration: &str) -> String {
    let text = declaration.trim_end();
    text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').to_owned()
}

/// The kernel with its template arguments, as emitted.
pub(super) fn entry(reproducer: &Reproducer) -> String {
    let instantiation = &reproducer.instantiation;
    let arguments: Vec<&str> = instantiation.template_arguments.iter().map(|a| a.value.as_str()).collect();
    if arguments.is_empty() {
        instantiation.kernel.value.clone()
    } else {
        format!("{}<{}>", instantiation.kernel.value, arguments.join(", "))
    }
}

/// What `KREPRO_ENTRY` stands for: a type for a struct kernel, else a function.
pub(super) fn launched(reproducer: &Reproducer) -> String {
    match reproducer.launch.kind.value {
        LaunchKind::Struct => entry(reproducer),
        // A unit may name its kernel within the kernel's namespace.
        _ if reproducer.harness.emitted == Emitted::Unit => {
            let (emitted, whole) = (&reproducer.instantiation.kernel.value, &reproducer.kernel.signature.name);
            let named = if whole.ends_with(emitted.as_str()) { whole } else { emitted };
            format!("&{}", entry(reproducer).replacen(emitted.as_str(), named, 1))
        }
        _ => format!("&{}", entry(reproducer)),
    }
}

/// The harness function that takes the entry and its arguments; none where the host statements launch by themselves.
fn call(kind: LaunchKind) -> &'static str {
    match kind {
        LaunchKind::Wrapped | LaunchKind::Global => "launch_kernel",
        LaunchKind::Host => "call_launcher",
        LaunchKind::Struct => "",
    }
}

fn provenance(reproducer: &Reproducer) -> Vec<String> {
    let mut lines = vec![format!("kernel  {}", reproducer.kernel.header)];
    for input in &reproducer.inputs {
        lines.push(format!("{:<7} {} (copy: {}, blake3 {})", input.what, input.at, input.copy, input.hash));
    }
    let leaves: Vec<String> = reproducer.leaves.iter().map(|(name, fact)| format!("{name}={}", fact.value)).collect();
    if !leaves.is_empty() {
        lines.push(format!("leaves  {}", leaves.join(" ")));
    }
    lines.push(format!("compile {}", reproducer.compile.at));
    lines
}

/// As typed in the folder `build`.
fn command_line(name: &str, line: &BuildLine) -> String {
    let words = std::iter::once("nvcc".to_owned()).chain(line.arguments()).chain(BuildLine::files(name));
    words.map(|word| shell(&word)).collect::<Vec<_>>().join(" ")
}

/// Why the arguments of `build.sh` are not the log's.
fn changes(reproducer: &Reproducer, line: &BuildLine) -> Vec<String> {
    let logged = reproducer.compile.changes.iter().map(|change| (&change.was, &change.now, change.why.as_str()));
    let replaced = line.replacements.iter().map(|change| (&change.was, &change.now, change.why.as_str()));
    let none = Vec::new();
    let added = line.additions.iter().map(|addition| (&none, &addition.arguments, addition.why));
    logged
        .chain(replaced)
        .chain(added)
        .map(|(was, now, why)| match (was.join(" "), now.join(" ")) {
            (was, now) if was.is_empty() => format!("added {now}: {why}"),
            (was, now) if now.is_empty() => format!("left out {was}: {why}"),
            (was, now) => format!("{was} became {now}: {why}"),
        })
        .collect()
}

/// Where the contract's fields come from.
fn notes(reproducer: &Reproducer) -> Vec<String> {
    let contract = &reproducer.contract;
    let mut lines = vec!["out[m, n] = epilogue(sum over k of a[m, k] * b[n, k])".to_owned()];
    let mut say = |what: &str, origin: &Origin| {
        lines.push(format!("{what}: {} {}", origin.word(), origin.detail()));
    };
    say("m", &contract.m.origin);
    say("n", &contract.n.origin);
    say("k", &contract.k.origin);
    say("accumulator", &contract.accumulator.origin);
    say("output", &contract.output.origin);
    say("padding", &contract.padding_zero.origin);
    for operand in &contract.operands {
        say(&format!("{} ({})", operand.role.value, operand.binding), &operand.role.origin);
    }
    lines
}

fn operands(reproducer: &Reproducer) -> Vec<OperandView> {
    reproducer
        .contract
        .operands
        .iter()
        .map(|operand| OperandView {
            role: operand.role.value.name(),
            element: operand.element.value.name(),
            rows: operand.rows.value,
            columns: operand.columns.value,
            leading_dimension: operand.leading_dimension.value,
            major: major(operand.major.value),
            swizzled: word(operand.is_swizzled()),
            packed: word(operand.layout.as_ref().is_some_and(|layout| layout.value == Layout::Packed4)),
            powers: word(operand.powers_of_two),
        })
        .collect()
}

fn prologues(reproducer: &Reproducer) -> Vec<PrologueView> {
    let number = |destination: &Destination| match destination {
        Destination::Role(_) => "-1".to_owned(),
        Destination::Source(name) => {
            reproducer.prologue.iter().position(|one| one.name == *name).map_or("-1".to_owned(), |at| at.to_string())
        }
    };
    let view = |one: &Prologue| {
        let role = reproducer.role_of(&one.writes.value)?;
        let operand = reproducer.contract.operand(role)?;
        let layout = |wanted| word(one.source.layout.as_ref().is_some_and(|layout| layout.value == wanted));
        let scales = one.scales.as_ref().map(|scales| &scales.value);
        Some(PrologueView {
            name: one.name.clone(),
            call: if one.host { "call_launcher" } else { "launch_kernel" },
            entry: one.entry.value.clone(),
            does: if one.does.value == Prepares::Copy { "copy" } else { "quantise" },
            role: role.name(),
            element: one.source.element.value.name(),
            rows: operand.rows.value,
            columns: operand.columns.value,
            leading_dimension: one.source.leading_dimension.value,
            major: major(one.source.major.value),
            swizzled: layout(Layout::Swizzled128x4),
            packed: layout(Layout::Packed4),
            into: number(&one.writes.value),
            scales: scales.and_then(|scales| reproducer.role_of(scales)).unwrap_or(Role::Out).name(),
            scales_into: scales.map_or("-1".to_owned(), number),
            zeroed: word(one.zeroed),
            grid: list(one.grid.iter().map(|extent| extent.value)),
            block: list(one.threads.extents.iter().map(|extent| extent.value)),
            shared_memory: one.shared_memory.value,
            arguments: one.arguments.clone(),
        })
    };
    reproducer.prologue.iter().filter_map(view).collect()
}

fn major(major: Major) -> &'static str {
    match major {
        Major::K => "k",
        Major::Mn => "mn",
    }
}

fn step_view(step: &EpilogueStep) -> StepView {
    let plain = |does| StepView { does, to: "f32", operand: "out", factor: "out" };
    match step {
        EpilogueStep::Round { to } => StepView { to: to.name(), ..plain("round") },
        EpilogueStep::Add { operand } => StepView { operand: operand.name(), ..plain("add") },
        EpilogueStep::Multiply { operand } => StepView { operand: operand.name(), ..plain("multiply") },
        EpilogueStep::AddProduct { operand, factor } => {
            StepView { operand: operand.name(), factor: factor.name(), ..plain("add_product") }
        }
        EpilogueStep::Relu => plain("relu"),
        EpilogueStep::Gelu => plain("gelu"),
        EpilogueStep::GeluTanh => plain("gelu_tanh"),
        EpilogueStep::Silu => plain("silu"),
        EpilogueStep::SiluGate { pairs: GatePairs::Halves } => plain("silu_gate_halves"),
        EpilogueStep::SiluGate { pairs: GatePairs::Interleaved } => plain("silu_gate_interleaved"),
    }
}

fn descriptors(reproducer: &Reproducer) -> Vec<DescriptorView> {
    reproducer
        .descriptors
        .iter()
        .map(|pair| {
            let map: &TensorMap = pair.chosen(reproducer.descriptor_source);
            let source =
                if std::ptr::eq(map, &raw const pair.production) { "production's fill" } else { "the emitted type" };
            DescriptorView {
                name: pair.name.clone(),
                source,
                operand: pair.operand.clone(),
                copies: pair.copies.value,
                box_bytes: map.box_bytes(),
                rank: map.global_dim.len(),
                data_type: map.data_type.clone(),
                global_dim: list(map.global_dim.iter().map(|f| f.value)),
                global_strides: list(map.global_strides.iter().map(|f| f.value)),
                box_dim: list(map.box_dim.iter().map(|f| f.value)),
                element_strides: list(map.element_strides.iter().copied()),
                swizzle: map.swizzle.value.driver_name(),
                l2_promotion: map.l2_promotion.clone(),
                out_of_bounds: map.out_of_bounds.driver_name(),
            }
        })
        .collect()
}

fn accumulator(accumulator: Accumulator) -> &'static str {
    match accumulator {
        Accumulator::F32Simt => "f32_simt",
        Accumulator::F32TensorCore => "f32_tensor_core",
        Accumulator::F16TensorCore => "f16_tensor_core",
        Accumulator::Fp8Hopper => "fp8_hopper",
        Accumulator::S32 => "s32",
    }
}

fn word(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

fn list(numbers: impl Iterator<Item = u64>) -> String {
    numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(", ")
}

fn indent(text: &str) -> String {
    let lines: Vec<String> =
        text.trim_end().lines().map(|line| if line.is_empty() { String::new() } else { format!("  {line}") }).collect();
    lines.join("\n")
}
