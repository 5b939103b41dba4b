//! The contract of one instantiation.

use super::Facts;
use super::operand::{operands, unanswered};
use super::share;
use super::terms::Terms;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{
    Accumulator, Contract, ElementType, EpilogueStep, Fact, GatePairs, Origin, OutputRole, Role, SplitThrough, Tile,
};
use crate::read::manifest::{Expression, KernelRule};
use crate::source::{Place, Spot};

pub(super) fn contract(
    rule: Option<&KernelRule>,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    problems: &mut Diagnostics,
) -> Option<Contract> {
    let mut extent = |key: &str, of: fn(&KernelRule) -> Option<&Expression>| -> Option<Fact<u64>> {
        let result = match (facts.overrides.contract(key), rule.and_then(of)) {
            (Some((text, by)), _) => terms.given(text, by),
            (None, Some(expression)) => terms.quantity(expression),
            (None, None) => Err(question_extent(key, facts)),
        };
        // A framework writes 0 for an extent that it leaves to run time.
        let result = match result {
            Ok(fact) if fact.value == 0 => Err(question_extent(key, facts).because(format!(
                "{} is 0: the instantiation leaves it to run time",
                match &fact.origin {
                    Origin::Read { expr: Some(expr), .. } => format!("`{expr}`"),
                    _ => format!("`{key}`"),
                }
            ))),
            other => other,
        };
        result.map_err(|problem| problems.push(problem)).ok()
    };
    let m = extent("m", |r| r.m.as_ref());
    let n = extent("n", |r| r.n.as_ref());
    let k = extent("k", |r| r.k.as_ref());
    let (Some(m), Some(n), Some(k)) = (m, n, k) else {
        problems.append(unanswered(rule, facts));
        return None;
    };
    for (name, fact) in [("m", &m), ("n", &n), ("k", &k)] {
        terms.bind(format!("contract::{name}"), fact);
    }
    let place = rule_place(rule, facts, terms);
    let split_k = share::split_k(rule.map_or(&[], |r| &r.split_k), facts, terms, &place, problems);
    if let Some(problem) = split_k.as_ref().and_then(|split| meeting_place(split.through.value, rule, facts)) {
        problems.push(problem);
    }
    let groups = share::groups(rule.map_or(&[], |r| &r.groups), facts, terms, &place, problems);
    let operands = operands(rule, [&m, &n, &k], groups.as_ref(), facts, terms, problems)?;
    let out = operands.iter().find(|o| o.role.value == Role::Out).map(|o| o.element.clone())?;
    let accumulator = accumulator(rule, &operands, facts, &place, problems)?;
    let output = output(rule, facts, terms, &place, problems)?;
    let padding_zero = padding(rule, facts, &place, problems)?;
    let epilogue = epilogue(rule, &out, facts, terms, &place, problems)?;
    let mut optional = |expression: Option<&Expression>| {
        expression.and_then(|e| terms.quantity(e).map_err(|problem| problems.push(problem)).ok())
    };
    let tile = Tile {
        m: optional(rule.and_then(|r| r.tile_m.as_ref())),
        n: optional(rule.and_then(|r| r.tile_n.as_ref())),
        k: optional(rule.and_then(|r| r.tile_k.as_ref())),
        stages: optional(rule.and_then(|r| r.stages.as_ref())),
        promotion: match facts.overrides.contract("promotion") {
            Some((text, by)) => Some(terms.given(text, by)).and_then(|r| r.map_err(|p| problems.push(p)).ok()),
            None => optional(rule.and_then(|r| r.promotion.as_ref())),
        },
    };
    Some(Contract { m, n, k, accumulator, output, padding_zero, epilogue, operands, tile, split_k, groups })
}

/// Splits that meet through atomics need a place: the question which, where neither a manifest nor the launch knows of a workspace.
fn meeting_place(through: SplitThrough, rule: Option<&KernelRule>, facts: &Facts<'_>) -> Option<Diagnostic> {
    let unknown = through == SplitThrough::Atomics && rule.is_none() && facts.overrides.launch("workspace").is_none();
    unknown.then(|| {
        Diagnostic::error("K-QUESTION", "to which place do the splits add with atomics?")
            .because("through=atomics means a workspace that is zeroed before each launch, and the launch has none")
            .help("--launch workspace=BYTES, where they add to a workspace")
            .help("--contract split_k.through=reduce_add, where they add to the output itself")
    })
}

