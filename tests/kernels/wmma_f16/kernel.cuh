// out = a * b^T with wmma; sums are kept in f16.
#pragma once

#include <cuda_fp16.h>
#include <mma.h>

template <int M, int N, int K>
__global__ void wmma_linear(__half const *a, __half const *b, __half *out) {
  using namespace nvcuda;
  int const row = blockIdx.y * 16;
  int const column = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, __half> sum;
  wmma::fill_fragment(sum, __float2half(0.f));
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(left, a + row * K + k, K);
    wmma::load_matrix_sync(right, b + column * K + k, K);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(out + row * N + column, sum, N, wmma::mem_row_major);
}
