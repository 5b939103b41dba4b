#pragma once

#include <deep_gemm/tile.cuh>

namespace toy {

template <cute::UMMA::Major kMajorSFB, uint32_t SHAPE_M, uint32_t SHAPE_N, uint32_t SHAPE_K, uint32_t kNumGroups,
          uint32_t BLOCK_M, uint32_t BLOCK_N, uint32_t BLOCK_K, uint32_t kSwizzleAMode, uint32_t kSwizzleBMode,
          uint32_t kSwizzleDMode, uint32_t kNumStages, uint32_t kNumTMAThreads, uint32_t kNumMathThreads,
          uint32_t kNumTMAMulticast, bool kIsTMAMulticastOnA, uint32_t kNumSMs, GemmType kGemmType, typename cd_dtype_t,
          typename epilogue_type_t>
CUTLASS_GLOBAL __launch_bounds__(kNumTMAThreads + kNumMathThreads, 1) void sm90_fp8_gemm_1d2d_impl(
    float *sfb, int *grouped_layout, uint32_t shape_m, uint32_t shape_n, uint32_t shape_k,
    const __grid_constant__ cute::TmaDescriptor tensor_map_a, const __grid_constant__ cute::TmaDescriptor tensor_map_b,
    const __grid_constant__ cute::TmaDescriptor tensor_map_d, const __grid_constant__ cute::TmaDescriptor tensor_map_sfa) {
  constexpr uint32_t kBytesA = BLOCK_M * BLOCK_K, kBytesB = BLOCK_N * BLOCK_K, kBytesScales = BLOCK_M * 4;
  static_assert(BLOCK_K == 128 && kSwizzleAMode == 128 && BLOCK_N * 2 == kSwizzleDMode && BLOCK_M * BLOCK_N == kNumTMAThreads + kNumMathThreads);
  extern __shared__ __align__(1024) uint8_t smem[];
  __shared__ uint64_t barrier;
  uint8_t *smem_d = smem, *smem_a = smem + 1024, *smem_b = smem_a + kBytesA, *smem_sfa = smem_b + kBytesB;
  shape_n = SHAPE_N != 0 ? SHAPE_N : shape_n;
  shape_k = SHAPE_K != 0 ? SHAPE_K : shape_k;
  if (threadIdx.x == 0) barrier_init(&barrier);
  __syncthreads();
  uint32_t const columns = (shape_n + BLOCK_N - 1) / BLOCK_N, tiles = (shape_m + BLOCK_M - 1) / BLOCK_M * columns;
  uint32_t const row = threadIdx.x / BLOCK_N, column = threadIdx.x % BLOCK_N, blocks = (shape_k + 127) / 128;
  uint32_t phase = 0;
  for (uint32_t tile = blockIdx.x; tile < tiles; tile += kNumSMs) {
    uint32_t const m = tile / columns * BLOCK_M, n = tile % columns * BLOCK_N;
    float sum = 0;
    for (uint32_t block = 0; block < blocks; ++block, phase ^= 1) {
      if (threadIdx.x == 0) {
        barrier_expect(&barrier, kBytesA + kBytesB + kBytesScales);
        load_box(&tensor_map_a, &barrier, smem_a, block * BLOCK_K, m);
        load_box(&tensor_map_b, &barrier, smem_b, block * BLOCK_K, n);
        load_box(&tensor_map_sfa, &barrier, smem_sfa, m, block);
      }
      barrier_wait(&barrier, phase);
      float part = 0;
      for (uint32_t i = 0; i < BLOCK_K; ++i) {
        auto a = *reinterpret_cast<__nv_fp8_e4m3 const *>(smem_a + swizzled(row, i, kSwizzleAMode));
        auto b = *reinterpret_cast<__nv_fp8_e4m3 const *>(smem_b + swizzled(column, i, kSwizzleBMode));
        part += static_cast<float>(a) * static_cast<float>(b);
      }
      uint32_t const of = (n + column) / 128;
      float const scale_b = kMajorSFB == cute::UMMA::Major::K ? sfb[of * blocks + block] : sfb[block * ((shape_n + 127) / 128) + of];
      sum += reinterpret_cast<float const *>(smem_sfa)[row] * scale_b * part;
      __syncthreads();
    }
    *reinterpret_cast<cd_dtype_t *>(smem_d + swizzled(row, column * 2, kSwizzleDMode)) = __float2bfloat16(sum);
    __syncthreads();
    if (threadIdx.x == 0) store_box(&tensor_map_d, smem_d, n, m);
    __syncthreads();
  }
}

}  // namespace toy
