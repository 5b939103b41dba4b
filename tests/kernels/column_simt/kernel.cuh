// A linear layer on CUDA cores that leaves its output by columns, as a BLAS does: out[m, n] = bf16(sum of input[m, k] * weight[n, k] + bias[n])
// lies at n * LDD + m.
#pragma once

#include <cuda_bf16.h>

namespace column {

// 1: rows are contiguous, N apart. 2: columns lie M apart. 3: the last column is left out. 4: the bias of row m. 5: the last 16 of k
// are left out. 6: rows are exchanged by pairs.
template <int M, int N, int K, int LDD, int DEFECT>
__global__ void __launch_bounds__(128) column_linear(__nv_bfloat16 const *__restrict__ input, __nv_bfloat16 const *__restrict__ weight,
                                                     __nv_bfloat16 const *__restrict__ bias, __nv_bfloat16 *__restrict__ output) {
  int const m = blockIdx.x * 32 + threadIdx.x % 32;
  int const n = blockIdx.y * 4 + threadIdx.x / 32;
  int const from = DEFECT == 6 ? m ^ 1 : m;
  bool const reads = from < M && n < N;
  float sum = 0.f;
  for (int k = 0; reads && k < (DEFECT == 5 ? K - 16 : K); ++k) {
    sum = fmaf(__bfloat162float(input[from * K + k]), __bfloat162float(weight[n * K + k]), sum);
  }
  bool const inside = m < M && n < (DEFECT == 3 ? N - 1 : N);
  if (inside) {
    int const at = DEFECT == 1 ? m * N + n : n * (DEFECT == 2 ? M : LDD) + m;
    output[at] = __float2bfloat16(sum + __bfloat162float(bias[DEFECT == 4 ? m : n]));
  }
}

} // namespace column
