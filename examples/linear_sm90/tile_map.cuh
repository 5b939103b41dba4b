// TMA, mbarrier and wgmma in the few forms that linear_sm90.cuh needs, and the emitted type of a TMA operand.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>

namespace sm90 {

__device__ __forceinline__ uint32_t shared_address(void const *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void init_barrier(uint64_t *barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// One arrival, and `bytes` that TMA copies are still to bring before the phase ends.
__device__ __forceinline__ void arrive_and_expect(uint64_t *barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void arrive(uint64_t *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ __forceinline__ void wait(uint64_t *barrier, uint32_t parity) {
  uint32_t done = 0;
  while (done == 0) {
    asm volatile("{\n"
                 ".reg .pred ready;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 ready, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, ready;\n"
                 "}"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
  }
}

// Shared memory written by ordinary stores becomes visible to the copy engine.
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until the copy engine has read the sources of all committed stores.
__device__ __forceinline__ void wait_stores_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

__device__ __forceinline__ void wait_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

// A row-major [GMEM_ROWS, GMEM_COLS] tensor, moved in boxes of [BOX_ROWS, BOX_COLS]. One load or store moves BOXES boxes that
// follow one another along a row; in shared memory they lie SMEM_STRIDE elements apart. SWIZZLE_BITS 3 is the 128-byte swizzle.
template <typename T,
          int SWIZZLE_BITS,
          int GMEM_ROWS,
          int GMEM_COLS,
          int GMEM_STRIDE,
          int BOX_ROWS,
          int BOX_COLS,
          int BOXES = 1,
          int SMEM_STRIDE = BOX_ROWS * BOX_COLS>
struct tile_map {
  static constexpr int kBoxRows = BOX_ROWS;
  static constexpr int kBoxCols = BOX_COLS;
  static constexpr int kBoxes = BOXES;
  // What one call of load() brings.
  static constexpr int kBytes = BOXES * BOX_ROWS * BOX_COLS * static_cast<int>(sizeof(T));

  CUtensorMap const *descriptor;

  __device__ explicit tile_map(CUtensorMap const *map) : descriptor(map) {}

  __device__ __forceinline__ void prefetch() const {
    asm volatile("prefetch.tensormap [%0];" ::"l"(descriptor) : "memory");
  }

  __device__ __forceinline__ void load(uint64_t *barrier, T *shared, int column, int row) const {
    for (int box = 0; box < BOXES; ++box) {
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                   " [%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(shared + box * SMEM_STRIDE)),
                   "l"(descriptor),
                   "r"(shared_address(barrier)),
                   "r"(column + box * BOX_COLS),
                   "r"(row)
                   : "memory");
    }
  }

  __device__ __forceinline__ void store(T const *shared, int column, int row) const {
    for (int box = 0; box < BOXES; ++box) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(descriptor),
                   "r"(shared_address(shared + box * SMEM_STRIDE)),
                   "r"(column + box * BOX_COLS),
                   "r"(row)
                   : "memory");
    }
  }
};

// wgmma's view of a K-major bf16 tile with rows of 128 bytes, 128-byte swizzle, at a multiple of 1024 bytes: groups of eight rows
// lie 1024 bytes apart.
__device__ __forceinline__ uint64_t matrix_descriptor(void const *tile) {
  uint64_t const start = (shared_address(tile) & 0x3ffff) >> 4;
  uint64_t const leading = 1;
  uint64_t const stride = 1024 >> 4;
  uint64_t const swizzle_128 = 1;
  return start | leading << 16 | stride << 32 | swizzle_128 << 62;
}

__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int COUNT>
__device__ __forceinline__ void wgmma_wait(float (&sum)[COUNT]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  // The sums are not read before the wait.
  for (int i = 0; i < COUNT; ++i) {
    asm volatile("" : "+f"(sum[i])::"memory");
  }
}

// sum[64, 8] += a[64, 16] * b[8, 16]^T; every thread of the warpgroup holds four sums.
__device__ __forceinline__ void wgmma_k16(float (&sum)[4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "l"(a), "l"(b));
}

// The same for [64, 16], eight sums a thread.
__device__ __forceinline__ void wgmma_k16(float (&sum)[8], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, 0, 0;"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7])
               : "l"(a), "l"(b));
}

} // namespace sm90
