#pragma once
#include <cuda_bf16.h>
template <typename T, int M, int N, int K>
__global__ void gemm(T const *in, T const *weight, T *out) {}
