//! Operands of one instantiation.

use super::Facts;
use super::terms::Terms;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{ElementType, Fact, Groups, Layout, Major, Operand, Origin, Parameter, Role};
use crate::read::manifest::{Expression, KernelRule, OperandRule, Slot};
use crate::source::Spot;

/// All operands: those of the rule whose condition holds, and those that the user named.
pub(super) fn operands(
    rule: Option<&KernelRule>,
    shape: [&Fact<u64>; 3],
    groups: Option<&Groups>,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    problems: &mut Diagnostics,
) -> Option<Vec<Operand>> {
    let mut list = Vec::new();
    for role in Role::ALL {
        let mut ruled = None;
        for candidate in rule.iter().flat_map(|r| &r.operand).filter(|o| *o.role.get_ref() == role) {
            match terms.holds(candidate.when.as_ref()) {
                Ok(true) => ruled = ruled.or(Some(candidate)),
                Ok(false) => {}
                Err(problem) => problems.push(problem),
            }
        }
        match operand(role, ruled, shape, groups, facts, terms) {
            Ok(Some(operand)) => list.push(operand),
            Ok(None) => {}
            Err(found) => problems.append(found),
        }
    }
    let complete = [Role::A, Role::B, Role::Out].iter().all(|role| list.iter().any(|o| o.role.value == *role));
    complete.then_some(list)
}

fn operand(
    role: Role,
    rule: Option<&OperandRule>,
    [m, n, k]: [&Fact<u64>; 3],
    groups: Option<&Groups>,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
) -> Result<Option<Operand>, Diagnostics> {
    let said = facts.overrides.contract(role.name());
    let (slot, origin) = match (&said, rule) {
        (Some((text, by)), _) => (named_slot(text, facts, by)?, Origin::Given { by: by.clone() }),
        (None, Some(rule)) => (rule.slot.clone(), rule_origin(rule, facts)),
        (None, None) if matches!(role, Role::A | Role::B | Role::Out) => return Err(question_role(role, facts).into()),
        (None, None) => return Ok(None),
    };
    if role == Role::Groups && groups.is_none_or(|groups| groups.index.is_none()) {
        return Err(question_groups(groups.is_some(), &slot).into());
    }
    let mut problems = Diagnostics::new();
    let extent = |field: &str, ruled: Option<&Expression>, otherwise: Fact<u64>| match (
        facts.overrides.contract(&format!("{role}.{field}")),
        ruled,
    ) {
        (Some((text, by)), _) => terms.given(text, by),
        (None, Some(expression)) => terms.quantity(expression),
        (None, None) => Ok(otherwise),
    };
    let one = || Fact { value: 1, origin: origin.clone() };
    let all = || {
        let count = groups.map_or(1, |groups| groups.count() as u64);
        Fact { value: n.value.saturating_mul(count), origin: n.origin.clone() }
    };
    let table = || {
        let told = groups.and_then(|groups| Some(groups.table(groups.index.as_ref()?.value, m.value).len() as u64));
        Fact { value: told.unwrap_or(1), origin: origin.clone() }
    };
    let (rows, columns) = match role {
        Role::A => (m.clone(), k.clone()),
        Role::B => (all(), k.clone()),
        Role::Out | Role::Residual => (m.clone(), n.clone()),
        Role::Bias => (one(), all()),
        Role::ScaleA => (m.clone(), one()),
        Role::ScaleB => (all(), one()),
        Role::Groups => (one(), table()),
        Role::Alpha | Role::Beta | Role::ZeroPoint => (one(), one()),
    };
    let rows = extent("rows", rule.and_then(|r| r.rows.as_ref()), rows);
    let columns = extent("columns", rule.and_then(|r| r.columns.as_ref()), columns);
    let major = major(role, rule, &origin, facts, terms);
    let element = element(role, rule, &slot, &origin, facts, terms);
    let (rows, columns, major, element) = match (rows, columns, major, element) {
        (Ok(rows), Ok(columns), Ok(major), Ok(element)) => (rows, columns, major, element),
        (rows, columns, major, element) => {
            problems.append([rows.err(), columns.err(), major.err(), element.err()].into_iter().flatten().collect());
            return Err(problems);
        }
    };
    let layout = layout(role, rule, &origin, facts)?;
    let contiguous = if major.value == Major::K { &columns } else { &rows };
    let dense = match rule {
        Some(_) => contiguous.clone(),
        None => Fact::assumed(contiguous.value, "nothing says the leading dimension: taken as dense"),
    };
    let leading_dimension = extent("leading_dimension", rule.and_then(|r| r.leading_dimension.as_ref()), dense)?;
    Ok(Some(Operand {
        role: Fact { value: role, origin },
        element,
        rows,
        columns,
        leading_dimension,
        major,
        layout,
        powers_of_two: rule.is_some_and(|r| r.powers_of_two),
        binding: slot.to_string(),
    }))
}

fn rule_origin(rule: &OperandRule, facts: &Facts<'_>) -> Origin {
    let at = Spot::new(facts.manifest_source, rule.role.span()).place();
    Origin::Read { at, expr: Some(format!("role {} at {}", rule.role.get_ref(), rule.slot)) }
}

