//! What a call through the shim costs, beside the floor: one byte sent to another thread and back over the same kind of socket.

#![allow(clippy::print_stdout)]

use krepro_emulator::arch::Arch;
use krepro_emulator::gpu::SimulatedGpu;
use krepro_emulator::runtime::{Output, RunRequest, run, shim};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

fn floor() -> f64 {
    const ROUNDS: u32 = 20000;
    let (mut here, mut there) = UnixStream::pair().expect("a socket pair");
    std::thread::spawn(move || {
        let mut byte = [0];
        while there.read_exact(&mut byte).is_ok() && there.write_all(&byte).is_ok() {}
    });
    let start = Instant::now();
    let mut byte = [7];
    for _ in 0..ROUNDS {
        here.write_all(&byte).expect("written");
        here.read_exact(&mut byte).expect("read");
    }
    1e6 * start.elapsed().as_secs_f64() / f64::from(ROUNDS)
}

fn main() {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let shim = shim::build(Path::new("cc"), &cache).expect("a host compiler");
    let executable = cache.join("bench-calls");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/calls.c");
    let mut command = Command::new("cc");
    command.args(["-std=gnu11", "-O2", "-o"]).arg(&executable).arg(source).arg("-L").arg(&shim);
    command.args(["-l:libcudart.so.13", "-l:libkrepro-core.so"]);
    assert!(command.status().expect("cc starts").success());
    println!("{:<22} {:9.2} us", "socket there and back", floor());
    let outcome = run(&RunRequest {
        executable,
        arguments: vec![],
        environment: vec![],
        working_dir: None,
        host_compiler: "cc".into(),
        cache_dir: cache,
        gpu: Arch::parse("sm_90a").and_then(SimulatedGpu::for_arch),
        options: Default::default(),
        trace: None,
        uninitialised: false,
        deadline: None,
        output: Output::Capture,
    });
    print!("{}", String::from_utf8_lossy(&outcome.expect("a run").stdout));
}
