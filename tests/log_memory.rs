//! A log far larger than the memory that reading it may take.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::io::Write;
use std::process::{Command, Stdio};

/// Highest resident size of a process so far, in KiB.
fn peak(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Writes about `megabytes` of log into `krepro flags -`: different commands, noise, and lines that never end.
fn read(megabytes: usize, program: &str) -> (usize, serde_json::Value) {
    let mut child = Command::new(program)
        .args(["flags", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let path = "/opt/some/quite/long/folder/of/a/framework/include".repeat(20);
    let mut written = 0;
    let mut number = 0;
    while written < megabytes << 20 {
        let mut text = format!(
            "[{number}] nvcc -DTILE={number} -I{path} -std=c++17 -arch=sm_90a -c k{number}.cu -o k{number}.o\n"
        );
        for _ in 0..8 {
            text.push_str("ptxas info    : Used 168 registers, used 1 barriers, 1024 bytes smem\n");
        }
        if number % 2500 == 2499 {
            text.push_str(&"no newline, ".repeat(1 << 20));
            text.push('\n');
        }
        number += 1;
        written += text.len();
        input.write_all(text.as_bytes()).unwrap();
    }
    input.flush().unwrap();
    // All but what stands in the pipe has been read.
    let peak = peak(child.id());
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    (peak, serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn memory_is_bounded_by_what_can_be_chosen_and_not_by_the_log() {
    let (small, _) = read(16, env!("CARGO_BIN_EXE_krepro"));
    let (peak, answer) = read(32, env!("CARGO_BIN_EXE_krepro"));
    eprintln!("16 MiB of log: {small} KiB at most; 32 MiB: {peak} KiB");
    assert!(peak < 64 << 10 && peak < small + (8 << 10), "{small} and {peak} KiB");
    assert!(answer["beyond"].as_u64().unwrap() > 1_000, "{}", answer["beyond"]);
    assert_eq!(answer["command"]["sources"][0], "k0.cu");
}
