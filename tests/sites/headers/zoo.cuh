//@ kernel after
//@ name zoo::after
//@ global true
//@ template type typename T
//@ template value int N
//@ template value Kind kKind
//@ template value float kClamp
//@ template value uint32_t kThreads = (N + 31) / 32 * 32
//@ template value bool kWide = (N > kThreads / 2)
//@ template type typename... Rest
//@ parameter const __grid_constant__ CUtensorMap | a
//@ parameter T const __grid_constant__ | b
//@ parameter int | 
//@ parameter float *__restrict__ | out = nullptr
//@ parameter Rest... | rest
//@ bounds kThreads + (kWide ? 32 : 0), 1
//@ kernel before
//@ name zoo::before
//@ global true
//@ template type class C
//@ parameter typename C::Args | args
//@ parameter int (& )[4] | table
//@ bounds C::NUM_THREADS, 1
//@ cluster C::CLUSTER, 1, 1
//@ kernel zoo::task
//@ name zoo::task
//@ global false
//@ template template template <class, int> class Layout
//@ template type typename  = void
//@ kernel chosen
//@ define WIDE
//@ define LEVEL=1000
//@ global true
//@ template value int N
//@ parameter int * | a
//@ parameter int | n
//@ kernel chosen
//@ define LEVEL=900
//@ define WIDE
//@ template value int N
//@ template value int M
//@ parameter int * | a
//@ kernel marked
//@ annotate HOT_PATH
//@ annotate HOUSE_KERNEL=__global__
//@ global true
//@ parameter int | n
//@ kernel marked
//@ error K-SIG-UNREADABLE
//@ error header.cuh:81:26
//@ error --annotation-macro NAME
#pragma once
namespace zoo {
enum class Kind { Plain, Grouped };

template <typename T, int N, Kind kKind, float kClamp, uint32_t kThreads = (N + 31) / 32 * 32,
          bool kWide = (N > kThreads / 2), typename... Rest>
__global__ void __launch_bounds__(kThreads + (kWide ? 32 : 0), 1)
after(const __grid_constant__ CUtensorMap a /* operand A */, T const __grid_constant__ b, int, float *__restrict__ out = nullptr,
      Rest... rest) {
#if defined(WIDE) and (LEVEL >= 2)
  __shared__ __align__(128) char smem[N];
#endif
}

template <class C> __launch_bounds__(C::NUM_THREADS, 1) __cluster_dims__(C::CLUSTER, 1, 1)
CUTLASS_GLOBAL void before(typename C::Args args, int (&table)[4]);

template <template <class, int> class Layout, typename = void>
CUTLASS_DEVICE typename Layout<int, 3>::type task(void) { return {}; }

#if defined(WIDE) and (LEVEL >= 1000)
template <int N>
__global__ void chosen(int *a, int n) {
#else
template <int N, int M>
__global__ void chosen(int *a) {
#endif
}

HOUSE_KERNEL HOT_PATH(3) void marked(int n) {}
} // namespace zoo
