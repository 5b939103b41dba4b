// Every kind of call that needs no kernel to run: device, memory, symbols, streams, events, errors, tensor maps.
#include "check.h"
#include <cstring>
#include <cuda.h>
#include <vector>

__device__ int counter = 41;
__constant__ float table[4];
__device__ unsigned char bytes[3][64];

__global__ void touch() { counter = bytes[1][2] + (int)table[0]; }
__global__ void __launch_bounds__(256) bounded(float *out, double scale, char tag) { out[threadIdx.x] = scale + tag; }

static void device() {
    int count = 0, device = -1, major = 0, sms = 0, optin = 0, driver = 0, runtime = 0;
    OK(cudaGetDeviceCount(&count));
    OK(cudaGetDevice(&device));
    CHECK(count == 1 && device == 0);
    CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaSuccess);
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    std::printf("%s: sm_%d%d, %d multiprocessors\n", properties.name, properties.major, properties.minor,
                properties.multiProcessorCount);
    CHECK(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024);
    CHECK(properties.maxThreadsDim[2] == 64 && properties.maxGridSize[0] == 2147483647);
    CHECK(properties.sharedMemPerBlock == 49152 && properties.sharedMemPerBlockOptin == 232448);
    CHECK(properties.sharedMemPerMultiprocessor == 233472 && properties.reservedSharedMemPerBlock == 1024);
    CHECK(properties.clusterLaunch == 1 && properties.cooperativeLaunch == 1 && properties.l2CacheSize > 0);
    CHECK(properties.regsPerBlock == 65536 && properties.maxThreadsPerMultiProcessor == 2048);
    OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    OK(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK(major == 9 && sms == properties.multiProcessorCount && optin == 232448);
    CHECK(cudaDeviceGetAttribute(&sms, (cudaDeviceAttr)7777, 0) == cudaErrorInvalidValue);
    OK(cudaDriverGetVersion(&driver));
    OK(cudaRuntimeGetVersion(&runtime));
    CHECK(driver == runtime && runtime >= 13000);
    size_t limit = 0;
    OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 16));
    OK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    CHECK(limit == 1 << 16);
    (void)cudaGetLastError();
}

static void memory() {
    std::vector<int> in(1000), out(1000, -1);
    for (int i = 0; i < 1000; i++) in[i] = i * 7;
    int *a, *b;
    OK(cudaMalloc(&a, 4000));
    OK(cudaMallocAsync(&b, 4000, 0));
    OK(cudaMemcpy(a, in.data(), 4000, cudaMemcpyHostToDevice));
    OK(cudaMemcpyAsync(b, a, 4000, cudaMemcpyDeviceToDevice, 0));
    OK(cudaMemcpy(out.data(), b, 4000, cudaMemcpyDefault));
    CHECK(in == out);
    OK(cudaMemset(b, 0x5a, 2000));
    OK(cudaMemcpy(out.data(), b, 4000, cudaMemcpyDeviceToHost));
    CHECK(out[499] == 0x5a5a5a5a && out[500] == 3500);
    size_t free_before, free_after, total;
    OK(cudaMemGetInfo(&free_before, &total));
    OK(cudaFree(a));
    OK(cudaMemGetInfo(&free_after, &total));
    CHECK(free_after == free_before + 4000);
    CHECK(cudaMemcpy(a, in.data(), 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy((char *)b + 3998, in.data(), 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaFree((char *)b + 4) == cudaErrorInvalidValue);
    OK(cudaFreeAsync(b, 0));
    OK(cudaFree(nullptr));
    int *empty = a;
    OK(cudaMalloc(&empty, 0));
    CHECK(empty == nullptr);
    void *huge;
    CHECK(cudaMalloc(&huge, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    (void)cudaGetLastError();

    size_t pitch;
    char *image, rows[3][100], back[3][50];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 100; c++) rows[r][c] = r * 100 + c;
    OK(cudaMallocPitch(&image, &pitch, 50, 3));
    CHECK(pitch >= 50 && pitch % 32 == 0);
    OK(cudaMemset2D(image, pitch, 9, 50, 3));
    OK(cudaMemcpy2D(image, pitch, rows[0] + 10, 100, 40, 3, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(back, 50, image, pitch, 50, 3, cudaMemcpyDeviceToHost));
    CHECK(back[2][0] == rows[2][10] && back[2][39] == rows[2][49] && back[2][40] == 9);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, image + 5));
    CHECK(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == image + 5);
    OK(cudaPointerGetAttributes(&attributes, rows));
    CHECK(attributes.type == cudaMemoryTypeUnregistered);
    char *pinned;
    OK(cudaMallocHost(&pinned, 1000));
    OK(cudaPointerGetAttributes(&attributes, pinned + 999));
    CHECK(attributes.type == cudaMemoryTypeHost);
    OK(cudaFreeHost(pinned));
    OK(cudaFree(image));
}

static void symbols() {
    int value = 0;
    OK(cudaMemcpyFromSymbol(&value, counter, 4));
    CHECK(value == 41);
    value = 17;
    OK(cudaMemcpyToSymbol(counter, &value, 4));
    int *address;
    OK(cudaGetSymbolAddress((void **)&address, counter));
    value = 0;
    OK(cudaMemcpy(&value, address, 4, cudaMemcpyDeviceToHost));
    CHECK(value == 17);
    size_t size = 0;
    OK(cudaGetSymbolSize(&size, bytes));
    CHECK(size == 192);
    float four[4] = {1, 2, 3, 4};
    OK(cudaMemcpyToSymbol(table, four, 16));
    float third = 0;
    OK(cudaMemcpyFromSymbol(&third, table, 4, 8));
    CHECK(third == 3);
    CHECK(cudaMemcpyToSymbol(table, four, 16, 4) == cudaErrorInvalidValue);
    CHECK(cudaGetSymbolSize(&size, four) == cudaErrorInvalidSymbol);
    (void)cudaGetLastError();
}

static void kernels() {
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, bounded));
    CHECK(attributes.maxThreadsPerBlock == 256 && attributes.maxDynamicSharedSizeBytes == 49152);
    OK(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    OK(cudaFuncGetAttributes(&attributes, bounded));
    CHECK(attributes.maxDynamicSharedSizeBytes == 232448);
    CHECK(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449) == cudaErrorInvalidValue);
    size_t offset = 0, size = 0;
    OK(cudaFuncGetParamInfo((const void *)bounded, 2, &offset, &size));
    CHECK(offset == 16 && size == 1);
    const char *name = nullptr;
    OK(cudaFuncGetName(&name, (const void *)bounded));
    CHECK(std::strcmp(name, "_Z7boundedPfdc") == 0);
    int blocks = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, touch, 1024, 0));
    CHECK(blocks == 2);
    CHECK(cudaFuncGetAttributes(&attributes, (const void *)device) == cudaErrorInvalidDeviceFunction);
    // Refused before anything runs.
    bounded<<<1, 512>>>(nullptr, 1, 2);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    bounded<<<1, 2048>>>(nullptr, 1, 2);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    bounded<<<0, 32>>>(nullptr, 1, 2);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    touch<<<1, 32, 49153>>>();
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {2, 1, 1};
    config.gridDim = 3;
    config.blockDim = 32;
    config.attrs = &cluster;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, touch) == cudaErrorInvalidClusterSize);
    (void)cudaGetLastError();
}

