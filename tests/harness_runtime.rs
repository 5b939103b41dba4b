//! The harness runtime against a fake CUDA layer: a host function stands in for the kernel, with one fault planted at a time.

#![allow(clippy::unwrap_used)]

mod oracle;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "c++".into())
}

fn compile(source: &str, flags: &[&str], output: &Path) {
    let root = Path::new(ROOT);
    let result = Command::new(compiler())
        .args(flags)
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"])
        .arg(format!("-I{}", root.join("tests/fake_cuda").display()))
        .arg(format!("-I{}", root.join("scaffolds/cuda").display()))
        .arg(root.join("tests/fake_cuda").join(source))
        .args(["-lpthread", "-o"])
        .arg(output)
        .output()
        .unwrap();
    assert!(result.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&result.stderr));
}

/// Built once, under the flags that are hardest on the harness.
fn executable() -> &'static Path {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("linear");
        compile("linear.cpp", &["-std=c++17", "-O2", "-ffast-math"], &path);
        (folder, path)
    });
    path
}

fn run(fault: &str, arguments: &[&str]) -> Output {
    Command::new(executable()).args(arguments).env("KREPRO_FAULT", fault).output().unwrap()
}

fn events(fault: &str, arguments: &[&str]) -> (i32, Vec<Value>) {
    let output = run(fault, &[&["--json"], arguments].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let list = text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    (output.status.code().unwrap(), list)
}

fn rungs(list: &[Value], status: &str) -> Vec<String> {
    let of = |e: &&Value| e["event"] == "rung" && e["status"] == status;
    list.iter().filter(of).map(|e| e["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_header_compiles_alone_under_both_standards() {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs_err::read_dir(Path::new(ROOT).join("scaffolds/cuda")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "h") {
            continue;
        }
        let whole = path.ends_with("run.h");
        for standard in if whole { &["-std=c++17", "-std=c++20"][..] } else { &["-std=c++17"] } {
            let source = folder.path().join("alone.cpp");
            fs_err::write(&source, format!("#include \"{}\"\n", path.display())).unwrap();
            let result = Command::new(compiler())
                .args([
                    standard,
                    "-fsyntax-only",
                    "-Wall",
                    "-Wextra",
                    "-Wpedantic",
                    "-Wshadow",
                    "-Wconversion",
                    "-Werror",
                ])
                .arg(format!("-I{ROOT}/tests/fake_cuda"))
                .arg(&source)
                .output()
                .unwrap();
            assert!(result.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&result.stderr));
        }
    }
}

#[test]
fn a_right_kernel_passes_every_rung() {
    let (code, list) = events("", &[]);
    assert_eq!(code, 0);
    assert!(rungs(&list, "fail").is_empty() && rungs(&list, "skip").is_empty());
    assert_eq!(list[0]["event"], "start");
    assert_eq!(list[0]["compute_capability"], "9.0");
    assert_eq!(list[1]["event"], "descriptor");
    let gaussian = list.iter().find(|e| e["name"] == "gaussian").unwrap();
    assert_eq!(gaussian["metrics"]["rel_l2"], gaussian["metrics"]["rel_l2_floor"]);
    assert_eq!(gaussian["metrics"]["exact"], false);
    let end = list.last().unwrap();
    assert_eq!((&end["event"], &end["exit"], &end["passed"]), (&Value::from("end"), &Value::from(0), &Value::from(8)));
}

