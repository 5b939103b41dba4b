/* Times calls through the shim; `empty` is a PTX kernel that returns at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct dim3 {
    unsigned x, y, z;
};
int cudaMalloc(void **, size_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemset(void *, int, size_t);
int cudaDeviceSynchronize(void);
int cudaLibraryLoadData(void **, const void *, void *, void **, unsigned, void *, void **, unsigned);
int cudaLibraryGetKernel(void **, void *, const char *);
int cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, void *);

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty() { ret; }\n";

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

#define TIME(count, call)                                                                                              \
    do {                                                                                                               \
        double start = now();                                                                                          \
        for (int i = 0; i < (count); i++)                                                                              \
            if ((call) != 0) return printf("%s fails\n", #call), 1;                                                     \
        printf("%-22.22s %9.2f us\n", #call, 1e6 * (now() - start) / (count));                                         \
    } while (0)

int main(void) {
    enum { LARGE = 64 << 20 };
    char *host = malloc(LARGE);
    memset(host, 1, LARGE);
    void *memory, *library, *kernel;
    if (cudaMalloc(&memory, LARGE) != 0) return 1;
    TIME(20000, cudaDeviceSynchronize());
    TIME(20000, cudaMemset(memory, 0, 4));
    TIME(20000, cudaMemcpy(memory, host, 4, 1));
    if (cudaLibraryLoadData(&library, ptx, 0, 0, 0, 0, 0, 0) != 0) return 1;
    if (cudaLibraryGetKernel(&kernel, library, "empty") != 0) return 1;
    struct dim3 one = {1, 1, 1};
    TIME(5000, cudaLaunchKernel(kernel, one, one, 0, 0, 0));
    double start = now();
    for (int i = 0; i < 8; i++) cudaMemcpy(memory, host, LARGE, 1);
    double middle = now();
    for (int i = 0; i < 8; i++) cudaMemcpy(host, memory, LARGE, 2);
    printf("to the device          %9.2f GB/s\n", 8e-9 * LARGE / (middle - start));
    printf("from the device        %9.2f GB/s\n", 8e-9 * LARGE / (now() - middle));
    return 0;
}
