// Two separately compiled units (-rdc=true): this one calls into the other.
#include "check.h"

__device__ int twice(int x);
extern __device__ int shared_count;
static __device__ int own = 100;

__global__ void use(int *out) {
    out[threadIdx.x] = twice(threadIdx.x) + own;
    atomicAdd(&shared_count, 1);
}

int read_count();

int main() {
    int *out, host[32];
    OK(cudaMalloc(&out, sizeof host));
    use<<<1, 32>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) CHECK(host[i] == 100 + 2 * i + 7);
    CHECK(read_count() == 37);
    std::printf("%d checks failed\n", failed_checks);
    return failed_checks;
}