#[test]
fn launches_before_the_kernel_are_tried_alone_and_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("linear");
    let flags = ["-std=c++17", "-O1", "-ffast-math", "-DPROLOGUES=2", "-DBLOCK_SCALES=1", "-DIN_ELEMENT=e4m3"];
    compile("linear.cpp", &flags, &path);
    let run = |fault: &str| {
        let output = Command::new(&path).arg("--json").env("KREPRO_FAULT", fault).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let list: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
        (output.status.code().unwrap(), list)
    };
    let named = |list: &[Value], event: &str, status: &str| -> Vec<String> {
        let of = |e: &&Value| e["event"] == event && e["status"] == status;
        let name = |e: &Value| format!("{} {}", e["name"].as_str().unwrap(), e["writes"].as_str().unwrap_or_default());
        let mut names: Vec<String> = list.iter().filter(of).map(name).collect();
        names.sort();
        names.dedup();
        names
    };
    let (code, list) = run("");
    assert_eq!(code, 0, "{list:#?}");
    assert_eq!(named(&list, "prologue", "pass"), ["quantise a", "quantise scale_a", "widen bias"]);
    assert_eq!(named(&list, "sequence", "pass").len(), 8);
    assert!(
        list.iter()
            .any(|e| e["event"] == "prologue" && e["writes"] == "a" && e["padding_written"] == 0 && e["padding"] == 64)
    );
    let own = |list: &[Value], rung: &str, writes: &str| {
        let of = |e: &&Value| e["event"] == "prologue" && e["rung"] == rung && e["writes"] == writes;
        list.iter().find(of).unwrap().clone()
    };
    for (fault, faulty) in [
        ("prologue.cut", "widen bias"),
        ("prologue.swap", "widen bias"),
        ("prologue.truncate", "widen bias"),
        ("prologue.guard", "widen bias"),
        ("prologue.scale", "quantise scale_a"),
        ("prologue.floor", "quantise a"),
    ] {
        let (code, list) = run(fault);
        assert_eq!((code, named(&list, "prologue", "fail")), (1, vec![faulty.to_owned()]), "{fault}");
        assert!(rungs(&list, "fail").is_empty(), "{fault}: the kernel gets what it should");
        let map = list.iter().find(|e| e["event"] == "prologue_map");
        match fault {
            "prologue.cut" => {
                let of = own(&list, "ones", "bias");
                assert_eq!((&of["unwritten"], &of["columns"]["first"]), (&Value::from(3), &Value::from(21)));
                assert_eq!(map.unwrap()["unwritten"], 3);
            }
            "prologue.swap" => {
                assert_eq!(own(&list, "ones", "bias")["status"], "pass");
                let map = map.unwrap();
                assert_eq!(
                    (&map["moved"], &map["permutation"], &map["moves"][0]["from_column"]),
                    (&24.into(), &true.into(), &1.into())
                );
            }
            "prologue.truncate" => assert_eq!(
                (own(&list, "integers", "bias")["status"].as_str(), &map.unwrap()["right"]),
                (Some("pass"), &24.into())
            ),
            "prologue.floor" => assert_eq!((own(&list, "integers", "a")["status"].as_str(), map), (Some("pass"), None)),
            _ => {}
        }
    }
    // A scale that is no power of two may be rounded down as well as up.
    assert_eq!(run("prologue.below").0, 0);
    // A faulty kernel leaves them alone.
    let (code, list) = run("tail");
    assert_eq!((code, named(&list, "prologue", "fail").len()), (1, 0));
    assert!(rungs(&list, "fail").contains(&"ones".to_owned()) && !named(&list, "sequence", "fail").is_empty());
}

#[test]
fn every_fault_fails_on_the_rungs_that_can_see_it() {
    let all = ["integers.repeat", "ones", "integers", "padding", "one_hot.a", "one_hot.b", "epilogue", "gaussian"];
    let without = |hidden: &[&str]| -> Vec<&str> { all.into_iter().filter(|n| !hidden.contains(n)).collect() };
    for (fault, expected) in [
        ("tail", without(&["epilogue"])),
        ("over", vec!["padding"]),
        ("transposed", without(&["ones"])),
        ("bias", without(&["ones", "one_hot.a", "one_hot.b"])),
        ("unwritten", without(&[])),
        ("nothing", without(&[])),
        ("zero", without(&[])),
        ("nan", without(&[])),
        ("guard", without(&[])),
        ("gap", without(&[])),
        ("input", without(&[])),
        ("race", without(&[])),
    ] {
        let (code, list) = events(fault, &[]);
        assert_eq!(code, 1, "{fault}");
        assert_eq!(rungs(&list, "fail"), expected, "{fault}");
    }
}

