// The device: is there a fit one, driver entry points, descriptors, buffers with guards.
#pragma once

#include "launch.h"
#include "storage.h"

namespace krepro {

// No device or driver that this executable can run on: exit code 125.
struct NoDevice : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline bool means_no_device(cudaError_t error) {
  return error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver || error == cudaErrorNoKernelImageForDevice ||
         error == cudaErrorUnsupportedPtxVersion || error == cudaErrorSystemNotReady ||
         error == cudaErrorStubLibrary || error == cudaErrorSystemDriverMismatch ||
         error == cudaErrorDevicesUnavailable || error == cudaErrorInvalidDeviceFunction;
}

// A function of libcuda, found at run time, so that the executable is not linked with it.
inline void* driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  KREPRO_CHECK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &status));
#else
  KREPRO_CHECK(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &status));
#endif
  if (status != cudaDriverEntryPointSuccess || found == nullptr) {
    throw NoDevice(std::string("the driver has no ") + name + "; it is older than this kernel needs");
  }
  return found;
}

struct DeviceInfo {
  std::string name;
  int major = 0;
  int minor = 0;
  int driver = 0;
  int runtime = 0;
};

inline std::string cuda_version(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

inline DeviceInfo open_device() {
  DeviceInfo info;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) throw NoDevice(std::string("cudaGetDeviceCount: ") + cudaGetErrorString(error));
  if (count == 0) throw NoDevice("no CUDA device is visible");
  try {
    KREPRO_CHECK(cudaSetDevice(0));
    KREPRO_CHECK(cudaFree(nullptr));
    KREPRO_CHECK(cudaDeviceGetAttribute(&info.major, cudaDevAttrComputeCapabilityMajor, 0));
    KREPRO_CHECK(cudaDeviceGetAttribute(&info.minor, cudaDevAttrComputeCapabilityMinor, 0));
    KREPRO_CHECK(cudaDriverGetVersion(&info.driver));
    KREPRO_CHECK(cudaRuntimeGetVersion(&info.runtime));
    char name[256] = "";
    using Function = CUresult (*)(char*, int, CUdevice);
    if (reinterpret_cast<Function>(driver_function("cuDeviceGetName"))(name, sizeof name, 0) == CUDA_SUCCESS) info.name = name;
  } catch (const CudaError& failure) {
    throw NoDevice(failure.what());
  }
  return info;
}

// Encodes a descriptor; the answer is the driver's error text, or empty.
inline std::string encode_map(const Descriptor& d, void* address, CUtensorMap& map) {
  using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                              const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  using ErrorText = CUresult (*)(CUresult, const char**);
  cuuint64_t dims[5];
  cuuint64_t strides[5];
  cuuint32_t box[5];
  cuuint32_t steps[5];
  for (std::size_t i = 0; i < 5; ++i) {
    dims[i] = d.global_dim[i];
    strides[i] = d.global_strides[i];
    box[i] = d.box_dim[i];
    steps[i] = d.element_strides[i];
  }
  const CUresult result = reinterpret_cast<Encode>(driver_function("cuTensorMapEncodeTiled"))(
      &map, static_cast<CUtensorMapDataType>(d.data_type), d.rank, address, dims, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(d.swizzle),
      static_cast<CUtensorMapL2promotion>(d.l2_promotion), static_cast<CUtensorMapFloatOOBfill>(d.out_of_bounds));
  if (result == CUDA_SUCCESS) return "";
  const char* text = nullptr;
  reinterpret_cast<ErrorText>(driver_function("cuGetErrorString"))(result, &text);
  return "cuTensorMapEncodeTiled: " + std::string(text == nullptr ? "unknown error" : text) + " (" +
         std::to_string(static_cast<int>(result)) + ")";
}

inline std::uint64_t count_differences(const unsigned char* left, const unsigned char* right, std::uint64_t bytes) {
  std::uint64_t found = 0;
  if (std::memcmp(left, right, bytes) == 0) return 0;
  for (std::uint64_t i = 0; i < bytes; ++i) found += left[i] != right[i] ? 1u : 0u;
  return found;
}

// An image on the host, and its copy on the device.
struct DeviceTensor {
  Image image;
  unsigned char* base = nullptr;
  std::vector<unsigned char> seen;

  void create() {
    void* pointer = nullptr;
    KREPRO_CHECK(cudaMalloc(&pointer, image.bytes.size()));
    base = static_cast<unsigned char*>(pointer);
    seen.resize(image.bytes.size());
  }
  void upload() const { KREPRO_CHECK(cudaMemcpy(base, image.bytes.data(), image.bytes.size(), cudaMemcpyHostToDevice)); }
  void download() { KREPRO_CHECK(cudaMemcpy(seen.data(), base, seen.size(), cudaMemcpyDeviceToHost)); }
  void* address() const { return base + image.guard; }
  std::uint64_t guard_hits() const {
    const std::uint64_t behind = image.guard + image.data;
    return count_differences(seen.data(), image.bytes.data(), image.guard) +
           count_differences(seen.data() + behind, image.bytes.data() + behind, image.guard);
  }
  std::uint64_t data_hits() const {
    return count_differences(seen.data() + image.guard, image.bytes.data() + image.guard, image.data);
  }
};

}  // namespace krepro
