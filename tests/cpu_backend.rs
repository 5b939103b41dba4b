//! Both examples and every defect that can be planted in them, built by nvcc and run on the CPU backend.
//!
//! The shapes are small, which changes what some rungs see: at k = 1024 the sum of ones over 1008 is not rounded to the sum over
//! 1024, so `ones` sees a missing tail that it cannot see at k = 6144; the row that a SIMT kernel reads past its end is a row of
//! the guard. Every defect is seen; none needs the shape of the examples' README.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use krepro::model::{Event, RungStatus};
use krepro::read::observation::json_lines;
use krepro::run::{CpuOptions, Emulated, Start, run_on_cpu};
use krepro::sys::{Ending, Finished, Machine, Request, System};

fn krepro(arguments: &[String]) -> Finished {
    let request = Request::new(env!("CARGO_BIN_EXE_krepro")).arguments(arguments.iter().cloned());
    let shown = format!("krepro {}", arguments.join(" "));
    let finished = Machine.run(&request).unwrap();
    assert!(!finished.all_text().contains("panicked"), "{shown}: {}", finished.all_text());
    finished
}

/// An example, with what its site is given.
struct Example {
    name: &'static str,
    kernel: &'static str,
    site: &'static str,
    flags: &'static str,
    shape: &'static [&'static str],
}

const SIMT: Example = Example {
    name: "simt_linear",
    kernel: "linear_kernel",
    site: "emit_simt_linear",
    flags: "-DNDEBUG",
    shape: &["shape.batch=16", "shape.out_features=64", "shape.in_features=512"],
};

const SM90: Example = Example {
    name: "linear_sm90",
    kernel: "linear_task",
    site: "register_linear_sm90",
    flags: "-DENGINE_TARGET=90 --expt-relaxed-constexpr",
    shape: &[
        "shape.batch_size=16",
        "shape.output_size=128",
        "shape.reduction_size=1024",
        "shape.output_stride=128",
        "with_residual=false",
    ],
};

/// Fewer rows than wgmma has columns: three of eight lie in the padding of a tile.
const PADDED: Example = Example {
    shape: &[
        "shape.batch_size=5",
        "shape.output_size=128",
        "shape.reduction_size=1024",
        "shape.output_stride=128",
        "with_residual=false",
    ],
    ..SM90
};

impl Example {
    /// `krepro new`, with a log that asks for no optimisation of the host half, which is most of the time.
    fn reproducer(&self, folder: &Utf8Path, defect: u32) -> Utf8PathBuf {
        let example = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(self.name);
        let (log, out) = (folder.join("jit.log"), folder.join(format!("defect_{defect}")));
        let line = format!(
            "nvcc -std=c++17 {} -I{example} -gencode arch=compute_90a,code=sm_90a -shared -o x.so x.cu\n",
            self.flags
        );
        Machine.write(&log, line.as_bytes()).unwrap();
        let mut words = vec!["new".to_owned(), "--kernel".to_owned()];
        words.push(format!("{example}/{}.cuh:{}", self.name, self.kernel));
        words.extend(["--site".to_owned(), format!("{example}/site.cc:{}", self.site)]);
        words.extend(["--scaffold".to_owned(), format!("{example}/scaffold.toml")]);
        words.extend(self.shape.iter().map(|leaf| format!("--set={leaf}")));
        words.extend([format!("--set=defect={defect}"), "--log".to_owned(), log.to_string()]);
        words.extend(["-o".to_owned(), out.to_string()]);
        let finished = krepro(&words);
        assert!(finished.success(), "{}", finished.all_text());
        out
    }