#[test]
fn what_makes_a_rung_fail_is_named() {
    for (fault, why) in [
        ("nothing", "the kernel wrote nothing"),
        ("unwritten", "20 of 240 elements unwritten"),
        ("guard", "2 guard bytes overwritten"),
        ("gap", "4 bytes between the output's rows overwritten"),
        ("input", "1 bytes of inputs overwritten"),
    ] {
        let (_, list) = events(fault, &["--rung", "ones"]);
        assert_eq!(list.iter().find(|e| e["event"] == "rung").unwrap()["why"], why);
    }
    let (_, list) = events("race", &["--rung", "ones"]);
    let rung = list.iter().find(|e| e["event"] == "rung").unwrap();
    assert_eq!(rung["deterministic"], false);
    let failure = &rung["failures"][0];
    assert_eq!((&failure["row"], &failure["column"], &failure["expected"]), (&2.into(), &3.into(), &80.into()));
}

#[test]
fn no_device_a_crash_and_a_hang_have_their_own_exit_codes() {
    assert_eq!(events("device", &[]).0, 125);
    assert_eq!(events("image", &[]).0, 125);
    let (code, list) = events("crash", &[]);
    assert_eq!((code, rungs(&list, "skip").len()), (1, 7));
    assert!(list.iter().any(|e| e["event"] == "cuda_error" && e["rung"] == "integers.repeat"));
    let (code, list) = events("hang", &["--deadline", "0.2"]);
    assert_eq!(code, 4);
    let hang = list.iter().find(|e| e["event"] == "hang").unwrap();
    assert_eq!(hang["rung"], "integers.repeat");
    assert!(hang["command"].as_str().unwrap().contains("cuda-gdb"));
    assert_eq!(list.last().unwrap()["exit"], 4);
}

#[test]
fn bad_usage_is_exit_2_with_what_to_type() {
    for (arguments, expected) in [
        (vec!["--frobnicate"], "unknown option --frobnicate"),
        (vec!["--rung", "none"], "there is no such rung"),
        (vec!["--plan", "x"], "belong together"),
        (vec!["--input", "q=x"], "no operand `q`"),
        (vec!["--input", "a=/nonexistent"], "/nonexistent: cannot be opened"),
        (vec!["--deadline", "-1"], "seconds above 0"),
        (vec!["--launches", "0"], "from 1 to 100000"),
    ] {
        let output = run("", &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(expected), "{arguments:?}");
    }
}

#[test]
fn a_plan_is_read_strictly_with_line_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan");
    for (text, expected) in [
        ("", ":1: the file is empty"),
        ("krepro-plan 2\n", ":1: plan version 2"),
        ("krepro-plan 1\n\n# x\nfill a constant value=1\n", ":4: `fill` outside a probe"),
        ("krepro-plan 1\nprobe p\nfill a constant\nend\n", ":3: `value=...` is missing"),
        ("krepro-plan 1\nprobe p\nfill a constant value=1 x=2\nend\n", ":3: `x=2` does not belong here"),
        ("krepro-plan 1\nprobe p\nfill a integers low=3 high=1 seed=0\nend\n", ":3: low is above high"),
        ("krepro-plan 1\nprobe p\nfill a address base=0 digit=0 pitch=1 first=0\nend\n", ":3: base must be at least 2"),
        ("krepro-plan 1\nprobe p\nfill out constant value=1\nend\n", ":3: the output is set by `out`"),
        ("krepro-plan 1\nprobe p\nlaunches 0\nend\n", ":3: launches must be 1"),
        ("krepro-plan 1\nprobe p;q\nend\n", ":2: probe name"),
        ("krepro-plan 1\nprobe p\n", ":3: the file ends inside probe p"),
        (
            "krepro-plan 1\nprobe p\nfill alpha constant value=1\nend\n",
            "fills `alpha`, which this kernel does not have",
        ),
    ] {
        fs_err::write(&plan, text).unwrap();
        let output = run("", &["--plan", plan.to_str().unwrap(), "--observations", "/dev/null"]);
        assert_eq!(output.status.code(), Some(2), "{text:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(expected), "{text:?}: {said}");
    }
}

