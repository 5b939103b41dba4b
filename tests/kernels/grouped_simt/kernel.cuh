// Grouped linear layers on CUDA cores: each group of rows has the weight of its expert. out[m, n] = bf16(alpha[e] * sum of input[m, k] *
// weight[e, n, k]), e the expert of row m; rows of no expert are left alone.
#pragma once

#include <cstdint>
#include <cuda_bf16.h>

namespace moe {

// How the kernel is told: first rows of the groups and the end of the last; the expert of each row, or -1; the rows of each expert, whose
// first lie M / E apart.
enum Told { kOffsets, kExpertOfRow, kCounts };

// 1: experts lie N - 1 rows apart. 2: the last expert's last row is left out. 3: the expert of a block of four rows is that of its first.
// 4: the factor of the next expert.
template <int M, int E, int TOLD, int DEFECT> __device__ inline int expert_of(int const *groups, int row) {
  if (DEFECT == 3) {
    row -= row % 4;
  }
  if (TOLD == kExpertOfRow) {
    int const expert = groups[row];
    bool const last = DEFECT == 2 && expert == E - 1 && (row + 1 == M || groups[row + 1] != expert);
    return last ? -1 : expert;
  }
  for (int expert = 0; expert < E; ++expert) {
    int const first = TOLD == kOffsets ? groups[expert] : expert * (M / E);
    int end = TOLD == kOffsets ? groups[expert + 1] : first + groups[expert];
    if (DEFECT == 2 && expert == E - 1) {
      --end;
    }
    if (row >= first && row < end) {
      return expert;
    }
  }
  return -1;
}

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

// bf16, or fp4 (FP4) with a ue4m3 scale for 16 elements.
template <int M, int N, int K, int E, int TOLD, bool FP4, int DEFECT>
__global__ void __launch_bounds__(128) grouped_linear(void const *__restrict__ input, void const *__restrict__ weight,
                                                      uint8_t const *__restrict__ input_scale,
                                                      uint8_t const *__restrict__ weight_scale,
                                                      float const *__restrict__ alpha, int const *__restrict__ groups,
                                                      __nv_bfloat16 *__restrict__ output) {
  int const n = blockIdx.x * 32 + threadIdx.x % 32;
  int const m = blockIdx.y * 4 + threadIdx.x / 32;
  if (m >= M || n >= N) {
    return;
  }
  int const expert = expert_of<M, E, TOLD, DEFECT>(groups, m);
  if (expert < 0) {
    return;
  }
  int const row = expert * (DEFECT == 1 ? N - 1 : N) + n;
  float sum = 0.f;
  if constexpr (FP4) {
    auto const *a = static_cast<uint8_t const *>(input) + m * K / 2;
    auto const *b = static_cast<uint8_t const *>(weight) + row * K / 2;
    for (int block = 0; block < K / 16; ++block) {
      float part = 0.f;
      for (int pair = block * 8; pair < block * 8 + 8; ++pair) {
        part = fmaf(e2m1(a[pair] & 15u), e2m1(b[pair] & 15u), part);
        part = fmaf(e2m1(a[pair] >> 4), e2m1(b[pair] >> 4), part);
      }
      sum = fmaf(part, ue4m3(input_scale[m * (K / 16) + block]) * ue4m3(weight_scale[row * (K / 16) + block]), sum);
    }
  } else {
    auto const *a = static_cast<__nv_bfloat16 const *>(input) + m * K;
    auto const *b = static_cast<__nv_bfloat16 const *>(weight) + row * K;
    for (int k = 0; k < K; ++k) {
      sum = fmaf(__bfloat162float(a[k]), __bfloat162float(b[k]), sum);
    }
  }
  output[m * N + n] = __float2bfloat16(sum * alpha[DEFECT == 4 ? (expert + 1) % E : expert]);
}

} // namespace moe
