//@ case braces, literals among placeholders, an overloaded printer, a dimension that is not compiled in, a hex float
//@ function generate
//@ set args.kind=Kind::Grouped
//@ set dim_or_zero(args.m,'m')=0
//@ set args.config.tile=128
//@ set args.config.clusters=2
//@ set clamp=0.375f
//@ kernel grouped_gemm
//@ template Kind::Grouped | 0 | 1 | 128 | true | 0x1.8p-2f
//@ line 
//@ line #include <grouped.cuh>
//@ line 
//@ line static void __make() {
//@ line     auto p = reinterpret_cast<void *>(&grouped_gemm<
//@ line         Kind::Grouped, 0, 1,
//@ line         128, true, 0x1.8p-2f>);
//@ line };
//@ case infinity, as the overloaded printer writes it and as the format does
//@ set args.kind=Kind::Plain
//@ set dim_or_zero(args.m,'m')=24
//@ set args.config.tile=64
//@ set args.config.clusters=1
//@ set to_string(clamp)=std::numeric_limits<float>::infinity()
//@ function generate_clamped
//@ kernel grouped_gemm
//@ template Kind::Plain | 24 | 1 | 64 | false | std::numeric_limits<float>::infinity()
//@ case everything that is missing is told at once
//@ function generate
//@ set args.kind=Kind::Grouped
//@ set dim_or_zero(args.m,'m')=0
//@ set args.config.tile=128
//@ error --set args.config.clusters=VALUE
//@ error --set clamp=VALUE
class GroupedRuntime {
public:
  struct Args {
    Shape shape;
    Config config;
  };

  static std::string generate(const Args &args, float clamp) {
    return fmt::format(R"(
#include <grouped.cuh>

static void __make() {{
    auto p = reinterpret_cast<void *>(&grouped_gemm<
        {}, {}, 1,
        {}, {}, {:a}f>);
}};
)",
                       // the kind comes first
                       to_string(args.kind), dim_or_zero(args.m, 'm'),
                       args.config.tile, args.config.clusters > 1, clamp);
  }

  static std::string generate_clamped(const Args &args, float clamp) {
    return fmt::format("auto p = &grouped_gemm<{}, {}, 1, {}, {}, {}>;", to_string(args.kind), dim_or_zero(args.m, 'm'),
                       args.config.tile, args.config.clusters > 1, to_string(clamp));
  }
};
