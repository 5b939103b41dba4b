//! Emitted and pasted texts with their expectations.

use std::collections::BTreeMap;

use super::{Select, Variant, check_arity, parse, parse_text};
use crate::diag::{Diagnostics, draw};
use crate::model::{Instantiation, Origin};
use crate::read::signature::{SignatureOptions, find};
use crate::read::site::evaluate;
use crate::source::Source;

const SITE: &str = "std::string site(int rows) {
  constexpr int B = 3;
  out.inc_indent();
  out.e(\"using TMA_A = kernel::tma::box<bfloat16, $, $, \"
        \"true>;\", B, rows * 2 /* ROWS */);
  out.e(\"TMA_A a(static_cast<CUtensorMap*>(desc->inputs[0]\"
        \"[1]));\");
  out.e(\"kernel::multiply<bfloat16, $, TMA_A, pre_$>(\", rows, B);
  out.e(\"    a, \");
  out.e(\"    false/*residual*/\");
  out.e(\");\");
  return out.to_string();
}
";

fn drawn(errors: &Diagnostics) -> String {
    errors.iter().map(|d| draw(d, false) + "\n").collect()
}

fn text(text: &str, kernel: Option<&str>) -> Result<Instantiation, String> {
    let select = Select { kernel: kernel.map(str::to_owned), ..Select::default() };
    parse_text(&Source::new("-", text), &select).map_err(|e| drawn(&e))
}

fn values(pieces: &[crate::model::Piece]) -> Vec<&str> {
    pieces.iter().map(|p| p.value.as_str()).collect()
}

#[test]
fn every_piece_of_an_emission_knows_its_place_in_the_site() {
    let source = Source::new("site.cc", SITE);
    let leaves = BTreeMap::from([("rows".to_owned(), "8".to_owned())]);
    let emission = evaluate(&source, Some("site"), &leaves).unwrap();
    let found = parse(&emission, &Select::default()).unwrap();
    assert_eq!(found.lines[0], "  using TMA_A = kernel::tma::box<bfloat16, 3, 16, true>;");
    assert_eq!(found.kernel.value, "kernel::multiply");
    assert_eq!(found.kernel.origin.detail(), "site.cc:8:10");
    assert_eq!(values(&found.template_arguments), ["bfloat16", "8", "TMA_A", "pre_3"]);
    let origins: Vec<_> = found.template_arguments.iter().map(|p| p.origin.detail()).collect();
    assert_eq!(origins, ["site.cc:8:27", "site.cc:8:57 `rows`", "site.cc:8:40", "site.cc:8:47 `pre_${B}`"]);
    assert_eq!(found.template_arguments[0].origin.word(), "transcribed");
    assert_eq!(found.template_arguments[1].origin.word(), "read");
    assert_eq!(values(&found.arguments), ["a", "false"]);
    assert_eq!(found.aliases.len(), 1);
    let alias = &found.aliases[0];
    assert_eq!((alias.name.as_str(), alias.template.as_str()), ("TMA_A", "kernel::tma::box"));
    assert_eq!(values(&alias.arguments), ["bfloat16", "3", "16", "true"]);
    assert_eq!(alias.arguments[2].origin.detail(), "site.cc:5:22 `rows * 2`");
    let object = &found.objects[0];
    assert_eq!((object.name.as_str(), object.template.as_str()), ("a", "TMA_A"));
    assert_eq!(object.text.value, "TMA_A(static_cast<CUtensorMap*>(desc->inputs[0][1]))");
    assert_eq!(object.text.origin.word(), "transcribed");
}

#[test]
fn launches_with_shifts_comparisons_and_conditions() {
    let launch = |inner: &str| {
        let found = text(&format!("void f() {{ ns::k<64><<<{inner}>>>(a, 1 >> 2); }}"), None).unwrap();
        assert_eq!(values(&found.arguments), ["a", "1 >> 2"], "{inner}");
        found.launch.iter().map(|piece| piece.value.clone()).collect::<Vec<_>>()
    };
    for (inner, parts) in [
        ("1 << 10, 128", vec!["1 << 10", "128"]),
        ("g, b, 1<<10, s", vec!["g", "b", "1<<10", "s"]),
        ("n << 2, m >> 1", vec!["n << 2", "m >> 1"]),
        ("n > 64 ? 2 : 1, 128", vec!["n > 64 ? 2 : 1", "128"]),
        ("n < 64 ? 2 : 1, m > 3 ? 4 : 5", vec!["n < 64 ? 2 : 1", "m > 3 ? 4 : 5"]),
        ("div<int, 2>(n), T<3>::value, f<g<h<4>>>(5)", vec!["div<int, 2>(n)", "T<3>::value", "f<g<h<4>>>(5)"]),
        ("dim3(1, n >> 3), 128", vec!["dim3(1, n >> 3)", "128"]),
    ] {
        assert_eq!(launch(inner), parts, "{inner}");
    }
    let found = text("k<1 << 3, T>(a);", None).unwrap();
    assert_eq!(values(&found.template_arguments), ["1 << 3", "T"]);
}

#[test]
fn what_no_macro_brings_to_life_is_no_instantiation() {
    let both = |first: &str, second: &str| {
        text(
            &format!(
                "{first}\nvoid f() {{ k<1><<<9, 128>>>(a); }}\n{second}\nvoid f() {{ k<2><<<4, 256>>>(a); }}\n#endif\n"
            ),
            None,
        )
    };
    assert_eq!(values(&both("#if 0", "#else").unwrap().template_arguments), ["2"]);
    assert_eq!(values(&both("#if 1", "#else").unwrap().template_arguments), ["1"]);
    assert_eq!(values(&both("#if 0", "#elif FAST").unwrap().launch), ["4", "256"]);
    assert!(both("#ifdef FAST", "#else").unwrap_err().contains("K-INST-CHOICE"));
    assert!(both("#if FAST", "#else").unwrap_err().contains("K-INST-CHOICE"));
    let inside = "void f() {\n#if 0\n  dim3 grid(9);\n#else\n  dim3 grid(4);\n#endif\n  k<1><<<grid, 128>>>(a);\n}\n";
    let found = text(inside, None).unwrap();
    let grids: Vec<_> = found.objects.iter().filter(|o| o.name == "grid").map(|o| o.text.value.as_str()).collect();
    assert_eq!(grids, ["dim3(4)"]);
}

#[test]
fn pasted_text_in_every_form() {
    let found = text("template __global__ void ns::k<64, float, E::A>(const float *, int);", None).unwrap();
    assert_eq!(found.kernel.value, "ns::k");
    assert_eq!(values(&found.template_arguments), ["64", "float", "E::A"]);
    assert!(found.arguments.is_empty());
    assert!(matches!(&found.kernel.origin, Origin::Transcribed { at } if at.to_string() == "-:1:26"));

    let generated = "#include <k.cuh>\nusing namespace d;\nstatic void __instantiate() {\n    auto ptr = reinterpret_cast<void*>(&k<\n  0,\n  128u, fp8\n >);\n};\n";
    let found = text(generated, None).unwrap();
    assert_eq!((found.kernel.value.as_str(), values(&found.template_arguments)), ("k", vec!["0", "128u", "fp8"]));
    assert_eq!(found.template_arguments[1].origin.detail(), "-:6:3");

    let found = text("template <>\nvoid run_<half, 64>(Params &p) {\n  launch<half>(p);\n}\n", None).unwrap();
    assert_eq!((found.kernel.value.as_str(), values(&found.template_arguments)), ("run_", vec!["half", "64"]));
    assert_eq!(values(&text("k<64,128>", None).unwrap().template_arguments), ["64", "128"]);
    let found = text("int n = 3;\nk<n, 2><<<dim3(1, 2), 128, 0, s>>>(a, b + 1);", None).unwrap();
    assert_eq!(values(&found.arguments), ["a", "b + 1"]);
    assert_eq!(found.objects[0].text.value, "int = 3");
    let found = text("fill(a);\nmatmul(a, f<1, 2>(b), c);", Some("lib::matmul")).unwrap();
    assert_eq!(values(&found.arguments), ["a", "f<1, 2>(b)", "c"]);
    assert!(found.template_arguments.is_empty());
}

#[test]
fn several_instantiations_are_a_question() {
    let two = "template void k<1>(int);\ntemplate void k<2>(int);\n";
    let error = text(two, None).unwrap_err();
    assert!(error.contains("holds 2 instantiations") && error.contains("-:2:1"), "{error}");
    let select = Select { line: Some(2), ..Select::default() };
    assert_eq!(parse_text(&Source::new("-", two), &select).unwrap().template_arguments[0].value, "2");
    assert!(text("int x = 3;", None).unwrap_err().contains("K-INST-KERNEL"));
    assert!(text("k<1>();", Some("other")).unwrap_err().contains("no instantiation of `other`"));
}

#[test]
fn arity_errors_show_both_places() {
    let header = Source::new(
        "k.cuh",
        "namespace ns {\ntemplate <typename T, int N, int M, int S = 4>\n__device__ void k(const T *a, int n, bool r = true) {}\n}\n",
    );
    let signature = find(&header, "k", &SignatureOptions::default()).unwrap();
    let check = |site: &str| {
        let source = Source::new("-", site);
        let found = parse_text(&source, &Select::default()).unwrap();
        drawn(&check_arity(&signature, &found, &[header.clone(), source]))
    };
    assert_eq!(check("ns::k<float, 1, 2>(a, 3);"), "");
    let error = check("ns::k<float, 1>(a, 3);\n");
    assert!(error.contains("takes 3 to 4 template arguments, and 2 are given"), "{error}");
    assert!(error.contains("-:1:1") && error.contains("k.cuh:2:1"), "{error}");
    let error = check("ns::k<float, 1, 2, 3, 4>(a, 3, true, 5);\n");
    assert!(error.contains("K-ARITY-TEMPLATE") && error.contains("K-ARITY-CALL"), "{error}");
    assert!(error.contains("takes 2 to 3 arguments, and 4 are given"), "{error}");
}

const CHAIN: &str = "#include \"runtime.h\"
__global__ void unrelated(int n);
__device__ void execute(Task const *t) {
  if (t->kind == TASK_COPY && t->variant == 0) {
    using A = box<1>;
    k<A, 1>(a);
  } else if (t->kind == TASK_MUL && t->variant == 0) {
    using A = box<2>;
    k<A, 2>(a);
  } else if (t->kind == TASK_MUL && t->variant == 1) {
    using A = box<3>;
    k<A, 3>(a);
  }
}
";

#[test]
fn a_branch_of_generated_text_is_chosen_by_task_and_variant_or_by_line() {
    let source = Source::new("gen.cu", CHAIN);
    let run = |select: Select| parse_text(&source, &select).map_err(|e| drawn(&e));
    let variant = |task: &str, id| Select { variant: Some(Variant { task: task.into(), id }), ..Select::default() };
    let found = run(variant("TASK_MUL", Some(1))).unwrap();
    assert_eq!(values(&found.template_arguments), ["A", "3"]);
    assert_eq!(found.aliases[0].text.value, "box<3>");
    assert_eq!(found.lines, ["    using A = box<3>;", "    k<A, 3>(a);"]);
    assert_eq!(run(Select { line: Some(6), ..Select::default() }).unwrap().template_arguments[1].value, "1");
    assert_eq!(run(variant("TASK_COPY", None)).unwrap().template_arguments[1].value, "1");
    let error = run(variant("TASK_MUL", None)).unwrap_err();
    assert!(error.contains("t->variant == 1") && error.contains("gen.cu:12"), "{error}");
    assert!(run(variant("TASK_ADD", Some(0))).unwrap_err().contains("no block of the text runs for task TASK_ADD"));
    assert!(run(Select::default()).is_err());
}
