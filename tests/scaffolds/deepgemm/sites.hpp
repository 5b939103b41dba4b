// Code-generation sites in the style of DeepGEMM's: one raw string each, with the unit that the JIT compiles.
#include <fmt/format.h>

#include "runtime.hpp"

namespace toy {

class Bf16Runtime {
 public:
  static std::string generate_bf16(const Args &args) {
    return fmt::format(R"(
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>

using namespace toy;

static void __instantiate_kernel() {{
    auto ptr = reinterpret_cast<void*>(&sm90_bf16_gemm_impl<
        {}, {},
        {}, {}, {},
        1,
        {}, {}, 64,
        128, 128, 32,
        1,
        128, 128,
        1, false,
        {},
        GemmType::Normal, {},
        cutlass::bfloat16_t
    >);
}};
)",
                       to_string(args.major_a), to_string(args.major_b), get_compiled_dim(args.m, 'm', args.compiled_dims),
                       get_compiled_dim(args.n, 'n', args.compiled_dims), get_compiled_dim(args.k, 'k', args.compiled_dims),
                       args.layout.block_m, args.layout.block_n, args.launch.num_sms, args.with_accumulation);
  }

  static std::string generate_fp8(const Args &args) {
    return fmt::format(R"(
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

using namespace toy;

static void __instantiate_kernel() {{
    auto ptr = reinterpret_cast<void*>(&sm90_fp8_gemm_1d2d_impl<
        {},
        {}, {}, {},
        1,
        16, 16, 128,
        128, 128, 32,
        1,
        128, 128,
        1, false,
        {}, GemmType::Normal,
        cutlass::bfloat16_t,
        epilogue::transform::EpilogueIdentity
    >);
}};
)",
                       to_string(args.major_sfb), get_compiled_dim(args.m, 'm', args.compiled_dims),
                       get_compiled_dim(args.n, 'n', args.compiled_dims), get_compiled_dim(args.k, 'k', args.compiled_dims),
                       args.launch.num_sms);
  }
};

}  // namespace toy