#[test]
fn observations_hold_storage_mask_and_hits() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan");
    let file = folder.path().join("observations");
    let text = "krepro-plan 1\nprobe one\nfill a constant value=1\nfill b constant value=1\nlaunches 2\nend\n\
                probe two\nfill bias column_digits base=7 digit=0 first=1\nout constant value=3\nend\n";
    fs_err::write(&plan, text).unwrap();
    let arguments = ["--plan", plan.to_str().unwrap(), "--observations", file.to_str().unwrap()];
    assert_eq!(run("unwritten", &arguments).status.code(), Some(0));
    let bytes = fs_err::read(&file).unwrap();
    let number32 = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let number64 = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(&bytes[..8], b"KREPROBS");
    assert_eq!((number32(8), number32(12)), (1, 3));
    let storage = (4 * 32 + 24) * 2;
    let mask = (4 * 32 + 24usize).div_ceil(8);
    let record = 16 + 7 * 8 + storage + mask;
    assert_eq!(bytes.len(), 16 + 3 * record);
    for (index, (probe, launch)) in [(0, 0), (0, 1), (1, 0)].into_iter().enumerate() {
        let at = 16 + index * record;
        assert_eq!((number32(at), number32(at + 4), number32(at + 8), number32(at + 12)), (probe, launch, 0, 0));
        assert_eq!([number64(at + 16), number64(at + 24), number64(at + 32)], [5, 24, 32]);
        let data = at + 16 + 56;
        let first = u16::from_le_bytes(bytes[data..data + 2].try_into().unwrap());
        assert_eq!(first, if probe == 0 { 0x42a0 } else { 0x3f80 }, "80, or the bias digit 1");
        let written = |element: usize| bytes[data + storage + element / 8] >> (element % 8) & 1;
        assert_eq!(written(0), 1);
        assert_eq!(written(23), u8::from(probe == 1), "unwritten shows only where the output held a sentinel");
    }
    let refused = ["--plan", plan.to_str().unwrap(), "--observations", "/nonexistent/file"];
    assert_eq!(run("", &refused).status.code(), Some(74));
}

