// A linear layer for small batches on Hopper, as a task of a persistent kernel:
//   output[batch, out] = bf16(input[batch, K] * weight[out, K]^T) (+ residual[batch, out], rounded again)
//
// Swapped operands: the weight is wgmma's A (64 rows of it a tile), the batch its B (8 or 16 columns). Warpgroup 1 brings tiles by
// TMA into a ring of STAGES, warpgroup 0 multiplies, rounds and stores by TMA. 256 threads, one block.
// DEFECT plants one fault, for trying krepro; 0 is the correct task (see README.md).
#pragma once

#include <type_traits>

#include "tile_map.cuh"

namespace sm90 {

enum Defect {
  kNone = 0,
  kOverCountK = 1,       // the last tile along K is added twice
  kMissingTail = 2,      // the last 16 of K are left out
  kTransposedWeight = 3, // the weight's coordinates are exchanged
  kStrideOff = 4,        // rows of the output tile 72 elements apart in shared memory, stored as if 64
  kResidualAxis = 5,     // the residual's row is taken from the output column
  kUnwrittenTail = 6,    // the last 64 columns are not stored
  kStaleStage = 7,       // the last tile along K is multiplied from the ring slot before it
  kAwaitsMore = 8,       // the input's barrier awaits 128 bytes more than the copies bring
  kAwaitsFewer = 9,      // 128 bytes fewer
};

template <typename T,
          int BATCH_SIZE,
          int OUTPUT_SIZE,
          int REDUCTION_SIZE,
          int STAGES,
          typename TMA_WEIGHT,
          typename TMA_INPUT,
          typename TMA_OUTPUT,
          typename TMA_RESIDUAL = void,
          int DEFECT = kNone>
__device__ __forceinline__ void linear_task(TMA_WEIGHT const &weight,
                                            TMA_INPUT const &input,
                                            TMA_OUTPUT const &output,
                                            TMA_RESIDUAL const *residual = nullptr) {
  static_assert(BATCH_SIZE >= 1 && BATCH_SIZE <= 16, "the batch is at most 16");
  static_assert(STAGES >= 2, "a ring needs two stages");
  constexpr bool HAS_RESIDUAL = !std::is_void<TMA_RESIDUAL>::value;
  constexpr int TILE_OUT = 64;
  constexpr int TILE_K = 128;
  constexpr int COLUMNS = BATCH_SIZE <= 8 ? 8 : 16;
  constexpr int OUT_TILES = (OUTPUT_SIZE + TILE_OUT - 1) / TILE_OUT;
  constexpr int K_TILES = (REDUCTION_SIZE + TILE_K - 1) / TILE_K;
  constexpr int K_STEPS = K_TILES + (DEFECT == kOverCountK ? 1 : 0);

  // Bytes that each barrier awaits in one phase.
  constexpr int WEIGHT_BYTES = TILE_OUT * TILE_K * static_cast<int>(sizeof(T));
  constexpr int INPUT_BYTES = BATCH_SIZE * TILE_K * static_cast<int>(sizeof(T)) +
                              (DEFECT == kAwaitsMore ? 128 : DEFECT == kAwaitsFewer ? -128 : 0);
  constexpr int RESIDUAL_BYTES = BATCH_SIZE * TILE_OUT * static_cast<int>(sizeof(T));

  constexpr int OUT_PITCH = DEFECT == kStrideOff ? 72 : TILE_OUT;
  constexpr int WEIGHT_TILE = TILE_OUT * TILE_K;
  constexpr int INPUT_TILE = COLUMNS * TILE_K;
  constexpr int RESIDUAL_TILE = HAS_RESIDUAL ? COLUMNS * TILE_OUT : 0;

  extern __shared__ char shared_memory[];
  uintptr_t const base = (reinterpret_cast<uintptr_t>(shared_memory) + 1023) / 1024 * 1024;
  T *const weight_tiles = reinterpret_cast<T *>(base);
  T *const input_tiles = weight_tiles + STAGES * WEIGHT_TILE;
  T *const residual_tile = input_tiles + STAGES * INPUT_TILE;
  T *const output_tile = residual_tile + RESIDUAL_TILE;
  // 16 rows of 72 at most, whatever the batch.
  uint64_t *const weight_full = reinterpret_cast<uint64_t *>(output_tile + 16 * 72);
  uint64_t *const input_full = weight_full + STAGES;
  uint64_t *const ring_free = input_full + STAGES;
  uint64_t *const residual_full = ring_free + STAGES;
  uint64_t *const residual_free = residual_full + 1;

  int const warp = static_cast<int>(threadIdx.x) / 32;
  int const lane = static_cast<int>(threadIdx.x) % 32;

  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      init_barrier(&weight_full[stage], 1);
      init_barrier(&input_full[stage], 1);
      init_barrier(&ring_free[stage], 4);
    }
    init_barrier(residual_full, 1);
    init_barrier(residual_free, 4);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    fence_async_proxy();
  }
  __syncthreads();

  if (warp >= 4) {
    // Producer: one thread.
    if (warp == 4 && lane == 0) {
      weight.prefetch();
      input.prefetch();
      output.prefetch();
      int step = 0;
      for (int tile = 0; tile < OUT_TILES; ++tile) {
        if constexpr (HAS_RESIDUAL) {
          wait(residual_free, (tile & 1) ^ 1);
          arrive_and_expect(residual_full, RESIDUAL_BYTES);
          residual->load(residual_full, residual_tile, tile * TILE_OUT, 0);
        }
        for (int i = 0; i < K_STEPS; ++i, ++step) {
          int const slot = step % STAGES;
          int const phase = step / STAGES & 1;
          int const k = (i < K_TILES ? i : K_TILES - 1) * TILE_K;
          wait(&ring_free[slot], phase ^ 1);
          arrive_and_expect(&weight_full[slot], WEIGHT_BYTES);
          arrive_and_expect(&input_full[slot], INPUT_BYTES);
          if constexpr (DEFECT == kTransposedWeight) {
            weight.load(&weight_full[slot], weight_tiles + slot * WEIGHT_TILE, tile * TILE_OUT, k);
          } else {
            weight.load(&weight_full[slot], weight_tiles + slot * WEIGHT_TILE, k, tile * TILE_OUT);
          }
          input.load(&input_full[slot], input_tiles + slot * INPUT_TILE, k, 0);
        }
      }
    }
    return;
  }

  // Consumer: the four warps of warpgroup 0.
  int step = 0;
  for (int tile = 0; tile < OUT_TILES; ++tile) {
    float sum[COLUMNS / 2] = {};
    for (int i = 0; i < K_STEPS; ++i, ++step) {
      int const slot = step % STAGES;
      int const phase = step / STAGES & 1;
      wait(&weight_full[slot], phase);
      wait(&input_full[slot], phase);
      int const read = DEFECT == kStaleStage && i + 1 == K_STEPS && step > 0 ? (slot + STAGES - 1) % STAGES : slot;
      wgmma_fence();
      for (int slice = 0; slice < TILE_K / 16; ++slice) {
        if (DEFECT == kMissingTail && i + 1 == K_STEPS && (i * TILE_K + slice * 16 + 16) >= REDUCTION_SIZE) {
          break;
        }
        // A slice of 16 is 32 bytes further in the row; the second half of the tile is the second box.
        int const box = slice / 4;
        int const inner = slice % 4 * 16;
        wgmma_k16(sum,
                  matrix_descriptor(weight_tiles + read * WEIGHT_TILE + box * TILE_OUT * 64 + inner),
                  matrix_descriptor(input_tiles + read * INPUT_TILE + box * COLUMNS * 64 + inner));
      }
      wgmma_commit();
      wgmma_wait(sum);
      __syncwarp();
      if (lane == 0) {
        arrive(&ring_free[slot]);
      }
    }

    // The output tile of the round before must have been read.
    if (threadIdx.x == 0) {
      wait_stores_read();
    }
    asm volatile("bar.sync 1, 128;" ::: "memory");
    if constexpr (HAS_RESIDUAL) {
      wait(residual_full, tile & 1);
    }
    for (int i = 0; i < COLUMNS / 2; ++i) {
      int const out = warp * 16 + lane / 4 + (i / 2 % 2) * 8;
      int const batch = lane % 4 * 2 + i % 2 + i / 4 * 8;
      T value = T(sum[i]);
      if constexpr (HAS_RESIDUAL) {
        int const row = DEFECT == kResidualAxis ? out % BATCH_SIZE : batch;
        value = T(static_cast<float>(value) + static_cast<float>(residual_tile[row * TILE_OUT + out]));
      }
      output_tile[batch * OUT_PITCH + out] = value;
    }
    if constexpr (HAS_RESIDUAL) {
      __syncwarp();
      if (lane == 0) {
        arrive(residual_free);
      }
    }
    fence_async_proxy();
    asm volatile("bar.sync 1, 128;" ::: "memory");
    if (threadIdx.x == 0) {
      if (DEFECT != kUnwrittenTail || tile + 1 < OUT_TILES) {
        output.store(output_tile, tile * TILE_OUT, 0);
      }
      commit_stores();
    }
  }
  if (threadIdx.x == 0) {
    wait_stores();
  }
}

} // namespace sm90
