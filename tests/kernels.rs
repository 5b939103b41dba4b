//! Our own kernels of other types and instructions, through the whole tool on the CPU backend, and mechanical mutants of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "a list of mutants is for people")]

#[path = "kernels/cases.rs"]
mod cases;
mod common;
#[path = "kernels/mutate.rs"]
mod mutate;
#[path = "kernels/reported.rs"]
mod reported;

use std::path::{Path, PathBuf};
use std::process::Command;

use mutate::Mutation;

struct Kernel {
    folder: &'static str,
    kernel: &'static str,
    site: &'static str,
    sets: &'static [&'static str],
}

/// Ragged in rows and columns, several tiles of k.
const KERNELS: [Kernel; 6] = [
    Kernel {
        folder: "int8_dp4a",
        kernel: "int8_linear",
        site: "emit_int8_linear",
        sets: &["shape.rows=11", "shape.columns=40", "shape.depth=200"],
    },
    Kernel {
        folder: "nvfp4_simt",
        kernel: "nvfp4_linear",
        site: "emit_nvfp4_linear",
        sets: &["shape.rows=5", "shape.columns=136", "shape.depth=96"],
    },
    Kernel {
        folder: "mxfp8_simt",
        kernel: "mxfp8_linear",
        site: "emit_mxfp8_linear",
        sets: &["shape.rows=5", "shape.columns=136", "shape.depth=160"],
    },
    Kernel {
        folder: "mma_bf16",
        kernel: "mma_linear",
        site: "emit_mma_linear",
        sets: &["shape.rows=19", "shape.columns=72", "shape.depth=160"],
    },
    Kernel {
        folder: "fp8_sm90",
        kernel: "fp8_linear",
        site: "emit_fp8_linear",
        sets: &["shape.rows=10", "shape.columns=136", "shape.depth=512", "promote=true"],
    },
    Kernel {
        folder: "fp8_sm90",
        kernel: "fp8_linear",
        site: "emit_fp8_linear",
        sets: &["shape.rows=10", "shape.columns=136", "shape.depth=512", "promote=false"],
    },
];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels")
}

/// `krepro new` on the kernel, with `header` in the place of its own; the reproducer lies in `folder/repro`.
fn make(kernel: &Kernel, header: &str, folder: &Path) -> PathBuf {
    make_by(kernel, &sources().join(kernel.folder).join("scaffold.toml"), header, folder)
}

/// The same by another scaffold.
fn make_by(kernel: &Kernel, scaffold: &Path, header: &str, folder: &Path) -> PathBuf {
    fs_err::create_dir_all(folder).unwrap();
    let from = sources().join(kernel.folder);
    fs_err::write(folder.join("kernel.cuh"), header).unwrap();
    fs_err::copy(from.join("site.cc"), folder.join("site.cc")).unwrap();
    let (made, log) = (folder.join("repro"), folder.join("jit.log"));
    let line = fs_err::read_to_string(sources().join("jit.log")).unwrap();
    // Optimising the host half is most of the time of a build.
    fs_err::write(&log, line.replace(" -O3", "")).unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_krepro"))
        .arg("new")
        .args(["--kernel", &format!("{}:{}", folder.join("kernel.cuh").display(), kernel.kernel)])
        .args(["--site", &format!("{}:{}", folder.join("site.cc").display(), kernel.site)])
        .arg("--scaffold")
        .arg(scaffold)
        .arg("--log")
        .arg(&log)
        .args(["--map", &format!("/srv/engine/kernels={}", folder.display())])
        .args(kernel.sets.iter().flat_map(|set| ["--set", set]))
        .arg("-o")
        .arg(&made)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}: {}", kernel.folder, String::from_utf8_lossy(&ran.stderr));
    made
}

fn header(kernel: &Kernel) -> String {
    fs_err::read_to_string(sources().join(kernel.folder).join("kernel.cuh")).unwrap()
}

/// Exit code and report of `krepro run --backend cpu`.
fn run(made: &Path) -> (i32, serde_json::Value) {
    run_with(made, &[])
}

