// Where the instantiation of cute_linear is written.

#include "code_writer.h"

std::string emit_cute_linear(int batch_size, int output_size, int reduction_size, int tile_n) {
  constexpr int tile_k = 64;
  CodeWriter code;
  code.e("void *entry() {");
  code.e("  return reinterpret_cast<void *>(&bench::cute_linear<$, $, $, $, $>);",
         batch_size,
         output_size,
         reduction_size,
         tile_n,
         tile_k);
  code.e("}");
  return code.to_string();
}