/// A slot as the user writes it: `input 0`, `output 0`, or just a parameter's name.
fn named_slot(text: &str, facts: &Facts<'_>, by: &str) -> Result<Slot, Diagnostics> {
    if let Ok(slot) = text.parse() {
        return Ok(slot);
    }
    if parameter(text, facts).is_some() {
        return Ok(Slot::Parameter(text.to_owned()));
    }
    let names: Vec<_> = facts.signature.parameters.iter().map(|p| p.name.as_str()).collect();
    Err(Diagnostic::error("K-OPTION", format!("{by}: the kernel has no parameter `{text}`"))
        .because(format!("its parameters are {}", names.join(", ")))
        .help("write one of them, or `input N` or `output N` for a context slot")
        .into())
}

/// The questions about operands that can be asked before the extents are known.
pub(super) fn unanswered(rule: Option<&KernelRule>, facts: &Facts<'_>) -> Diagnostics {
    let known = |role: Role| {
        let ruled = rule.iter().flat_map(|rule| &rule.operand).any(|operand| *operand.role.get_ref() == role);
        ruled || facts.overrides.contract(role.name()).is_some()
    };
    [Role::A, Role::B, Role::Out]
        .into_iter()
        .filter(|role| !known(*role))
        .map(|role| question_role(role, facts))
        .collect()
}

/// An operand that tells the groups has no meaning before it is known which groups there are, and how they are told.
fn question_groups(known: bool, slot: &Slot) -> Diagnostic {
    if known {
        Diagnostic::error("K-QUESTION", format!("how does `{slot}` tell the groups?"))
            .help("--contract group_index=offsets, where it holds the first row of each group and the end of the last")
            .help("--contract group_index=of_row, the group of each row; or counts, the rows of each group")
    } else {
        Diagnostic::error("K-QUESTION", format!("which rows belong together? `{slot}` tells the kernel"))
            .help("--contract group_rows=ROWS,ROWS,… and group_index=offsets, of_row or counts")
    }
}

fn question_role(role: Role, facts: &Facts<'_>) -> Diagnostic {
    let all = &facts.signature.parameters;
    let unnamed = all.iter().any(|p| p.name.is_empty());
    let parameters: Vec<_> = all
        .iter()
        .enumerate()
        .map(|(index, p)| match p.name.as_str() {
            "" => format!("`{}` (parameter {index})", p.declared),
            name => format!("`{} {name}`", p.declared),
        })
        .collect();
    let meaning = match role {
        Role::A => "the m × k operand",
        Role::B => "the n × k operand",
        _ => "the m × n output",
    };
    Diagnostic::error("K-QUESTION", format!("which parameter is `{role}`, {meaning}?"))
        .because(format!("the parameters are {}", parameters.join(", ")))
        .help(match unnamed {
            true => format!("--contract {role}=PARAMETER, or its place from 0: --contract '{role}=parameter 0'"),
            false => format!("--contract {role}=PARAMETER"),
        })
}

fn layout(
    role: Role,
    rule: Option<&OperandRule>,
    origin: &Origin,
    facts: &Facts<'_>,
) -> Result<Option<Fact<Layout>>, Diagnostic> {
    let key = format!("{role}.layout");
    let layout = match (facts.overrides.contract(&key), rule.and_then(|r| r.layout)) {
        (Some(("rows", by)), _) => Some(Fact::given(Layout::Rows, by)),
        (Some(("128x4", by)), _) => Some(Fact::given(Layout::Swizzled128x4, by)),
        (Some(("packed4", by)), _) => Some(Fact::given(Layout::Packed4, by)),
        (Some((_, by)), _) => {
            let wrong = Diagnostic::error("K-OPTION", format!("{by}: no such layout"));
            return Err(wrong.help("write rows, 128x4 or packed4"));
        }
        (None, Some(value)) => Some(Fact { value, origin: origin.clone() }),
        (None, None) => None,
    };
    match layout {
        Some(fact) if fact.value != Layout::Rows && !matches!(role, Role::ScaleA | Role::ScaleB) => {
            Err(Diagnostic::error("K-OPTION", format!("`{role}` cannot have the layout {}", fact.value.name()))
                .because("it is a layout of block scales")
                .help("say it of scale_a or scale_b, or leave it out"))
        }
        other => Ok(other),
    }
}

fn major(
    role: Role,
    rule: Option<&OperandRule>,
    origin: &Origin,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
) -> Result<Fact<Major>, Diagnostic> {
    match (facts.overrides.contract(&format!("{role}.major")), rule) {
        (Some(("k", by)), _) => Ok(Fact::given(Major::K, by)),
        (Some(("mn", by)), _) => Ok(Fact::given(Major::Mn, by)),
        (Some((_, by)), _) => Err(Diagnostic::error("K-OPTION", format!("{by}: no such major")).help("write k or mn")),
        (None, Some(OperandRule { mn_when: Some(condition), .. })) => {
            let value = if terms.holds(Some(condition))? { Major::Mn } else { Major::K };
            Ok(Fact::read(value, terms.spot(condition).place(), condition.get_ref().clone()))
        }
        (None, Some(rule)) => Ok(Fact { value: rule.major.unwrap_or(Major::K), origin: origin.clone() }),
        (None, None) if matches!(role, Role::A | Role::B) => {
            Ok(Fact::assumed(Major::K, "nothing says which index is contiguous: taken as k"))
        }
        (None, None) => Ok(Fact { value: Major::K, origin: origin.clone() }),
    }
}

