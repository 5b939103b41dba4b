// A linear layer on CUDA cores: output[batch, out] = input[batch, K] * weight[out, K]^T + bias[out].
//
// One block computes 16 rows by 64 columns; its 256 threads stage K through shared memory in a ring of STAGES tiles.
// DEFECT plants one fault, for trying krepro; 0 is the correct kernel (see README.md).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace simt {

constexpr int kTileM = 16;
constexpr int kTileN = 64;
constexpr int kThreads = 256;

enum Defect {
  kNone = 0,
  kOverCountK = 1,       // one tile too many along K
  kMissingTail = 2,      // the last 16 of K are left out
  kTransposedWeight = 3, // weight read as [K, out]
  kStrideOff = 4,        // rows of the input 8 elements too close
  kBiasAxis = 5,         // bias indexed by the row
  kUnwrittenTail = 6,    // the last 8 columns are not stored
  kStaleStage = 7,       // the last tile is computed from the buffer of the one before
};

template <typename T, int BATCH_SIZE, int OUTPUT_SIZE, int REDUCTION_SIZE, int TILE_K, int STAGES = 2, int DEFECT = kNone>
__global__ void __launch_bounds__(kThreads) linear_kernel(T const *__restrict__ input,
                                                          T const *__restrict__ weight,
                                                          T const *__restrict__ bias,
                                                          T *__restrict__ output,
                                                          int output_stride) {
  static_assert(STAGES >= 2, "a ring needs two tiles");
  __shared__ float tile_a[STAGES][kTileM][TILE_K + 1];
  __shared__ float tile_b[STAGES][kTileN][TILE_K + 1];

  constexpr int kInputStride = DEFECT == kStrideOff ? REDUCTION_SIZE - 8 : REDUCTION_SIZE;
  constexpr int kLimit = DEFECT == kMissingTail ? REDUCTION_SIZE - 16 : REDUCTION_SIZE;
  constexpr int kTiles = (REDUCTION_SIZE + TILE_K - 1) / TILE_K + (DEFECT == kOverCountK ? 1 : 0);

  int const m0 = blockIdx.y * kTileM;
  int const n0 = blockIdx.x * kTileN;
  int const row = threadIdx.x / 16;
  int const lane = threadIdx.x % 16;

  float sum[4] = {0.f, 0.f, 0.f, 0.f};
  for (int tile = 0; tile < kTiles; ++tile) {
    int const stage = tile % STAGES;
    int const k0 = tile * TILE_K;
    for (int i = threadIdx.x; i < kTileM * TILE_K; i += kThreads) {
      int const r = i / TILE_K;
      int const k = k0 + i % TILE_K;
      bool const inside = m0 + r < BATCH_SIZE && (k < kLimit || DEFECT == kOverCountK);
      tile_a[stage][r][i % TILE_K] = inside ? static_cast<float>(input[(m0 + r) * kInputStride + k]) : 0.f;
    }
    for (int i = threadIdx.x; i < kTileN * TILE_K; i += kThreads) {
      int const r = i / TILE_K;
      int const k = k0 + i % TILE_K;
      bool const inside = n0 + r < OUTPUT_SIZE && (k < kLimit || DEFECT == kOverCountK);
      int const at = DEFECT == kTransposedWeight ? k * OUTPUT_SIZE + n0 + r : (n0 + r) * REDUCTION_SIZE + k;
      tile_b[stage][r][i % TILE_K] = inside ? static_cast<float>(weight[at]) : 0.f;
    }
    __syncthreads();
    int const read = DEFECT == kStaleStage && tile + 1 == kTiles && tile != 0 ? (tile - 1) % STAGES : stage;
    for (int k = 0; k < TILE_K; ++k) {
      for (int j = 0; j < 4; ++j) {
        sum[j] = fmaf(tile_a[read][row][k], tile_b[read][lane + 16 * j][k], sum[j]);
      }
    }
    __syncthreads();
  }

  for (int j = 0; j < 4; ++j) {
    int const m = m0 + row;
    int const n = n0 + lane + 16 * j;
    bool const stored = n < (DEFECT == kUnwrittenTail ? OUTPUT_SIZE - 8 : OUTPUT_SIZE);
    if (m < BATCH_SIZE && stored) {
      float const added = static_cast<float>(bias[DEFECT == kBiasAxis ? m : n]);
      output[m * output_stride + n] = T(sum[j] + added);
    }
  }
}

} // namespace simt
