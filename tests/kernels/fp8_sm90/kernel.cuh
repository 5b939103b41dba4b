// fp8 with wgmma, operands swapped: out[m, n] from weight[n, k] (64 rows of a tile) and input[m, k] (8 rows).
// With PROMOTE each 128 of k is scaled by scale_a[m, k / 128] * scale_b[n / 128, k / 128] and added in f32; without it the tensor
// core sums over all of k and scale_a[m] * scale_b[n] follow.
#pragma once

#include <cstdint>
#include <cuda_bf16.h>

namespace hopper {

constexpr int kTileN = 64;
constexpr int kTileM = 8;
constexpr int kTileK = 128;
constexpr int kThreads = 128;

// Eight rows of 16 bytes are a core matrix; those of one row group follow one another along k.
__device__ inline int tile_at(int row, int k) { return row / 8 * (kTileK / 16 * 128) + k / 16 * 128 + row % 8 * 16 + k % 16; }

__device__ inline uint64_t matrix_descriptor(uint8_t const *pointer) {
  uint64_t const address = static_cast<uint64_t>(__cvta_generic_to_shared(pointer));
  uint64_t const leading = 128;                // to the next core matrix along k
  uint64_t const stride = kTileK / 16 * 128;   // to the next group of eight rows
  return (address & 0x3ffff) >> 4 | leading >> 4 << 16 | stride >> 4 << 32;
}

__device__ inline void multiply(float (&sum)[4], uint64_t a, uint64_t b, int keep) {
  asm volatile("{\n"
               ".reg .pred p;\n"
               "setp.ne.b32 p, %6, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0, %1, %2, %3}, %4, %5, p, 1, 1;\n"
               "}\n"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "l"(a), "l"(b), "r"(keep));
}

template <int M, int N, int K, bool PROMOTE>
__global__ void __launch_bounds__(kThreads) fp8_linear(uint8_t const *__restrict__ input,
                                                       uint8_t const *__restrict__ weight,
                                                       float const *__restrict__ input_scale,
                                                       float const *__restrict__ weight_scale,
                                                       __nv_bfloat16 *__restrict__ output) {
  static_assert(K % kTileK == 0, "whole tiles along K");
  constexpr int kTiles = K / kTileK;
  __shared__ alignas(128) uint8_t tile_weight[kTileN * kTileK];
  __shared__ alignas(128) uint8_t tile_input[kTileM * kTileK];
  int const warp = threadIdx.x / 32;
  int const lane = threadIdx.x % 32;
  int const m0 = blockIdx.y * kTileM;
  int const n0 = blockIdx.x * kTileN;
  float part[4] = {};
  float sum[4] = {};
  for (int tile = 0; tile < kTiles; ++tile) {
    int const k0 = tile * kTileK;
    for (int i = threadIdx.x; i < kTileN * kTileK; i += kThreads) {
      int const row = i / kTileK;
      int const k = i % kTileK;
      tile_weight[tile_at(row, k)] = n0 + row < N ? weight[(n0 + row) * K + k0 + k] : 0;
    }
    for (int i = threadIdx.x; i < kTileM * kTileK; i += kThreads) {
      int const row = i / kTileK;
      int const k = i % kTileK;
      tile_input[tile_at(row, k)] = m0 + row < M ? input[(m0 + row) * K + k0 + k] : 0;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < kTileK; k += 32) {
      int const keep = PROMOTE ? k != 0 : k != 0 || tile != 0;
      multiply(part, matrix_descriptor(tile_weight + k / 16 * 128), matrix_descriptor(tile_input + k / 16 * 128), keep);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(part[0]), "+f"(part[1]), "+f"(part[2]), "+f"(part[3])::"memory");
    if constexpr (PROMOTE) {
      for (int i = 0; i < 4; ++i) {
        int const m = m0 + lane % 4 * 2 + i % 2;
        int const n = n0 + warp * 16 + lane / 4 + i / 2 * 8;
        float const scale = m < M && n < N ? input_scale[m * kTiles + tile] * weight_scale[n / 128 * kTiles + tile] : 0.f;
        sum[i] = fmaf(part[i], scale, sum[i]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    int const m = m0 + lane % 4 * 2 + i % 2;
    int const n = n0 + warp * 16 + lane / 4 + i / 2 * 8;
    if (m < M && n < N) {
      float const value = PROMOTE ? sum[i] : part[i] * input_scale[m] * weight_scale[n];
      output[m * N + n] = __float2bfloat16(value);
    }
  }
}

} // namespace hopper