fn run_with(made: &Path, options: &[&str]) -> (i32, serde_json::Value) {
    let ran = Command::new(env!("CARGO_BIN_EXE_krepro"))
        .args(["run", "--backend", "cpu", "--json"])
        .args(options)
        .arg(made)
        .output()
        .unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    (ran.status.code().unwrap_or(-1), report["answer"].clone())
}

/// Runs `job` for all of `items` on two threads; results in order.
fn on_two_threads<T: Sync, R: Send>(items: &[T], job: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let done = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = job(item);
                    done.lock().unwrap().push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// `krepro new` without a scaffold and an emitter: a launch in host code, and the rest said on the command line.
fn described(folder: &Path, kernel: &str, name: &str, contract: &[&str]) -> PathBuf {
    let from = sources().join(kernel);
    fs_err::create_dir_all(folder).unwrap();
    for name in ["kernel.cuh", "call.cu"] {
        fs_err::copy(from.join(name), folder.join(name)).unwrap();
    }
    let path = |name: &str| folder.join(name).display().to_string();
    let made = folder.join("repro");
    let ran = Command::new(env!("CARGO_BIN_EXE_krepro"))
        .args(["new", "--kernel", &format!("{}:{name}", path("kernel.cuh")), "--site", &path("call.cu")])
        .args(["--log", &sources().join("jit.log").display().to_string()])
        .args(["--map", &format!("/srv/engine/kernels={}", folder.display()), "--launch", "shared_memory=0"])
        .args(contract.iter().flat_map(|text| ["--contract", text]))
        .arg("-o")
        .arg(&made)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    made
}

#[test]
fn a_kernel_with_scalars_by_value_and_a_block_in_two_dimensions_is_run_as_it_is_launched() {
    if common::toolchain().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let contract = [
        "m=70",
        "n=40",
        "k=96",
        "a=a",
        "b=b",
        "out=out",
        "residual=c",
        "alpha=alpha",
        "beta=beta",
        "a.leading_dimension=104",
        "accumulator=f32_simt",
        "epilogue=multiply alpha, add residual times beta, relu, round f16",
    ];
    let made = described(folder.path(), "blas_simt", "blas_linear", &contract);
    let unit = fs_err::read_to_string(made.join("blas_linear.cu")).unwrap();
    assert!(unit.contains("{{3, 9, 1}, {16, 8, 1}, {1, 1, 1}"), "{unit}");
    assert!(unit.contains("buffers.value(\"alpha\"), buffers.address(\"a\"), 104, "), "{unit}");
    let (exit, report) = run(&made);
    assert_eq!(exit, 0, "{report:#}");
}

/// The same kernel is right by one contract and wrong by another, and the stage is named.
#[test]
fn sums_in_half_precision_are_right_or_a_named_fault_as_the_contract_says() {
    if common::toolchain().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let results = on_two_threads(&["f16_tensor_core", "f32_tensor_core"], |accumulator| {
        let accumulator = format!("accumulator={accumulator}");
        let mut contract = vec!["m=M", "n=N", "k=K", "a=a", "b=b", "out=out", "epilogue=round f16", &accumulator];
        contract.extend(["a.major=k", "a.leading_dimension=K", "b.major=k", "b.leading_dimension=K"]);
        contract.extend(["out.leading_dimension=N", "output=out", "padding_zero=false"]);
        let made = described(&folder.path().join(&accumulator), "wmma_f16", "wmma_linear", &contract);
        run_with(&made, &["--diagnose", "always"])
    });
    let [(right, half), (wrong, single)] = &results[..] else { panic!("two results") };
    assert_eq!(*right, 0, "{half:#}");
    assert_eq!(*wrong, 1, "{single:#}");
    assert_eq!(single["outcome"]["verdict"]["classes"], serde_json::json!(["ACC_DTYPE_NARROW"]), "{single:#}");
}

/// Factors below the smallest normal one of ue4m3 are in no rung but that of the codes.
#[test]
fn a_code_that_is_taken_for_another_value_fails() {
    if common::toolchain().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kernel = KERNELS.iter().find(|kernel| kernel.folder == "nvfp4_simt").unwrap();
    let subnormal = "exponent == 0 ?";
    assert!(header(kernel).contains(subnormal));
    let made = make(kernel, &header(kernel).replace(subnormal, "exponent == 1 ?"), folder.path());
    let (exit, report) = run(&made);
    assert_eq!(exit, 1, "{report:#}");
    let rungs = report["rungs"].as_array().unwrap();
    let failing = rungs.iter().filter(|r| r["status"] == "fail").map(|r| r["name"].as_str().unwrap());
    let failing: Vec<&str> = failing.filter(|name| !name.starts_with("probe.")).collect();
    assert_eq!(failing, ["codes.scale_a", "codes.scale_b"], "{report:#}");
    assert!(
        report["evidence"].to_string().contains("some codes of the scale are taken for other values"),
        "{report:#}"
    );
    let named = report["outcome"]["verdict"]["stages"].as_array();
    assert!(named.is_none_or(|stages| stages.iter().all(|stage| stage == "quantisation_scale")), "{report:#}");
    assert_eq!(report["hints"][0], "quantisation_scale", "{report:#}");
}

/// Hopper's fp8 adder keeps 13 fraction bits: the same kernel is right where the contract knows, and a named fault where it promises promotion.
#[test]
fn fp8_sums_that_nothing_promotes_are_named_bit_for_bit() {
    if common::toolchain().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kernel = KERNELS.iter().rfind(|kernel| kernel.folder == "fp8_sm90").unwrap();
    let promise = folder.path().join("promise.toml");
    let scaffold = fs_err::read_to_string(sources().join("fp8_sm90/scaffold.toml")).unwrap();
    assert!(scaffold.contains("promotion = \"PROMOTE ? 128 : K\""));
    fs_err::write(&promise, scaffold.replace("PROMOTE ? 128 : K", "128")).unwrap();
    let made = make_by(kernel, &promise, &header(kernel), &folder.path().join("made"));
    let (exit, report) = run_with(&made, &["--diagnose", "always"]);
    assert_eq!(exit, 1, "{report:#}");
    assert_eq!(report["outcome"]["verdict"]["classes"], serde_json::json!(["ACC_NOT_PROMOTED"]), "{report:#}");
}

/// A part of a shared tile that no thread loads holds, in every launch but the first, what the launch before left: the right values.
#[test]
fn a_read_of_shared_memory_that_the_launch_does_not_write_is_no_race() {
    if common::toolchain().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kernel = KERNELS.iter().find(|kernel| kernel.folder == "int8_dp4a").unwrap();
    let all = "i < kRows * kDepth / 4";
    assert!(header(kernel).contains(all));
    let made = make(kernel, &header(kernel).replace(all, "i < kRows * kDepth / 5"), folder.path());
    let (exit, report) = run(&made);
    assert_eq!(exit, 1, "{report:#}");
    assert!(report["rungs"].as_array().unwrap().iter().any(|rung| rung["follows_shared"] == true), "{report:#}");
    assert!(report["evidence"].to_string().contains("what shared memory held before"), "{report:#}");
    assert!(report["outcome"]["verdict"].is_null(), "{report:#}");
    assert_eq!(report["hints"][0], "operand_load", "{report:#}");
}

#[test]
fn correct_kernels_of_every_type_pass_every_rung() {
    if common::toolchain().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let numbered: Vec<_> = KERNELS.iter().enumerate().collect();
    let results = on_two_threads(&numbered, |(index, kernel)| {
        run(&make(kernel, &header(kernel), &folder.path().join(index.to_string())))
    });
    for (kernel, (exit, report)) in KERNELS.iter().zip(results) {
        assert_eq!(exit, 0, "{} {:?}: {report:#}", kernel.folder, kernel.sets);
        let rungs = report["rungs"].as_array().unwrap();
        assert!(rungs.len() >= 8 && rungs.iter().all(|r| r["status"] == "pass"), "{}: {report:#}", kernel.folder);
    }
}

/// `krepro new` on the fp4 layer behind its quantiser and its remaps, with changes of the scaffold.
fn new_sequence(changes: &[(&str, &str)], folder: &Path) -> (PathBuf, std::process::Output) {
    fs_err::create_dir_all(folder).unwrap();
    let mut scaffold = fs_err::read_to_string(sources().join("nvfp4_sequence/scaffold.toml")).unwrap();
    for (was, with) in changes {
        assert!(scaffold.contains(was), "{was}");
        scaffold = scaffold.replace(was, with);
    }
    fs_err::write(folder.join("scaffold.toml"), scaffold).unwrap();
    for file in ["nvfp4_simt/kernel.cuh", "nvfp4_simt/site.cc", "nvfp4_sequence/prologue.cuh"] {
        let from = sources().join(file);
        fs_err::copy(&from, folder.join(from.file_name().unwrap())).unwrap();
    }
    let made = folder.join("repro");
    let ran = Command::new(env!("CARGO_BIN_EXE_krepro"))
        .arg("new")
        .args(["--kernel", &format!("{}:nvfp4_linear", folder.join("kernel.cuh").display())])
        .args(["--site", &format!("{}:emit_nvfp4_linear", folder.join("site.cc").display())])
        .args(["--scaffold", &folder.join("scaffold.toml").display().to_string()])
        .args(["--log", &sources().join("jit.log").display().to_string()])
        .args(["--map", &format!("/srv/engine/kernels={}", folder.display())])
        .args(["--set", "shape.rows=5", "--set", "shape.columns=128", "--set", "shape.depth=128"])
        .arg("-o")
        .arg(&made)
        .output()
        .unwrap();
    (made, ran)
}

fn said(report: &serde_json::Value, field: &str) -> String {
    let lines = report[field].as_array().unwrap();
    lines.iter().map(|line| line.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The story of a remap of scale factors in its three forms, and a quantiser that cuts instead of rounding.
#[test]
fn a_sequence_names_its_faulty_launch() {
    if common::toolchain().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let remap = |which: &str, form: &str| {
        (
            format!("remap_scales<{{={which}}}, {{=K / 16}}, quant::Remap::right"),
            format!("remap_scales<{{={which}}}, {{=K / 16}}, quant::Remap::{form}"),
        )
    };
    let floor = ("quant::Round::nearest".to_owned(), "quant::Round::floor".to_owned());
    let cases = [vec![remap("M", "cut_padding")], vec![remap("M", "cut")], vec![remap("N", "permuted"), floor]];
    let numbered: Vec<_> = cases.iter().enumerate().collect();
    let results = on_two_threads(&numbered, |(index, changes)| {
        let changes: Vec<(&str, &str)> = changes.iter().map(|(was, with)| (was.as_str(), with.as_str())).collect();
        let (made, ran) = new_sequence(&changes, &folder.path().join(index.to_string()));
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        run(&made)
    });
    let verdict = |index: usize| results[index].1["outcome"]["verdict"].clone();
    // Only padding stays unwritten: no defect, and told.
    let (exit, report) = &results[0];
    assert_eq!(*exit, 0, "{report:#}");
    assert!(
        said(report, "notes").contains("prologue `remap_a` writes 0 of the 984 elements of padding of scale_a"),
        "{report:#}"
    );
    let together = report["sequence"]["together"].as_array().unwrap();
    assert!(together.len() >= 8 && together.iter().all(|rung| rung["status"] == "pass"), "{report:#}");
    // Real scales stay unwritten.
    assert_eq!((results[1].0, &verdict(1)["prologues"]), (1, &serde_json::json!(["remap_a"])), "{:#}", results[1].1);
    assert_eq!(verdict(1)["stages"], serde_json::json!(["prologue"]));
    assert!(said(&results[1].1, "evidence").contains("are never written"), "{:#}", results[1].1);
    // A permutation passes where all scales are one, and a cut of the codes where none is between two.
    let evidence = said(&results[2].1, "evidence");
    assert_eq!(
        (results[2].0, &verdict(2)["prologues"]),
        (1, &serde_json::json!(["quantise", "remap_b"])),
        "{:#}",
        results[2].1
    );
    assert!(
        evidence.contains("uniform values of scale_b pass") && evidence.contains("it is a permutation"),
        "{evidence}"
    );
    assert!(evidence.contains("prologue `quantise`, alone, fails on 1 of 8 rungs; on `gaussian`"), "{evidence}");
    for (_, report) in &results {
        assert!(report["rungs"].as_array().unwrap().iter().all(|rung| rung["status"] == "pass"), "{report:#}");
    }
}

#[test]
fn what_a_scaffold_does_not_say_of_a_prologue_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let changes = [
        ("does = \"quantise\"\n", ""),
        ("threads = \"64\"\n", ""),
        ("grid = [\"(M * K / 16 + 63) / 64\", \"1\", \"1\"]\n", ""),
        ("arguments = [\"source\", \"target\", \"scales\"]\n", ""),
        ("writes = \"scale_b\"", "writes = \"remap_a.source\""),
    ];
    let (_, ran) = new_sequence(&changes, folder.path());
    let text = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(2), "{text}");
    for asked in [
        "what does the launch make: `quantise`, which is launched before the kernel?",
        "how many blocks has `quantise`",
        "how many threads has a block of `quantise`",
        "what is passed to `quantise`",
        "`remap_b` writes `remap_a.source`, which is nothing that it can",
        "write one of a, b, scale_a, scale_b, alpha",
    ] {
        assert!(text.contains(asked), "{asked}: {text}");
    }
    // The usual is taken, and marked.
    let (made, ran) = new_sequence(&[("source = { element = \"ue4m3\" }\n", "")], &folder.path().join("assumed"));
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let record = fs_err::read_to_string(made.join("repro.toml")).unwrap();
    assert!(record.contains("nothing says the type of its source"), "{record}");
}

/// What the kernel takes by value no launch on the device can write.
#[test]
fn a_prologue_cannot_write_what_is_passed_by_value() {
    let folder = tempfile::tempdir().unwrap();
    let operands = [("a", "a"), ("b", "b"), ("residual", "c"), ("alpha", "alpha"), ("beta", "beta"), ("out", "out")];
    let operands =
        operands.map(|(role, name)| format!("[[kernel.operand]]\nrole = \"{role}\"\nslot = \"parameter {name}\"\n"));
    let scaffold = format!(
        "version = 1\nname = \"blas\"\nabout = \"scalars by value\"\n[launch]\nkind = \"global\"\n[[kernel]]\nname = \"blas_linear\"\nm = \"70\"\n\
         n = \"40\"\nk = \"96\"\naccumulator = \"f32_simt\"\n{}[[kernel.epilogue]]\ndo = \"round\"\nto = \"f16\"\n[[kernel.prologue]]\n\
         name = \"scale\"\ndoes = \"copy\"\nentry = \"scale\"\nsource = {{ element = \"f32\" }}\nwrites = \"alpha\"\ngrid = [\"1\", \"1\", \"1\"]\n\
         threads = \"32\"\narguments = [\"source\", \"target\"]\n",
        operands.concat()
    );
    let file = folder.path().join("scaffold.toml");
    fs_err::write(&file, scaffold).unwrap();
    let from = sources().join("blas_simt");
    let ran = Command::new(env!("CARGO_BIN_EXE_krepro"))
        .args(["new", "--kernel", &format!("{}:blas_linear", from.join("kernel.cuh").display()), "--site"])
        .arg(from.join("call.cu"))
        .arg("--scaffold")
        .arg(file)
        .arg("--log")
        .arg(sources().join("jit.log"))
        .arg("-o")
        .arg(folder.path().join("repro"))
        .output()
        .unwrap();
    let text = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(2), "{text}");
    assert!(text.contains("`scale` writes `alpha`, which is nothing that it can"), "{text}");
    assert!(text.contains("write one of a, b, residual"), "{text}");
}

