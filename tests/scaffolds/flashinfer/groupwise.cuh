// A host launcher in FlashInfer's style: pointers, sizes, scale granularity as template parameters, a buffer for a workspace.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace flashinfer {
namespace gemm {

template <int GM, int GN, int GK, bool ScaleMajorK, typename DTypeIn, typename DTypeOut>
__global__ void groupwise_kernel(DTypeIn const *a, DTypeIn const *b, float const *sfa, float const *sfb, DTypeOut *d, int m,
                                 int n, int k) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= n) return;
  int const blocks = (k + GK - 1) / GK, high = (m + GM - 1) / GM, wide = (n + GN - 1) / GN;
  float sum = 0;
  for (int block = 0; block < blocks; ++block) {
    float part = 0;
    for (int i = block * GK; i < min(k, (block + 1) * GK); ++i) {
      part += static_cast<float>(a[row * k + i]) * static_cast<float>(b[column * k + i]);
    }
    float const scale_a = ScaleMajorK ? sfa[row / GM * blocks + block] : sfa[block * high + row / GM];
    float const scale_b = ScaleMajorK ? sfb[column / GN * blocks + block] : sfb[block * wide + column / GN];
    sum += scale_a * scale_b * part;
  }
  d[row * n + column] = DTypeOut(sum);
}

template <int ScaleGranularityM, int ScaleGranularityN, int ScaleGranularityK, bool ScaleMajorK, int MmaSM,
          typename DTypeIn, typename DTypeOut>
cudaError_t CutlassGroupwiseScaledGEMMSM100(void *float_buffer, size_t float_buffer_size_in_bytes, DTypeIn *A_ptr,
                                            DTypeIn *B_ptr, float *SFA_ptr, float *SFB_ptr, DTypeOut *D_ptr, int m, int n,
                                            int k, int l, cudaStream_t stream) {
  if (float_buffer == nullptr || float_buffer_size_in_bytes < 1024 || l != 1) return cudaErrorInvalidValue;
  dim3 const grid((n + 127) / 128, m);
  groupwise_kernel<ScaleGranularityM, ScaleGranularityN, ScaleGranularityK, ScaleMajorK>
      <<<grid, 128, 0, stream>>>(A_ptr, B_ptr, SFA_ptr, SFB_ptr, D_ptr, m, n, k);
  return cudaGetLastError();
}

}  // namespace gemm
}  // namespace flashinfer
