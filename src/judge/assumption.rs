//! On which fields of the contract the expectation of a rung rests. A wrong contract looks exactly like a kernel fault.

use crate::model::{
    Accumulator, Confound, Contract, ElementType, EpilogueStep, Major, Metrics, Operand, OutputRole, Role, RungResult,
    RungStatus,
};

/// What is known of a rung's fills.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    /// a and b are one everywhere; residual and bias are zero, scales one.
    Ones,
    /// a or b is one-hot; the other operands hold small positive integers.
    OneHot,
    /// Small integers of both signs everywhere: exact until the first rounding.
    Integers,
    /// Every sum is 1; operands of the epilogue are coded.
    Epilogue,
    /// Anything else: everything matters.
    Other,
}

fn family(rung: &RungResult) -> Family {
    match rung.family() {
        "ones" => Family::Ones,
        "one_hot" => Family::OneHot,
        "integers" | "padding" => Family::Integers,
        "epilogue" => Family::Epilogue,
        _ => Family::Other,
    }
}

/// Whether every element of storage is a logical element.
fn dense(operand: &Operand) -> bool {
    let fast = if operand.major.value == Major::K { operand.columns.value } else { operand.rows.value };
    operand.leading_dimension.value == fast
}

fn has_nan(element: ElementType) -> bool {
    !matches!(element, ElementType::S8 | ElementType::U8 | ElementType::S32 | ElementType::E2m1)
}

/// A NaN that reaches the accumulator also reaches the output: every operand and the output have one, and no step removes it.
fn nan_is_seen(contract: &Contract) -> bool {
    let inputs = contract.operands.iter().all(|o| has_nan(o.element.value));
    inputs && !contract.epilogue.iter().any(|step| step.value == EpilogueStep::Relu)
}

/// Whether the poison between and beyond the logical elements can have caused what `metrics` show.
fn padding_matters(contract: &Contract, metrics: &Metrics) -> bool {
    let tile = &contract.tile;
    let overhang = |extent: u64, tile: &Option<crate::model::Fact<u64>>| match tile {
        Some(tile) if tile.value > 0 => !extent.is_multiple_of(tile.value),
        _ => true,
    };
    let padded = contract.operands.iter().any(|o| o.role.value != Role::Out && !dense(o))
        || overhang(contract.m.value, &tile.m)
        || overhang(contract.n.value, &tile.n)
        || overhang(contract.k.value, &tile.k);
    padded && (metrics.non_finite > 0 || !nan_is_seen(contract))
}

/// Names of all fields, as [`Contract::assumed`] writes them, without which the expectation of `rung` would be another.
///
/// * m, n, k, roles, element types, rows and columns: always.
/// * leading dimensions: where there is more than one row (column, for [`Major::Mn`]).
/// * majors: unless a and b are constant and their storage is dense.
/// * accumulator: inexact rungs; exact ones only for fp8, where 13 bits and 24 differ below 2^24.
/// * output (overwritten or added to): unless it is promised to be overwritten and no NaN came out, since the sentinel is NaN.
/// * padding_zero: where there is padding, and poison would show as the failure shows.
/// * epilogue steps: an addition unless its operand is zero (ones), a multiplication unless its operand is one (ones), a
///   rounding unless every value on the way is representable (one_hot; ones if k is), relu unless nothing is negative.
pub fn rests_on(rung: &RungResult, contract: &Contract) -> Vec<String> {
    let family = family(rung);
    let metrics = rung.metrics.unwrap_or_default();
    let mut fields: Vec<String> = ["m", "n", "k"].map(str::to_owned).to_vec();
    let exact = metrics.exact || !matches!(family, Family::Other);
    let fp8 =
        |role| contract.operand(role).is_some_and(|o| matches!(o.element.value, ElementType::E4m3 | ElementType::E5m2));
    let narrow = matches!(contract.accumulator.value, Accumulator::Fp8Hopper | Accumulator::F16TensorCore);
    if !exact || fp8(Role::A) || fp8(Role::B) || narrow {
        fields.push("accumulator".to_owned());
    }
    let float_out = contract.operand(Role::Out).is_none_or(|o| has_nan(o.element.value));
    if contract.output.value == OutputRole::Accumulate || !float_out || metrics.non_finite > 0 {
        fields.push("output".to_owned());
    }
    if padding_matters(contract, &metrics) {
        fields.push("padding_zero".to_owned());
    }
    let last = contract.epilogue.len().saturating_sub(1);
    for (index, step) in contract.epilogue.iter().enumerate() {
        let matters = match &step.value {
            EpilogueStep::Add { .. } | EpilogueStep::Multiply { .. } | EpilogueStep::AddProduct { .. } => {
                family != Family::Ones
            }
            EpilogueStep::Gelu | EpilogueStep::GeluTanh | EpilogueStep::Silu | EpilogueStep::SiluGate { .. } => true,
            EpilogueStep::Relu => !matches!(family, Family::Ones | Family::OneHot),
            EpilogueStep::Round { to } => match family {
                Family::OneHot => false,
                Family::Ones => index != last && !representable(*to, contract.k.value),
                Family::Integers | Family::Epilogue | Family::Other => true,
            },
        };
        if matters {
            fields.push(format!("epilogue[{index}]"));
        }
    }
    for operand in &contract.operands {
        let role = operand.role.value;
        let name = role.name();
        let mut push = |field: &str| fields.push(format!("{name}.{field}"));
        for field in ["role", "element", "rows", "columns"] {
            push(field);
        }
        let lines = if operand.major.value == Major::K { operand.rows.value } else { operand.columns.value };
        if lines > 1 {
            push("leading_dimension");
        }
        if !(family == Family::Ones && dense(operand) && matches!(role, Role::A | Role::B)) {
            push("major");
        }
    }
    fields
}

