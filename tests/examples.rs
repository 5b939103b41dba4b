//! Every example's generated file goes through a real nvcc.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod support;

use std::process::Command;

use krepro::model::{ElementType, Reproducer};
use support::{Sm90, simt, simt_of, simt_typed, sm90};

const PLAIN: Sm90 = Sm90 { batch: 16, output: 1024, stride: 1024, reduction: 6144, residual: false, defect: 0 };

#[test]
fn nvcc_builds_the_hopper_example() {
    let Some(toolchain) = common::toolchain() else { return };
    let folder = tempfile::tempdir().unwrap();
    let built = support::build(&toolchain, folder.path(), sm90(Sm90 { residual: true, stride: 1088, ..PLAIN }));
    let listed = Command::new(&built).arg("--list").output().unwrap();
    assert!(String::from_utf8(listed.stdout).unwrap().lines().any(|rung| rung == "epilogue"));
    let run = Command::new(&built).arg("--json").env("CUDA_VISIBLE_DEVICES", "").output().unwrap();
    assert_eq!(run.status.code(), Some(125), "{}", String::from_utf8_lossy(&run.stdout));
}

#[test]
fn flags_that_are_hard_on_the_harness_still_build() {
    let Some(toolchain) = common::toolchain() else { return };
    let types = [("__half", ElementType::F16), ("float", ElementType::F32), ("__nv_bfloat16", ElementType::Bf16)];
    for ((cpp, element), flags) in types.into_iter().zip(HARD) {
        let folder = tempfile::tempdir().unwrap();
        let built = support::build(&toolchain, folder.path(), simt_typed(cpp, element, flags));
        assert!(Command::new(&built).arg("--list").output().unwrap().status.success(), "{flags:?}");
    }
}

/// `krepro new` on an example, in the example's folder; the generated `.cu` and `build.sh`.
fn new(example: &str, kernel: &str, site: &str, sets: &[&str], map: &str) -> (String, String) {
    let folder = support::example(example);
    let output = tempfile::tempdir().unwrap();
    let made = output.path().join("repro");
    let mut command = Command::new(env!("CARGO_BIN_EXE_krepro"));
    command.current_dir(&folder).args(["new", "--kernel", kernel, "--site", site, "--scaffold", "scaffold.toml"]);
    command.args(["--log", "jit.log", "--map", &format!("{map}={}", folder.display())]).arg("-o").arg(&made);
    command.args(sets.iter().flat_map(|set| ["--set", set]));
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let name = kernel.split_once(':').unwrap().1;
    let read = |name: &str| fs_err::read_to_string(made.join(name)).unwrap();
    (read(&format!("{name}.cu")), read("build.sh"))
}

