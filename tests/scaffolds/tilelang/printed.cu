#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <sstream>

using half_t = __half;

extern "C" __global__ void main_kernel(__grid_constant__ const CUtensorMap A_desc, __grid_constant__ const CUtensorMap B_desc, half_t* __restrict__ C);
extern "C" __global__ void __launch_bounds__(128, 1) main_kernel(__grid_constant__ const CUtensorMap A_desc, __grid_constant__ const CUtensorMap B_desc, half_t* __restrict__ C) {
  extern __shared__ __align__(1024) unsigned char buf_dyn_shmem[];
  __shared__ unsigned long long mbarrier;
  float C_local[2] = {0.0f, 0.0f};
  unsigned const barrier = static_cast<unsigned>(__cvta_generic_to_shared(&mbarrier));
  unsigned const shared = static_cast<unsigned>(__cvta_generic_to_shared(buf_dyn_shmem));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(2048) : "memory");
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(shared), "l"(&A_desc), "r"(barrier), "r"(k * 32), "r"(static_cast<int>(blockIdx.y) * 16) : "memory");
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(shared + 1024), "l"(&B_desc), "r"(barrier), "r"(static_cast<int>(blockIdx.x) * 16), "r"(k * 32) : "memory");
    }
    unsigned done = 0;
    while (done == 0) {
      asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(barrier), "r"(k & 1) : "memory");
    }
    half_t const* A_shared = reinterpret_cast<half_t const*>(buf_dyn_shmem);
    half_t const* B_shared = reinterpret_cast<half_t const*>(buf_dyn_shmem + 1024);
    for (int i = 0; i < 2; ++i) {
      int const row = static_cast<int>(threadIdx.x) / 16 + i * 8, column = static_cast<int>(threadIdx.x) % 16;
      for (int j = 0; j < 32; ++j) C_local[i] += __half2float(A_shared[row * 32 + j]) * __half2float(B_shared[j * 16 + column]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    int const row = static_cast<int>(blockIdx.y) * 16 + static_cast<int>(threadIdx.x) / 16 + i * 8;
    C[row * 48 + static_cast<int>(blockIdx.x) * 16 + static_cast<int>(threadIdx.x) % 16] = __float2half(C_local[i]);
  }
}

#define ERROR_BUF_SIZE 1024
static char error_buf[ERROR_BUF_SIZE];

extern "C" int call(half_t* __restrict__ A, half_t* __restrict__ B, half_t* __restrict__ C, cudaStream_t stream=cudaStreamDefault) {

	CUtensorMap A_desc;
	CUtensorMapDataType A_desc_type= (CUtensorMapDataType)6;
	cuuint32_t A_desc_tensorRank= 2;
	void *A_desc_globalAddress= A;
	cuuint64_t A_desc_globalDim[2]= {128,32};
	cuuint64_t A_desc_globalStride[2]= {2,256};
	cuuint32_t A_desc_boxDim[2]= {32,16};
	cuuint32_t A_desc_elementStrides[2]= {1,1};
	CUtensorMapInterleave A_desc_interleave= (CUtensorMapInterleave)0;
	CUtensorMapSwizzle A_desc_swizzle= (CUtensorMapSwizzle)0;
	CUtensorMapL2promotion A_desc_l2Promotion= (CUtensorMapL2promotion)2;
	CUtensorMapFloatOOBfill A_desc_oobFill= (CUtensorMapFloatOOBfill)0;

	CUtensorMap B_desc;
	CUtensorMapDataType B_desc_type= (CUtensorMapDataType)6;
	cuuint32_t B_desc_tensorRank= 2;
	void *B_desc_globalAddress= B;
	cuuint64_t B_desc_globalDim[2]= {48,128};
	cuuint64_t B_desc_globalStride[2]= {2,96};
	cuuint32_t B_desc_boxDim[2]= {16,32};
	cuuint32_t B_desc_elementStrides[2]= {1,1};
	CUtensorMapInterleave B_desc_interleave= (CUtensorMapInterleave)0;
	CUtensorMapSwizzle B_desc_swizzle= (CUtensorMapSwizzle)0;
	CUtensorMapL2promotion B_desc_l2Promotion= (CUtensorMapL2promotion)2;
	CUtensorMapFloatOOBfill B_desc_oobFill= (CUtensorMapFloatOOBfill)0;
	(void)A_desc_globalAddress; (void)B_desc_globalAddress; (void)error_buf;
	main_kernel<<<dim3(3, 2, 1), dim3(128, 1, 1), 2048, stream>>>(A_desc, B_desc, C);
	return 0;
}
