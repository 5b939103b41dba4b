template cudaError_t swapped_gemm<96, 256>(__nv_bfloat16 const *, __nv_bfloat16 const *, float const *, __nv_bfloat16 *, int, cudaStream_t);
