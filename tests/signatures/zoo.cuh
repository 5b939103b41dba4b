// Every construct of a declaration that the reader knows, as a compiler takes it. zoo.json is what libclang says of it
// (libclang.py); tests/signatures.rs compares.
#pragma once

#ifdef __CUDACC__
#define ZOO_SPACE __device__ inline
#else
#define ZOO_SPACE inline
#endif
#define ZOO_RUN __global__
#define ZOO_API
#define ZOO_PAIR(name) \
  inline int name##_first() { return 1; }
#define ZOO_MAKE(name) ZOO_PAIR(name)
#define ZOO_BOUNDS(threads) __launch_bounds__(threads)

namespace zoo {

enum class Kind { Plain, Grouped };
struct Map {
  int words[16];
};
template <class T, int N>
struct Rows {
  using type = T;
};
struct Args {
  static constexpr int THREADS = 128;
  struct Params {
    int n;
  };
};

// Kinds of template parameters, and defaults over earlier ones.
template <typename T, int N, Kind kKind, float kClamp, unsigned kThreads = (N + 31) / 32 * 32, bool kWide = (N > 64),
          typename... Rest>
__global__ void __launch_bounds__(kThreads + (kWide ? 32 : 0), 1)
after(const __grid_constant__ Map a /* operand A */, T const __grid_constant__ b, int, float *__restrict__ out = nullptr,
      Rest... rest) {}

template <template <class, int> class Layout, typename = void>
__device__ typename Layout<int, 3>::type task(void) {
  return {};
}

template <auto kAny, class... Ts>
__device__ void anything(Ts &&...values);

template <int (*kCall)(int), int Args::Params::*kMember>
__device__ void pointers(int (&table)[4], int (*call)(float, int), int Args::Params::*member);

// Bounds before the return type, the head cut by a condition.
template <typename Operator>
__global__
#ifdef __CUDACC__
__launch_bounds__(Operator::THREADS, 1)
#endif
void conditional_bounds(const __grid_constant__ typename Operator::Params params) {}

__device__ inline void conditional_parameter(int a,
#ifdef ZOO_WIDE
                                             int b,
#endif
                                             int c) {}

// Defaults that are braces, pointers or references.
template <class Stride = int, typename Pointer = void *, typename Reference = const Map &>
__device__ Pointer braces(Stride stride = {}, Map map = { }, Kind kind = {}) {
  return {};
}

// Macros of this text.
ZOO_SPACE int annotated(int a, int b) { return a + b; }
template <int N>
ZOO_RUN void run(ZOO_API float *x) {}
template <int N>
__global__ ZOO_BOUNDS(N * 32) void bounded(float *x) {}
ZOO_MAKE(one)
ZOO_MAKE(two)

template <class T>
__device__ void behind_macros(T *x);

// Concepts.
template <class T>
concept Tile = requires { typename T::type; };
template <Tile A, Tile B, Kind kKind, class C = typename A::type>
__device__ void constrained(const A &a, typename B::type b, C c = C());

template <bool B, class T>
struct Enable {
  using type = T;
};
constexpr bool is_grouped(Kind kind) { return kind == Kind::Grouped; }
template <Kind kKind, typename = typename Enable<is_grouped(kKind), int>::type>
__device__ void enabled(int a);

// Members.
struct Value {
  float x;
  __device__ Value(float x = 0) : x(x) {}
  __device__ explicit operator float() const { return x; }
  __device__ operator const float *() const { return &x; }
  template <class T>
  __device__ T as(T *out = nullptr) const;
  __device__ bool operator==(Value const &other) const { return x == other.x; }
  __device__ float operator()(int row, int column) const { return x; }
  __device__ ~Value() {}
};

// Overloads.
__device__ inline float pick(float a) { return a; }
__device__ inline float pick(float a, float b = 1.0f) { return a * b; }

}  // namespace zoo

extern "C" __global__ void plain(int n);
extern "C" __global__ void __launch_bounds__(256) plain(int n) {}
