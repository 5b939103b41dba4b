//! TMA descriptors of one instantiation, from both sources.

use std::collections::BTreeMap;

use regex::Regex;

use super::terms::{Terms, parameter_values};
use super::{Facts, attribution};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Contract, DescriptorPair, ElementType, Fact, OutOfBounds, Swizzle, TensorMap};
use crate::read::manifest::{DescriptorType, Expression, FillRule, KernelRule, Slot};

/// A descriptor that the emitted text or the signature names.
struct Named {
    name: String,
    slot: Slot,
    /// Alias that gives its type.
    alias: Option<String>,
}

/// A descriptor before it is known from where production's is taken.
pub(super) struct Draft {
    /// Name at the call.
    pub name: String,
    /// As the manifest's rule fills it, or for want of one as its type builds it.
    pub production: Option<TensorMap>,
    /// Whether a rule of the manifest gave it.
    pub ruled: bool,
    /// As the emitted type builds it.
    pub from_type: Option<TensorMap>,
    /// Rows of its operand.
    pub rows: u64,
    /// Columns of its operand.
    pub columns: u64,
    /// The driver's type for the operand's elements.
    pub data_type: String,
    /// Bytes of an element.
    pub element_bytes: u64,
    operand: String,
    binding: String,
    copies: Fact<u64>,
}

pub(super) fn descriptors(
    rule: Option<&KernelRule>,
    contract: &Contract,
    facts: &Facts<'_>,
    printed: &BTreeMap<String, TensorMap>,
    terms: &Terms<'_>,
    problems: &mut Diagnostics,
) -> Vec<DescriptorPair> {
    let mut drafts = Vec::new();
    for named in named(facts, problems) {
        match draft(&named, rule, contract, facts, printed.get(&named.name), terms) {
            Ok(draft) => drafts.push(draft),
            Err(found) => problems.append(found),
        }
    }
    attribution::attribute(&mut drafts, &facts.printed_maps, problems);
    let asked = problems.has_errors();
    let mut pairs = vec![];
    for draft in drafts {
        let Some(production) = draft.production else {
            if !asked {
                problems.push(
                    Diagnostic::error("K-QUESTION", format!("how is the descriptor `{}` filled?", draft.name))
                        .help("add a [[kernel.fill]] block for its slot to a manifest of your own (docs/scaffolds.md)")
                        .help("or give production's debug output with --prints FILE"),
                );
            }
            continue;
        };
        pairs.push(DescriptorPair {
            name: draft.name,
            operand: draft.operand,
            binding: draft.binding,
            copies: draft.copies,
            production,
            from_type: draft.from_type,
        });
    }
    pairs
}

/// Objects whose text names a descriptor slot, and `CUtensorMap` parameters.
fn named(facts: &Facts<'_>, problems: &mut Diagnostics) -> Vec<Named> {
    let patterns = &facts.manifest.slot;
    let mut compile = |pattern: &Option<toml::Spanned<String>>| {
        pattern.as_ref().and_then(|p| {
            Regex::new(p.get_ref())
                .map_err(|error| {
                    let spot = crate::source::Spot::new(facts.manifest_source, p.span());
                    problems
                        .push(Diagnostic::error("K-MANIFEST", format!("no regular expression: {error}")).at(spot, ""));
                })
                .ok()
        })
    };
    let input = compile(&patterns.input_descriptor);
    let output = compile(&patterns.output_descriptor);
    let number = |regex: &Option<Regex>, text: &str| -> Option<usize> {
        regex.as_ref()?.captures(text)?.get(1)?.as_str().parse().ok()
    };
    let mut list = Vec::new();
    for object in &facts.instantiation.objects {
        let text = &object.text.value;
        let slot = number(&input, text).map(Slot::Input).or_else(|| number(&output, text).map(Slot::Output));
        if let Some(slot) = slot {
            let alias = facts.instantiation.aliases.iter().find(|a| text.starts_with(&a.name)).map(|a| a.name.clone());
            list.push(Named { name: object.name.clone(), slot, alias });
        }
    }
    // A context's descriptor that the call passes directly.
    for (parameter, argument) in facts.signature.parameters.iter().zip(&facts.instantiation.arguments) {
        let text = &argument.value;
        let slot = number(&input, text).map(Slot::Input).or_else(|| number(&output, text).map(Slot::Output));
        if let Some(slot) = slot {
            list.push(Named { name: parameter.name.clone(), slot, alias: None });
        }
    }
    for parameter in &facts.signature.parameters {
        if list.iter().any(|named| named.name == parameter.name) {
            continue;
        }
        if parameter.declared.contains("CUtensorMap") || parameter.declared.contains("TmaDescriptor") {
            list.push(Named {
                name: parameter.name.clone(),
                slot: Slot::Parameter(parameter.name.clone()),
                alias: None,
            });
        }
    }
    list
}