/// Where the kernel's block stands in the manifest, for what it says without an expression of its own.
fn rule_place(rule: Option<&KernelRule>, facts: &Facts<'_>, terms: &Terms<'_>) -> Place {
    let whole = || Place { file: facts.manifest_source.name().to_owned(), line: 1, column: 1 };
    match rule {
        Some(KernelRule { m: Some(m), .. }) => terms.spot(m).place(),
        Some(rule) => rule
            .operand
            .first()
            .map_or_else(whole, |operand| Spot::new(facts.manifest_source, operand.role.span()).place()),
        None => whole(),
    }
}

fn question_extent(key: &str, facts: &Facts<'_>) -> Diagnostic {
    let parameters: Vec<_> = facts.signature.template_parameters.iter().map(|p| p.name.as_str()).collect();
    let numbers: Vec<_> =
        facts.signature.parameters.iter().filter(|p| !p.declared.contains('*')).map(|p| p.name.as_str()).collect();
    let named =
        |what: &str, names: &[&str]| (!names.is_empty()).then(|| format!("the {what}parameters {}", names.join(", ")));
    let known: Vec<_> = [named("template ", &parameters), named("", &numbers)].into_iter().flatten().collect();
    let meaning = match key {
        "m" => "rows of the output",
        "n" => "columns of the output",
        _ => "length of the reduction",
    };
    let question = Diagnostic::error("K-QUESTION", format!("how large is `{key}`, the {meaning}?"));
    let question = match &known[..] {
        [] => question,
        known => question.because(format!("the signature has {}", known.join(" and "))),
    };
    question.help(match &parameters[..] {
        [] => format!("--contract {key}=NUMBER"),
        _ => format!("--contract {key}=EXPR, a number or an expression over the template parameters"),
    })
}

fn accumulator(
    rule: Option<&KernelRule>,
    operands: &[crate::model::Operand],
    facts: &Facts<'_>,
    place: &Place,
    problems: &mut Diagnostics,
) -> Option<Fact<Accumulator>> {
    if let Some((text, by)) = facts.overrides.contract("accumulator") {
        let value = match text {
            "f32_simt" => Accumulator::F32Simt,
            "f32_tensor_core" => Accumulator::F32TensorCore,
            "f16_tensor_core" => Accumulator::F16TensorCore,
            "fp8_hopper" => Accumulator::Fp8Hopper,
            "s32" => Accumulator::S32,
            _ => {
                problems.push(
                    Diagnostic::error("K-OPTION", format!("{by}: no such accumulator"))
                        .help("write f32_simt, f32_tensor_core, f16_tensor_core, fp8_hopper or s32"),
                );
                return None;
            }
        };
        return Some(Fact::given(value, by));
    }
    if let Some(value) = rule.and_then(|r| r.accumulator) {
        return Some(Fact::read(value, place.clone(), None));
    }
    let a = operands.iter().find(|o| o.role.value == Role::A).map(|o| o.element.value)?;
    Some(match a {
        ElementType::S8 | ElementType::U8 => {
            Fact::assumed(Accumulator::S32, "8-bit integers are summed in 32-bit integers")
        }
        _ => Fact::assumed(
            Accumulator::F32TensorCore,
            "the wider of the two tolerances: nothing says how products are summed",
        ),
    })
}

fn output(
    rule: Option<&KernelRule>,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    place: &Place,
    problems: &mut Diagnostics,
) -> Option<Fact<OutputRole>> {
    if let Some((text, by)) = facts.overrides.contract("output") {
        return match text {
            "out" => Some(Fact::given(OutputRole::Out, by)),
            "accumulate" => Some(Fact::given(OutputRole::Accumulate, by)),
            _ => {
                problems.push(
                    Diagnostic::error("K-OPTION", format!("{by}: no such output role")).help("write out or accumulate"),
                );
                None
            }
        };
    }
    match rule {
        None => Some(Fact::assumed(OutputRole::Out, "nothing says that it adds to the output")),
        Some(rule) => match &rule.accumulate_when {
            None => Some(Fact::read(OutputRole::Out, place.clone(), None)),
            Some(condition) => match terms.holds(Some(condition)) {
                Ok(yes) => Some(Fact::read(
                    if yes { OutputRole::Accumulate } else { OutputRole::Out },
                    terms.spot(condition).place(),
                    condition.get_ref().clone(),
                )),
                Err(problem) => {
                    problems.push(problem);
                    None
                }
            },
        },
    }
}

