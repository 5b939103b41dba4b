//! What libclang says of the functions of `tests/signatures/zoo.cuh`, beside what the reader says.

use serde::Deserialize;

use crate::model::{KernelSignature, TemplateParameterKind};
use crate::read::signature::{SignatureOptions, all, find};
use crate::source::Source;

const ZOO: &str = include_str!("../../../tests/signatures/zoo.cuh");
const LIBCLANG: &str = include_str!("../../../tests/signatures/zoo.json");

/// Written by `tests/signatures/libclang.py`; texts are without blanks, names and defaults within.
#[derive(Deserialize)]
struct Function {
    name: String,
    line: usize,
    global: bool,
    template: Vec<(String, String, String)>,
    parameters: Vec<(String, String)>,
}

fn compact(text: &str) -> String {
    text.split_whitespace().collect()
}

/// A parameter without blanks: its declaration with its name where the brackets of a declarator leave room, and its default.
fn written(declared: &str, name: &str, default: Option<&String>) -> Vec<String> {
    let default = default.map(|text| format!("={text}")).unwrap_or_default();
    let places = declared.char_indices().map(|(at, _)| at).chain([declared.len()]);
    places.map(|at| compact(&format!("{}{name}{}{default}", &declared[..at], &declared[at..]))).collect()
}

fn differences(function: &Function, signature: &KernelSignature) -> Vec<String> {
    let mut out = vec![];
    let mut differ = |what: &str, theirs: String, ours: String| {
        out.push(format!("line {}: {what}: libclang {theirs}, krepro {ours}", function.line));
    };
    if signature.name != function.name {
        differ("name", function.name.clone(), signature.name.clone());
    }
    if signature.global != function.global {
        differ("__global__", function.global.to_string(), signature.global.to_string());
    }
    let counts = (signature.template_parameters.len(), signature.parameters.len());
    if counts != (function.template.len(), function.parameters.len()) {
        differ("arity", format!("{:?}", (function.template.len(), function.parameters.len())), format!("{counts:?}"));
        return out;
    }
    for (ours, (kind, name, text)) in signature.template_parameters.iter().zip(&function.template) {
        let ours_kind = match ours.kind {
            TemplateParameterKind::Type => "type",
            TemplateParameterKind::Value => "value",
            TemplateParameterKind::Template => "template",
        };
        let declared = if ours.pack { format!("{}...", ours.declared) } else { ours.declared.clone() };
        if ours_kind != kind || ours.name != *name || !written(&declared, name, ours.default.as_ref()).contains(text) {
            differ("template parameter", format!("{kind} {name}: {text}"), format!("{ours:?}"));
        }
    }
    for (ours, (name, text)) in signature.parameters.iter().zip(&function.parameters) {
        // A macro that stands for nothing is kept as it is written.
        let declared = ours.declared.replace("ZOO_API ", "");
        if ours.name != *name || !written(&declared, name, ours.default.as_ref()).contains(text) {
            differ("parameter", format!("{name}: {text}"), format!("{ours:?}"));
        }
    }
    out
}

#[test]
fn the_zoo_reads_as_libclang_reads_it() {
    let theirs: Vec<Function> = serde_json::from_str(LIBCLANG).unwrap();
    let source = Source::new("zoo.cuh", ZOO);
    let ours: Vec<_> = all(&source, &SignatureOptions::default()).into_iter().collect::<Result<_, _>>().unwrap();
    // What macros of the text itself define, `expand` reads; here they only do no harm.
    let theirs: Vec<_> = theirs.iter().filter(|function| !function.name.ends_with("_first")).collect();
    let names = |all: Vec<String>| all.join("\n");
    assert_eq!(
        names(ours.iter().map(|signature| signature.name.clone()).collect()),
        names(theirs.iter().map(|function| function.name.clone()).collect())
    );
    let different: Vec<_> = theirs.iter().zip(&ours).flat_map(|(theirs, ours)| differences(theirs, ours)).collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn a_head_that_a_condition_cuts_is_read_whole_or_refused() {
    let source = Source::new("zoo.cuh", ZOO);
    let kernel = find(&source, "conditional_bounds", &SignatureOptions::default()).unwrap();
    assert_eq!(kernel.template_parameters[0].name, "Operator");
    assert_eq!(kernel.launch_bounds.unwrap().value, "Operator::THREADS, 1");
    let cut = Source::new("cut.cuh", "template <int N>\n__global__\n#if 1\n#endif\n)\nvoid k(int *x) {}\n");
    assert!(find(&cut, "k", &SignatureOptions::default()).is_err());
}

#[test]
fn macros_of_the_text_make_kernels_too() {
    let source = Source::new("zoo.cuh", ZOO);
    let kernel = find(&source, "zoo::run", &SignatureOptions::default()).unwrap();
    assert!(kernel.global);
    assert!(kernel.text.value.contains("ZOO_RUN void run"), "{}", kernel.text.value);
    assert!(find(&source, "bounded", &SignatureOptions::default()).unwrap().global);
    assert!(!find(&source, "annotated", &SignatureOptions::default()).unwrap().global);
}
