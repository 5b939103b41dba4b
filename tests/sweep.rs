//! Sweeps over a bundled example, through the real nvcc: batched, resumable, nothing compiled or run twice.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
#[path = "common/example.rs"]
mod example;

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use example::{krepro, reproducer, shaped};
use krepro::sys::{Finished, Machine, Request, System};
use serde_json::Value;

fn sweep(folder: &Utf8Path, vary: &str) -> Value {
    let finished = krepro(&["sweep", folder.as_str(), "--vary", vary, "--build-only", "--jobs", "1", "--json"]);
    assert!(finished.success(), "{}", finished.all_text());
    serde_json::from_slice(&finished.output).unwrap()
}

#[test]
fn cases_are_built_together_and_the_second_sweep_starts_no_compiler() {
    if common::toolchain().is_none() {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let folder = reproducer(Utf8Path::from_path(temporary.path()).unwrap());
    let first = sweep(&folder, "shape.batch=1,8,16");
    assert_eq!(first["units"], serde_json::json!({ "built": 1, "compiled": 1 }));
    let cases = first["cases"].as_array().unwrap();
    let names: Vec<&str> = cases.iter().map(|case| case["case"].as_str().unwrap()).collect();
    assert_eq!(names, ["shape.batch=1", "shape.batch=8", "shape.batch=16"]);
    assert!(cases.iter().all(|case| case["registers"].as_u64().unwrap() > 0), "{first}");

    let second = sweep(&folder, "shape.batch=1,8,16");
    assert_eq!(second["units"], serde_json::json!({ "built": 1, "compiled": 0 }));

    // The executable of the batch knows its cases, and nothing else.
    let units = folder.join("sweep/units");
    let unit = units.join(&Machine.list(&units)[0]).join("build/sweep");
    let listed = Machine.run(&Request::new(unit.as_str()).arguments(["--case", "shape.batch=8", "--list"])).unwrap();
    assert!(listed.success() && !listed.output.is_empty(), "{}", listed.all_text());
    let unknown = Machine.run(&Request::new(unit.as_str()).arguments(["--case", "shape.batch=9"])).unwrap();
    assert_eq!(unknown.ending, krepro::sys::Ending::Code(2));
}

#[test]
fn what_a_sweep_would_lose_is_refused() {
    if common::toolchain().is_none() {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let folder = reproducer(Utf8Path::from_path(temporary.path()).unwrap());
    let record = folder.join("repro.toml");
    let text = String::from_utf8(Machine.read(&record).unwrap()).unwrap();
    let edited = text.replace("padding_zero = { value = false", "padding_zero = { value = true");
    Machine.write(&record, edited.as_bytes()).unwrap();
    let refused = krepro(&["sweep", folder.as_str(), "--vary", "shape.batch=1", "--build-only"]);
    assert_eq!(refused.ending, krepro::sys::Ending::Code(2), "{}", refused.all_text());
    assert!(refused.all_text().contains("the contract would be lost"), "{}", refused.all_text());
    // Nor is a header looked for in vain without a word.
    let gone = text.replace("/simt_linear.cuh\"", "/gone.cuh\"");
    assert_ne!(gone, text);
    Machine.write(&record, gone.as_bytes()).unwrap();
    let refused = krepro(&["sweep", folder.as_str(), "--vary", "shape.batch=1", "--build-only"]);
    assert_eq!(refused.ending, krepro::sys::Ending::Code(2), "{}", refused.all_text());
    assert!(refused.all_text().contains("gone.cuh is not found from this folder"), "{}", refused.all_text());
}

#[test]
fn a_failing_shape_is_shrunk_and_a_second_kernel_stands_beside_it() {
    if common::toolchain().is_none() {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let place = Utf8Path::from_path(temporary.path()).unwrap();
    // The last 16 of k are left out: wrong at every shape.
    let wrong = shaped(place, "wrong", [2, 2, 16], 2);
    let right = shaped(place, "right", [2, 2, 16], 0);
    let oracle = format!("kernel:{right}");
    let run = ["run", wrong.as_str(), "--backend", "cpu", "--shrink", "--oracle", &oracle, "--json"];
    let finished = krepro(&run);
    assert_eq!(finished.ending, krepro::sys::Ending::Code(1), "{}", finished.all_text());
    let answer = &serde_json::from_slice::<Value>(&finished.output).unwrap()["answer"];
    let evidence = answer["evidence"].to_string();
    assert!(evidence.contains("is right on all") && evidence.contains("this one differs from it"), "{evidence}");
    // Element by element: ones gives 0 in the place of 16 in all four; wherever they differ the other one is right.
    let oracle = &answer["details"]["oracle"];
    assert_eq!(oracle[0], right.as_str());
    let rungs = oracle[1].as_array().unwrap();
    assert!(rungs.len() >= 5 && rungs.iter().all(|rung| rung["wrong_there"] == 0), "{oracle:#}");
    assert!(rungs.iter().all(|rung| rung["wrong_here"] == rung["against"]["wrong"]), "{oracle:#}");
    let ones = &rungs.iter().find(|rung| rung["probe"] == "ones").unwrap()["against"];
    assert_eq!(serde_json::json!([ones["wrong"], ones["max_abs"], ones["rel_l2"]]), serde_json::json!([4, 16.0, 1.0]));
    // Each shape that is said to fail was built and run, and the smallest is a reproducer.
    let shrunk = &answer["details"]["shrunk"];
    assert_eq!(shrunk["shape"], serde_json::json!([1, 1, 1]), "{answer:#}");
    assert_eq!(shrunk["leaves"], "shape.batch=1 shape.in_features=1 shape.out_features=1");
    let tried = shrunk["tried"].as_array().unwrap();
    assert!(tried.len() >= 3 && tried.iter().all(|shape| shape["answer"] == "fails"), "{shrunk:#}");
    let again = krepro(&["check", shrunk["folder"].as_str().unwrap()]);
    assert!(again.success(), "{}", again.all_text());
}

/// Lines of the journal by case.
fn journal(folder: &Utf8Path) -> BTreeMap<String, Vec<String>> {
    let bytes = Machine.read(&folder.join("sweep/results.jsonl")).unwrap_or_default();
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in String::from_utf8(bytes).unwrap().lines() {
        if let Ok(record) = serde_json::from_str::<Value>(line) {
            out.entry(record["case"].as_str().unwrap().to_owned()).or_default().push(line.to_owned());
        }
    }
    out
}

#[test]
fn a_sweep_survives_a_hang_a_crash_a_broken_case_and_being_killed() {
    if common::toolchain().is_none() {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let folder = reproducer(Utf8Path::from_path(temporary.path()).unwrap());
    let cases = folder.join("cases.csv");
    let list = "shape.batch,defect\n1,0\n8,101\n8,102\n8,0\n8,4\n16,0\n8,103\n";
    Machine.write(&cases, list.as_bytes()).unwrap();
    let csv = folder.join("table.csv");
    let junit = folder.join("junit.xml");
    let arguments = [
        "sweep",
        folder.as_str(),
        "--cases",
        cases.as_str(),
        "--backend",
        "cpu",
        "--claim",
        "ratio=10",
        "--jobs",
        "1",
        "--json",
        "--csv",
        csv.as_str(),
        "--junit",
        junit.as_str(),
    ];

    // Killed with two results on the disk.
    let mut first = Command::new(env!("CARGO_BIN_EXE_krepro"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let limit = Instant::now() + Duration::from_secs(400);
    while journal(&folder).len() < 2 && first.try_wait().unwrap().is_none() && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(5));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let before = journal(&folder);
    assert!((2..7).contains(&before.len()), "{before:?}");

    let finished = krepro(&arguments);
    assert_eq!(finished.ending, krepro::sys::Ending::Code(3), "{}", finished.all_text());
    let after = journal(&folder);
    assert_eq!(after.len(), 7);
    assert!(after.values().all(|lines| lines.len() == 1), "a case was run twice: {after:?}");
    assert!(before.iter().all(|(case, lines)| after[case] == *lines), "a result was lost");

    let told: Value = serde_json::from_slice(&finished.output).unwrap();
    let verdicts: BTreeMap<String, String> = told["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| (case["case"].as_str().unwrap().to_owned(), case["verdict"].as_str().unwrap().to_owned()))
        .collect();
    let expected = [
        ("defect=0 shape.batch=1", "pass"),
        ("defect=0 shape.batch=16", "pass"),
        ("defect=0 shape.batch=8", "pass"),
        ("defect=101 shape.batch=8", "hang"),
        ("defect=102 shape.batch=8", "fail"),
        ("defect=103 shape.batch=8", "no_build"),
        ("defect=4 shape.batch=8", "fail"),
    ];
    let expected: BTreeMap<String, String> =
        expected.iter().map(|(case, verdict)| ((*case).to_owned(), (*verdict).to_owned())).collect();
    assert_eq!(verdicts, expected, "{told:#}");
    // The claim is asked of every case.
    assert!(after["defect=0 shape.batch=1"][0].contains("REFUTED"), "{after:?}");
    let edges = told["edges"].as_array().unwrap();
    let batch = edges.iter().find(|edge| edge["leaf"] == "shape.batch").unwrap();
    assert_eq!(batch["largest_passing"], serde_json::json!([16, "defect=0 shape.batch=16"]));
    assert_eq!(batch["smallest_failing"][0], 8);
    let text = String::from_utf8(Machine.read(&junit).unwrap()).unwrap();
    assert!(text.contains("tests=\"7\" failures=\"3\" errors=\"1\" skipped=\"0\""), "{text}");
    assert_eq!(String::from_utf8(Machine.read(&csv).unwrap()).unwrap().lines().count(), 8);

    // A third sweep runs nothing.
    let third = krepro(&arguments);
    let told: Value = serde_json::from_slice(&third.output).unwrap();
    assert_eq!(told["units"], serde_json::json!({ "built": 0, "compiled": 0 }));
    assert_eq!(journal(&folder), after);
}

/// krepro where no file may grow beyond `blocks` of 512 bytes: writes fail as on a full disk, and nothing is killed.
fn on_a_full_disk(blocks: u32, arguments: &[&str]) -> Finished {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let request = Request::new("sh").arguments(["-c", &script, env!("CARGO_BIN_EXE_krepro")]);
    Machine.run(&request.arguments(arguments.iter().copied())).unwrap()
}

#[test]
fn a_full_disk_is_a_file_error_and_leaves_no_half_written_file() {
    let temporary = tempfile::tempdir().unwrap();
    let top = Utf8Path::from_path(temporary.path()).unwrap();
    let example = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/simt_linear");
    let out = top.join("small");
    let new = [
        "new".to_owned(),
        "--kernel".to_owned(),
        format!("{example}/simt_linear.cuh:linear_kernel"),
        "--site".to_owned(),
        format!("{example}/site.cc:emit_simt_linear"),
        "--scaffold".to_owned(),
        format!("{example}/scaffold.toml"),
        "--set=shape.batch=16".to_owned(),
        "--set=shape.out_features=64".to_owned(),
        "--set=shape.in_features=64".to_owned(),
        "--set=defect=0".to_owned(),
        format!("--log={example}/jit.log"),
        format!("-o{out}"),
    ];
    let words: Vec<&str> = new.iter().map(String::as_str).collect();
    let finished = on_a_full_disk(64, &words);
    assert_eq!(finished.ending, krepro::sys::Ending::Code(74), "{}", finished.all_text());
    assert!(finished.all_text().contains("linear_kernel.cu"), "{}", finished.all_text());
    assert!(
        Machine.list(&out).iter().all(|name| !name.starts_with(".krepro") && !name.ends_with(".cu")),
        "{:?}",
        Machine.list(&out)
    );

    if common::toolchain().is_none() {
        return;
    }
    let folder = reproducer(top);
    let finished = on_a_full_disk(1024, &["build", folder.as_str()]);
    assert_eq!(finished.ending, krepro::sys::Ending::Code(74), "{}", finished.all_text());
    assert!(!Machine.is_file(&folder.join("build/linear_kernel")));
    let vary = ["sweep", folder.as_str(), "--vary", "shape.batch=1,8", "--build-only", "--jobs", "1"];
    let finished = on_a_full_disk(1024, &vary);
    assert_eq!(finished.ending, krepro::sys::Ending::Code(74), "{}", finished.all_text());
    assert!(journal(&folder).is_empty());
}
