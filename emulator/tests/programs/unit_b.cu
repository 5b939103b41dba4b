__device__ int shared_count = 5;
static __device__ int own = 7;

__device__ int twice(int x) { return 2 * x + own; }

int read_count() {
    int count = -1;
    cudaMemcpyFromSymbol(&count, shared_count, sizeof count);
    return count;
}