/// From the first line that holds `from` to the harness runtime, without the lines that name places.
fn essence(text: &str, from: &str) -> Vec<String> {
    let start = text.lines().position(|line| line.contains(from)).unwrap();
    let lines = text.lines().skip(start).take_while(|line| !line.starts_with("// ---- the harness"));
    lines.filter(|line| !line.trim_start().starts_with("//")).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn new_on_the_hopper_example_emits_what_its_generator_prints() {
    let sets = [
        "shape.batch_size=5",
        "shape.output_size=200",
        "shape.reduction_size=1000",
        "shape.output_stride=208",
        "with_residual=true",
        "defect=2",
    ];
    let (unit, script) =
        new("linear_sm90", "linear_sm90.cuh:linear_task", "site.cc:register_linear_sm90", &sets, "/srv/engine/tasks");
    let hand = sm90(Sm90 { batch: 5, output: 200, stride: 208, reduction: 1000, residual: true, defect: 2 });
    let emitted: Vec<String> = hand.instantiation.lines.iter().map(|l| l.trim().to_owned()).collect();
    let found = essence(&unit, "krepro_kernel(");
    assert!(found.windows(emitted.len()).any(|lines| lines == emitted), "{found:#?}");
    for line in [
        "{Role::a, Element::bf16, 5, 1000, 1000, Major::k, false, false, false},",
        "{Role::b, Element::bf16, 200, 1000, 1000, Major::k, false, false, false},",
        "{Role::out, Element::bf16, 5, 200, 208, Major::k, false, false, false},",
        "{Role::residual, Element::bf16, 5, 200, 208, Major::k, false, false, false},",
        "{1000, 200}, {2000}, {64, 64}, {1, 1},",
        "{1000, 5}, {2000}, {64, 5}, {1, 1},",
        "{200, 5}, {416}, {64, 5}, {1, 1},",
    ] {
        assert!(found.iter().any(|l| l.contains(line)), "{line}: {found:#?}");
    }
    assert!(script.contains("code=[sm_90a,compute_90a]") && script.contains("-lcuda"), "{script}");
}

#[test]
fn new_on_the_simt_example_names_the_kernel_it_launches() {
    let sets = ["shape.batch=16", "shape.out_features=256", "shape.in_features=1024", "defect=0"];
    let (unit, _) =
        new("simt_linear", "simt_linear.cuh:linear_kernel", "site.cc:emit_simt_linear", &sets, "/srv/engine/kernels");
    assert!(unit.contains("#define KREPRO_ENTRY &simt::linear_kernel<__nv_bfloat16, 16, 256, 1024, 32, 2, 0>\n"));
    let hand =
        krepro::render::render(&krepro::model::Checked::new(simt(0), krepro::model::Findings::default()).unwrap())
            .unwrap();
    // The record made by hand knows no parameters, so it has no launch of a device image from the host half.
    let rest = |text: &str| {
        let lines = essence(text, "inline const Operand operands");
        let half = lines.iter().position(|line| line == "#ifdef KREPRO_HOST_HALF").unwrap_or(lines.len());
        let other = lines.iter().skip(half).position(|line| line == "#else").map_or(half, |at| half + at + 1);
        let kept = lines[..half].iter().chain(lines[other..].iter().filter(|line| *line != "#endif"));
        kept.cloned().collect::<Vec<_>>().join("\n").replace("linear_kernel", "simt_linear")
    };
    assert_eq!(rest(&unit), rest(&hand.files[0].text));
}

/// Flags that are hard on the harness: warnings are errors, no conversions of half types, no optimisation, -ffast-math.
const HARD: [&[&str]; 3] = [
    &["-std=c++20", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra"],
    &[
        "-std=c++17",
        "-Werror=all-warnings",
        "-D__CUDA_NO_HALF_OPERATORS__",
        "-D__CUDA_NO_HALF_CONVERSIONS__",
        "-D__CUDA_NO_HALF2_OPERATORS__",
        "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
        "-Xcompiler",
        "-ffast-math",
        "-O2",
    ],
    &["-G", "-g", "-Xcompiler", "-ffast-math"],
];

fn variants() -> Vec<(String, Reproducer)> {
    let mut list = vec![
        ("sm90".to_owned(), sm90(PLAIN)),
        ("sm90-residual".to_owned(), sm90(Sm90 { residual: true, stride: 1088, ..PLAIN })),
        ("sm90-b1".to_owned(), sm90(Sm90 { batch: 1, ..PLAIN })),
        ("sm90-b8".to_owned(), sm90(Sm90 { batch: 8, ..PLAIN })),
        ("sm90-ragged".to_owned(), sm90(Sm90 { batch: 5, output: 200, stride: 208, reduction: 1000, ..PLAIN })),
        ("simt".to_owned(), simt(0)),
        ("simt-f16".to_owned(), simt_typed("__half", ElementType::F16, HARD[0])),
        ("simt-f32".to_owned(), simt_typed("float", ElementType::F32, HARD[1])),
        ("simt-debug".to_owned(), simt_typed("__nv_bfloat16", ElementType::Bf16, HARD[2])),
        ("simt-large".to_owned(), simt_of([128, 7168, 6144], 0)),
    ];
    list.extend(
        (1..=9).map(|defect| (format!("sm90-d{defect}"), sm90(Sm90 { defect, residual: defect == 5, ..PLAIN }))),
    );
    list.extend((1..=7).map(|defect| (format!("simt-d{defect}"), simt(defect))));
    list
}

#[test]
#[ignore = "writes every variant into $KREPRO_KEEP, to be built and run where there is a GPU"]
fn write_the_variants() {
    let keep = std::path::PathBuf::from(std::env::var_os("KREPRO_KEEP").unwrap());
    for (name, reproducer) in variants() {
        fs_err::create_dir_all(keep.join(&name)).unwrap();
        support::write(&keep.join(&name), reproducer);
    }
}
