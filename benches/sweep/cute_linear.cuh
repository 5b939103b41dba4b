// A linear layer written with CuTe, to measure what many instantiations of such a kernel cost to build:
// output[batch, out] = input[batch, K] * weight[out, K]^T. One warpgroup computes 64 rows by TILE_N columns with wgmma.
#pragma once

#include <cutlass/arch/barrier.h>
#include <cutlass/bfloat16.h>
#include <cute/tensor.hpp>
#include <cute/atom/copy_atom.hpp>
#include <cute/atom/mma_atom.hpp>

namespace bench {

using Element = cutlass::bfloat16_t;

template <int BATCH_SIZE, int OUTPUT_SIZE, int REDUCTION_SIZE, int TILE_N, int TILE_K>
__global__ void __launch_bounds__(128) cute_linear(Element const *input, Element const *weight, Element *output, int output_stride) {
  using namespace cute;
  static_assert(BATCH_SIZE % 64 == 0 && OUTPUT_SIZE % TILE_N == 0 && REDUCTION_SIZE % TILE_K == 0, "whole tiles");
  auto const a_layout = tile_to_shape(GMMA::Layout_K_SW128_Atom<Element>{}, Shape<_64, Int<TILE_K>>{});
  auto const b_layout = tile_to_shape(GMMA::Layout_K_SW128_Atom<Element>{}, Shape<Int<TILE_N>, Int<TILE_K>>{});
  __shared__ alignas(1024) Element a_storage[cosize_v<decltype(a_layout)>];
  __shared__ alignas(1024) Element b_storage[cosize_v<decltype(b_layout)>];
  Tensor a_tile = make_tensor(make_smem_ptr(a_storage), a_layout);
  Tensor b_tile = make_tensor(make_smem_ptr(b_storage), b_layout);

  Tensor a = make_tensor(make_gmem_ptr(input), Shape<Int<BATCH_SIZE>, Int<REDUCTION_SIZE>>{}, Stride<Int<REDUCTION_SIZE>, _1>{});
  Tensor b = make_tensor(make_gmem_ptr(weight), Shape<Int<OUTPUT_SIZE>, Int<REDUCTION_SIZE>>{}, Stride<Int<REDUCTION_SIZE>, _1>{});
  Tensor c = make_tensor(make_gmem_ptr(output), Shape<Int<BATCH_SIZE>, Int<OUTPUT_SIZE>>{}, make_stride(output_stride, _1{}));
  Tensor a_tiles = local_tile(a, Shape<_64, Int<TILE_K>>{}, make_coord(blockIdx.y, _));
  Tensor b_tiles = local_tile(b, Shape<Int<TILE_N>, Int<TILE_K>>{}, make_coord(blockIdx.x, _));
  Tensor c_tile = local_tile(c, Shape<_64, Int<TILE_N>>{}, make_coord(blockIdx.y, blockIdx.x));

  auto const load = make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, Element>{}, Layout<Shape<_16, _8>, Stride<_8, _1>>{},
                                    Layout<Shape<_1, _8>>{});
  auto const load_thread = load.get_slice(threadIdx.x);
  TiledMMA mma = make_tiled_mma(SM90_64x16x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K>{});
  ThrMMA mma_thread = mma.get_slice(threadIdx.x);
  Tensor a_fragment = mma_thread.make_fragment_A(mma_thread.partition_A(a_tile));
  Tensor b_fragment = mma_thread.make_fragment_B(mma_thread.partition_B(b_tile));
  Tensor c_part = mma_thread.partition_C(c_tile);
  Tensor sum = mma_thread.make_fragment_C(c_part);
  clear(sum);

  for (int k = 0; k < REDUCTION_SIZE / TILE_K; ++k) {
    copy(load, load_thread.partition_S(a_tiles(_, _, k)), load_thread.partition_D(a_tile));
    copy(load, load_thread.partition_S(b_tiles(_, _, k)), load_thread.partition_D(b_tile));
    cutlass::arch::fence_view_async_shared();
    __syncthreads();
    warpgroup_fence_operand(sum);
    warpgroup_arrive();
    gemm(mma, a_fragment, b_fragment, sum);
    warpgroup_commit_batch();
    warpgroup_wait<0>();
    warpgroup_fence_operand(sum);
    __syncthreads();
  }
  for (int i = 0; i < size(sum); ++i) {
    c_part(i) = Element(sum(i));
  }
}

} // namespace bench
