//! The derived flags against the logged ones: equal machine code of the kernel, and an executable whose host part runs.
//!
//! Every log with an `ok` verdict, on one source of ours: once with the device flags as they were logged and `-cubin`, once
//! with what `krepro flags` derives. Paths and pre-includes of the log do not exist here and are removed from both. Equal
//! runs of nvcc are made once. All logs with KREPRO_ALL_LOGS=1, five of them without.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use krepro::read::log::{Argument, Found, Options, Select, recover};
use krepro::sys::{Machine, Request, System};
use krepro::toolchain::Toolchain;
use serde_json::Value;

/// A kernel in which the flags show: division and square root (fast math), a called function (-rdc), macros.
const SOURCE: &str = r#"
#include <cstdio>
#ifdef TILE
static_assert(TILE == 64, "TILE");
#endif
__device__ __noinline__ float step(float x, float y) { return x / (y + 1.0f); }
extern "C" __global__ void kernel(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum = sum + a[i * n + k] * step(b[k], sum);
#ifdef NDEBUG
  sum *= 2.0f;
#endif
  c[i] = sqrtf(sum) + sinf(sum) + 1e-39f * sum;
}
int main() { std::puts("host part runs"); return 0; }
"#;

/// Options of a log that name files which are not here.
fn names_files(argument: &Argument) -> bool {
    ["-I", "-isystem", "-include", "-o", "-optf", "-L", "-l", "-ccbin", "-MF", "-MT", "-odir"]
        .iter()
        .any(|name| argument.is(name))
}

/// Options that say what is made; `-cubin` takes their place.
fn makes(argument: &Argument) -> bool {
    ["-c", "-dc", "-shared", "-cubin", "-ptx", "-MD", "-MMD", "-MP", "-M", "-x", "-Xlinker"]
        .iter()
        .any(|name| argument.is(name))
}

struct Case {
    id: String,
    logged: Vec<String>,
    derived: Vec<String>,
}

fn cases() -> Vec<Case> {
    let folder = Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/jitlogs");
    let mut names: Vec<String> = Machine.list(&folder).into_iter().filter(|n| n.ends_with(".expect.json")).collect();
    names.sort();
    names.iter().filter_map(|name| case(&folder, name)).collect()
}

fn case(folder: &Utf8Path, name: &str) -> Option<Case> {
    let expected: Value = serde_json::from_slice(&Machine.read(&folder.join(name)).unwrap()).unwrap();
    if !expected["verdict"].as_str().unwrap().starts_with("ok") {
        return None;
    }
    let selector = &expected["primary_selector"];
    let file = ["source", "output", "file", "build_edge"].iter().find_map(|key| selector[*key].as_str());
    let select = match file {
        Some(file) => Some(Select::File(file.into())),
        None => selector["line"].as_u64().map(|line| Select::Line(line as usize)),
    };
    let log = Machine.read(&folder.join(expected["file"].as_str().unwrap())).unwrap();
    let options = Options { name: name.into(), select, arch: Some("sm_90a".into()), ..Options::default() };
    let recovered = recover(&log[..], &options).unwrap();
    let id = expected["id"].as_str().unwrap().to_owned();
    Some(Case { logged: logged(&recovered.logged), derived: derived(&recovered), id })
}

/// The device flags as they were logged.
fn logged(found: &Found) -> Vec<String> {
    let mut out = vec![];
    for argument in found.arguments.iter().filter(|a| a.spec().is_some() || a.flag().starts_with('-')) {
        if argument.is("-arch") && argument.value_or_empty() == "native" {
            out.push("-arch=sm_90a".to_owned());
        } else if argument.is("-dc") {
            out.push("-rdc=true".to_owned());
        } else if !names_files(argument) && !makes(argument) {
            out.extend(argument.texts());
        }
    }
    out
}

fn derived(recovered: &krepro::read::log::Recovered) -> Vec<String> {
    let words: Vec<krepro::read::log::Word> = recovered
        .command
        .arguments
        .iter()
        .map(|a| krepro::read::log::Word {
            text: a.text.clone(),
            at: recovered.logged.at(),
            replaced: false,
            cut: false,
        })
        .collect();
    let arguments = krepro::read::log::arguments(&words);
    arguments.iter().filter(|a| !names_files(a) && !a.is("-x")).flat_map(Argument::texts).collect()
}

/// One `-gencode` of the architectures, for nvcc makes one cubin of one architecture.
fn architectures(flags: &[String]) -> Vec<String> {
    let text = flags.join(" ");
    let mut out: Vec<String> = vec![];
    for part in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        if part.starts_with("sm_") && !out.contains(&part.to_owned()) {
            out.push(part.to_owned());
        }
    }
    out
}

/// Flags without their architectures.
fn without_architectures(flags: &[String]) -> Vec<String> {
    let mut out = vec![];
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        if matches!(flag.as_str(), "-gencode" | "-arch" | "--generate-code" | "-code") {
            rest.next();
        } else if !["-gencode=", "--generate-code=", "-arch=", "-code="].iter().any(|p| flag.starts_with(p)) {
            out.push(flag.clone());
        }
    }
    out
}

fn run(toolchain: &Toolchain, folder: &Utf8Path, arguments: &[String]) -> Result<(), String> {
    let finished = Machine.run(&Request::new(toolchain.nvcc.as_str()).arguments(arguments).folder(folder)).unwrap();
    if finished.success() { Ok(()) } else { Err(format!("nvcc {}\n{}", arguments.join(" "), finished.all_text())) }
}

