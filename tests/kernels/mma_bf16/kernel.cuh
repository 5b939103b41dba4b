// bf16 with mma.sync, ldmatrix and cp.async: out[m, n] = bf16(gelu(sum of a * b + bias[n])), gelu by tanh.
#pragma once

#include <cstdint>
#include <cuda_bf16.h>

namespace ampere {

constexpr int kTileM = 16;
constexpr int kTileN = 64;
constexpr int kTileK = 32;
constexpr int kPitch = kTileK + 8; // 16 bytes more, so that ldmatrix has no bank conflicts
constexpr int kThreads = 128;

__device__ inline uint32_t shared_address(void const *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// 16 bytes, or zeros where nothing may be read.
__device__ inline void copy_16(void *to, void const *from, bool inside) {
  int const bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes) : "memory");
}

__device__ inline void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int LEFT> __device__ inline void wait_groups() { asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory"); }

__device__ inline void load_matrices(uint32_t (&to)[4], void const *from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(from)));
}

__device__ inline void multiply(float (&sum)[4], uint32_t const (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline float gelu(float x) {
  return 0.5f * x * (1.f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

template <int M, int N, int K, int STAGES>
__global__ void __launch_bounds__(kThreads) mma_linear(__nv_bfloat16 const *__restrict__ input,
                                                       __nv_bfloat16 const *__restrict__ weight,
                                                       __nv_bfloat16 const *__restrict__ bias,
                                                       __nv_bfloat16 *__restrict__ output) {
  static_assert(K % kTileK == 0, "whole tiles along K");
  constexpr int kTiles = K / kTileK;
  __shared__ alignas(16) __nv_bfloat16 tile_a[STAGES][kTileM][kPitch];
  __shared__ alignas(16) __nv_bfloat16 tile_b[STAGES][kTileN][kPitch];
  int const warp = threadIdx.x / 32;
  int const lane = threadIdx.x % 32;
  int const m0 = blockIdx.y * kTileM;
  int const n0 = blockIdx.x * kTileN;

  auto const load = [&](int tile) {
    int const stage = tile % STAGES;
    int const k = tile * kTileK + threadIdx.x % 4 * 8;
    int const row = threadIdx.x / 4;
    if (row < kTileM) {
      bool const inside = m0 + row < M;
      copy_16(&tile_a[stage][row][threadIdx.x % 4 * 8], input + (inside ? m0 + row : 0) * K + k, inside);
    }
    for (int r = row; r < kTileN; r += kThreads / 4) {
      bool const inside = n0 + r < N;
      copy_16(&tile_b[stage][r][threadIdx.x % 4 * 8], weight + (inside ? n0 + r : 0) * K + k, inside);
    }
  };

  for (int tile = 0; tile < STAGES - 1; ++tile) {
    if (tile < kTiles) {
      load(tile);
    }
    commit();
  }
  float sum[2][4] = {};
  for (int tile = 0; tile < kTiles; ++tile) {
    wait_groups<STAGES - 2>();
    __syncthreads();
    if (tile + STAGES - 1 < kTiles) {
      load(tile + STAGES - 1);
    }
    commit();
    int const stage = tile % STAGES;
    for (int k = 0; k < kTileK; k += 16) {
      uint32_t a[4];
      uint32_t b[4];
      load_matrices(a, &tile_a[stage][lane % 16][k + lane / 16 * 8]);
      load_matrices(b, &tile_b[stage][warp * 16 + lane % 8 + lane / 16 * 8][k + lane / 8 % 2 * 8]);
      multiply(sum[0], a, b[0], b[1]);
      multiply(sum[1], a, b[2], b[3]);
    }
  }
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 4; ++i) {
      int const m = m0 + lane / 4 + i / 2 * 8;
      int const n = n0 + warp * 16 + half * 8 + lane % 4 * 2 + i % 2;
      if (m < M && n < N) {
        output[m * N + n] = __float2bfloat16(gelu(sum[half][i] + __bfloat162float(bias[n])));
      }
    }
  }
}

} // namespace ampere
