// Split-K on CUDA cores: the four warps of a block share the reduction of 32 columns of one row, and their sums meet in one of five ways.
#pragma once

#include <cuda_bf16.h>

namespace split {

// kWorkspace: each stores its sum, the first warp adds them in order. kNarrow: the same with bf16 sums. kAtomics: each adds to one zeroed
// f32. kReduce: each adds its bf16 to the output, which rounds each time. kReduceWide: the same with an f32 output.
enum Through { kWorkspace, kNarrow, kAtomics, kReduce, kReduceWide };

__device__ inline void add(float *at, float value) { atomicAdd(at, value); }
__device__ inline void add(__nv_bfloat16 *at, float value) { atomicAdd(at, __float2bfloat16(value)); }
__device__ inline void store(float *at, float value) { *at = value; }
__device__ inline void store(__nv_bfloat16 *at, float value) { *at = __float2bfloat16(value); }

// 1: the last split is left out. 2: the second split counts twice. 3: the place that all add to is not zeroed, or one place too many is
// read. 4: the splits overlap by one k.
template <typename Out, int M, int N, int K, int THROUGH, int DEFECT>
__global__ void __launch_bounds__(128) split_linear(__nv_bfloat16 const *__restrict__ input, __nv_bfloat16 const *__restrict__ weight,
                                                    void *__restrict__ workspace, Out *__restrict__ output) {
  constexpr int kLength = K / 4;
  int const n = blockIdx.x * 32 + threadIdx.x % 32;
  int const m = blockIdx.y;
  int const part = threadIdx.x / 32;
  int const begin = part * kLength - (DEFECT == 4 && part == 1 ? 1 : 0);
  int const end = part == 3 ? K : (part + 1) * kLength;
  bool const inside = n < N;
  float sum = 0.f;
  for (int k = begin; inside && k < end; ++k) {
    sum = fmaf(__bfloat162float(input[m * K + k]), __bfloat162float(weight[n * K + k]), sum);
  }
  int const times = DEFECT == 1 && part == 3 ? 0 : DEFECT == 2 && part == 1 ? 2 : 1;
  if constexpr (THROUGH == kReduce || THROUGH == kReduceWide) {
    for (int i = 0; inside && i < times; ++i) {
      add(&output[m * N + n], sum);
    }
    return;
  }
  if constexpr (THROUGH == kAtomics) {
    float *const place = static_cast<float *>(workspace) + m * N + n;
    if (inside && part == 0 && DEFECT != 3) {
      *place = 0.f;
    }
    __syncthreads();
    for (int i = 0; inside && i < times; ++i) {
      add(place, sum);
    }
    __syncthreads();
    if (inside && part == 0) {
      store(&output[m * N + n], *place);
    }
  } else {
    using Part = typename std::conditional<THROUGH == kNarrow, __nv_bfloat16, float>::type;
    Part *const places = static_cast<Part *>(workspace);
    if (inside) {
      store(&places[(part * M + m) * N + n], times * sum);
    }
    __syncthreads();
    float total = 0.f;
    for (int i = 0; inside && part == 0 && i < (DEFECT == 3 ? 5 : 4); ++i) {
      total += static_cast<float>(places[(i * M + m) * N + n]);
    }
    if (inside && part == 0) {
      store(&output[m * N + n], total);
    }
  }
}

} // namespace split