#[test]
fn types_without_a_spare_nan_show_unwritten_elements_by_two_fills() {
    let folder = tempfile::tempdir().unwrap();
    for (input, output) in [("e4m3", "e4m3"), ("f16", "f16"), ("f32", "f32"), ("s8", "s32"), ("e5m2", "bf16")] {
        let path = folder.path().join("linear");
        let defines = [format!("-DIN_ELEMENT={input}"), format!("-DOUT_ELEMENT={output}")];
        compile("linear.cpp", &["-std=c++17", "-O1", &defines[0], &defines[1]], &path);
        let exit = |fault: &str, rung: &str| {
            let output = Command::new(&path).args(["--rung", rung]).env("KREPRO_FAULT", fault).output().unwrap();
            (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
        };
        for rung in ["integers", "ones", "one_hot.b", "gaussian"] {
            let (code, text) = exit("", rung);
            assert_eq!(code, 0, "{input} {output} {rung}: {text}");
        }
        let (code, text) = exit("unwritten", "integers");
        assert_eq!(code, 1);
        assert!(text.contains("20 of 240 elements unwritten"), "{input} {output}: {text}");
    }
}

/// Every fill of every type, C++ under the flags that are hardest on it against Rust.
#[test]
fn fills_have_equal_bits_in_both_languages() {
    use krepro::model::{ElementType, Fill, OutFill, Padding, Plan, Probe, Role};
    let (rows, columns) = (7, 53);
    let seed = 0xfedc_ba98_7654_3210;
    let fills = [
        Fill::Constant { value: 0.1 },
        Fill::Constant { value: -1e30 },
        Fill::Constant { value: 1e-40 },
        Fill::Integers { low: -3, high: 3, seed },
        Fill::Integers { low: -1000, high: 70_000, seed: 1 },
        Fill::Gaussian { seed: u64::MAX, scale: 1.0 },
        Fill::Gaussian { seed: 5, scale: 1e-3 },
        Fill::Uniform { low: 0.1, high: 0.7, seed },
        Fill::Uniform { low: -1e-6, high: 3.3, seed: 9 },
        Fill::Outlier { seed: 77, scale: 2.5 },
        Fill::OneHot { stride: 17, offset: 5, value: -2.0 },
        Fill::Window { start: 4, value: 1.5 },
        Fill::Blocks { width: 10 },
        Fill::Address { base: 251, digit: 0, pitch: 53, first: 1 },
        Fill::Address { base: 15, digit: 1, pitch: 64, first: -7 },
        Fill::Address { base: 251, digit: 40, pitch: 53, first: 2 },
        Fill::RowDigits { base: 3, digit: 1, first: 1 },
        Fill::ColumnDigits { base: 100, digit: 0, first: -50 },
        Fill::Powers { low: -130, high: 20, seed },
        Fill::Codes { step: 37 },
    ];
    let probe = |(index, fill): (usize, &Fill)| Probe {
        name: format!("f{index}"),
        fills: vec![(Role::A, fill.clone())],
        padding: if index % 2 == 0 { Padding::Zero } else { Padding::Poison },
        out: OutFill::Sentinel,
        launches: 1,
    };
    let plan = Plan { probes: fills.iter().enumerate().map(probe).collect() };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan");
    fs_err::write(&file, plan.text()).unwrap();
    let built = folder.path().join("fills");
    compile("fills.cpp", &["-std=c++20", "-O3", "-ffast-math", "-march=native"], &built);
    for element in ElementType::ALL {
        let output =
            Command::new(&built).arg(&file).args([element.name(), &rows.to_string(), &columns.to_string()]).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        assert_eq!(text.lines().count(), fills.len(), "{element}");
        for ((index, fill), line) in fills.iter().enumerate().zip(text.lines()) {
            let (codes, gap) = line.split_once("gap ").unwrap();
            let codes: Vec<u64> = codes.split_whitespace().map(|c| u64::from_str_radix(c, 16).unwrap()).collect();
            let ours: Vec<u64> = (0..rows)
                .flat_map(|r| (0..columns).map(move |c| oracle::code(fill, element, r, c, columns).unwrap()))
                .collect();
            assert!(codes == ours, "{element} {}", fill.text());
            assert_eq!(gap == "0", index % 2 == 0, "{element}: padding {gap}");
        }
    }
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), data].concat()
}

/// Tensors as (name, dtype, shape, data).
fn safetensors(tensors: &[(&str, &str, &[u64], &[u8])]) -> Vec<u8> {
    let mut header = serde_json::json!({ "__metadata__": { "format": "pt" } });
    let mut data = Vec::new();
    for (name, dtype, shape, bytes) in tensors {
        let begin = data.len();
        data.extend_from_slice(bytes);
        header[name] = serde_json::json!({ "dtype": dtype, "shape": shape, "data_offsets": [begin, data.len()] });
    }
    let header = header.to_string();
    [(header.len() as u64).to_le_bytes().as_slice(), header.as_bytes(), &data].concat()
}