/// Changes that compute the same: kernel, line and operator, with the argument. Found by reading, before they were run.
const EQUIVALENT: [(usize, usize, &str, &str); 22] = [
    (0, 34, "bound", "row M of the input is read for a row that is not stored"),
    (0, 29, "bound", "200 is no multiple of 64, so no further tile begins at K"),
    (2, 46, "bound", "column N, or row M, is summed and not stored"),
    (2, 44, "bound", "row M is read for a row that is not stored"),
    (2, 45, "sync", "each warp reads only the row that it wrote"),
    (2, 55, "sync", "each warp reads only the row that it wrote"),
    (3, 68, "bound", "row N of the weight is read for a column that is not stored"),
    (3, 64, "bound", "row M of the input is read for a row that is not stored"),
    (3, 65, "literal", "the address of a copy of no bytes"),
    (3, 73, "bound", "one tile is loaded twice, with the same bytes"),
    (4, 62, "bound", "row M of the input is read for a row that is not stored"),
    (4, 62, "literal", "rows that are not stored hold ones instead of zeros"),
    (4, 68, "literal", "belongs to the kernel without promotion"),
    (4, 87, "axis", "belongs to the kernel without promotion"),
    (5, 62, "bound", "row M of the input is read for a row that is not stored"),
    (5, 62, "literal", "rows that are not stored hold ones instead of zeros"),
    (5, 68, "literal", "the first slice is added to registers that hold zero"),
    (5, 74, "bound", "belongs to the kernel with promotion"),
    (5, 76, "arithmetic", "belongs to the kernel with promotion"),
    (5, 76, "literal", "belongs to the kernel with promotion"),
    (5, 77, "bound", "belongs to the kernel with promotion"),
    (5, 78, "index", "belongs to the kernel with promotion"),
];

