// Kernels that use what came with Hopper: tensor copies, mbarriers, wgmma, clusters.
#include <cstdint>
#include <cuda.h>
#include <cuda_bf16.h>

__device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ void barrier_init(uint64_t *bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count));
}

__device__ void barrier_expect(uint64_t *bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes));
}

__device__ void barrier_arrive(uint64_t *bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)));
}

__device__ void barrier_wait(uint64_t *bar, uint32_t parity) {
  asm volatile("{\n.reg .pred P;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P, [%0], %1;\n@P bra DONE;\nbra WAIT;\nDONE:\n}"
               ::"r"(shared_address(bar)), "r"(parity) : "memory");
}

__device__ void load_tile(void *to, const CUtensorMap *map, uint64_t *bar, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
               ::"r"(shared_address(to)), "l"(map), "r"(shared_address(bar)), "r"(x), "r"(y) : "memory");
}

template <int START> __device__ uint64_t descriptor(const void *p) {
  uint64_t d = (shared_address(p) + START) >> 4 & 0x3fff;
  return d | 1ull << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}

template <int START> __device__ void mma_m64n16(float (&d)[8], const void *a, const void *b) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, p, 1, 1, 0, 0;\n}"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
               : "l"(descriptor<START>(a)), "l"(descriptor<START>(b)), "r"(1));
}

constexpr int STAGES = 2, BLOCK_K = 64, TILE_N = 16;

struct Stage {
  __nv_bfloat16 a[64 * BLOCK_K], b[TILE_N * BLOCK_K];
};

// d[64][16] = a[64][k] * b[16][k]^T: one producer warp, four consumer warps. `expect` is what the producer announces.
extern "C" __global__ void __launch_bounds__(160) pipeline(const __grid_constant__ CUtensorMap map_a,
                                                            const __grid_constant__ CUtensorMap map_b, float *out, int k,
                                                            uint32_t expect) {
  extern __shared__ __align__(1024) uint8_t memory[];
  Stage *stages = (Stage *)memory;
  __shared__ uint64_t full[STAGES], empty[STAGES];
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; i++) {
      barrier_init(&full[i], 1);
      barrier_init(&empty[i], 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  int warp = threadIdx.x / 32, steps = k / BLOCK_K;
  if (warp == 4) {
    if (threadIdx.x % 32 == 0)
      for (int i = 0; i < steps; i++) {
        int s = i % STAGES;
        if (i >= STAGES) barrier_wait(&empty[s], (i / STAGES - 1) & 1);
        barrier_expect(&full[s], expect);
        load_tile(stages[s].a, &map_a, &full[s], i * BLOCK_K, 0);
        load_tile(stages[s].b, &map_b, &full[s], i * BLOCK_K, 0);
      }
    return;
  }
  float d[8] = {};
  for (int i = 0; i < steps; i++) {
    int s = i % STAGES;
    barrier_wait(&full[s], i / STAGES & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    mma_m64n16<0>(d, stages[s].a, stages[s].b);
    mma_m64n16<32>(d, stages[s].a, stages[s].b);
    mma_m64n16<64>(d, stages[s].a, stages[s].b);
    mma_m64n16<96>(d, stages[s].a, stages[s].b);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (threadIdx.x % 32 == 0) barrier_arrive(&empty[s]);
  }
  int row = warp * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int j = 0; j < 8; j++) out[(row + (j / 2 % 2) * 8) * TILE_N + column + j / 4 * 8 + j % 2] = d[j];
}

// The same without waiting for the wgmma group before the stage is given back.
extern "C" __global__ void __launch_bounds__(160) pipeline_without_wait(const __grid_constant__ CUtensorMap map_a,
                                                                         const __grid_constant__ CUtensorMap map_b,
                                                                         float *out, int k, uint32_t expect) {
  extern __shared__ __align__(1024) uint8_t memory[];
  Stage *stages = (Stage *)memory;
  __shared__ uint64_t full[STAGES], empty[STAGES];
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; i++) {
      barrier_init(&full[i], 1);
      barrier_init(&empty[i], 4);
    }
  }
  __syncthreads();
  int warp = threadIdx.x / 32, steps = k / BLOCK_K;
  if (warp == 4) {
    if (threadIdx.x % 32 == 0)
      for (int i = 0; i < steps; i++) {
        int s = i % STAGES;
        if (i >= STAGES) barrier_wait(&empty[s], (i / STAGES - 1) & 1);
        barrier_expect(&full[s], expect);
        load_tile(stages[s].a, &map_a, &full[s], i * BLOCK_K, 0);
        load_tile(stages[s].b, &map_b, &full[s], i * BLOCK_K, 0);
      }
    return;
  }
  float d[8] = {};
  for (int i = 0; i < steps; i++) {
    int s = i % STAGES;
    barrier_wait(&full[s], i / STAGES & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    mma_m64n16<0>(d, stages[s].a, stages[s].b);
    mma_m64n16<32>(d, stages[s].a, stages[s].b);
    mma_m64n16<64>(d, stages[s].a, stages[s].b);
    mma_m64n16<96>(d, stages[s].a, stages[s].b);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (threadIdx.x % 32 == 0) barrier_arrive(&empty[s]);
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  int row = warp * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int j = 0; j < 8; j++) out[(row + (j / 2 % 2) * 8) * TILE_N + column + j / 4 * 8 + j % 2] = d[j];
}

