//! Intrinsics and instructions of SIMT code, one kernel each, held to what an H200 gave.

use crate::support::{Nvcc, SM_90A, output_of, run_with};
use krepro_emulator::runtime::End;
use std::fmt::Write as _;

const HEAD: &str = r#"#include <cassert>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#define HALVES __half h = __float2half(f), k = __float2half(g); __half2 hh = __halves2half2(h, k); \
  __nv_bfloat16 b = __float2bfloat16(f), c = __float2bfloat16(g); __nv_bfloat162 bb = __halves2bfloat162(b, c); \
  (void)h; (void)k; (void)hh; (void)b; (void)c; (void)bb;
"#;

/// 32 threads; `x` and `y` are integers, `f` and `g` (`d` and `e`) numbers from 0.5 to 2, `r` is the result.
const BEGIN: &str = "unsigned x = in[threadIdx.x], y = in[threadIdx.x + 32]; \
    float f = __uint_as_float(x & 0x3fffffffu | 0x3f000000u), g = __uint_as_float(y & 0x3fffffffu | 0x3f000000u); \
    double d = f, e = g; (void)d; (void)e; unsigned r = 0;";

const MAIN: &str = r#"
int main() {
  unsigned in[512], out[16384];
  for (unsigned i = 0; i < 512; ++i) in[i] = i * 2654435761u ^ 0x9e3779b9u;
  for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
    unsigned *to, *from, digest = 0;
    cudaMalloc(&to, sizeof out);
    cudaMalloc(&from, 4096);
    cudaMemset(to, 0, sizeof out);
    cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice);
    kernels[i]<<<1, 32>>>(to, from);
    int const error = cudaDeviceSynchronize();
    cudaMemcpy(out, to, sizeof out, cudaMemcpyDeviceToHost);
    for (unsigned word : out) digest = digest * 1000003u ^ word;
    std::printf("%s %d %08x\n", names[i], error, digest);
    cudaFree(to);
    cudaFree(from);
  }
}
"#;

/// Name, digest of the output on an H200 (`~`: an approximation of the hardware, which differs) and statements.
fn table() -> Vec<[&'static str; 3]> {
    let lines = include_str!("../programs/intrinsics.tsv").lines();
    lines.map(|line| line.splitn(3, '\t').collect::<Vec<_>>().try_into().unwrap()).collect()
}

#[test]
fn every_intrinsic_gives_what_an_h200_gave() {
    let Some(nvcc) = Nvcc::find() else { return };
    let table = table();
    let mut text = HEAD.to_owned();
    for [name, _, code] in &table {
        writeln!(
            text,
            "__global__ void k_{name}(unsigned *out, const unsigned *in) {{ {BEGIN} {code} out[threadIdx.x] = r; }}"
        )
        .unwrap();
    }
    let list = |before: &str, after: &str| {
        table.iter().map(|[name, ..]| format!("{before}{name}{after},")).collect::<String>()
    };
    writeln!(text, "const char *names[] = {{{}}};", list("\"", "\"")).unwrap();
    writeln!(text, "void (*kernels[])(unsigned *, const unsigned *) = {{{}}};{MAIN}", list("k_", "")).unwrap();
    let executable = nvcc.executable_of("intrinsics.cu", &text, &[SM_90A, &["-std=c++17"]].concat());
    let outcome = run_with(&executable, &[]).unwrap();
    assert_eq!(outcome.end, End::Exited(0), "{}", output_of(&outcome));
    let stdout = String::from_utf8(outcome.stdout).unwrap();
    assert_eq!(stdout.lines().count(), table.len());
    let wrong = table.iter().zip(stdout.lines()).filter(|([name, digest, _], line)| match *digest {
        "~" => !line.starts_with(&format!("{name} 0 ")),
        digest => *line != format!("{name} 0 {digest}"),
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
