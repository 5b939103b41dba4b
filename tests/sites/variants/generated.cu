#include "gemm.cuh"
__global__ void unrelated_kernel(int n);
__device__ void execute(Task const *task) {
  if (task->kind == TASK_COPY && task->variant == 1) {
    copy<64>(task->in[0], task->out[0]);
  } else if (task->kind == TASK_GEMM && task->variant == 0) {
    gemm<__nv_bfloat16, 16, 64, 128>(task->in[0], task->in[1], task->out[0]);
  } else if (task->kind == TASK_GEMM && task->variant == 1) {
    gemm<__nv_bfloat16, 8, 96, 256>(task->in[0], task->in[1], task->out[0]);
  }
}