fn draft(
    named: &Named,
    rule: Option<&KernelRule>,
    contract: &Contract,
    facts: &Facts<'_>,
    printed: Option<&TensorMap>,
    terms: &Terms<'_>,
) -> Result<Draft, Diagnostics> {
    let slot = named.slot.to_string();
    let operand = contract.operands.iter().find(|o| o.binding == slot).ok_or_else(|| {
        Diagnostics::from(
            Diagnostic::error(
                "K-QUESTION",
                format!("which operand does the descriptor `{}` ({slot}) address?", named.name),
            )
            .help(format!("--contract ROLE={}", slot.trim_start_matches("parameter ")))
            .help("or an operand with this slot in the manifest's [[kernel]] block"),
        )
    })?;
    let kind = named.alias.as_ref().and_then(|name| {
        let alias = facts.instantiation.aliases.iter().find(|a| a.name == *name)?;
        let last = alias.template.rsplit("::").next()?;
        Some((facts.manifest.descriptor_type.iter().find(|t| t.template == last)?, alias))
    });
    let from_type = match kind {
        Some((kind, alias)) => Some((type_map(kind, &parameter_values(kind, &alias.arguments), terms)?, kind, alias)),
        None => None,
    };
    let mut fill: Option<&FillRule> = None;
    for candidate in rule.map(|r| r.fill.as_slice()).unwrap_or_default().iter().filter(|f| f.slot == named.slot) {
        if terms.holds(candidate.when.as_ref())? {
            fill = Some(candidate);
            break;
        }
    }
    let production = match (printed, fill, &from_type) {
        (Some(map), _, _) => Some(map.clone()),
        (None, Some(fill), _) => Some(fill_map(fill, operand.element.value, terms)?),
        (None, None, Some((map, _, _))) => Some(assumed(map.clone())),
        (None, None, None) => None,
    };
    let copies = match (fill.and_then(|f| f.copies.as_ref()), &from_type) {
        (Some(expression), _) => terms.quantity(expression)?,
        (None, Some((_, kind, alias))) => {
            terms.quantity_with(&kind.copies, &parameter_values(kind, &alias.arguments))?
        }
        (None, None) => Fact::assumed(1, "nothing says how many loads one barrier phase has"),
    };
    let element = operand.element.value;
    Ok(Draft {
        name: named.name.clone(),
        production,
        ruled: fill.is_some() && printed.is_none(),
        from_type: from_type.map(|(map, _, _)| map),
        rows: operand.rows.value,
        columns: operand.columns.value,
        data_type: driver_type(element).to_owned(),
        element_bytes: element.bytes(1),
        operand: operand.role.value.name().to_owned(),
        binding: slot,
        copies,
    })
}

/// Stands in for production's descriptor where no fill rule is known.
fn assumed(mut map: TensorMap) -> TensorMap {
    let why = "no fill rule is known for this slot: taken from the emitted type";
    for list in [&mut map.global_dim, &mut map.global_strides, &mut map.box_dim] {
        for fact in list.iter_mut() {
            *fact = Fact::assumed(fact.value, why);
        }
    }
    map
}

fn list(
    expressions: &[Expression],
    extra: &BTreeMap<String, String>,
    terms: &Terms<'_>,
) -> Result<Vec<Fact<u64>>, Diagnostic> {
    expressions.iter().map(|e| terms.quantity_with(e, extra)).collect()
}

fn swizzle(
    expression: &Expression,
    extra: &BTreeMap<String, String>,
    terms: &Terms<'_>,
) -> Result<Fact<Swizzle>, Diagnostic> {
    let bits = terms.quantity_with(expression, extra)?;
    Ok(bits.map(|bits| match bits {
        1 => Swizzle::B32,
        2 => Swizzle::B64,
        3 => Swizzle::B128,
        _ => Swizzle::None,
    }))
}

fn type_map(
    kind: &DescriptorType,
    values: &BTreeMap<String, String>,
    terms: &Terms<'_>,
) -> Result<TensorMap, Diagnostic> {
    Ok(TensorMap {
        data_type: kind.data_type.clone(),
        element_bytes: kind.element_bytes,
        global_dim: list(&kind.global_dim, values, terms)?,
        global_strides: list(&kind.global_strides, values, terms)?,
        box_dim: list(&kind.box_dim, values, terms)?,
        element_strides: vec![1; kind.box_dim.len()],
        swizzle: swizzle(&kind.swizzle_bits, values, terms)?,
        l2_promotion: "CU_TENSOR_MAP_L2_PROMOTION_NONE".to_owned(),
        out_of_bounds: OutOfBounds::Zeros,
    })
}

fn fill_map(fill: &FillRule, element: ElementType, terms: &Terms<'_>) -> Result<TensorMap, Diagnostic> {
    let none = BTreeMap::new();
    Ok(TensorMap {
        data_type: fill.data_type.clone().unwrap_or_else(|| driver_type(element).to_owned()),
        element_bytes: fill.element_bytes.unwrap_or_else(|| element.bytes(1)),
        global_dim: list(&fill.global_dim, &none, terms)?,
        global_strides: list(&fill.global_strides, &none, terms)?,
        box_dim: list(&fill.box_dim, &none, terms)?,
        element_strides: vec![1; fill.box_dim.len()],
        swizzle: swizzle(&fill.swizzle_bits, &none, terms)?,
        l2_promotion: fill.l2_promotion.clone().unwrap_or_else(|| "CU_TENSOR_MAP_L2_PROMOTION_NONE".to_owned()),
        out_of_bounds: OutOfBounds::Zeros,
    })
}

/// `CUtensorMapDataType` of an element type (cuda.h 13.0); 8-bit floats travel as bytes.
fn driver_type(element: ElementType) -> &'static str {
    match element {
        ElementType::Bf16 => "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16",
        ElementType::F16 => "CU_TENSOR_MAP_DATA_TYPE_FLOAT16",
        ElementType::F32 => "CU_TENSOR_MAP_DATA_TYPE_FLOAT32",
        ElementType::Tf32 => "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32",
        ElementType::S32 => "CU_TENSOR_MAP_DATA_TYPE_INT32",
        ElementType::E2m1 => "CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B",
        _ => "CU_TENSOR_MAP_DATA_TYPE_UINT8",
    }
}