#[test]
fn safetensors_are_read_as_the_same_numbers_are_from_npy() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, out] = real_inputs(folder.path());
    let f32s = fs_err::read(&a).unwrap()[128..].to_vec();
    assert_eq!(f32s.len(), 5 * 80 * 4);
    let weight = fs_err::read(&b).unwrap();
    let one = folder.path().join("a.safetensors");
    fs_err::write(&one, safetensors(&[("x", "F32", &[5, 80], &f32s)])).unwrap();
    let two = folder.path().join("b.safetensors");
    let bias = fs_err::read(folder.path().join("bias.bin")).unwrap();
    fs_err::write(&two, safetensors(&[("w", "BF16", &[24, 80], &weight), ("c", "BF16", &[24], &bias)])).unwrap();
    let arguments =
        [format!("a={}", one.display()), format!("b={}#w", two.display()), format!("bias={}#c", two.display())];
    let mut all = vec!["--rung", "real", "--observed", out.to_str().unwrap()];
    all.extend(arguments.iter().flat_map(|argument| ["--input", argument]));
    let (code, list) = events("", &all);
    let seen = list.into_iter().find(|e| e["event"] == "observed").unwrap();
    assert_eq!((code, &seen["same"], &seen["production"]["wrong"]), (0, &Value::from(true), &Value::from(0)));
    let mut cut = safetensors(&[("x", "F32", &[5, 80], &f32s)]);
    cut.truncate(cut.len() - 1);
    let damaged = |from: &str, to: &str| {
        let good = safetensors(&[("x", "F32", &[5, 80], &f32s)]);
        let at = good.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        [&good[..at], to.as_bytes(), &good[at + from.len()..]].concat()
    };
    for (bytes, suffix, expected) in [
        (safetensors(&[("x", "BF16", &[24, 80], &weight), ("y", "BF16", &[24], &bias)]), "", "several tensors; write"),
        (safetensors(&[("x", "BF16", &[24, 80], &weight)]), "#z", "no tensor `z`; it has x"),
        (safetensors(&[("x", "BF16", &[24, 80], &weight)]), "", "`x` is BF16 24 x 80, but `a` is 5 x 80"),
        (safetensors(&[("x", "F64", &[5, 80], &f32s)]), "", "`x` is F64, which is not read; save it as bf16"),
        (cut, "", "ends before its last byte"),
        (damaged("dtype", "dtyqe"), "", "an unknown member"),
        (damaged("[5,80]", "[5,8}]"), "", "is damaged at byte"),
    ] {
        let file = folder.path().join("x.safetensors");
        fs_err::write(&file, bytes).unwrap();
        let output = run("", &["--input", &format!("a={}{suffix}", file.display())]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

/// Small integers as f32, and the same products as production would have stored them.
fn real_inputs(folder: &Path) -> [PathBuf; 3] {
    let value = |i: usize| ((i * 7 + i / 80) % 5) as f32 - 2.0;
    let a: Vec<f32> = (0..5 * 80).map(value).collect();
    let b: Vec<f32> = (0..24 * 80).map(|i| value(i + 3)).collect();
    let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let codes =
        |values: &[f32]| values.iter().flat_map(|v| half::bf16::from_f32(*v).to_le_bytes()).collect::<Vec<u8>>();
    let product = |m: usize, n: usize| (0..80).map(|k| a[m * 80 + k] * b[n * 80 + k]).sum::<f32>();
    let out: Vec<f32> = (0..5 * 24).map(|i| product(i / 24, i % 24) + 1.0).collect();
    let write = |name: &str, bytes: Vec<u8>| {
        let path = folder.join(name);
        fs_err::write(&path, bytes).unwrap();
        path
    };
    write("bias.bin", codes(&[1.0; 24]));
    [
        write("a.npy", npy("<f4", "(5, 80)", &bytes(&a))),
        write("b.bin", codes(&b)),
        write("out.npy", npy("<u2", "(5, 24)", &codes(&out))),
    ]
}

#[test]
fn real_inputs_and_productions_output_are_read_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, out] = real_inputs(folder.path());
    let input = |role: &str, path: &Path| format!("{role}={}", path.display());
    let (a, b) = (input("a", &a), input("b", &b));
    let bias = input("bias", &folder.path().join("bias.bin"));
    let common =
        ["--rung", "real", "--input", &a, "--input", &b, "--input", &bias, "--observed", out.to_str().unwrap()];
    let observed = |fault: &str| {
        let (code, list) = events(fault, &common);
        (code, list.into_iter().find(|e| e["event"] == "observed").unwrap())
    };
    let (code, right) = observed("");
    assert_eq!((code, &right["same"], &right["run"]["wrong"]), (0, &Value::from(true), &Value::from(0)));
    assert_eq!(right["production"]["wrong"], 0);
    let (code, wrong) = observed("tail");
    assert_eq!((code, &wrong["same"], &wrong["production"]["wrong"]), (1, &Value::from(false), &Value::from(0)));
    assert!(wrong["run"]["wrong"].as_u64().unwrap() > 60, "{wrong}");
    let (code, unwritten) = observed("unwritten");
    assert_eq!((code, &unwritten["same"], &unwritten["run"]["unwritten"]), (1, &Value::from(true), &Value::from(10)));
    assert_eq!(observed("nothing").1["same"], false);
}

