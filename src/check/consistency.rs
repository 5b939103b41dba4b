//! S42: a contract that contradicts itself. An edited record or a manifest can hold one; a run would then compare nonsense.

use crate::model::{Contract, EpilogueStep, Fact, Finding, Findings, Major, Operand, Reproducer, Role, Weight};

/// Bytes of the largest tensor that is meant seriously.
const LARGEST: u64 = 1 << 42;

pub(super) fn check(reproducer: &Reproducer, out: &mut Findings) {
    let contract = &reproducer.contract;
    for (name, extent) in [("m", &contract.m), ("n", &contract.n), ("k", &contract.k)] {
        if extent.value == 0 {
            out.push(refusal(format!("`{name}` is 0")).of(name, &extent.origin).help("an extent of at least 1"));
        }
    }
    for operand in &contract.operands {
        extents(operand, contract, out);
        strides(operand, out);
    }
    for step in &contract.epilogue {
        named(step, contract, out);
    }
}

fn refusal(message: impl Into<String>) -> Finding {
    Finding::new("K-S42", Weight::Refuse, message).then("every comparison would be with the wrong expectation")
}

/// (what, extent) that the rows and columns of a role must equal; none where the kernel decides.
type Wanted<'c> = Option<(String, u64)>;

fn wanted(role: Role, contract: &Contract) -> (Wanted<'_>, Wanted<'_>) {
    let groups = contract.groups.as_ref().map_or(1, |groups| groups.count() as u64);
    let wide = groups * if contract.gate().is_some() { 2 } else { 1 };
    let columns = || if wide > 1 { format!("{wide} · n") } else { "n".to_owned() };
    let m = || Some(("m".to_owned(), contract.m.value));
    let n = || Some(("n".to_owned(), contract.n.value));
    let b_rows = || Some((columns(), contract.n.value.saturating_mul(wide)));
    let k = || Some(("k".to_owned(), contract.k.value));
    let one = || Some(("1".to_owned(), 1));
    match role {
        Role::A => (m(), k()),
        Role::B => (b_rows(), k()),
        Role::Out | Role::Residual => (m(), n()),
        Role::Bias => (one(), b_rows()),
        Role::Alpha if contract.groups.is_some() => (None, one()),
        Role::Alpha | Role::Beta | Role::ZeroPoint => (one(), one()),
        Role::ScaleA | Role::ScaleB | Role::Groups => (None, None),
    }
}

fn extents(operand: &Operand, contract: &Contract, out: &mut Findings) {
    let role = operand.role.value;
    let (rows, columns) = wanted(role, contract);
    for (field, extent, wanted) in [("rows", &operand.rows, rows), ("columns", &operand.columns, columns)] {
        let name = format!("{role}.{field}");
        match wanted {
            Some((what, value)) if extent.value != value => out.push(
                refusal(format!("`{name}` is {}, but it is {what} = {value}", extent.value))
                    .of(name, &extent.origin)
                    .help(format!("{value}, or another {}", what.rsplit(" · ").next().unwrap_or(what.as_str()))),
            ),
            None if extent.value == 0 => {
                out.push(refusal(format!("`{name}` is 0")).of(name, &extent.origin).help("at least 1"));
            }
            _ => {}
        }
    }
}

fn strides(operand: &Operand, out: &mut Findings) {
    let role = operand.role.value;
    let (slow, fast) = match operand.major.value {
        Major::K => (&operand.rows, &operand.columns),
        Major::Mn => (&operand.columns, &operand.rows),
    };
    let leading = &operand.leading_dimension;
    if !operand.is_swizzled() && slow.value > 1 && leading.value < fast.value {
        out.push(
            refusal(format!(
                "the leading dimension of `{role}` is {}, less than the {} elements that lie in a row of it: rows overlap",
                leading.value, fast.value
            ))
            .of(format!("{role}.leading_dimension"), &leading.origin)
            .of("contiguous extent", &fast.origin)
            .help(format!("at least {}", fast.value)),
        );
    }
    let bytes = operand.storage().saturating_mul(u64::from(operand.element.value.bits())) / 8;
    if bytes > LARGEST {
        out.push(
            refusal(format!("`{role}` would take {} GiB", bytes >> 30))
                .of(format!("{role}.leading_dimension"), &leading.origin)
                .help("extents and strides count elements, not bytes; give those of the real tensor"),
        );
    }
}

/// A step whose operand is not there would be left out of the expectation.
fn named(step: &Fact<EpilogueStep>, contract: &Contract, out: &mut Findings) {
    let roles = match step.value {
        EpilogueStep::Add { operand } | EpilogueStep::Multiply { operand } => vec![operand],
        EpilogueStep::AddProduct { operand, factor } => vec![operand, factor],
        _ => vec![],
    };
    for role in roles.into_iter().filter(|role| contract.operand(*role).is_none()) {
        out.push(
            refusal(format!("the epilogue uses `{role}`, and the kernel has no such operand"))
                .of("step of the epilogue", &step.origin)
                .help(format!("say where it is (--contract {role}=PARAMETER, or [[kernel.operand]] in the manifest), or leave the step out")),
        );
    }
}
