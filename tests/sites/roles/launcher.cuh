#pragma once
#include <cuda_bf16.h>
#include <cuda_runtime.h>
// Out[m, n] = activation[m, k] * (weight[n, k] scaled by blocks of 128)^T. The weight is the first operand of the product, and the
// output lies in a wider tensor. The declaration names no parameter.
template <int N, int K>
cudaError_t swapped_gemm(__nv_bfloat16 const *, __nv_bfloat16 const *, float const *, __nv_bfloat16 *, int, cudaStream_t);
