//! The twelve ideas for test inputs of sites and signatures, one test each.

mod codes;
mod end_to_end;
mod jinja;
mod new;
mod signatures;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use krepro::read::instantiation::{Select, parse_text};
use krepro::read::site::read;
use krepro::source::Source;

use self::new::New;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sites").join(name)
}

fn check(name: &str) {
    super::check(&fixture(name));
}

#[test]
fn idea_01_stale_zero_leaf() {
    check("stale_zero.cc");
}

#[test]
fn idea_02_chained_ternary_tile_and_rounding() {
    check("ternary_tile.cc");
}

#[test]
fn idea_03_truth_values_text_and_text_ternaries_in_one_call() {
    check("truth_or_text.cc");
}

#[test]
fn idea_04_a_literal_split_within_an_identifier() {
    check("split_literal.cc");
}

#[test]
fn idea_05_conditional_emission_and_a_false_assertion() {
    check("residual_flags.cc");
    check("conditional.cc");
}

#[test]
fn idea_06_a_raw_format_string() {
    check("fmt_raw.hpp");
}

#[test]
fn idea_07_signature_zoo() {
    signatures::check(&fixture("headers/zoo.cuh"));
}

#[test]
fn idea_08_arity_disagreement() {
    check("arity.cc");
}

#[test]
fn idea_09_the_type_says_one_box_and_the_filler_another() {
    check("clamped.cc");
    check("clamped_wide.cc");
    let new = |batch: &str, descriptor: &str| {
        let site = fixture("clamped_wide.cc");
        New::example("linear_sm90", "linear_sm90.cuh:linear_task", &format!("{}:emit_wide", site.display()))
            .also("--set", &format!("batch={batch}"))
            .also("--descriptor", descriptor)
    };
    let hangs = new("8", "type").made();
    assert!(hangs.contains("predicted[K-S09]") && hangs.contains("delivers 4096 bytes"), "{hangs}");
    assert!(hangs.contains("awaits 2048") && hangs.contains("--descriptor production"), "{hangs}");
    let consistent = new("8", "production").made();
    assert!(!consistent.contains("predicted[K-S09]") && consistent.contains("note[K-S09]"), "{consistent}");
    for descriptor in ["type", "production"] {
        let consistent = new("16", descriptor).made();
        assert!(!consistent.contains("K-S09"), "{consistent}");
    }
}

#[test]
fn idea_10_two_variants_of_one_task_in_generated_text() {
    let new = || {
        New::own("variants", "gemm.cuh:gemm", "generated.cu", "plain")
            .also("--launch", "grid=1,1,1")
            .also("--launch", "threads=64")
            .contract(&["m=M", "n=N", "k=K", "a=in", "b=weight", "out=out"])
    };
    new().refused(&["2 instantiations", "task->variant == 0", "task->variant == 1", "generated.cu:9:5"]);
    new().also("--task", "TASK_GEMM").refused(&["2 instantiations", "generated.cu:7:5"]);
    for (option, value, text) in [
        ("--task", "TASK_GEMM:1", "gemm<__nv_bfloat16, 8, 96, 256>"),
        ("--task", "TASK_GEMM:0", "gemm<__nv_bfloat16, 16, 64, 128>"),
        ("--line", "9", "gemm<__nv_bfloat16, 8, 96, 256>"),
        ("--line", "7", "gemm<__nv_bfloat16, 16, 64, 128>"),
    ] {
        let new = new().also(option, value);
        new.made();
        assert!(new.unit().contains(&format!("#define KREPRO_ENTRY &{text}")), "{option} {value}\n{}", new.unit());
        assert!(!new.unit().contains("unrelated_kernel"));
    }
    new().also("--task", "TASK_GEMM:2").refused(&["no block of the text runs for task TASK_GEMM, variant 2"]);
}

#[test]
fn idea_11_jinja_python_and_rust_give_one_list_of_instantiations() {
    check("trio.jinja");
    check("trio.py");
    check("trio.rs");
    let given = [("arch", "90"), ("paged", "False"), ("tile", "64"), ("self.no", "false")];
    let lists = ["all.jinja", "all.py", "all.rs"].map(|name| {
        let text = fs_err::read_to_string(fixture("trio").join(name)).unwrap();
        let wanted = |leaf: &&(&str, &str)| name != "all.jinja" || leaf.0 == "arch";
        let leaves: BTreeMap<_, _> =
            given.iter().filter(wanted).map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let emission = read(&Source::new(name, text), None, &leaves).unwrap();
        let printed = Source::new(name, emission.text());
        assert!(parse_text(&printed, &Select::default()).is_err(), "{name} asks which");
        let lines = 1..=emission.lines.len();
        let list: Vec<String> = lines
            .filter_map(|line| parse_text(&printed, &Select { line: Some(line), ..Select::default() }).ok())
            .map(|one| one.template_arguments.iter().map(|a| a.value.as_str()).collect::<Vec<_>>().join(", "))
            .collect();
        list
    });
    assert_eq!(lists[0], ["90, 64, true", "90, 64, false", "90, 128, true"]);
    assert_eq!(lists[0], lists[1]);
    assert_eq!(lists[0], lists[2]);
}

#[test]
fn idea_12_roles_that_cannot_be_read_are_asked_for() {
    let new = || New::own("roles", "launcher.cuh:swapped_gemm", "printed.cu", "scaffold.toml");
    new().contract(&["m=8", "n=N", "k=K"]).refused(&[
        "which parameter is `a`, the m × k operand?",
        "which parameter is `b`",
        "which parameter is `out`",
        "`__nv_bfloat16 const *` (parameter 0)",
        "--contract 'a=parameter 0'",
    ]);
    let told = new()
        .contract(&["m=8", "n=N", "k=K", "b=parameter 0", "a=parameter 1", "scale_b=parameter 2", "out=parameter 3"])
        .contract(&["scale_b.rows=1", "scale_b.columns=K / 128", "out.leading_dimension=128"])
        .also("--scalar", "4=8");
    told.made();
    let unit = told.unit();
    for line in [
        "{Role::a, Element::bf16, 8, 256, 256, Major::k, false, false, false},",
        "{Role::b, Element::bf16, 96, 256, 256, Major::k, false, false, false},",
        "{Role::scale_b, Element::f32, 1, 2, 2, Major::k, false, false, false},",
        "{Role::out, Element::bf16, 8, 96, 128, Major::k, false, false, false},",
        "call_launcher(KREPRO_ENTRY, shape, buffers.address(\"b\"), buffers.address(\"a\"), buffers.address(\"scale_b\"), \
         buffers.address(\"out\"), 8, cudaStream_t{});",
    ] {
        assert!(unit.lines().any(|found| found.trim() == line), "{line}\n{unit}");
    }
}
