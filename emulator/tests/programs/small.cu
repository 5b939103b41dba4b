// One small kernel, launched in the way that the argument names, and what the errors of it look like.
#include "check.h"
#include <cooperative_groups.h>
#include <cstring>
#include <cuda.h>

__global__ void add(int *out, int first, long step) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = first + (int)step * (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void __cluster_dims__(2, 1, 1) in_pairs(int *out, int first, long step) {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = rank == blockIdx.x % 2 ? first + (int)step * at : -1;
}

__global__ void say(int *out, int first, long step) {
    if (threadIdx.x == 0) std::printf("block %d says %d %s %.2f\n", blockIdx.x, first, "and", (double)step / 4);
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = first + (int)step * at;
}

int main(int count, char **arguments) {
    const char *way = count > 1 ? arguments[1] : "chevrons";
    int *out, host[128], first = 5;
    long step = 3;
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMemset(out, 0xff, sizeof host));
    void *parameters[] = {&out, &first, &step};
    cudaLaunchConfig_t config = {};
    config.gridDim = 4;
    config.blockDim = 32;
    cudaLaunchAttribute attribute[2];
    attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[0].val.programmaticStreamSerializationAllowed = 1;
    attribute[1].id = cudaLaunchAttributeClusterDimension;
    attribute[1].val.clusterDim = {2, 1, 1};
    config.attrs = attribute;
    if (std::strcmp(way, "chevrons") == 0) {
        add<<<4, 32>>>(out, first, step);
        OK(cudaGetLastError());
    } else if (std::strcmp(way, "classic") == 0) {
        OK(cudaLaunchKernel((const void *)add, 4, 32, parameters, 0, 0));
    } else if (std::strcmp(way, "cooperative") == 0) {
        OK(cudaLaunchCooperativeKernel((const void *)add, 4, 32, parameters, 0, 0));
    } else if (std::strcmp(way, "extended") == 0) {
        config.numAttrs = 1;
        OK(cudaLaunchKernelEx(&config, add, out, first, step));
    } else if (std::strcmp(way, "cluster") == 0) {
        config.numAttrs = 2;
        OK(cudaLaunchKernelEx(&config, add, out, first, step));
    } else if (std::strcmp(way, "own-cluster") == 0) {
        in_pairs<<<4, 32>>>(out, first, step);
    } else if (std::strcmp(way, "printf") == 0) {
        say<<<4, 32>>>(out, first, step);
        std::puts("launched");
        OK(cudaDeviceSynchronize());
        std::puts("done");
    } else if (std::strcmp(way, "driver") == 0) {
        cudaKernel_t kernel;
        OK(cudaGetKernel(&kernel, (const void *)add));
        CUfunction function;
        OK(cuKernelGetFunction(&function, (CUkernel)kernel));
        OK(cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
    } else if (std::strcmp(way, "packed") == 0) {
        struct {
            int *out;
            int first;
            long step;
        } packed = {out, first, step};
        size_t size = sizeof packed;
        void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                         CU_LAUNCH_PARAM_END};
        CUfunction function;
        OK(cudaGetFuncBySymbol((cudaFunction_t *)&function, (const void *)add));
        OK(cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
    } else if (std::strcmp(way, "library") == 0) {
        cudaLibrary_t library;
        cudaKernel_t kernel;
        OK(cudaLibraryLoadFromFile(&library, arguments[2], nullptr, nullptr, 0, nullptr, nullptr, 0));
        OK(cudaLibraryGetKernel(&kernel, library, "_Z3addPiil"));
        unsigned kernels = 0;
        OK(cudaLibraryGetKernelCount(&kernels, library));
        CHECK(kernels == 3);
        OK(cudaLaunchKernel((const void *)kernel, 4, 32, parameters, 0, 0));
        OK(cudaDeviceSynchronize());
        OK(cudaLibraryUnload(library));
    } else if (std::strcmp(way, "module") == 0) {
        CUmodule module;
        CUfunction function;
        OK(cuInit(0));
        OK(cuModuleLoad(&module, arguments[2]));
        CHECK(cuModuleGetFunction(&function, module, "nothing") == CUDA_ERROR_NOT_FOUND);
        OK(cuModuleGetFunction(&function, module, "_Z3addPiil"));
        OK(cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
        OK(cuModuleUnload(module));
    } else {
        std::printf("no way %s\n", way);
        return 2;
    }
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 128; i++) CHECK(host[i] == 5 + 3 * i);
    std::printf("%s: %d checks failed\n", way, failed_checks);
    return failed_checks != 0;
}
