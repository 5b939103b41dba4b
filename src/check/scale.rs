//! S28: scale operands against what they scale.

use crate::model::{ElementType, EpilogueStep, Fact, Finding, Findings, Operand, Origin, Reproducer, Role, Weight};

pub(super) fn check(reproducer: &Reproducer, out: &mut Findings) {
    let contract = &reproducer.contract;
    for (role, of, size) in [(Role::ScaleA, Role::A, &contract.m), (Role::ScaleB, Role::B, &contract.n)] {
        let (Some(scale), Some(scaled)) = (contract.operand(role), contract.operand(of)) else { continue };
        // A scale that no step names belongs to blocks; how many rows a block has cannot be wrong against itself.
        if contract.epilogue.iter().any(|step| step.value == EpilogueStep::Multiply { operand: role }) {
            extent(scale, size, out);
        }
        element(scale, scaled, out);
        layout(scale, out);
        exponents(reproducer, scale, out);
    }
    if contract.n.value == contract.k.value && contract.operand(Role::ScaleB).is_some() {
        square(&contract.n, &contract.k, out);
    }
}

/// S28b: one factor for each row of what is scaled.
fn extent(scale: &Operand, size: &Fact<u64>, out: &mut Findings) {
    // Factors of blocks: the field's blocks have 16 rows and more.
    let rows = size.value.div_ceil(scale.rows.value.max(1)).next_power_of_two();
    let blocks = scale.columns.value > 1 && (scale.rows.value == 1 || rows >= 16);
    if scale.rows.value >= size.value || blocks {
        return;
    }
    out.push(
        Finding::new(
            "K-S28b",
            Weight::Predict,
            format!(
                "`{}` has {} factors, and {} rows are scaled by it",
                scale.role.value, scale.rows.value, size.value
            ),
        )
        .of("extent of the scale", &scale.rows.origin)
        .of("rows that are scaled", &size.origin)
        .then("factors beyond the end are read: whatever lies there, or error 700 (illegal address)")
        .help(format!("{} factors, and what pads them initialised", size.value)),
    );
}

/// S28a: what MMA instructions take as scale of a type.
fn element(scale: &Operand, scaled: &Operand, out: &mut Findings) {
    use ElementType::{Bf16, E2m1, E4m3, E5m2, F16, F32, Ue4m3, Ue8m0};
    let wrong = match (scale.element.value, scaled.element.value) {
        (Ue8m0 | Ue4m3, Bf16 | F16 | F32) => "block scales go with fp8 and fp4 operands only",
        (Ue4m3, E4m3 | E5m2) => "the MMA takes ue8m0 scales for fp8; ue4m3 goes with e2m1 (nvfp4)",
        (Bf16 | F16, E2m1) => "fp4 operands take ue8m0 or ue4m3 scales",
        _ => return,
    };
    out.push(
        Finding::new(
            "K-S28a",
            Weight::Predict,
            format!(
                "`{}` holds {}, and what it scales holds {}: {wrong}",
                scale.role.value, scale.element.value, scaled.element.value
            ),
        )
        .of("element of the scale", &scale.element.origin)
        .of("element of the operand", &scaled.element.origin)
        .then("the bytes are read as another type: off by powers of two that vary from block to block")
        .help("take the type of the kernel's scale parameter, not that of the framework's tensor"),
    );
}

/// S28c: the order of block scales, where nothing that was read says it.
fn layout(scale: &Operand, out: &mut Findings) {
    // The layout, where there is one, decides; else the major.
    let order = scale.layout.as_ref().map_or(&scale.major.origin, |layout| &layout.origin);
    if scale.columns.value <= 1 || !matches!(order, Origin::Assumed { .. }) {
        return;
    }
    out.push(
        Finding::new(
            "K-S28c",
            Weight::Note,
            format!(
                "the order of the {} x {} factors of `{}` is assumed, not read",
                scale.rows.value, scale.columns.value, scale.role.value
            ),
        )
        .of("order of the scale", order)
        .then("with the other major, or a swizzled layout, every uniform scale passes and real ones give a cosine near 0.87")
        .help("judge by a rung with factors over several powers of two, never by uniform scales"),
    );
}

/// S28d: a kernel that takes exponents, given factors with a mantissa.
fn exponents(reproducer: &Reproducer, scale: &Operand, out: &mut Findings) {
    if !matches!(scale.element.value, ElementType::F32 | ElementType::Bf16 | ElementType::F16) {
        return;
    }
    let packed = |text: &str| text.to_lowercase().contains("e8m0");
    let argument = reproducer.instantiation.template_arguments.iter().find(|argument| packed(&argument.value));
    let alias =
        reproducer.instantiation.aliases.iter().find(|alias| packed(&alias.text.value)).map(|alias| &alias.text);
    let declared = &reproducer.kernel.signature.text;
    let Some(named) = argument.or(alias).or(packed(&declared.value).then_some(declared)) else { return };
    out.push(
        Finding::new(
            "K-S28d",
            Weight::Predict,
            format!("the kernel takes scales as exponents (ue8m0), and `{}` holds {} factors", scale.role.value, scale.element.value),
        )
        .of("exponents", &named.origin)
        .of("element of the scale", &scale.element.origin)
        .then("the mantissa of a factor is dropped: results are right for powers of two and up to half as large otherwise")
        .help("round the factors up to powers of two before they are packed, and divide the operand by the rounded ones"),
    );
}

/// S28f: with n = k a transposed weight has the right shape.
fn square(n: &Fact<u64>, k: &Fact<u64>, out: &mut Findings) {
    out.push(
        Finding::new(
            "K-S28f",
            Weight::Note,
            format!("n = k = {}: a transposed weight or scale has the same shape", n.value),
        )
        .of("n", &n.origin)
        .of("k", &k.origin)
        .then("code that tells layouts apart by comparing shapes decides nothing here")
        .help("run one shape with n other than k beside it"),
    );
}