/// What the ladder made of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Caught,
    DoesNotBuild,
    Equivalent,
    /// Passed, and the report lists races of this kind as not observable.
    Unobservable,
    Missed,
}

fn judge(kernel: usize, mutation: &Mutation, exit: i32, report: &serde_json::Value) -> Outcome {
    let same = |(index, line, operator, _): &(usize, usize, &str, &str)| {
        (*index, *line, *operator) == (kernel, mutation.line, mutation.operator)
    };
    match exit {
        125 => Outcome::DoesNotBuild,
        0 if EQUIVALENT.iter().any(same) => Outcome::Equivalent,
        0 if mutation.operator == "sync" && report["scope"].to_string().contains("races") => Outcome::Unobservable,
        0 => Outcome::Missed,
        _ => Outcome::Caught,
    }
}

/// A few in every test run; `KREPRO_MUTANTS=N` for more, `KREPRO_MUTANTS_SEED` for others. With `KREPRO_MUTANTS_FOLDER` the
/// reproducers are written there to be run elsewhere.
#[test]
fn mutants_of_our_kernels_are_caught() {
    if common::toolchain().is_none() {
        return;
    }
    let number = |name: &str, otherwise: u64| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let count = number("KREPRO_MUTANTS", 3) as usize;
    let seed = number("KREPRO_MUTANTS_SEED", 1);
    let elsewhere = std::env::var_os("KREPRO_MUTANTS_FOLDER").map(PathBuf::from);
    let temporary = tempfile::tempdir().unwrap();
    let root = elsewhere.clone().unwrap_or_else(|| temporary.path().to_owned());
    let mut mutants = Vec::new();
    for (index, kernel) in KERNELS.iter().enumerate() {
        let share = count / KERNELS.len() + usize::from(index < count % KERNELS.len());
        for mutation in mutate::draw(&header(kernel), seed + index as u64, share) {
            mutants.push((mutants.len(), index, mutation));
        }
    }
    let results = on_two_threads(&mutants, |(index, kernel, mutation)| {
        let folder = root.join(format!("{index:03}"));
        let kernel = &KERNELS[*kernel];
        let made = make(kernel, &mutation.apply(&header(kernel)), &folder);
        if elsewhere.is_some() { (0, serde_json::Value::Null) } else { run(&made) }
    });
    let mut missed = Vec::new();
    for ((index, kernel, mutation), (exit, report)) in mutants.iter().zip(results) {
        let place = format!("{index:03} {}:{}", KERNELS[*kernel].folder, mutation.line);
        let change = format!("{} `{}` -> `{}`", mutation.operator, mutation.was, mutation.with);
        if elsewhere.is_some() {
            eprintln!("{place}: {change}");
            continue;
        }
        let outcome = judge(*kernel, mutation, exit, &report);
        eprintln!("{place}: {change}: {outcome:?} (exit {exit})");
        if outcome == Outcome::Missed {
            missed.push(format!("{place}: {change}"));
        }
    }
    assert!(missed.is_empty(), "passed with a changed kernel: {missed:#?}");
}
