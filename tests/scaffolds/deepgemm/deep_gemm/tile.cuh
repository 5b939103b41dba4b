// A tiled GEMM in the style of DeepGEMM's headers: tensor maps as parameters, swizzled boxes, one mbarrier, a TMA store. Every
// product is a scalar multiplication, so it runs wherever TMA does.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cstdint>

#define CUTLASS_GLOBAL __global__

namespace cute {
namespace UMMA {
enum class Major { K, MN };
}
using TmaDescriptor = CUtensorMap;
}  // namespace cute

namespace cutlass {
using bfloat16_t = __nv_bfloat16;
}

namespace epilogue::transform {
struct EpilogueIdentity {};
}  // namespace epilogue::transform

namespace toy {

enum class GemmType { Normal, Batched };

__device__ inline std::uint32_t shared_address(void const *pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// Byte `byte` of row `row` in a box whose rows are `span` bytes, as a swizzle of that many bytes lays it.
__device__ inline std::uint32_t swizzled(std::uint32_t row, std::uint32_t byte, std::uint32_t span) {
  std::uint32_t const at = row * span + byte;
  return at ^ ((at >> 7 & (span / 16 - 1)) << 4);
}

__device__ inline void barrier_init(std::uint64_t *barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void barrier_expect(std::uint64_t *barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

__device__ inline void barrier_wait(std::uint64_t *barrier, std::uint32_t phase) {
  std::uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(phase)
        : "memory");
  }
}

__device__ inline void load_box(CUtensorMap const *map, std::uint64_t *barrier, void *shared, std::uint32_t x, std::uint32_t y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y)
      : "memory");
}

__device__ inline void store_box(CUtensorMap const *map, void *shared, std::uint32_t x, std::uint32_t y) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(shared)), "r"(x), "r"(y)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace toy
