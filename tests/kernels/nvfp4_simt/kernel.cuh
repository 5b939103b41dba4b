// fp4 on CUDA cores: e2m1 pairs, a ue4m3 scale for 16 of them in tiles of 128 rows by 4 columns, one global factor.
// out[m, n] = bf16(alpha * sum over blocks of scale_a * scale_b * (sum of a * b)).
#pragma once

#include <cstdint>
#include <cuda_bf16.h>

namespace quant {

constexpr int kBlock = 16;

__device__ inline float e2m1(uint32_t code) {
  float const magnitude[8] = {0.f, 0.5f, 1.f, 1.5f, 2.f, 3.f, 4.f, 6.f};
  float const value = magnitude[code & 7u];
  return (code & 8u) != 0 ? -value : value;
}

__device__ inline float ue4m3(uint32_t code) {
  uint32_t const exponent = code >> 3 & 15u;
  uint32_t const fraction = code & 7u;
  return exponent == 0 ? fraction * 0.001953125f : __uint_as_float((exponent + 120u) << 23 | fraction << 20);
}

// Where the scale of (row, block) lies.
template <int BLOCKS> __device__ inline int scale_at(int row, int block) {
  int const tile = row / 128 * ((BLOCKS + 3) / 4) + block / 4;
  return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
}

template <int M, int N, int K>
__global__ void __launch_bounds__(128) nvfp4_linear(uint8_t const *__restrict__ input,
                                                    uint8_t const *__restrict__ weight,
                                                    uint8_t const *__restrict__ input_scale,
                                                    uint8_t const *__restrict__ weight_scale,
                                                    float const *__restrict__ alpha,
                                                    __nv_bfloat16 *__restrict__ output) {
  static_assert(K % kBlock == 0, "whole blocks");
  constexpr int kBlocks = K / kBlock;
  int const n = blockIdx.x * 32 + threadIdx.x % 32;
  int const m = blockIdx.y * 4 + threadIdx.x / 32;
  if (m >= M || n >= N) {
    return;
  }
  float sum = 0.f;
  for (int block = 0; block < kBlocks; ++block) {
    float part = 0.f;
    for (int pair = 0; pair < kBlock / 2; ++pair) {
      uint32_t const a = input[(m * K + block * kBlock) / 2 + pair];
      uint32_t const b = weight[(n * K + block * kBlock) / 2 + pair];
      part = fmaf(e2m1(a & 15u), e2m1(b & 15u), part);
      part = fmaf(e2m1(a >> 4), e2m1(b >> 4), part);
    }
    float const scale_a = ue4m3(input_scale[scale_at<kBlocks>(m, block)]);
    float const scale_b = ue4m3(weight_scale[scale_at<kBlocks>(n, block)]);
    sum = fmaf(part, scale_a * scale_b, sum);
  }
  output[m * N + n] = __float2bfloat16(sum * alpha[0]);
}

} // namespace quant
