// out = relu(alpha * a * b^T + beta * c), scalars by value, threads of a block in two dimensions.
#pragma once

#include <cuda_fp16.h>

template <typename T>
__global__ void blas_linear(int m, int n, int k, float alpha, const T *a, int lda, const T *b, float beta, const T *c, T *out,
                            bool relu) {
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum = fmaf(static_cast<float>(a[row * lda + i]), static_cast<float>(b[column * k + i]), sum);
  sum = alpha * sum + beta * static_cast<float>(c[row * n + column]);
  out[row * n + column] = static_cast<T>(relu ? fmaxf(sum, 0.f) : sum);
}