fn padding(
    rule: Option<&KernelRule>,
    facts: &Facts<'_>,
    place: &Place,
    problems: &mut Diagnostics,
) -> Option<Fact<bool>> {
    match (facts.overrides.contract("padding_zero"), rule) {
        (Some(("true", by)), _) => Some(Fact::given(true, by)),
        (Some(("false", by)), _) => Some(Fact::given(false, by)),
        (Some((_, by)), _) => {
            problems.push(
                Diagnostic::error("K-OPTION", format!("{by}: neither true nor false")).help("write true or false"),
            );
            None
        }
        (None, Some(rule)) => Some(Fact::read(rule.padding_zero, place.clone(), None)),
        (None, None) => Some(Fact::assumed(false, "nothing promises that padding is zero")),
    }
}

fn epilogue(
    rule: Option<&KernelRule>,
    out: &Fact<ElementType>,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    place: &Place,
    problems: &mut Diagnostics,
) -> Option<Vec<Fact<EpilogueStep>>> {
    if let Some((text, by)) = facts.overrides.contract("epilogue") {
        let steps: Result<Vec<_>, String> = text.split(',').map(|step| parse_step(step.trim())).collect();
        return match steps {
            Ok(steps) => Some(steps.into_iter().map(|step| Fact::given(step, by.clone())).collect()),
            Err(why) => {
                problems.push(
                    Diagnostic::error("K-OPTION", format!("{by}: {why}"))
                        .help("write steps with commas, for example `round bf16, add residual, round bf16`"),
                );
                None
            }
        };
    }
    let mut steps = Vec::new();
    for step in rule.map(|r| r.epilogue.as_slice()).unwrap_or_default() {
        match terms.holds(step.when.as_ref()) {
            Ok(true) => {
                let at = step.when.as_ref().map_or_else(|| place.clone(), |when| terms.spot(when).place());
                steps.push(Fact::read(step.step.clone(), at, None));
            }
            Ok(false) => {}
            Err(problem) => problems.push(problem),
        }
    }
    if rule.is_some_and(|r| r.rounds_once) {
        steps.push(Fact::read(EpilogueStep::Round { to: out.value }, place.clone(), None));
    }
    if steps.is_empty() {
        let why = "nothing says what happens between accumulator and output: one rounding";
        steps.push(Fact::assumed(EpilogueStep::Round { to: out.value }, why));
    }
    Some(steps)
}

fn parse_step(text: &str) -> Result<EpilogueStep, String> {
    let role = |name: &str| {
        [Role::Residual, Role::Bias, Role::ScaleA, Role::ScaleB, Role::Alpha, Role::Beta]
            .into_iter()
            .find(|role| role.name() == name)
            .ok_or_else(|| format!("`{name}` is no operand of an epilogue"))
    };
    match text.split_once(' ') {
        Some(("round", to)) => Ok(EpilogueStep::Round { to: to.trim().parse()? }),
        Some(("add", name)) => match name.split_once(" times ") {
            Some((name, factor)) => {
                Ok(EpilogueStep::AddProduct { operand: role(name.trim())?, factor: role(factor.trim())? })
            }
            None => Ok(EpilogueStep::Add { operand: role(name.trim())? }),
        },
        Some(("silu_gate", "halves")) => Ok(EpilogueStep::SiluGate { pairs: GatePairs::Halves }),
        Some(("silu_gate", "interleaved")) => Ok(EpilogueStep::SiluGate { pairs: GatePairs::Interleaved }),
        Some(("multiply", name)) => Ok(EpilogueStep::Multiply { operand: role(name.trim())? }),
        None if text == "relu" => Ok(EpilogueStep::Relu),
        None if text == "gelu" => Ok(EpilogueStep::Gelu),
        None if text == "gelu_tanh" => Ok(EpilogueStep::GeluTanh),
        None if text == "silu" => Ok(EpilogueStep::Silu),
        _ => Err(format!("`{text}` is no step")),
    }
}
