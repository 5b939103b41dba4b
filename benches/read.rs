//! Speed of the readers: a site and a header of 5,000 lines, as many headers as a large framework has.
//!
//! Seconds of processor time, the least of a few runs: on a loaded machine the clock on the wall tells of the load. Beside
//! each figure what an alternative takes on the same text in the same run: the parser alone (no reader that uses a grammar is
//! faster), and clang where it is on PATH.
//!
//! `cargo bench --bench read -- FOLDER` reads all headers below FOLDER instead.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use krepro::read::cxx::document::Grammar;
use krepro::read::signature::{SignatureOptions, all, find};
use krepro::read::site::evaluate;
use krepro::source::Source;
use tree_sitter::Parser;

/// `count` copies of a text, `NUMBER` replaced by the copy's number.
fn repeated(text: &str, lines: usize) -> String {
    let count = lines.div_ceil(text.lines().count());
    (0..count).map(|index| text.replace("NUMBER", &index.to_string())).collect()
}

const SITE: &str = r#"int Maker::emit_NUMBER(Plan const &plan, std::vector<int> const &params) {
  int rows = 0, cols = 0;
  assert(params.size() == 0);
  for (auto const &op : plan.operators) {
    assert(op->kind == INPUT);
    inputs.push_back(static_cast<Input *>(op));
  }
  rows = outputs[0]->extent[0];
  cols = outputs[0]->extent[1];
  constexpr int TILE = 128;
  int const padded = rows <= 8 ? 8 : 16;
  Writer code;
  code.inc_indent();
  code.e("using A = kernel::box<bfloat16, $, $, $, "
         "$, true>;",
         rows,  /* ROWS */
         cols,  /* COLS */
         TILE,  /* TILE */
         padded * ((cols + TILE - 1) / TILE) /* STRIDE */);
  code.e("A a(static_cast<Map *>(task->inputs[0]));");
  code.e("kernel::multiply<bfloat16, $, $, A>(a);", rows, cols);
  return add(KIND, code.to_string());
}

"#;

const HEADER: &str = r#"template <typename T, int ROWS, int COLS, class MAP, int STRIDE = COLS * 2, bool WIDE = (ROWS > 8)>
CUTLASS_DEVICE void kernel_NUMBER(const MAP &map, T const *__restrict__ in, T *out = nullptr) {
  constexpr int BYTES = sizeof(T) * ROWS * COLS; // of one box
#if defined(ARCH) and (ARCH >= 900)
  CUTLASS_PRAGMA_UNROLL
  for (int i = 0; i < STRIDE; ++i) {
    if constexpr (WIDE) {
      out[i] = in[i] * static_cast<T>(BYTES);
    }
  }
#endif
}

"#;

/// Processor time of this thread.
fn own() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

/// Processor time of all children that have ended, in the kernel's hundredths of a second.
fn children() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text[text.rfind(')').unwrap() + 2..].split(' ').collect();
    Duration::from_millis(10 * (fields[13].parse::<u64>().unwrap() + fields[14].parse::<u64>().unwrap()))
}

/// The least time of `runs` runs, in milliseconds, and what the last one gave.
fn least<T>(runs: u32, clock: fn() -> Duration, mut what: impl FnMut() -> T) -> (f64, T) {
    let mut time = |least: f64| {
        let start = clock();
        let result = what();
        (least.min((clock() - start).as_secs_f64() * 1e3), result)
    };
    (1..runs).fold(time(f64::MAX), |(least, _), _| time(least))
}

/// The parser on the plain text.
fn parser_alone(source: &Source, grammar: Grammar) -> f64 {
    let language = match grammar {
        Grammar::Cpp => tree_sitter_cpp::LANGUAGE,
        Grammar::Cuda => tree_sitter_cuda::LANGUAGE,
    };
    let parse = || {
        let mut parser = Parser::new();
        parser.set_language(&language.into()).unwrap();
        parser.parse(source.bytes(), None).unwrap().root_node().child_count()
    };
    least(9, own, parse).0
}

/// clang on the same text, where it is found.
fn clang(source: &Source) -> String {
    let names = ["clang++", "clang++-20", "clang++-19", "clang++-18"];
    let Some(clang) = names.iter().find_map(|name| which::which(name).ok()) else { return "clang is not here".into() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.cu");
    std::fs::write(&path, source.bytes()).unwrap();
    let run = || {
        let options =
            ["-fsyntax-only", "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-std=c++17", "-w"];
        let macros = ["-DCUTLASS_DEVICE=__attribute__((device))", "-DCUTLASS_PRAGMA_UNROLL="];
        let mut command = Command::new(&clang);
        command.args(options).args(macros).arg(&path).stderr(Stdio::null()).status().unwrap().success()
    };
    let (time, clean) = least(3, children, run);
    format!("clang -fsyntax-only {time:.0} ms{}", if clean { "" } else { " (with errors)" })
}

fn site() {
    let site = Source::new("site.cc", repeated(SITE, 5000));
    let leaves = [("rows", "16"), ("cols", "1024"), ("params.size()", "0")];
    let leaves: BTreeMap<_, _> = leaves.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let (time, lines) = least(9, own, || evaluate(&site, Some("emit_200"), &leaves).unwrap().lines.len());
    assert_eq!(lines, 3);
    let alone = parser_alone(&site, Grammar::Cpp);
    println!("a site of 5,000 lines, one function evaluated   {time:8.1} ms (aim: 50); the parser alone {alone:.1} ms");
}

fn header() {
    let header = Source::new("kernel.cuh", repeated(HEADER, 5000));
    let options = SignatureOptions::default();
    let (time, count) = least(9, own, || find(&header, "kernel_380", &options).unwrap().parameters.len());
    assert_eq!(count, 3);
    let alone = parser_alone(&header, Grammar::Cuda);
    let clang = clang(&header);
    println!(
        "a header of 5,000 lines, one kernel found       {time:8.1} ms (aim: 50); the parser alone {alone:.1} ms, {clang}"
    );
}

/// All signatures of all these headers.
fn headers(what: &str, headers: &[Arc<Source>]) {
    let options = SignatureOptions::default();
    let read =
        || headers.iter().map(|source| all(source, &options).iter().filter(|read| read.is_ok()).count()).sum::<usize>();
    let (time, kernels) = least(5, own, read);
    let alone: f64 = headers.iter().map(|source| parser_alone(source, Grammar::Cuda)).sum();
    println!("{what}, {kernels} signatures   {time:8.1} ms (aim: 500); the parser alone {alone:.1} ms");
}

fn is_header(path: &Path) -> bool {
    path.extension().is_some_and(|end| ["cuh", "h", "hpp", "cu", "inl"].iter().any(|header| end == *header))
}

fn below(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true => below(&path, out),
            false if is_header(&path) => out.push(path),
            false => {}
        }
    }
}

fn folder(folder: &str) {
    let mut paths = vec![];
    below(Path::new(folder), &mut paths);
    let sources: Vec<_> =
        paths.iter().map(|path| Source::new(path.display().to_string(), std::fs::read(path).unwrap())).collect();
    let lines: usize = sources.iter().map(|s| s.bytes().iter().filter(|b| **b == b'\n').count()).sum();
    headers(&format!("{} headers of {lines} lines", sources.len()), &sources);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [path] = &arguments[..] {
        return folder(path);
    }
    site();
    header();
    let many: Vec<_> =
        (0..116).map(|index| Source::new(format!("kernel_{index}.cuh"), repeated(HEADER, 340))).collect();
    headers("116 headers of 340 lines", &many);
}
