//! S11, S28a and S35: the parameters of a kernel.

use crate::model::{
    ElementType, Finding, Findings, KernelSignature, LaunchKind, Operand, Parameter, Reproducer, Role, Weight,
};

/// Bytes of kernel parameters (ptxas 13.0).
const MOST_BYTES: u64 = 32764;
const MAP_BYTES: u64 = 128;

pub(super) fn check(reproducer: &Reproducer, out: &mut Findings) {
    let signature = &reproducer.kernel.signature;
    if reproducer.launch.kind.value == LaunchKind::Global {
        for parameter in signature.parameters.iter().filter(|p| is_map(p)) {
            tensor_map(signature, parameter, out);
        }
        size(signature, out);
    }
    for operand in &reproducer.contract.operands {
        pointee(signature, operand, out);
    }
}

fn is_map(parameter: &Parameter) -> bool {
    let words = parameter.declared.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.into_iter().any(|word| {
        // The types of TMA copies hold a descriptor; they are called so in CuTe and in most frameworks.
        word == "CUtensorMap" || word == "TMA" || word.starts_with("TMA_") || word.starts_with("Tma")
    })
}

fn tensor_map(signature: &KernelSignature, parameter: &Parameter, out: &mut Findings) {
    let declared = parameter.declared.as_str();
    let annotated = declared.contains("__grid_constant__") || declared.contains("GRID_CONSTANT");
    let finding = |weight, message: String| {
        Finding::new("K-S11", weight, message).of("signature", &signature.text.origin).help(format!(
            "const __grid_constant__ {} {}",
            bare(declared),
            parameter.name
        ))
    };
    if annotated && (!declared.contains("const ") && !declared.contains(" const") || declared.contains('&')) {
        let what = if declared.contains('&') { "as a reference" } else { "without const" };
        out.push(
            finding(
                Weight::Refuse,
                format!("`{}` takes `{}` with __grid_constant__ {what}", signature.name, parameter.name),
            )
            .then("nvcc refuses it: a parameter annotated with __grid_constant__ must have const-qualified type"),
        );
    } else if declared.contains('&') {
        out.push(
            finding(
                Weight::Refuse,
                format!("`{}` takes the tensor map `{}` by reference", signature.name, parameter.name),
            )
            .then("a __global__ function cannot take a reference to host memory: nvcc refuses it, or the load faults"),
        );
    } else if !annotated && !declared.contains('*') {
        out.push(
            finding(
                Weight::Predict,
                format!("`{}` takes the tensor map `{}` by value without __grid_constant__", signature.name, parameter.name),
            )
            .then(
                "its address may be that of a local copy, which the TMA unit cannot read: error 715 or 716 at the load, or \
                 another tensor is read",
            ),
        );
    }
}

/// The type without qualifiers.
fn bare(declared: &str) -> String {
    let words = declared.split_whitespace().filter(|word| !matches!(*word, "const" | "__grid_constant__" | "&"));
    words.collect::<Vec<_>>().join(" ").trim_end_matches('&').to_owned()
}

fn size(signature: &KernelSignature, out: &mut Findings) {
    let maps = signature
        .parameters
        .iter()
        .filter(|p| p.declared.contains("CUtensorMap") && !p.declared.contains(['*', '&']))
        .count() as u64;
    if maps * MAP_BYTES > MOST_BYTES {
        out.push(
            Finding::new(
                "K-S35",
                Weight::Refuse,
                format!(
                    "{maps} tensor maps by value take {} bytes of parameters; the most is {MOST_BYTES}",
                    maps * MAP_BYTES
                ),
            )
            .of("signature", &signature.text.origin)
            .then("nvcc refuses it: Formal parameter space overflowed")
            .help(format!("at most {} by value; pass a pointer to a table in global memory", MOST_BYTES / MAP_BYTES)),
        );
    }
}

/// What a C++ pointer's type says of the elements behind it; `None` for template parameters and for untyped storage.
fn element(declared: &str) -> Option<&'static [ElementType]> {
    use ElementType::{Bf16, E4m3, E5m2, F16, F32, S8, S32, Tf32, U8, Ue4m3, Ue8m0};
    let has = |word: &str| declared.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word);
    let types: [(&[&str], &[ElementType]); 8] = [
        (&["float"], &[F32, Tf32]),
        (&["__nv_bfloat16", "bfloat16_t", "nv_bfloat16"], &[Bf16]),
        (&["__half", "half", "half_t"], &[F16]),
        (&["__nv_fp8_e4m3", "float_e4m3_t"], &[E4m3, Ue4m3]),
        (&["__nv_fp8_e5m2", "float_e5m2_t"], &[E5m2]),
        (&["__nv_fp8_e8m0", "float_ue8m0_t"], &[Ue8m0]),
        (&["int8_t"], &[S8, U8]),
        (&["int", "int32_t"], &[S32]),
    ];
    types.into_iter().find(|(words, _)| words.iter().any(|word| has(word))).map(|(_, elements)| elements)
}

fn pointee(signature: &KernelSignature, operand: &Operand, out: &mut Findings) {
    let Some(name) = operand.binding.strip_prefix("parameter ") else { return };
    let Some(parameter) = signature.parameters.iter().find(|p| p.name == name) else { return };
    if !parameter.declared.contains('*') {
        return;
    }
    let Some(elements) = element(&parameter.declared) else { return };
    let given = operand.element.value;
    if elements.contains(&given) {
        return;
    }
    let scale = matches!(operand.role.value, Role::ScaleA | Role::ScaleB | Role::Alpha);
    let consequence = if scale {
        "the bytes of a scale are read as another type: every product is off by a factor that varies with the scale"
    } else {
        "every element is read as another type, and rows of another length: garbage, or error 700 (illegal address)"
    };
    out.push(
        Finding::new(
            "K-S28a",
            Weight::Predict,
            format!(
                "operand `{}` holds {given} and goes to the parameter `{} {name}` of `{}`",
                operand.role.value, parameter.declared, signature.name
            ),
        )
        .of("element of the operand", &operand.element.origin)
        .of("signature", &signature.text.origin)
        .then(consequence)
        .help(format!("the parameter takes {}", elements[0])),
    );
}
