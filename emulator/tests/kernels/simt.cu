// Kernels that only use plain SIMT code; the tests run them on the emulator and compare with their own arithmetic.
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void naive_gemm(const __nv_bfloat16 *x, const __nv_bfloat16 *w, __nv_bfloat16 *y, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= n || row >= m) return;
  float sum = 0;
  for (int i = 0; i < k; i++) sum += __bfloat162float(x[row * k + i]) * __bfloat162float(w[(size_t)column * k + i]);
  y[row * n + column] = __float2bfloat16(sum);
}

extern "C" __global__ void tiled_gemm(const float *a, const float *b, float *c, int m, int n, int k) {
  constexpr int T = 16;
  __shared__ float sa[T][T], sb[T][T + 1];
  int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += T) {
    sa[threadIdx.y][threadIdx.x] = row < m && k0 + threadIdx.x < k ? a[row * k + k0 + threadIdx.x] : 0;
    sb[threadIdx.y][threadIdx.x] = column < n && k0 + threadIdx.y < k ? b[(k0 + threadIdx.y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < T; i++) sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

__device__ float block_reduce(float value, bool maximum) {
  __shared__ float parts[32];
  for (int d = 16; d; d >>= 1) {
    float other = __shfl_xor_sync(~0u, value, d);
    value = maximum ? fmaxf(value, other) : value + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[0];
  for (int i = 1; i < blockDim.x / 32; i++) value = maximum ? fmaxf(value, parts[i]) : value + parts[i];
  return value;
}

extern "C" __global__ void softmax(const float *x, float *y, int n) {
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
  most = block_reduce(most, true);
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(x[i] - most);
  sum = block_reduce(sum, false);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = expf(x[i] - most) / sum;
}

extern "C" __global__ void rmsnorm(const __half *x, const __half *weight, __half *y, int n, float epsilon) {
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += __half2float(x[i]) * __half2float(x[i]);
  float scale = rsqrtf(block_reduce(sum, false) / n + epsilon);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = __hmul(__float2half(__half2float(x[i]) * scale), weight[i]);
}

// Lanes take different numbers of turns and different ways.
extern "C" __global__ void collatz(uint32_t *out) {
  uint32_t n = blockIdx.x * blockDim.x + threadIdx.x + 1, steps = 0;
  while (n != 1) {
    if (n & 1) n = 3 * n + 1;
    else n >>= 1;
    steps++;
    if (steps > 1000) break;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = steps;
}

__device__ __noinline__ uint64_t mix(uint64_t a, uint32_t b) { return (a ^ b) * 0x9e3779b97f4a7c15ull >> (b & 31); }

extern "C" __global__ void integers(const uint32_t *x, uint64_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t a = x[i], b = x[(i + 1) % n];
  int32_t s = (int32_t)a, t = (int32_t)b;
  uint64_t w = ((uint64_t)a << 32) | b;
  uint64_t *o = out + (size_t)i * 16;
  o[0] = a + b;
  o[1] = __umulhi(a, b);
  o[2] = (uint64_t)__mulhi(s, t);
  o[3] = a / (b | 1);
  o[4] = (uint64_t)(int64_t)(s % (t | 1));
  o[5] = __clz(a) * 100 + __popc(b);
  o[6] = __brev(a) ^ __byte_perm(a, b, 0x5140);
  o[7] = __funnelshift_l(a, b, a & 63);
  o[8] = mix(w, a);
  o[9] = __umul64hi(w, w * 3);
  o[10] = w / (b | 1);
  o[11] = (uint64_t)((int64_t)w >> (b & 63));
  o[12] = (uint64_t)(int64_t)(int8_t)a + (uint16_t)b * (uint8_t)a;
  o[13] = (uint64_t)(int64_t)max(s, t) - min((int64_t)s, (int64_t)t);
  unsigned __int128 p = (unsigned __int128)w * (w ^ 77) + w;
  o[14] = (uint64_t)(p >> 64);
  o[15] = (uint64_t)p;
}

extern "C" __global__ void floats(const float *x, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[i], b = x[(i + 1) % n];
  double *o = out + (size_t)i * 12;
  o[0] = a / b;
  o[1] = fmaf(a, b, 1.0f);
  o[2] = sqrtf(fabsf(a));
  o[3] = floorf(a) + ceilf(b) * 1000;
  o[4] = rintf(a) + truncf(b) * 1000;
  o[5] = (double)(int)a + (double)(unsigned char)(int)fabsf(b);
  o[6] = __fadd_rz(a, b);
  o[7] = __fadd_ru(a, b) - (double)__fadd_rd(a, b);
  o[8] = (double)a * b + sqrt((double)fabsf(a));
  o[9] = __half2float(__float2half(a)) + __bfloat162float(__float2bfloat16(b));
  o[10] = expf(a * 0.125f);
  o[11] = a < b ? fminf(a, b) : fmaxf(a, -b);
}

// A table of code addresses, or a tree of branches: both must work.
extern "C" __global__ void choices(const int *x, int *out) {
  int v = x[threadIdx.x], r;
  switch (v) {
    case 0: r = 11; break;
    case 1: r = v * 3 + threadIdx.x; break;
    case 2: r = __popc(threadIdx.x); break;
    case 3: r = 7 - v; break;
    case 4: r = v << 4; break;
    case 5: r = v * v; break;
    case 6: r = -1; break;
    case 7: r = clock() >= 0 ? 70 : 71; break;
    default: r = 1000 + v;
  }
  int local[8];
  for (int i = 0; i < 8; i++) local[i] = i * r;
  out[threadIdx.x] = local[v & 7];
}

extern "C" __global__ void votes(uint32_t *out) {
  uint32_t lane = threadIdx.x % 32, *o = out + threadIdx.x * 8;
  o[0] = __ballot_sync(~0u, lane % 3 == 0);
  o[1] = __any_sync(~0u, lane == 40) * 2 + __all_sync(~0u, lane < 32);
  o[2] = __match_any_sync(~0u, lane / 5);
  o[3] = __reduce_add_sync(~0u, lane) + __reduce_max_sync(~0u, lane ^ 9);
  if (lane < 20) o[4] = __shfl_down_sync(0xfffff, lane * 7, 3);
  else o[4] = __activemask();
  o[5] = __shfl_up_sync(~0u, lane, 2, 8);
  o[6] = __syncthreads_count(lane & 1) + __syncthreads_or(lane == 5) * 1000;
  o[7] = __shfl_sync(~0u, lane, lane + 1, 16);
}

__device__ uint32_t ticket;
__device__ float table[4] = {1.5f, 2.5f, 3.5f, 4.5f};
__constant__ int offsets[3] = {10, 20, 30};
__device__ int *pointer_to_offset = (int *)&table[1];

extern "C" __global__ void atomics(uint32_t *counts, float *sum, uint64_t *wide, __half2 *halves) {
  __shared__ uint32_t block_count;
  if (threadIdx.x == 0) block_count = 0;
  __syncthreads();
  atomicAdd(&block_count, 2u);
  atomicAdd(counts, 1u);
  atomicMax(counts + 1, threadIdx.x ^ 21);
  atomicAdd(sum, 0.5f);
  atomicAdd((unsigned long long *)wide, (unsigned long long)threadIdx.x << 20);
  atomicAdd(halves, __floats2half2_rn(1.0f, -0.5f));
  atomicInc(counts + 2, 99);
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t mine = atomicAdd(&ticket, 1u);
    atomicCAS(counts + 3, 0u, mine + 100);
    counts[8 + mine] = block_count + offsets[mine % 3] + (uint32_t)table[mine % 4] + *(uint32_t *)pointer_to_offset;
  }
}

extern "C" __global__ void speak(int n) {
  if (threadIdx.x < n) printf("CTA %d thread %d: %5.2f %s %x %lld%%\n", blockIdx.x, threadIdx.x, threadIdx.x * 0.25, "word", 255, -7ll);
}

extern "C" __global__ void fails_an_assertion(int limit) { assert(threadIdx.x < limit && "too many threads"); }

extern "C" __global__ void overruns(int *out, int n) { out[threadIdx.x + n] = 1; }

extern "C" __global__ void misaligned(char *out) { *(int *)(out + 2) = 1; }

extern "C" __global__ void shared_overrun(int n) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x + n] = 1;
}

extern "C" __global__ void waits_for_other_cta(volatile int *flag, int *out) {
  if (blockIdx.x == 0) {
    while (*flag == 0) {}
    out[0] = *flag + 1;
  } else if (blockIdx.x == gridDim.x - 1) {
    __threadfence();
    *flag = 41;
  }
}

extern "C" __global__ void never_ends(volatile int *flag) { while (*flag == 0) {} }

extern "C" __global__ void half_a_barrier(int *out) {
  if (threadIdx.x < 64) asm volatile("bar.sync 3, 128;" ::: "memory");
  out[threadIdx.x] = 1;
}

// One lane of a warp holds a lock that the others want.
extern "C" __global__ void lock_in_a_warp(int *lock, int *out) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *(volatile int *)out += threadIdx.x + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
