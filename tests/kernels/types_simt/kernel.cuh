// Linear layers on CUDA cores in every element type: out[m, n] = Out(alpha * sum of input[m, k] * weight[n, k]).
#pragma once

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace types {

// kNone. kTf32: f32 whose low 13 bits are not read. kMx: pairs of fp4 with a power of two (ue8m0) for 32 elements. kBlocks: an f32 for 128
// elements of a row of the input, and for 128 x 128 of the weight.
enum Scales { kNone, kTf32, kMx, kBlocks };

template <typename T> __device__ inline float value(T code) { return static_cast<float>(code); }

__device__ inline float e2m1(uint32_t code) {
  float const magnitude[8] = {0.f, 0.5f, 1.f, 1.5f, 2.f, 3.f, 4.f, 6.f};
  float const value = magnitude[code & 7u];
  return (code & 8u) != 0 ? -value : value;
}

__device__ inline float ue8m0(uint32_t code) { return __uint_as_float(code << 23); }

template <typename In, int SCALES> __device__ inline float element(In const *row, int k) {
  if constexpr (SCALES == kMx) {
    return e2m1(static_cast<uint32_t>(row[k / 2]) >> (k % 2 * 4) & 15u);
  } else if constexpr (SCALES == kTf32) {
    return __uint_as_float(__float_as_uint(row[k]) & 0xffffe000u);
  } else {
    return value(row[k]);
  }
}

// 1: the last k is left out. 2: the scale of the next block along k, or where there are none the second half of k twice.
template <typename In, typename Out, int SCALES, int M, int N, int K, int DEFECT>
__global__ void __launch_bounds__(128) typed_linear(In const *__restrict__ input, In const *__restrict__ weight,
                                                    void const *__restrict__ input_scale, void const *__restrict__ weight_scale,
                                                    float const *__restrict__ alpha, Out *__restrict__ output) {
  constexpr int kBlock = SCALES == kMx ? 32 : SCALES == kBlocks ? 128 : K;
  constexpr int kPack = SCALES == kMx ? 2 : 1;
  int const n = blockIdx.x * 32 + threadIdx.x % 32;
  int const m = blockIdx.y * 4 + threadIdx.x / 32;
  if (m >= M || n >= N) {
    return;
  }
  In const *const a = input + m * K / kPack;
  In const *const b = weight + n * K / kPack;
  float sum = 0.f;
  for (int block = 0; block < K / kBlock; ++block) {
    float part = 0.f;
    for (int k = block * kBlock; k < block * kBlock + kBlock - (DEFECT == 1 && block == K / kBlock - 1 ? 1 : 0); ++k) {
      int const at = DEFECT == 2 && kBlock == K && k < K / 2 ? k + K / 2 : k;
      part = fmaf(element<In, SCALES>(a, at), element<In, SCALES>(b, at), part);
    }
    int const scale = DEFECT == 2 ? (block + 1) % (K / kBlock) : block;
    if constexpr (SCALES == kMx) {
      auto const *of_a = static_cast<uint8_t const *>(input_scale) + m * (K / kBlock);
      auto const *of_b = static_cast<uint8_t const *>(weight_scale) + n * (K / kBlock);
      part *= ue8m0(of_a[scale]) * ue8m0(of_b[scale]);
    } else if constexpr (SCALES == kBlocks) {
      auto const *of_a = static_cast<float const *>(input_scale) + m * (K / kBlock);
      auto const *of_b = static_cast<float const *>(weight_scale) + n / kBlock * (K / kBlock);
      part *= of_a[scale] * of_b[scale];
    }
    sum += part;
  }
  output[m * N + n] = Out(sum * alpha[0]);
}

// 8-bit integers, summed in 32 bits: the sum itself, or alpha times it to the nearest of -128 .. 127.
template <typename Out, int M, int N, int K, int DEFECT>
__global__ void __launch_bounds__(128) integer_linear(int8_t const *__restrict__ input, int8_t const *__restrict__ weight,
                                                      float const *__restrict__ alpha, Out *__restrict__ output) {
  int const n = blockIdx.x * 32 + threadIdx.x % 32;
  int const m = blockIdx.y * 4 + threadIdx.x / 32;
  if (m >= M || n >= N) {
    return;
  }
  int sum = 0;
  for (int k = 0; k < K - (DEFECT == 1 ? 1 : 0); ++k) {
    sum += input[m * K + k] * weight[n * K + k];
  }
  if constexpr (sizeof(Out) == 4) {
    output[m * N + n] = DEFECT == 2 ? sum & ~1 : sum;
  } else {
    float const scaled = sum * alpha[0];
    int const nearest = DEFECT == 2 ? static_cast<int>(scaled) : __float2int_rn(scaled);
    output[m * N + n] = static_cast<Out>(max(-128, min(127, nearest)));
  }
}

} // namespace types