    /// Builds the cases of a table in one unit and runs each on the CPU backend.
    fn cases(&self, table: &str) -> BTreeMap<String, Emulated> {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(temporary.path()).unwrap();
        let reproducer = self.reproducer(folder, 0);
        let cases = folder.join("cases.csv");
        Machine.write(&cases, table.as_bytes()).unwrap();
        let words = ["sweep", reproducer.as_str(), "--cases", cases.as_str(), "--build-only", "--jobs", "1", "--json"];
        let built = krepro(&words.map(str::to_owned));
        assert!(built.success(), "{}", built.all_text());
        let built: serde_json::Value = serde_json::from_slice(&built.output).unwrap();
        assert_eq!(built["units"]["built"], 1, "{built}");
        let units = reproducer.join("sweep/units");
        let executable = units.join(&Machine.list(&units)[0]).join("build/sweep");
        let compiler = Machine.host_compiler().unwrap().path;
        let ran = built["cases"].as_array().unwrap().iter().map(|case| {
            let name = case["case"].as_str().unwrap();
            let start = Start { case: Some(name), ..Start::new(&executable) };
            let emulated =
                run_on_cpu(&start, &compiler, env!("CARGO_TARGET_TMPDIR").into(), &CpuOptions::default()).unwrap();
            (name.to_owned(), emulated)
        });
        ran.collect()
    }
}

/// Names of the rungs that ended so, in order.
fn rungs(emulated: &Emulated, status: RungStatus) -> Vec<String> {
    let events = json_lines(&emulated.ran.events).events;
    let rung = |event| match event {
        Event::Rung(rung) if rung.status == status => Some(rung.name),
        _ => None,
    };
    events.into_iter().filter_map(rung).collect()
}

fn told(emulated: &Emulated) -> String {
    format!("{:?}\n{}{}", emulated.ran.ending, emulated.ran.events, emulated.ran.messages)
}

/// A defect fails `seen` among others and passes `unseen` among others.
fn fails(emulated: &Emulated, seen: &[&str], unseen: &[&str]) {
    assert_eq!(emulated.ran.ending, Ending::Code(1), "{}", told(emulated));
    let (failed, passed) = (rungs(emulated, RungStatus::Fail), rungs(emulated, RungStatus::Pass));
    assert!(seen.iter().all(|rung| failed.iter().any(|f| f == rung)), "{seen:?}: {failed:?}\n{}", told(emulated));
    assert!(unseen.iter().all(|rung| passed.iter().any(|p| p == rung)), "{unseen:?}: {failed:?}\n{}", told(emulated));
}

fn passes(emulated: &Emulated) {
    assert_eq!(emulated.ran.ending, Ending::Code(0), "{}", told(emulated));
    assert!(rungs(emulated, RungStatus::Pass).len() >= 7, "{}", told(emulated));
    assert!(emulated.reports.is_empty() && emulated.validated, "{:#?}", emulated.reports);
}

#[test]
fn the_simt_example_and_its_defects() {
    if common::toolchain().is_none() {
        return;
    }
    let ran = SIMT.cases("defect\n0\n1\n2\n3\n4\n5\n6\n7\n");
    let of = |defect: u32| &ran[&format!("defect={defect}")];
    passes(of(0));
    fails(of(1), ALL, &[]);
    fails(of(2), &["ones", "integers.repeat"], &[]);
    fails(of(3), &["integers.repeat", "gaussian"], &["ones"]);
    fails(of(4), &["integers.repeat", "gaussian"], &["ones"]);
    fails(of(5), &["integers.repeat", "epilogue", "gaussian"], &["ones"]);
    fails(of(6), ALL, &[]);
    fails(of(7), &["integers.repeat", "gaussian"], &["ones"]);
}