static void streams() {
    cudaStream_t stream;
    cudaEvent_t start, end;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(start, stream));
    OK(cudaStreamWaitEvent(stream, start, 0));
    OK(cudaEventRecord(end, stream));
    OK(cudaEventSynchronize(end));
    OK(cudaEventQuery(end));
    float milliseconds = -1;
    OK(cudaEventElapsedTime(&milliseconds, start, end));
    CHECK(milliseconds >= 0 && milliseconds < 10000);
    OK(cudaStreamQuery(stream));
    OK(cudaStreamSynchronize(stream));
    int called = 0;
    OK(cudaLaunchHostFunc(stream, [](void *data) { *(int *)data = 1; }, &called));
    OK(cudaDeviceSynchronize());
    CHECK(called == 1);
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
    OK(cudaStreamDestroy(stream));
}

static void errors() {
    CHECK(std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
    CHECK(std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
    CHECK(cudaGetErrorName(cudaSuccess) == cudaGetErrorName(cudaSuccess));
    CHECK(std::strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code") == 0);
}

static void tensor_maps() {
    using Encode = CUresult (*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                                CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    Encode encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
    CHECK(encode != nullptr && found == cudaDriverEntryPointSuccess);
    void *nothing;
    OK(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &nothing, 12000, cudaEnableDefault, &found));
    CHECK(nothing == nullptr && found == cudaDriverEntryPointSymbolNotFound);
    void *data;
    OK(cudaMalloc(&data, 1 << 20));
    CUtensorMap map;
    cuuint64_t dims[2] = {256, 100}, strides[1] = {512};
    cuuint32_t box[2] = {64, 128}, steps[2] = {1, 1};
    auto with = [&](void *base) {
        return encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, base, dims, strides, box, steps,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    };
    OK(with(data));
    CHECK(with((char *)data + 8) == CUDA_ERROR_INVALID_VALUE);
    box[0] = 128;
    CHECK(with(data) == CUDA_ERROR_INVALID_VALUE);
    OK(cudaFree(data));
}

int main() {
    device();
    memory();
    symbols();
    kernels();
    streams();
    errors();
    tensor_maps();
    OK(cudaDeviceSynchronize());
    OK(cudaDeviceReset());
    std::printf("%d checks failed\n", failed_checks);
    return failed_checks;
}
