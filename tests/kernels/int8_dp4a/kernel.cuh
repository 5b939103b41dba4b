// 8-bit integers on CUDA cores: out[m, n] = bf16(scale_a[m] * scale_b[n] * (sum of a * b - zero_point * sum of b)).
#pragma once

#include <cstdint>
#include <cuda_bf16.h>

namespace quant {

constexpr int kColumns = 32;
constexpr int kRows = 8;
constexpr int kDepth = 64;

template <int M, int N, int K>
__global__ void __launch_bounds__(kColumns *kRows) int8_linear(int8_t const *__restrict__ input,
                                                               int8_t const *__restrict__ weight,
                                                               float const *__restrict__ token_scale,
                                                               float const *__restrict__ channel_scale,
                                                               int const *__restrict__ zero_point,
                                                               __nv_bfloat16 *__restrict__ output) {
  static_assert(K % 4 == 0, "four bytes at a time");
  __shared__ int tile_a[kRows][kDepth / 4];
  __shared__ int tile_b[kColumns][kDepth / 4 + 1];
  int const column = threadIdx.x % kColumns;
  int const row = threadIdx.x / kColumns;
  int const m = blockIdx.y * kRows + row;
  int const n = blockIdx.x * kColumns + column;
  int sum = 0;
  int weight_sum = 0;
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    for (int i = threadIdx.x; i < kRows * kDepth / 4; i += kColumns * kRows) {
      int const r = i / (kDepth / 4);
      int const k = k0 + i % (kDepth / 4) * 4;
      int const from = blockIdx.y * kRows + r;
      tile_a[r][i % (kDepth / 4)] = from < M && k < K ? *reinterpret_cast<int const *>(input + from * K + k) : 0;
    }
    for (int i = threadIdx.x; i < kColumns * kDepth / 4; i += kColumns * kRows) {
      int const r = i / (kDepth / 4);
      int const k = k0 + i % (kDepth / 4) * 4;
      int const from = blockIdx.x * kColumns + r;
      tile_b[r][i % (kDepth / 4)] = from < N && k < K ? *reinterpret_cast<int const *>(weight + from * K + k) : 0;
    }
    __syncthreads();
    for (int k = 0; k < kDepth / 4; ++k) {
      sum = __dp4a(tile_a[row][k], tile_b[column][k], sum);
      weight_sum = __dp4a(0x01010101, tile_b[column][k], weight_sum);
    }
    __syncthreads();
  }
  if (m < M && n < N) {
    float const scaled = static_cast<float>(sum - zero_point[0] * weight_sum) * token_scale[m];
    output[m * N + n] = __float2bfloat16(scaled * channel_scale[n]);
  }
}

} // namespace quant
