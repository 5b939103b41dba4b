// Runs the cases that tests/tensor/lab.rs writes on a GPU, for comparison with the CPU backend's output beside them.
//
//   g++ -std=c++17 run_cases.cpp -lcuda -o run_cases && ./run_cases FOLDER OUT NAME...
//
// NAME.ptx holds kernel k(image, out), NAME.in the image, NAME.txt "threads shared_bytes out_bytes"; OUT/NAME.gpu gets the output.
#include <cuda.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::vector<char> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "";
  cuGetErrorString(result, &text);
  throw std::runtime_error(std::string(call) + ": " + text);
}

#define CHECK(call) check((call), #call)

void run(const std::string& from, const std::string& to) {
  std::vector<char> ptx = read(from + ".ptx");
  const std::vector<char> image = read(from + ".in");
  ptx.push_back(0);
  unsigned threads = 0, shared = 0, bytes = 0;
  std::ifstream(from + ".txt") >> threads >> shared >> bytes;
  char log[4096] = "";
  CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[2] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  if (cuModuleLoadDataEx(&module, ptx.data(), 2, options, values) != CUDA_SUCCESS) throw std::runtime_error(log);
  CUfunction kernel = nullptr;
  CHECK(cuModuleGetFunction(&kernel, module, "k"));
  CUdeviceptr in = 0, out = 0;
  CHECK(cuMemAlloc(&in, image.size() + 16));
  CHECK(cuMemAlloc(&out, bytes));
  CHECK(cuMemcpyHtoD(in, image.data(), image.size()));
  CHECK(cuMemsetD8(out, 0xff, bytes));
  if (shared != 0) {
    CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared)));
  }
  void* arguments[2] = {&in, &out};
  CHECK(cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, shared, nullptr, arguments, nullptr));
  CHECK(cuCtxSynchronize());
  std::vector<char> result(bytes);
  CHECK(cuMemcpyDtoH(result.data(), out, bytes));
  std::ofstream(to, std::ios::binary).write(result.data(), static_cast<std::streamsize>(result.size()));
  cuMemFree(in);
  cuMemFree(out);
  cuModuleUnload(module);
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS) return 125;
  if (cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS || cuCtxSetCurrent(context) != CUDA_SUCCESS) return 125;
  int failed = 0;
  for (int i = 3; i < count; ++i) {
    try {
      run(std::string(words[1]) + "/" + words[i], std::string(words[2]) + "/" + words[i] + ".gpu");
    } catch (const std::exception& error) {
      std::printf("%s: %s\n", words[i], error.what());
      ++failed;
    }
  }
  std::printf("%d cases run, %d failed\n", count - 3, failed);
  return failed != 0;
}