/// The section of the kernel's machine code in a cubin.
fn machine_code(cubin: &[u8]) -> Option<Vec<u8>> {
    let word = |at: usize, size: usize| -> Option<usize> {
        let bytes = cubin.get(at..at + size)?;
        Some(bytes.iter().rev().fold(0, |value, byte| (value << 8) | usize::from(*byte)))
    };
    let (table, size, count, names) = (word(0x28, 8)?, word(0x3a, 2)?, word(0x3c, 2)?, word(0x3e, 2)?);
    let header = |index: usize| table + index * size;
    let strings = word(header(names) + 0x18, 8)?;
    for index in 0..count {
        let name = strings + word(header(index), 4)?;
        if cubin.get(name..)?.starts_with(b".text.kernel\0") {
            let (offset, length) = (word(header(index) + 0x18, 8)?, word(header(index) + 0x20, 8)?);
            return cubin.get(offset..offset + length).map(<[u8]>::to_vec);
        }
    }
    None
}

/// Logs of different tools whose derived flags differ from the logged ones in different ways: compiled in every run.
const ALWAYS: [&str; 5] = ["05", "13", "25", "28", "42"];

/// One run of nvcc, and what came of it: the kernel's machine code, or nothing for a program that ran.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone)]
enum Job {
    MachineCode { flags: Vec<String>, arch: String },
    Program { flags: Vec<String> },
}

type Outcome = Result<Option<Vec<u8>>, String>;

impl Job {
    fn run(&self, toolchain: &Toolchain, folder: &Utf8Path, number: usize) -> Outcome {
        let name = format!("out{number}");
        match self {
            Job::MachineCode { flags, arch } => {
                let mut arguments = flags.clone();
                let code = format!("-gencode=arch={},code={arch}", arch.replace("sm_", "compute_"));
                arguments.extend(["-cubin".into(), code, "-o".into(), name.clone(), "kernel.cu".into()]);
                run(toolchain, folder, &arguments)?;
                let code = machine_code(&Machine.read(&folder.join(&name)).unwrap());
                code.map(Some).ok_or_else(|| format!("no .text.kernel of {}", arguments.join(" ")))
            }
            Job::Program { flags } => {
                let library = toolchain.layout.cudart.as_ref().and_then(|c| c.parent()).map(Utf8Path::to_owned);
                let mut arguments = flags.clone();
                // Without a runtime nvcc skips the device link that -rdc=true needs; the static one is in every layout.
                arguments.extend(["-cudart=static", "-o", &name, "kernel.cu"].map(String::from));
                arguments.push(format!("-L{}", library.unwrap_or_default()));
                run(toolchain, folder, &arguments)?;
                let finished = Machine.run(&Request::new(folder.join(&name).as_str())).unwrap();
                let text = finished.all_text();
                if text.contains("host part runs") { Ok(None) } else { Err(text) }
            }
        }
    }
}

/// Every job once, two at a time.
fn outcomes(jobs: &BTreeSet<Job>, toolchain: &Toolchain, folder: &Utf8Path) -> BTreeMap<Job, Outcome> {
    let next = AtomicUsize::new(0);
    let list: Vec<&Job> = jobs.iter().collect();
    let work = || {
        let mut out = vec![];
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = list.get(number) else { return out };
            out.push(((*job).clone(), job.run(toolchain, folder, number)));
        }
    };
    std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn derived_flags_make_the_machine_code_of_the_logged_ones() {
    let Some(toolchain) = common::toolchain() else { return };
    let all = std::env::var_os("KREPRO_ALL_LOGS").is_some();
    let folder = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(folder.path()).unwrap();
    Machine.write(&folder.join("kernel.cu"), SOURCE.as_bytes()).unwrap();
    let mut wrong = vec![];
    let mut jobs = BTreeSet::new();
    let mut pairs = vec![];
    // The log of commas in -D stops in nvcc itself: that is what it is about.
    for case in cases().into_iter().filter(|c| c.id != "32" && (all || ALWAYS.contains(&c.id.as_str()))) {
        let archs = architectures(&case.logged);
        if archs != architectures(&case.derived) {
            wrong.push(format!("{}: {archs:?} became {:?}", case.id, architectures(&case.derived)));
        }
        for arch in archs {
            let code = |flags: &[String]| Job::MachineCode { flags: without_architectures(flags), arch: arch.clone() };
            let (logged, derived) = (code(&case.logged), code(&case.derived));
            jobs.extend([logged.clone(), derived.clone()]);
            pairs.push((format!("{} {arch}", case.id), logged, derived));
        }
        let program = Job::Program { flags: case.derived };
        jobs.insert(program.clone());
        pairs.push((format!("{} program", case.id), program.clone(), program));
    }
    let outcomes = outcomes(&jobs, &toolchain, folder);
    for (id, logged, derived) in &pairs {
        match (&outcomes[logged], &outcomes[derived]) {
            (Ok(logged), Ok(derived)) if logged == derived => {}
            (Ok(_), Ok(_)) => wrong.push(format!("{id}: other machine code")),
            (logged, derived) => wrong.push(format!("{id}: {:?} {:?}", logged.as_ref().err(), derived.as_ref().err())),
        }
    }
    let programs = pairs.iter().filter(|(_, job, _)| matches!(job, Job::Program { .. })).count();
    eprintln!(
        "{} comparisons of machine code, {programs} programs, {} different runs of nvcc",
        pairs.len() - programs,
        jobs.len()
    );
    assert!(pairs.len() >= 2 * ALWAYS.len() && wrong.is_empty(), "{}", wrong.join("\n"));
}
