// Microscaled fp8 on CUDA cores: e4m3, a power of two for 32 of them in tiles of 128 rows by 4 columns.
// out[m, n] = bf16(sum over blocks of scale_a * scale_b * (sum of a * b)).
#pragma once

#include <cstdint>
#include <cuda_bf16.h>

namespace quant {

constexpr int kBlock = 32;

__device__ inline float e4m3(uint32_t code) {
  uint32_t const exponent = code >> 3 & 15u;
  uint32_t const fraction = code & 7u;
  float value = exponent == 0 ? fraction * 0.001953125f : __uint_as_float((exponent + 120u) << 23 | fraction << 20);
  if ((code & 0x7fu) == 0x7fu) {
    value = __uint_as_float(0x7fc00000u);
  }
  return (code & 0x80u) != 0 ? -value : value;
}

// 2^(code - 127); the lowest code is below the normal numbers of f32.
__device__ inline float ue8m0(uint32_t code) { return __uint_as_float(code == 0 ? 0x00400000u : code << 23); }

template <int BLOCKS> __device__ inline int scale_at(int row, int block) {
  int const tile = row / 128 * ((BLOCKS + 3) / 4) + block / 4;
  return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
}

template <int M, int N, int K>
__global__ void __launch_bounds__(128) mxfp8_linear(uint8_t const *__restrict__ input,
                                                    uint8_t const *__restrict__ weight,
                                                    uint8_t const *__restrict__ input_scale,
                                                    uint8_t const *__restrict__ weight_scale,
                                                    __nv_bfloat16 *__restrict__ output) {
  static_assert(K % kBlock == 0, "whole blocks");
  constexpr int kBlocks = K / kBlock;
  __shared__ float row_a[4][kBlock];
  int const n = blockIdx.x * 32 + threadIdx.x % 32;
  int const m = blockIdx.y * 4 + threadIdx.x / 32;
  float sum = 0.f;
  for (int block = 0; block < kBlocks; ++block) {
    int const k = block * kBlock + threadIdx.x % 32;
    row_a[threadIdx.x / 32][threadIdx.x % 32] = m < M ? e4m3(input[m * K + k]) : 0.f;
    __syncthreads();
    if (m < M && n < N) {
      float part = 0.f;
      for (int i = 0; i < kBlock; ++i) {
        part = fmaf(row_a[threadIdx.x / 32][i], e4m3(weight[n * K + block * kBlock + i]), part);
      }
      float const scale_a = ue8m0(input_scale[scale_at<kBlocks>(m, block)]);
      float const scale_b = ue8m0(weight_scale[scale_at<kBlocks>(n, block)]);
      sum = fmaf(part, scale_a * scale_b, sum);
    }
    __syncthreads();
  }
  if (m < M && n < N) {
    output[m * N + n] = __float2bfloat16(sum);
  }
}

} // namespace quant
