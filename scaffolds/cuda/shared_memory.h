// Shared memory before a launch: all of it is overwritten, so that what a block reads without having written it is known, and is not
// what an earlier launch left there.
#pragma once

#include "device.h"

namespace krepro {

// Blocks that each take all shared memory of a multiprocessor, so that each must have one to itself, fill it and wait for one another (a
// while, in case another process holds a multiprocessor).
inline const char* const fill_shared_ptx = R"(.version 6.0
.target sm_50
.address_size 64
.extern .shared .align 16 .b8 all[];
.visible .entry krepro_fill_shared(.param .u32 bytes, .param .u32 word, .param .u64 arrived, .param .u32 goal)
{
  .reg .pred %p<3>;
  .reg .b32 %r<10>;
  .reg .b64 %d<2>;
  ld.param.u32 %r0, [bytes];
  ld.param.u32 %r1, [word];
  ld.param.u64 %d0, [arrived];
  ld.param.u32 %r2, [goal];
  cvta.to.global.u64 %d1, %d0;
  mov.u32 %r3, %tid.x;
  shl.b32 %r3, %r3, 2;
  mov.u32 %r4, all;
FILL:
  setp.ge.u32 %p0, %r3, %r0;
  @%p0 bra FILLED;
  add.u32 %r5, %r4, %r3;
  st.volatile.shared.u32 [%r5], %r1;
  mov.u32 %r6, %ntid.x;
  shl.b32 %r6, %r6, 2;
  add.u32 %r3, %r3, %r6;
  bra FILL;
FILLED:
  bar.sync 0;
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra DONE;
  atom.global.add.u32 %r7, [%d1], 1;
  mov.u32 %r8, 0;
WAIT:
  ld.volatile.global.u32 %r7, [%d1];
  sub.u32 %r7, %r7, %r2;
  setp.ge.s32 %p2, %r7, 0;
  @%p2 bra DONE;
  add.u32 %r8, %r8, 1;
  setp.lt.u32 %p2, %r8, 20000;
  @%p2 bra WAIT;
DONE:
  ret;
}
)";

class SharedMemory {
 public:
  // The words that shared memory holds before a launch: no zeros, no NaN in the types of operands.
  static bool other(unsigned launch) { return launch % 4 == 2; }

  // False where the driver does not take it: shared memory then holds what launches before left.
  bool open() {
    using Load = CUresult (*)(CUmodule*, const void*);
    using Find = CUresult (*)(CUfunction*, CUmodule, const char*);
    using Set = CUresult (*)(CUfunction, CUfunction_attribute, int);
    const auto load = reinterpret_cast<Load>(find("cuModuleLoadData"));
    const auto function = reinterpret_cast<Find>(find("cuModuleGetFunction"));
    const auto set = reinterpret_cast<Set>(find("cuFuncSetAttribute"));
    launch_ = reinterpret_cast<Launch>(find("cuLaunchKernel"));
    if (load == nullptr || function == nullptr || set == nullptr || launch_ == nullptr) return false;
    int bytes = 0;
    int blocks = 0;
    CUmodule module = nullptr;
    if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) != cudaSuccess ||
        cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0) != cudaSuccess || bytes <= 0 || blocks <= 0 ||
        load(&module, fill_shared_ptx) != CUDA_SUCCESS ||
        function(&function_, module, "krepro_fill_shared") != CUDA_SUCCESS ||
        set(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes) != CUDA_SUCCESS) {
      cudaGetLastError();
      return false;
    }
    void* arrived = nullptr;
    KREPRO_CHECK(cudaMalloc(&arrived, sizeof(std::uint32_t)));
    const std::uint32_t none = 0;
    KREPRO_CHECK(cudaMemcpy(arrived, &none, sizeof none, cudaMemcpyHostToDevice));
    arrived_ = arrived;
    bytes_ = static_cast<unsigned>(bytes);
    blocks_ = static_cast<unsigned>(blocks);
    filled_ = true;
    return true;
  }

  // Before the launch of this number.
  void fill(unsigned launch) {
    if (!filled_) return;
    std::uint32_t word = other(launch) ? 0xbebebebeu : 0x3c3c3c3cu;
    goal_ += blocks_;
    void* parameters[] = {&bytes_, &word, &arrived_, &goal_};
    filled_ = launch_(function_, blocks_, 1, 1, 1024, 1, 1, bytes_, nullptr, parameters, nullptr) == CUDA_SUCCESS;
  }

  bool filled() const { return filled_; }

 private:
  using Launch = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**);

  static void* find(const char* name) {
    try {
      return driver_function(name);
    } catch (const std::runtime_error&) {
      cudaGetLastError();
      return nullptr;
    }
  }

  CUfunction function_ = nullptr;
  Launch launch_ = nullptr;
  void* arrived_ = nullptr;
  std::uint32_t bytes_ = 0;
  std::uint32_t goal_ = 0;
  unsigned blocks_ = 0;
  bool filled_ = false;
};

}  // namespace krepro
