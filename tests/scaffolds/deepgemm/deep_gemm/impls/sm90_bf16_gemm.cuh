#pragma once

#include <deep_gemm/tile.cuh>

namespace toy {

template <cute::UMMA::Major kMajorA, cute::UMMA::Major kMajorB, uint32_t SHAPE_M, uint32_t SHAPE_N, uint32_t SHAPE_K,
          uint32_t kNumGroups, uint32_t BLOCK_M, uint32_t BLOCK_N, uint32_t BLOCK_K_, uint32_t kSwizzleAMode,
          uint32_t kSwizzleBMode, uint32_t kSwizzleDMode, uint32_t kNumStages_, uint32_t kNumTMAThreads,
          uint32_t kNumMathThreads, uint32_t kNumTMAMulticast, bool kIsTMAMulticastOnA, uint32_t kNumSMs,
          GemmType kGemmType, bool kWithAccumulation, typename cd_dtype_t>
CUTLASS_GLOBAL __launch_bounds__(kNumTMAThreads + kNumMathThreads, 1) void sm90_bf16_gemm_impl(
    int *grouped_layout, uint32_t shape_m, uint32_t shape_n, uint32_t shape_k,
    const __grid_constant__ cute::TmaDescriptor tensor_map_a, const __grid_constant__ cute::TmaDescriptor tensor_map_b,
    const __grid_constant__ cute::TmaDescriptor tensor_map_cd) {
  constexpr uint32_t kBytesA = BLOCK_M * BLOCK_K_ * 2, kBytesB = BLOCK_N * BLOCK_K_ * 2;
  static_assert(BLOCK_K_ * 2 == kSwizzleAMode && BLOCK_N * 2 == kSwizzleDMode && BLOCK_M * BLOCK_N == kNumTMAThreads + kNumMathThreads);
  extern __shared__ __align__(1024) uint8_t smem[];
  __shared__ uint64_t barrier;
  uint8_t *smem_d = smem, *smem_a = smem + 1024, *smem_b = smem_a + kBytesA;
  shape_m = SHAPE_M != 0 ? SHAPE_M : shape_m;
  shape_n = SHAPE_N != 0 ? SHAPE_N : shape_n;
  shape_k = SHAPE_K != 0 ? SHAPE_K : shape_k;
  if (threadIdx.x == 0) barrier_init(&barrier);
  __syncthreads();
  uint32_t const columns = (shape_n + BLOCK_N - 1) / BLOCK_N, tiles = (shape_m + BLOCK_M - 1) / BLOCK_M * columns;
  uint32_t const row = threadIdx.x / BLOCK_N, column = threadIdx.x % BLOCK_N;
  uint32_t phase = 0;
  for (uint32_t tile = blockIdx.x; tile < tiles; tile += kNumSMs) {
    float sum = 0;
    for (uint32_t k = 0; k < shape_k; k += BLOCK_K_, phase ^= 1) {
      if (threadIdx.x == 0) {
        barrier_expect(&barrier, kBytesA + kBytesB);
        load_box(&tensor_map_a, &barrier, smem_a, k, tile / columns * BLOCK_M);
        load_box(&tensor_map_b, &barrier, smem_b, k, tile % columns * BLOCK_N);
      }
      barrier_wait(&barrier, phase);
      for (uint32_t i = 0; i < BLOCK_K_; ++i) {
        auto a = *reinterpret_cast<__nv_bfloat16 const *>(smem_a + swizzled(row, 2 * i, kSwizzleAMode));
        auto b = *reinterpret_cast<__nv_bfloat16 const *>(smem_b + swizzled(column, 2 * i, kSwizzleBMode));
        sum += __bfloat162float(a) * __bfloat162float(b);
      }
      __syncthreads();
    }
    *reinterpret_cast<cd_dtype_t *>(smem_d + swizzled(row, column * 2, kSwizzleDMode)) = __float2bfloat16(sum);
    __syncthreads();
    if (threadIdx.x == 0) store_box(&tensor_map_cd, smem_d, tile % columns * BLOCK_N, tile / columns * BLOCK_M);
    __syncthreads();
  }
}

}  // namespace toy