#[test]
fn the_hopper_example_and_its_defects() {
    if common::toolchain().is_none() {
        return;
    }
    let ran = SM90.cases(
        "defect,with_residual\n0,false\n0,true\n1,false\n2,false\n3,false\n4,false\n5,true\n6,false\n7,false\n8,false\n9,false\n",
    );
    let of = |defect: u32, residual: bool| &ran[&format!("defect={defect} with_residual={residual}")];
    passes(of(0, false));
    passes(of(0, true));
    fails(of(1, false), ALL, &[]);
    fails(of(2, false), &["ones", "integers.repeat"], &[]);
    fails(of(3, false), ALL, &[]);
    fails(of(4, false), ALL, &[]);
    fails(of(5, true), &["integers.repeat", "epilogue", "gaussian"], &["ones"]);
    fails(of(6, false), ALL, &[]);
    fails(of(7, false), &["integers.repeat", "gaussian"], &["ones"]);
    // 16 rows of 128 bf16 are brought in two boxes.
    for (defect, awaited) in [(8, 4096 + 128), (9, 4096 - 128)] {
        let emulated = of(defect, false);
        assert_eq!(emulated.ran.ending, Ending::Code(4), "{}", told(emulated));
        let text = &emulated.reports[0].text;
        let sentence = format!("{awaited} bytes expected, 4096 arrived");
        assert!(text.contains(&sentence) && text.contains("linear_sm90.cuh:132"), "{text}");
    }
}

/// Rungs that every defect of a product's sum or place fails.
const ALL: &[&str] = &["ones", "integers.repeat", "gaussian"];

#[test]
fn run_ends_with_the_code_of_its_answer() {
    if common::toolchain().is_none() {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(temporary.path()).unwrap();
    let answer = |example: &Example, defect, options: &[&str], code, words: &[&str]| {
        let own = folder.join(format!("{code}"));
        Machine.make_folder(&own).unwrap();
        let reproducer = example.reproducer(&own, defect);
        let command: Vec<String> = ["run", reproducer.as_str(), "--backend", "cpu"]
            .iter()
            .chain(options)
            .map(|word| (*word).to_owned())
            .collect();
        let ran = krepro(&command);
        let text = ran.all_text();
        assert_eq!(ran.ending, Ending::Code(code), "{text}");
        assert!(words.iter().all(|word| text.contains(word)), "{words:?}: {text}");
        text
    };
    let trace = folder.join("trace.jsonl");
    let options = ["--trace", trace.as_str(), "--poison-shared", "0x41204120", "--uninitialised"];
    let options = [&options[..], &["--schedule", "seed=3", "--claim", "ratio=10"]].concat();
    std::thread::scope(|scope| {
        let words = [
            "REPRODUCED (emulated)\nVERDICT: operand load or MMA accumulate, K_TAIL_MISSING\n",
            "`ones`: 2048 of 2048 elements are 496 instead of 512: the sum has 496 terms of 512, everywhere",
            ", uniform: ",
            "  k from 496 to 512 is summed 0 times\n",
            "  accumulation alone: every scale 1, nothing added: WRONG; ",
            "  what the epilogue adds: every sum 0: right; ",
            "  gate: exit code 0 of the whole ladder\n",
        ];
        scope.spawn(move || answer(&SIMT, 2, &["--diagnose", "always"], 1, &words));
        scope.spawn(|| answer(&SM90, 8, &[], 4, &["HANG", "4224 bytes expected, 4096 arrived", "linear_sm90.cuh:132"]));
        // Of five rows in a tile of eight, somebody who reads all rows of the tile sees ten times too much.
        let explained = "rows 5 to 7 of the last tile are no rows of this operand";
        let words = ["REFUTED (emulated): ratio=10", "ones 1.000000", explained, "are traced in"];
        let correct = scope.spawn(move || answer(&PADDED, 0, &options, 0, &words));
        let told = correct.join().unwrap();
        assert!(!told.contains("nobody initialised") && !told.contains("fence.proxy.async"), "{told}");
    });
    // That reading: what lay in shared memory before stays in the rows beyond the batch, so the operand's largest magnitude is 10
    // instead of 1, and the accumulator's 10240 instead of 1024. No row of the output is such a row.
    let trace = String::from_utf8(Machine.read(&trace).unwrap()).unwrap();
    assert!(trace.contains("{\"from\":5,\"to\":7,\"absmax\":10,\"origin\":\"never written\"}"), "{:.2000}", trace);
    assert!(trace.contains("\"first\":[1024,1024,1024,1024,1024,10240,10240,10240]"), "{:.2000}", trace);
}