// A box in, elements doubled, out again: with any rank that the maps have.
template <int RANK> __device__ void round_trip(const CUtensorMap *from, const CUtensorMap *to, int bytes, int x, bool add) {
  extern __shared__ __align__(1024) uint8_t memory[];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    barrier_init(&bar, 1);
    barrier_expect(&bar, bytes);
    uint32_t at = shared_address(memory), b = shared_address(&bar);
    if (RANK == 1)
      asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(at), "l"(from), "r"(b), "r"(x) : "memory");
    if (RANK == 3)
      asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, 0, 1}], [%2];" ::"r"(at), "l"(from), "r"(b), "r"(x) : "memory");
  }
  __syncthreads();
  barrier_wait(&bar, 0);
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) ((float *)memory)[i] *= 2;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t at = shared_address(memory);
    if (RANK == 1)
      asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%2}], [%1];" ::"l"(to), "r"(at), "r"(x) : "memory");
    if (RANK == 3) {
      if (add)
        asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [%0, {%2, 0, 1}], [%1];" ::"l"(to), "r"(at), "r"(x) : "memory");
      else
        asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, 0, 1}], [%1];" ::"l"(to), "r"(at), "r"(x) : "memory");
    }
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}

extern "C" __global__ void trip1(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int bytes, int x) {
  round_trip<1>(&from, &to, bytes, x, false);
}

extern "C" __global__ void trip3(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int bytes, int x, int add) {
  round_trip<3>(&from, &to, bytes, x, add);
}

// CTA 0 of a cluster of two multicasts a bulk load to both; each then adds a number from its neighbour's memory.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_exchange(const float *in, float *out) {
  __shared__ __align__(128) float buffer[32];
  __shared__ uint64_t bar;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    barrier_init(&bar, 1);
    barrier_expect(&bar, 128);
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 0 && threadIdx.x == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;"
                 ::"r"(shared_address(buffer)), "l"(in + blockIdx.x / 2 * 32), "r"(shared_address(&bar)), "h"((short)3) : "memory");
  barrier_wait(&bar, 0);
  buffer[threadIdx.x] += rank * 1000;
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared_address(buffer + threadIdx.x)), "r"(rank ^ 1));
  float other;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(other) : "r"(remote) : "memory");
  out[blockIdx.x * 32 + threadIdx.x] = buffer[threadIdx.x] + 2 * other;
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// One warp, 16x8x32 per step through cp.async, ldmatrix and mma.sync.
extern "C" __global__ void ampere(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *d, int k) {
  __shared__ __align__(128) __nv_bfloat16 sa[16 * 16], sb[8 * 16];
  int lane = threadIdx.x;
  float c[4] = {};
  for (int k0 = 0; k0 < k; k0 += 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(sa + lane * 8)), "l"(a + lane / 2 * k + k0 + lane % 2 * 8) : "memory");
    if (lane < 16)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(sb + lane * 8)), "l"(b + lane / 2 * k + k0 + lane % 2 * 8), "r"(16) : "memory");
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
    __syncwarp();
    uint32_t ra[4], rb[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(shared_address(sa + lane % 16 * 16 + lane / 16 * 8)));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(shared_address(sb + lane % 8 * 16 + lane / 8 % 2 * 8)));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    __syncwarp();
  }
  for (int j = 0; j < 4; j++) d[(lane / 4 + j / 2 * 8) * 8 + lane % 4 * 2 + j % 2] = c[j];
}

// stmatrix, plain and transposed.
extern "C" __global__ void store_matrix(uint16_t *out) {
  __shared__ __align__(128) uint16_t buffer[128];
  uint32_t lane = threadIdx.x, value = lane * 2 | (lane * 2 + 1) << 16;
  uint32_t at = shared_address(buffer + lane % 8 * 8);
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at), "r"(value) : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(at + 128), "r"(value) : "memory");
  __syncwarp();
  for (int i = lane; i < 128; i += 32) out[i] = buffer[i];
}

extern "C" __global__ void waits_on_nothing(int *out) {
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) barrier_init(&bar, 2);
  __syncthreads();
  if (threadIdx.x == 5) barrier_arrive(&bar);
  barrier_wait(&bar, 0);
  out[threadIdx.x] = 1;
}

extern "C" __global__ void overwrites_its_barrier(int *out) {
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    barrier_init(&bar, 1);
    ((volatile int *)&bar)[0] = 77;
    barrier_arrive(&bar);
  }
}
