//! A reproducer of `examples/simt_linear` for tests that build it.

#![allow(dead_code, reason = "not every test file uses all of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use camino::{Utf8Path, Utf8PathBuf};
use krepro::sys::{Finished, Machine, Request, System};

/// krepro with these arguments.
pub fn krepro(arguments: &[&str]) -> Finished {
    let request = Request::new(env!("CARGO_BIN_EXE_krepro")).arguments(arguments.iter().copied());
    Machine.run(&request).unwrap()
}

/// Two more defects for `simt_linear.cuh`: a barrier that nothing arrives at, and a store to nowhere.
const DEFECTS: &str = "
  if constexpr (DEFECT == 101) {
    __shared__ unsigned long long never;
    unsigned const at = static_cast<unsigned>(__cvta_generic_to_shared(&never));
    if (threadIdx.x == 0) asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\" ::\"r\"(at));
    __syncthreads();
    unsigned done = 0;
    while (done == 0) {
      asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }\"
                   : \"=r\"(done) : \"r\"(at) : \"memory\");
    }
  }
  if constexpr (DEFECT == 102) *reinterpret_cast<volatile int *>(16) = 1;
  if constexpr (DEFECT == 103) static_assert(DEFECT != 103, \"planted\");
";

/// A reproducer of `examples/simt_linear` with those defects, compiled without optimisation of the host half, which is most of the
/// time.
pub fn reproducer(folder: &Utf8Path) -> Utf8PathBuf {
    shaped(folder, "repro", [16, 64, 64], 0)
}

/// The same in the folder `name`, of this batch, output and reduction, with a defect.
pub fn shaped(folder: &Utf8Path, name: &str, [m, n, k]: [u64; 3], defect: u32) -> Utf8PathBuf {
    let example = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/simt_linear");
    let header = String::from_utf8(Machine.read(&example.join("simt_linear.cuh")).unwrap()).unwrap();
    let place = header.find("  constexpr int kInputStride").unwrap();
    let header = format!("{}{DEFECTS}{}", &header[..place], &header[place..]);
    Machine.write(&folder.join("simt_linear.cuh"), header.as_bytes()).unwrap();
    let log = folder.join("jit.log");
    let line =
        format!("nvcc -std=c++17 -DNDEBUG -I{folder} -gencode arch=compute_90a,code=sm_90a -shared -o x.so x.cu\n");
    Machine.write(&log, line.as_bytes()).unwrap();
    let out = folder.join(name);
    let finished = krepro(&[
        "new",
        "--kernel",
        &format!("{folder}/simt_linear.cuh:linear_kernel"),
        "--site",
        &format!("{example}/site.cc:emit_simt_linear"),
        "--scaffold",
        &format!("{example}/scaffold.toml"),
        &format!("--set=shape.batch={m}"),
        &format!("--set=shape.out_features={n}"),
        &format!("--set=shape.in_features={k}"),
        &format!("--set=defect={defect}"),
        "--log",
        log.as_str(),
        "-o",
        out.as_str(),
    ]);
    assert!(finished.success(), "{}", finished.all_text());
    out
}
