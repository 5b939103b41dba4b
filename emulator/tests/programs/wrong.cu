// Programs that go wrong in the way that the argument names; the exit code is the CUDA error that came out.
#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void store(int *out, long at) { out[at + threadIdx.x] = 1; }
__global__ void halves(char *out) { *(int *)(out + 2) = 1; }
__global__ void claim(int *out, int limit) { assert((int)threadIdx.x < limit); out[threadIdx.x] = 1; }
__global__ void wait_for_half() {
    if (threadIdx.x < 64) asm volatile("bar.sync 1, 128;");
}
__global__ void forever(volatile int *flag) {
    while (*flag == 0) {}
}

int main(int count, char **arguments) {
    const char *way = arguments[count - 1];
    int *out;
    cudaMalloc(&out, 1024);
    cudaMemset(out, 0, 1024);
    if (std::strcmp(way, "bounds") == 0) store<<<1, 32>>>(out, 240);
    if (std::strcmp(way, "misaligned") == 0) halves<<<1, 1>>>((char *)out);
    if (std::strcmp(way, "assert") == 0) claim<<<1, 64>>>(out, 60);
    if (std::strcmp(way, "barrier") == 0) wait_for_half<<<1, 128>>>();
    if (std::strcmp(way, "forever") == 0) forever<<<1, 1>>>(out);
    if (std::strcmp(way, "graph") == 0) {
        cudaGraph_t graph;
        cudaError_t status = cudaGraphCreate(&graph, 0);
        std::printf("%s\n", cudaGetErrorName(status));
        return status == cudaGetLastError() ? (int)status : 1;
    }
    cudaError_t launched = cudaGetLastError(), status = cudaDeviceSynchronize();
    std::printf("%s, then %s: %s\n", cudaGetErrorName(launched), cudaGetErrorName(status), cudaGetErrorString(status));
    if (cudaMalloc(&out, 4) != status || cudaGetLastError() != status || cudaGetLastError() != status) return 1;
    cudaDeviceReset();
    cudaGetLastError();
    return cudaMalloc(&out, 4) == cudaSuccess ? (int)status % 256 : 1;
}