#[test]
fn a_dump_of_the_wrong_size_shape_or_type_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x");
    for (bytes, expected) in [
        (vec![0u8; 799], "799 raw bytes, but `a` (5 x 80 bf16) takes 800"),
        (npy("<f4", "(80, 5)", &[0; 1600]), "the shape is 80 x 5, but `a` (5 x 80 bf16) is wanted"),
        (npy("<f4", "(5, 80)", &[0; 1599]), "the data do not fit the shape"),
        (npy(">f4", "(5, 80)", &[0; 1600]), "big-endian"),
        (npy("<u4", "(5, 80)", &[0; 1600]), "cannot be bf16; save floats"),
        (npy("<f4", "(5, 80)", &[])[..40].to_vec(), "the .npy header is cut off"),
        (npy("<f4", "(4294967296, 4294967296)", &[]), "the shape is too large"),
    ] {
        fs_err::write(&file, bytes).unwrap();
        let output = run("", &["--input", &format!("a={}", file.display())]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn block_scales_act_within_the_sum() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("linear");
    for (element, packed) in [("e2m1", false), ("e4m3", true)] {
        let (element, packed) = (format!("-DIN_ELEMENT={element}"), format!("-DPACKED={packed}"));
        compile("linear.cpp", &["-std=c++17", "-DBLOCK_SCALES=1", &element, &packed], &path);
        let run = |fault: &str| Command::new(&path).arg("--json").env("KREPRO_FAULT", fault).output().unwrap();
        let right = run("");
        assert_eq!(right.status.code(), Some(0), "{}", String::from_utf8_lossy(&right.stdout));
        let wrong = run("scale");
        let list: Vec<Value> =
            String::from_utf8(wrong.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(wrong.status.code(), Some(1));
        assert_eq!(rungs(&list, "fail"), ["integers.repeat", "integers", "padding", "codes.scale_a", "gaussian"]);
    }
}

/// Grouped rows and split-K: kernels that add in every order pass every rung on many shapes, and faults of each fail.
#[test]
fn groups_and_splits_pass_in_any_order_and_their_faults_fail() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared");
    compile("shared.cpp", &["-std=c++17", "-O1", "-ffast-math"], &path);
    let ran = |variables: &[(&str, &str)]| {
        let output = Command::new(&path).args(["--launches", "4"]).envs(variables.iter().copied()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (groups, splits) =
        (["offsets", "of_row", "counts"], ["workspace", "narrow", "atomics", "reduce", "reduce_wide"]);
    for case in groups {
        assert_eq!(ran(&[("KREPRO_CASE", case)]).0, Some(0), "{case}");
        for fault in ["row", "cut", "offset", "alpha"] {
            assert_eq!(ran(&[("KREPRO_CASE", case), ("KREPRO_FAULT", fault)]).0, Some(1), "{case} {fault}");
        }
    }
    for case in splits {
        for (k, count, order) in [("17", "2", "0"), ("96", "3", "7"), ("200", "8", "1000003"), ("555", "5", "90001")] {
            let (code, text) =
                ran(&[("KREPRO_CASE", case), ("KREPRO_K", k), ("KREPRO_SPLITS", count), ("KREPRO_ORDER", order)]);
            assert_eq!(code, Some(0), "{case} {k} {count}: {text}");
        }
        for fault in ["missing", "twice", "dirty"] {
            assert_eq!(ran(&[("KREPRO_CASE", case), ("KREPRO_FAULT", fault)]).0, Some(1), "{case} {fault}");
        }
    }
}
