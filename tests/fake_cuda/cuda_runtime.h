// The part of cuda_runtime.h that the harness runtime uses, on host memory. A launch calls `fake_kernel`.
#pragma once

#include <cstdlib>
#include <cstring>

#include "cuda.h"

#define CUDART_VERSION 13000

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorStubLibrary = 34,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorSystemNotReady = 802,
  cudaErrorSystemDriverMismatch = 803
};
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess = 0, cudaDriverEntryPointSymbolNotFound = 1 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributeNonPortableClusterSizeAllowed = 10 };
enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension = 4 };
enum { cudaEnableDefault = 0, cudaEventDisableTiming = 2 };
typedef void* cudaEvent_t;
typedef void* cudaStream_t;

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    struct {
      unsigned x, y, z;
    } clusterDim;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

// Defined by the test: what the kernel does, how a poll answers, how many devices there are.
cudaError_t fake_kernel(const void* function, void** arguments);
cudaError_t fake_poll();
int fake_devices();

inline const char* cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "a fake error"; }
inline const char* cudaGetErrorName(cudaError_t error) { return error == cudaSuccess ? "cudaSuccess" : "cudaErrorFake"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = fake_devices();
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaFree(void*) { return fake_poll() == cudaErrorIllegalAddress ? cudaErrorIllegalAddress : cudaSuccess; }
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int) {
  *value = what == cudaDevAttrComputeCapabilityMajor ? 9 : 0;
  return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = std::malloc(bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return fake_poll(); }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void* function, void** arguments) {
  return fake_kernel(function, arguments);
}

inline CUresult fake_name(char* name, int size, CUdevice) {
  std::strncpy(name, "fake", static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}
inline CUresult fake_encode(CUtensorMap* map, CUtensorMapDataType, cuuint32_t rank, void* address, const cuuint64_t*,
                            const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  map->opaque[0] = reinterpret_cast<std::uintptr_t>(address);
  return rank == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
inline CUresult fake_text(CUresult, const char** text) {
  *text = "invalid argument";
  return CUDA_SUCCESS;
}
inline cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** found, unsigned, unsigned long long,
                                                    cudaDriverEntryPointQueryResult* status) {
  *status = cudaDriverEntryPointSuccess;
  if (std::strcmp(name, "cuDeviceGetName") == 0) *found = reinterpret_cast<void*>(&fake_name);
  if (std::strcmp(name, "cuTensorMapEncodeTiled") == 0) *found = reinterpret_cast<void*>(&fake_encode);
  if (std::strcmp(name, "cuGetErrorString") == 0) *found = reinterpret_cast<void*>(&fake_text);
  return cudaSuccess;
}