fn element(
    role: Role,
    rule: Option<&OperandRule>,
    slot: &Slot,
    origin: &Origin,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
) -> Result<Fact<ElementType>, Diagnostic> {
    if let Some((text, by)) = facts.overrides.contract(&format!("{role}.element")) {
        return text
            .parse()
            .map(|value| Fact::given(value, by.clone()))
            .map_err(|why: String| Diagnostic::error("K-OPTION", format!("{by}: {why}")));
    }
    if let Some(value) = rule.and_then(|r| r.element) {
        return Ok(Fact { value, origin: origin.clone() });
    }
    if let Some(name) = rule.and_then(|r| r.element_type.as_ref()) {
        let piece = terms.text(name.get_ref());
        let value = piece.and_then(|piece| Some(Fact { value: named_element(&piece.value)?, origin: piece.origin }));
        return value.ok_or_else(|| {
            let spot = Spot::new(facts.manifest_source, name.span());
            Diagnostic::error("K-QUESTION", format!("what is the element type of `{role}`?"))
                .at(spot, "names no type that is known")
                .help(format!("--contract {role}.element=bf16 (or f16, f32, e4m3, …)"))
        });
    }
    let parameter = match slot {
        Slot::Parameter(name) => parameter(name, facts).map(|(_, parameter)| parameter),
        _ => None,
    };
    match parameter.and_then(|p| pointee(p, facts)) {
        Some(value) => Ok(Fact { value, origin: facts.signature.text.origin.clone() }),
        None => Err(Diagnostic::error("K-QUESTION", format!("what is the element type of `{role}`?"))
            .because("it cannot be read from the parameter's type")
            .help(format!("--contract {role}.element=bf16 (or f16, f32, e4m3, …)"))),
    }
}

/// Whether the kernel takes an operand of one element by value: nothing on the device holds it then.
pub(super) fn by_value(operand: &Operand, facts: &Facts<'_>) -> bool {
    let single = matches!(operand.role.value, Role::Alpha | Role::Beta | Role::ZeroPoint);
    let declared = operand.binding.strip_prefix("parameter ").and_then(|name| parameter(name, facts));
    single && declared.is_some_and(|(_, parameter)| !parameter.declared.contains('*'))
}

/// A parameter by its name or its number from 0.
pub(super) fn parameter<'f>(name: &str, facts: &'f Facts<'_>) -> Option<(usize, &'f Parameter)> {
    let list = &facts.signature.parameters;
    let index = list.iter().position(|p| p.name == name).or_else(|| name.parse().ok())?;
    Some((index, list.get(index)?))
}

/// The element type that a C++ type names.
fn named_element(text: &str) -> Option<ElementType> {
    let last = text.trim().rsplit("::").next()?;
    ELEMENT_NAMES.iter().find(|(name, _)| *name == last).map(|(_, element)| *element)
}

/// The element type behind a pointer parameter; a template type parameter is replaced by its argument.
fn pointee(parameter: &Parameter, facts: &Facts<'_>) -> Option<ElementType> {
    let words: Vec<&str> = parameter.declared.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).collect();
    if let Some(found) = words.iter().find_map(|word| named_element(word)) {
        return Some(found);
    }
    let parameters = &facts.signature.template_parameters;
    words.iter().find_map(|word| {
        let index = parameters.iter().position(|p| p.name == *word)?;
        named_element(&facts.instantiation.template_arguments.get(index)?.value)
    })
}

/// C++ names of element types, unqualified.
const ELEMENT_NAMES: [(&str, ElementType); 20] = [
    ("__nv_bfloat16", ElementType::Bf16),
    ("nv_bfloat16", ElementType::Bf16),
    ("bfloat16_t", ElementType::Bf16),
    ("bfloat16", ElementType::Bf16),
    ("bf16", ElementType::Bf16),
    ("__half", ElementType::F16),
    ("half", ElementType::F16),
    ("half_t", ElementType::F16),
    ("float", ElementType::F32),
    ("tfloat32_t", ElementType::Tf32),
    ("__nv_fp8_e4m3", ElementType::E4m3),
    ("float_e4m3_t", ElementType::E4m3),
    ("fp8_e4_t", ElementType::E4m3),
    ("fp8_e5_t", ElementType::E5m2),
    ("__nv_fp8_e5m2", ElementType::E5m2),
    ("float_e5m2_t", ElementType::E5m2),
    ("int8_t", ElementType::S8),
    ("uint8_t", ElementType::U8),
    ("int32_t", ElementType::S32),
    ("int", ElementType::S32),
];
