// A struct kernel in CUTLASS's style: a collective with its arguments, run by device_kernel through an adapter with a workspace.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace house {

template <int TileM, int TileN>
struct Shape {};

template <class Element, class TileShape>
struct CollectiveBuilder {
  struct CollectiveOp {
    using ElementA = Element;
  };
};

template <class ProblemShape, class Mainloop, class Scheduler = void>
class GemmHouse {
 public:
  using Element = typename Mainloop::ElementA;
  struct Arguments {
    Element const *a;
    Element const *b;
    Element *d;
    int m, n, k, lda;
  };
  struct Params {
    Arguments arguments;
    float *partial;
  };
  static constexpr unsigned MaxThreadsPerBlock = 64;
  static size_t get_workspace_size(Arguments const &arguments) { return sizeof(float) * arguments.m * arguments.n; }
  static dim3 get_grid_shape(Params const &params) {
    return dim3((params.arguments.n + MaxThreadsPerBlock - 1) / MaxThreadsPerBlock, params.arguments.m);
  }

  __device__ void operator()(Params const &params, char *) {
    Arguments const &p = params.arguments;
    int const column = blockIdx.x * MaxThreadsPerBlock + threadIdx.x, row = blockIdx.y;
    if (column >= p.n) return;
    float &sum = params.partial[row * p.n + column];
    for (int i = 0; i < p.k; ++i) sum += __bfloat162float(p.a[row * p.lda + i]) * __bfloat162float(p.b[column * p.k + i]);
    p.d[row * p.n + column] = __float2bfloat16(sum);
  }
};

template <class Operator>
__global__ void device_kernel(const __grid_constant__ typename Operator::Params params) {
  extern __shared__ char smem[];
  Operator op;
  op(params, smem);
}

}  // namespace house
