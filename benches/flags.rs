//! The log reader on a log of 20,000 lines and 2,000 commands, beside a plain Python script that gives the same answers.
//!
//! `cargo bench --bench flags`; python3 is needed for the comparison, `compiledb` on PATH is tried where it is there.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

use criterion::{Criterion, Throughput};
use krepro::read::log::{Options, Scan, scan};

/// 20,000 lines with 2,000 different commands, quoted as ninja and make print them.
fn log() -> String {
    const NOISE: [&str; 5] = [
        "ptxas info    : 0 bytes gmem",
        "ptxas info    : Compiling entry function '_Z4kernPfi' for 'sm_90a'",
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads",
        "ptxas info    : Used 168 registers, used 1 barriers, 1024 bytes smem",
        "/src/k.cu(12): warning #177-D: variable \"it's\" was declared but never referenced",
    ];
    let mut out = String::new();
    for i in 0..2000 {
        writeln!(
            out,
            "[{}/2000] /usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -DTORCH_EXTENSION_NAME=ext '-DNAME=\"a b\"' \
             -DTILE={i} -I/opt/x/include '-I/opt/my dir/include' -isystem /opt/torch/include -isystem \
             /opt/torch/include/torch/csrc/api/include -O3 -DNDEBUG '--generate-code=arch=compute_90a,code=[sm_90a]' \
             '--generate-code=arch=compute_100a,code=[sm_100a]' -Xcompiler=-fPIC --expt-relaxed-constexpr \
             --expt-extended-lambda -lineinfo -Xcudafe --diag_suppress=177 -Xptxas=-v,-O3 -std=c++17 -MD -MT d/k{i}.o \
             -MF d/k{i}.o.d -x cu -c '/src/dir {}/k{i}.cu' -o d/k{i}.o",
            i + 1,
            i % 7
        )
        .unwrap();
        for line in 0..9 {
            writeln!(out, "{}", NOISE[(i + line) % NOISE.len()]).unwrap();
        }
    }
    out
}

fn read(log: &str) -> Scan {
    scan(log.as_bytes(), &Options { name: "log".into(), ..Options::default() }).unwrap()
}

/// Seconds and the answers of the plain script.
fn plain(path: &std::path::Path) -> Option<(f64, Vec<Vec<String>>)> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/plain_flags.py");
    let start = Instant::now();
    let output = Command::new("python3").arg(script).arg(path).output().ok()?;
    let seconds = start.elapsed().as_secs_f64();
    let lines = String::from_utf8(output.stdout).unwrap();
    Some((seconds, lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()))
}

fn main() {
    let log = log();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("build.log");
    std::fs::write(&path, &log).unwrap();
    let found = read(&log);
    let ours: Vec<Vec<String>> = found.commands.iter().map(|c| c.argv().skip(1).map(str::to_owned).collect()).collect();
    assert_eq!(ours.len(), 2000);

    let start = Instant::now();
    let rounds = 20;
    for _ in 0..rounds {
        assert_eq!(read(&log).commands.len(), 2000);
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(rounds);
    let megabytes = log.len() as f64 / 1e6;
    println!("krepro: {:.1} ms, {:.0} MB/s, 2000 commands in {megabytes:.1} MB", seconds * 1e3, megabytes / seconds);
    match plain(&path) {
        Some((python, answers)) => {
            assert!(answers == ours, "the plain script gives other answers");
            println!(
                "python regex + shlex: {:.0} ms, the same answers, {:.0} times as long",
                python * 1e3,
                python / seconds
            );
        }
        None => println!("python3 is not here: no comparison"),
    }
    let start = Instant::now();
    match Command::new("compiledb").args(["--parse"]).arg(&path).args(["-o", "-"]).output() {
        Ok(output) => {
            let entries = String::from_utf8_lossy(&output.stdout).matches("\"file\"").count();
            println!("compiledb: {:.0} ms, {entries} entries", start.elapsed().as_secs_f64() * 1e3);
        }
        Err(_) => println!("compiledb is not here: no comparison"),
    }

    let mut criterion = Criterion::default().configure_from_args().sample_size(20);
    let mut group = criterion.benchmark_group("flags");
    group.throughput(Throughput::Bytes(log.len() as u64));
    group.bench_function("2000 commands in 20000 lines", |b| b.iter(|| read(&log)));
    group.finish();
    criterion.final_summary();
}
