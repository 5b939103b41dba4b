// What the launch function of a reproducer may use: buffers by name, and a launch that checks its arguments' types.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "contract.h"

namespace krepro {

// A CUDA call that failed, with its text as it stands in the source.
struct CudaError : std::runtime_error {
  CudaError(const char* call_text, cudaError_t error)
      : std::runtime_error(std::string(call_text) + ": " + cudaGetErrorString(error)), call(call_text), code(error) {}
  std::string call;
  cudaError_t code;
};

inline void check(cudaError_t error, const char* call) {
  if (error != cudaSuccess) throw CudaError(call, error);
}

#define KREPRO_CHECK(call) ::krepro::check((call), #call)

class Buffers {
 public:
  // First byte of an operand on the device, by role.
  void* address(const char* role) const { return at(addresses, role); }
  // A descriptor on the host, to be passed by value.
  const CUtensorMap& map(const char* name) const { return at(maps, name); }
  // The same descriptor in global memory.
  CUtensorMap* map_on_device(const char* name) const { return at(device_maps, name); }
  void* workspace() const { return at(addresses, "workspace"); }
  // The value of an operand of one element in this launch, for a parameter that takes it by value.
  double value(const char* role) const { return at(values, role); }

  std::map<std::string, void*> addresses;
  std::map<std::string, double> values;
  std::map<std::string, CUtensorMap> maps;
  std::map<std::string, CUtensorMap*> device_maps;

 private:
  template <class Value>
  static const Value& at(const std::map<std::string, Value>& from, const char* name) {
    const auto found = from.find(name);
    if (found == from.end()) throw std::invalid_argument(std::string("the reproducer has no buffer named ") + name);
    return found->second;
  }
};

template <class To, class From>
To argument(From&& from) {
  if constexpr (std::is_pointer_v<To> && std::is_same_v<std::decay_t<From>, void*>) {
    return static_cast<To>(from);
  } else if constexpr (std::is_convertible_v<From&&, To>) {
    return std::forward<From>(from);
  } else {
    return static_cast<To>(std::forward<From>(from));
  }
}

template <class... Values, std::size_t... Index>
cudaError_t launch_values(const void* function, const cudaLaunchConfig_t& config, std::tuple<Values...>& values,
                          std::index_sequence<Index...>) {
  void* pointers[sizeof...(Values) + 1] = {const_cast<void*>(static_cast<const void*>(&std::get<Index>(values)))...};
  return cudaLaunchKernelExC(&config, function, pointers);
}

// Launches on the default stream; the arguments are converted to the kernel's parameter types.
template <class... Parameters, class... Arguments>
void launch_function(const void* function, const LaunchShape& shape, Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "the launch gives another number of arguments than the kernel takes");
  std::tuple<std::remove_cv_t<Parameters>...> values(argument<std::remove_cv_t<Parameters>>(std::forward<Arguments>(arguments))...);
  const unsigned blocks = shape.cluster[0] * shape.cluster[1] * shape.cluster[2];
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attributes[1] = {};
  config.gridDim = dim3(shape.grid[0], shape.grid[1], shape.grid[2]);
  config.blockDim = dim3(shape.block[0], shape.block[1], shape.block[2]);
  config.dynamicSmemBytes = shape.shared_memory;
  if (blocks != 1) {
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = shape.cluster[0];
    attributes[0].val.clusterDim.y = shape.cluster[1];
    attributes[0].val.clusterDim.z = shape.cluster[2];
    config.attrs = attributes;
    config.numAttrs = 1;
  }
  if (blocks > 8) KREPRO_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  if (shape.shared_memory != 0) {
    const int bytes = static_cast<int>(shape.shared_memory);
    KREPRO_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  }
  const cudaError_t error = launch_values(function, config, values, std::index_sequence_for<Parameters...>{});
  check(error, "cudaLaunchKernelExC of the kernel");
}

template <class... Parameters, class... Arguments>
void launch_kernel(void (*kernel)(Parameters...), const LaunchShape& shape, Arguments&&... arguments) {
  launch_function<Parameters...>(reinterpret_cast<const void*>(kernel), shape, std::forward<Arguments>(arguments)...);
}

#ifdef KREPRO_HOST_HALF
// The host half of a build in two halves: the device half lies in the executable as an image, its kernels are found by name.
extern "C" const unsigned char krepro_image[];
extern "C" const char* const krepro_symbols[];

template <class... Parameters, class... Arguments>
void launch_image(unsigned kernel, const LaunchShape& shape, Arguments&&... arguments) {
  static cudaLibrary_t library = nullptr;
  if (library == nullptr) KREPRO_CHECK(cudaLibraryLoadData(&library, krepro_image, nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t found = nullptr;
  KREPRO_CHECK(cudaLibraryGetKernel(&found, library, krepro_symbols[kernel]));
  launch_function<Parameters...>(reinterpret_cast<const void*>(found), shape, std::forward<Arguments>(arguments)...);
}
#endif

// A host function that launches the kernel on the default stream; what it returns must be 0, cudaSuccess or nothing.
template <class Result, class... Parameters, class... Arguments>
void call_launcher(Result (*launcher)(Parameters...), const LaunchShape&, Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "the call gives another number of arguments than the launcher takes");
  if constexpr (std::is_void_v<Result>) {
    launcher(argument<std::remove_cv_t<Parameters>>(std::forward<Arguments>(arguments))...);
  } else if constexpr (std::is_same_v<Result, cudaError_t>) {
    check(launcher(argument<std::remove_cv_t<Parameters>>(std::forward<Arguments>(arguments))...), "the launcher");
  } else {
    const int status = static_cast<int>(launcher(argument<std::remove_cv_t<Parameters>>(std::forward<Arguments>(arguments))...));
    if (status != 0) throw std::runtime_error("the launcher returned " + std::to_string(status));
  }
  check(cudaGetLastError(), "the launcher's launch");
}

// Written by the reproducer: sets the kernel's context up and launches it once.
void launch(const Buffers& buffers, const LaunchShape& shape);

}  // namespace krepro
