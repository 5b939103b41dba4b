//! S36: template and call arguments against the signature.

use crate::model::{
    Finding, Findings, Instantiation, KernelSignature, Piece, Reproducer, TemplateParameter, TemplateParameterKind,
    Weight,
};

const CODE: &str = "K-S36";

pub(super) fn check(reproducer: &Reproducer, out: &mut Findings) {
    let signature = &reproducer.kernel.signature;
    let instantiation = &reproducer.instantiation;
    template_arity(signature, instantiation, out);
    for (parameter, argument) in signature.template_parameters.iter().zip(&instantiation.template_arguments) {
        if parameter.pack {
            break;
        }
        kind(signature, parameter, argument, out);
    }
    call_arity(signature, instantiation, out);
    placeholders(instantiation, out);
}

fn template_arity(signature: &KernelSignature, instantiation: &Instantiation, out: &mut Findings) {
    let given = instantiation.template_arguments.len();
    let required = signature.required_template_arguments();
    let pack = signature.template_parameters.iter().any(|p| p.pack);
    let most = signature.template_parameters.len();
    if given > most && !pack {
        let extra = &instantiation.template_arguments[most];
        out.push(
            mismatch(
                signature,
                instantiation,
                &format!("{given} template arguments, but it takes {}", range(required, most)),
            )
            .of(format!("argument {} `{}`", most + 1, extra.value), &extra.origin)
            .help(listing(signature, instantiation)),
        );
    } else if given < required {
        // What is left out might be deduced from the call, so only types that the call can carry are forgiven.
        let missing = &signature.template_parameters[given..];
        let certain = missing.iter().any(|p| p.default.is_none() && !p.pack && !deducible(signature, p));
        if certain {
            let names: Vec<_> = missing.iter().filter(|p| p.default.is_none()).map(|p| p.name.as_str()).collect();
            out.push(
                mismatch(
                    signature,
                    instantiation,
                    &format!("{given} template arguments, but it takes {}", range(required, most)),
                )
                .help(format!("give {}", names.join(", ")))
                .help(listing(signature, instantiation)),
            );
        }
    }
}

/// Whether the parameter's name occurs in the type of a function parameter.
fn deducible(signature: &KernelSignature, parameter: &TemplateParameter) -> bool {
    !parameter.name.is_empty() && signature.parameters.iter().any(|p| words(&p.declared).any(|w| w == parameter.name))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty())
}

fn range(least: usize, most: usize) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

fn mismatch(signature: &KernelSignature, instantiation: &Instantiation, what: &str) -> Finding {
    Finding::new(CODE, Weight::Refuse, format!("`{}` gets {what}", signature.name))
        .of("instantiation", &instantiation.kernel.origin)
        .of("signature", &signature.text.origin)
        .then("nvcc refuses it: no instance of the function template matches; generator and header are out of step")
}

/// Parameters and arguments side by side.
fn listing(signature: &KernelSignature, instantiation: &Instantiation) -> String {
    let parameters = &signature.template_parameters;
    let arguments = &instantiation.template_arguments;
    let line = |index: usize| {
        let parameter = parameters.get(index).map_or("(none)".to_owned(), |p| format!("{} {}", p.declared, p.name));
        let argument = arguments.get(index).map_or("(none)", |a| a.value.as_str());
        format!("{}. {} = {argument}", index + 1, parameter.trim_end())
    };
    let lines: Vec<_> = (0..parameters.len().max(arguments.len())).map(line).collect();
    format!("side by side: {}", lines.join("; "))
}

fn kind(signature: &KernelSignature, parameter: &TemplateParameter, argument: &Piece, out: &mut Findings) {
    let text = argument.value.trim();
    let literal = is_literal(text);
    let wrong = match parameter.kind {
        TemplateParameterKind::Type if literal => "a type",
        TemplateParameterKind::Value if is_builtin_type(text) => "a value",
        TemplateParameterKind::Template if literal || is_builtin_type(text) => "a template",
        _ => return,
    };
    let got = if literal { "the value" } else { "the type" };
    out.push(
        Finding::new(
            CODE,
            Weight::Refuse,
            format!(
                "template parameter `{}` of `{}` takes {wrong} and gets {got} `{text}`",
                parameter.name, signature.name
            ),
        )
        .of("argument", &argument.origin)
        .of("signature", &signature.text.origin)
        .then("nvcc refuses it: the argument list is shifted, or written for another version of the header")
        .help(format!("`{}` is declared `{} {}`", parameter.name, parameter.declared, parameter.name)),
    );
}

fn is_literal(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+']);
    matches!(text, "true" | "false") || digits.starts_with(|c: char| c.is_ascii_digit())
}

fn is_builtin_type(text: &str) -> bool {
    const NAMES: [&str; 12] = [
        "bool",
        "char",
        "double",
        "float",
        "int",
        "long",
        "short",
        "signed",
        "unsigned",
        "void",
        "__nv_bfloat16",
        "__half",
    ];
    words(text).next().is_some_and(|first| NAMES.contains(&first)) && !text.contains(['(', '{', '+', '/'])
}

fn call_arity(signature: &KernelSignature, instantiation: &Instantiation, out: &mut Findings) {
    let given = instantiation.arguments.len();
    // A bare `&kernel<…>` carries no call.
    if given == 0 {
        return;
    }
    let (least, most) = (signature.required_arguments(), signature.parameters.len());
    let pack = signature.parameters.iter().any(|p| p.declared.contains("..."));
    if given < least || (given > most && !pack) {
        out.push(
            mismatch(signature, instantiation, &format!("{given} call arguments, but it takes {}", range(least, most)))
                .help(format!(
                    "its parameters: {}",
                    signature.parameters.iter().map(|p| p.declared.as_str()).collect::<Vec<_>>().join(", ")
                )),
        );
    }
}

fn placeholders(instantiation: &Instantiation, out: &mut Findings) {
    let bindings = instantiation.aliases.iter().chain(&instantiation.objects);
    let template_arguments = instantiation.template_arguments.iter().chain(bindings.clone().flat_map(|b| &b.arguments));
    for piece in template_arguments.clone() {
        let text = piece.value.trim();
        // No template argument is a braced list in C++17 or C++20, so this is an unfilled hole of an emitter.
        if text.starts_with('{') && text.ends_with('}') {
            placeholder(text, piece, out);
        } else if text.is_empty() {
            out.push(
                Finding::new(CODE, Weight::Refuse, "a template argument of the instantiation is empty")
                    .of("emitted text", &piece.origin)
                    .then("nvcc refuses it: a value is missing between two commas")
                    .help("give the value that production's emitter prints there with --set"),
            );
        }
    }
    let all = std::iter::once(&instantiation.kernel)
        .chain(template_arguments)
        .chain(&instantiation.arguments)
        .chain(instantiation.objects.iter().map(|b| &b.text));
    for piece in all {
        if let Some(mark) = ["$", "{%"].into_iter().find(|mark| piece.value.contains(mark)) {
            placeholder(mark, piece, out);
        }
    }
}

fn placeholder(mark: &str, piece: &Piece, out: &mut Findings) {
    out.push(
        Finding::new(CODE, Weight::Refuse, format!("placeholder `{mark}` is left in `{}`", piece.value))
            .of("emitted text", &piece.origin)
            .then("nvcc refuses it: the value was never put in")
            .help("give the value that production's emitter prints there with --set"),
    );
}
