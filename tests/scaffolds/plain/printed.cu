template __global__ void rms_norm<__nv_bfloat16, 1024>(__nv_bfloat16 const *, __nv_bfloat16 const *, __nv_bfloat16 *, float);
