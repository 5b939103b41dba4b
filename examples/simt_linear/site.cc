// Where the serving engine writes the instantiation of its SIMT linear layer into the unit that nvcc compiles.

#include "code_writer.h"

namespace engine {

std::string emit_simt_linear(LayerShape const &shape, int defect) {
  int const batch_size = shape.batch;
  int const output_size = shape.out_features;
  int const reduction_size = shape.in_features;
  // Short reductions keep more blocks on an SM with narrow tiles.
  int const tile_k = reduction_size < 512 ? 16 : 32;
  constexpr int stages = 2;

  CodeWriter code;
  code.e("void *simt_linear_entry() {");
  code.e("  return reinterpret_cast<void *>(&simt::linear_kernel<__nv_bfloat16, $, $, $, $, $, $>);",
         batch_size,
         output_size,
         reduction_size,
         tile_k,
         stages,
         defect);
  code.e("}");
  return code.to_string();
}

} // namespace engine
