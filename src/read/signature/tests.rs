//! The signature zoo: every construct once, with its expectation beside it.

use crate::diag::draw;
use crate::model::TemplateParameterKind::{Template, Type, Value};
use crate::read::signature::{SignatureOptions, find};
use crate::source::Source;

const ZOO: &str = r#"#pragma once
namespace zoo {
enum class Kind { Plain, Grouped };
template <typename T, class U = float, template <class, int> class Layout = Rows, typename... Rest>
struct holder {};

template <typename T, int N, Kind kKind, float kClamp, uint32_t kThreads = (N + 31) / 32 * 32,
          bool kWide = (N > 64), typename... Rest>
__global__ void __launch_bounds__(kThreads + (kWide ? 32 : 0), 1)
after(const __grid_constant__ CUtensorMap a /* operand A */, T const __grid_constant__ b, int, float *__restrict__ out = nullptr,
      Rest... rest) {
#if defined(ONE) and (TWO >= 2)
  __shared__ __align__(128) char smem[N];
#endif
}

template <class C> __launch_bounds__(C::NUM_THREADS, 1) __cluster_dims__(C::CLUSTER, 1, 1)
CUTLASS_GLOBAL void before(typename C::Args args, int (&table)[4]);

template <template <class, int> class Layout, typename = void>
CUTLASS_DEVICE typename Layout<int, 3>::type task(void) { return {}; }
}
extern "C" __global__ void plain(int n);
extern "C" __global__ void __launch_bounds__(256) plain(int n) {}
"#;

fn zoo(name: &str) -> crate::model::KernelSignature {
    let source = Source::new("zoo.cuh", ZOO);
    let found = find(&source, name, &SignatureOptions::default());
    found.unwrap_or_else(|e| panic!("{}", e.iter().map(|d| draw(d, false)).collect::<String>()))
}

#[test]
fn all_kinds_of_template_parameters_with_their_defaults() {
    let kernel = zoo("after");
    let all: Vec<_> = kernel
        .template_parameters
        .iter()
        .map(|p| (p.kind, p.declared.as_str(), p.name.as_str(), p.default.as_deref(), p.pack))
        .collect();
    assert_eq!(
        all,
        [
            (Type, "typename", "T", None, false),
            (Value, "int", "N", None, false),
            (Value, "Kind", "kKind", None, false),
            (Value, "float", "kClamp", None, false),
            (Value, "uint32_t", "kThreads", Some("(N + 31) / 32 * 32"), false),
            (Value, "bool", "kWide", Some("(N > 64)"), false),
            (Type, "typename", "Rest", None, true),
        ]
    );
    assert_eq!(kernel.required_template_arguments(), 4);
    let task = zoo("zoo::task");
    assert_eq!(task.template_parameters[0].kind, Template);
    assert_eq!(task.template_parameters[0].name, "Layout");
    assert_eq!(task.template_parameters[1].name, "");
    assert_eq!(task.template_parameters[1].default.as_deref(), Some("void"));
}

#[test]
fn function_parameters_with_qualifiers_in_every_position() {
    let kernel = zoo("after");
    let all: Vec<_> =
        kernel.parameters.iter().map(|p| (p.declared.as_str(), p.name.as_str(), p.default.as_deref())).collect();
    assert_eq!(
        all,
        [
            ("const __grid_constant__ CUtensorMap", "a", None),
            ("T const __grid_constant__", "b", None),
            ("int", "", None),
            ("float *__restrict__", "out", Some("nullptr")),
            ("Rest...", "rest", None),
        ]
    );
    let before = zoo("before");
    assert_eq!(before.parameters[0].declared, "typename C::Args");
    assert_eq!(before.parameters[1].declared, "int (& )[4]");
    assert!(zoo("task").parameters.is_empty());
}

#[test]
fn launch_bounds_and_cluster_before_and_after_the_return_type() {
    let after = zoo("after").launch_bounds.unwrap();
    assert_eq!(after.value, "kThreads + (kWide ? 32 : 0), 1");
    assert_eq!(after.origin.detail(), "zoo.cuh:9:35");
    let before = zoo("before");
    assert_eq!(before.launch_bounds.unwrap().value, "C::NUM_THREADS, 1");
    assert_eq!(before.cluster_dims.unwrap().value, "C::CLUSTER, 1, 1");
    assert!(before.global);
    assert!(!zoo("task").global);
}

#[test]
fn the_text_is_a_slice_of_the_header() {
    for name in ["after", "before", "task", "plain"] {
        let kernel = zoo(name);
        let at = ZOO.find(&kernel.text.value).unwrap();
        let line = ZOO[..at].matches('\n').count() + 1;
        assert!(kernel.text.origin.detail().starts_with(&format!("zoo.cuh:{line}:")), "{name}");
    }
    assert!(zoo("before").text.value.starts_with("template <class C> __launch_bounds__"));
}

#[test]
fn a_definition_wins_over_its_forward_declaration() {
    let kernel = zoo("plain");
    assert_eq!(kernel.launch_bounds.unwrap().value, "256");
    assert!(kernel.text.value.starts_with("extern \"C\""));
}

#[test]
fn an_unknown_name_gets_the_nearest_candidates_with_their_places() {
    let source = Source::new("zoo.cuh", ZOO);
    let errors = find(&source, "befor", &SignatureOptions::default()).unwrap_err();
    let text: String = errors.iter().map(|d| draw(d, false)).collect();
    assert!(text.contains("K-SIG-NAME"), "{text}");
    assert!(text.contains("zoo.cuh:18:21"), "{text}");
    assert!(text.contains("zoo.cuh:zoo::before"), "{text}");
    let errors = find(&source, "gelu_backward", &SignatureOptions::default()).unwrap_err();
    let text: String = errors.iter().map(|d| draw(d, false)).collect();
    assert!(text.contains("zoo::after"), "{text}");
}

#[test]
fn branches_are_chosen_by_definitions_only_where_the_kernel_needs_it() {
    let text = "#ifdef BIG\n__global__ void k(int *a, int n)\n#else\n__global__ void k(int *a)\n#endif\n{ }\n";
    let source = Source::new("b.cuh", text);
    let small = find(&source, "k", &SignatureOptions::default()).unwrap();
    assert_eq!(small.parameters.len(), 1);
    let options = SignatureOptions { defines: vec![("BIG".to_owned(), None)], ..SignatureOptions::default() };
    assert_eq!(find(&source, "k", &options).unwrap().parameters.len(), 2);
}

#[test]
fn overloads_are_a_question_not_a_guess() {
    let source = Source::new("o.cuh", "__device__ void f(int a) {}\nnamespace n { __device__ void f(float a) {} }\n");
    let errors = find(&source, "f", &SignatureOptions::default()).unwrap_err();
    let text: String = errors.iter().map(|d| draw(d, false)).collect();
    assert!(text.contains("K-SIG-AMBIGUOUS") && text.contains("o.cuh:2:"), "{text}");
    assert_eq!(find(&source, "n::f", &SignatureOptions::default()).unwrap().parameters[0].declared, "float");
}

#[test]
fn the_users_annotation_macros_are_known() {
    let source = Source::new("m.cuh", "HOT_PATH __global__ void MY_ALIGNED k(int n) {}\n");
    let options = SignatureOptions {
        annotation_macros: vec!["HOT_PATH".to_owned(), "MY_ALIGNED".to_owned()],
        ..SignatureOptions::default()
    };
    let kernel = find(&source, "k", &options).unwrap();
    assert_eq!(kernel.text.value, "HOT_PATH __global__ void MY_ALIGNED k(int n)");
}