fn representable(element: ElementType, k: u64) -> bool {
    element.significant_bits().is_none_or(|bits| super::units::rounded(k as f64, bits) == k as f64)
}

/// The assumed fields that `rung` rests on, with the reason of each assumption.
pub(super) fn assumed(rung: &RungResult, contract: &Contract) -> Vec<(String, String)> {
    let fields = rests_on(rung, contract);
    contract.assumed().into_iter().filter(|(name, _)| fields.contains(name)).collect()
}

/// Whether an assumed extent or layout of a, b or the output shows to be right: a rung of coded integers rests on it and passes.
pub(super) fn is_borne_out(field: &str, rungs: &[RungResult], contract: &Contract) -> bool {
    let lies = match field.split_once('.') {
        Some((role, of)) => matches!(role, "a" | "b" | "out") && of != "element",
        None => matches!(field, "m" | "n" | "k"),
    };
    let passes = |rung: &&RungResult| {
        let compared = rung.metrics.as_ref().is_some_and(|metrics| metrics.exact && metrics.elements > 0);
        rung.status == RungStatus::Pass && compared && matches!(family(rung), Family::Integers | Family::OneHot)
    };
    lies && rungs.iter().filter(passes).any(|rung| rests_on(rung, contract).iter().any(|rested| rested == field))
}

/// Confounds for fields, the reason of their assumption, and what follows from it: one for all fields with the same two.
pub(super) fn confounds(assumed: impl IntoIterator<Item = (String, String, String)>) -> Vec<Confound> {
    let mut groups: Vec<(Vec<String>, String, String)> = vec![];
    for (field, why, so) in assumed {
        match groups.iter_mut().find(|group| group.1 == why && group.2 == so) {
            Some((fields, ..)) if fields.contains(&field) => {}
            Some((fields, ..)) => fields.push(field),
            None => groups.push((vec![field], why, so)),
        }
    }
    let confound = |(fields, why, so): (Vec<String>, String, String)| {
        let (names, are) = match fields.split_last() {
            Some((last, before)) if !before.is_empty() => (format!("{} and {last}", before.join(", ")), "are"),
            _ => (fields.join(", "), "is"),
        };
        Confound { fields, ..Confound::new("assumed_field", format!("{names} {are} assumed ({why}), and {so}")) }
    };
    groups.into_iter().map(confound).collect()
}

#[cfg(test)]
mod tests {
    use super::confounds;

    #[test]
    fn fields_that_share_reason_and_consequence_are_one_confound() {
        let assumed = [
            ("a.major", "k as usual", "x"),
            ("k", "read", "x"),
            ("b.major", "k as usual", "x"),
            ("c.major", "k as usual", "y"),
        ];
        let told = confounds(assumed.map(|(field, why, so)| (field.to_owned(), why.to_owned(), so.to_owned())));
        let texts: Vec<&str> = told.iter().map(|confound| confound.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "a.major and b.major are assumed (k as usual), and x",
                "k is assumed (read), and x",
                "c.major is assumed (k as usual), and y"
            ]
        );
        assert_eq!(told[0].fields, ["a.major", "b.major"]);
    }
}
