// Where the engine registers the Hopper linear task: it writes the block that the persistent kernel runs for one task variant.

#include "code_writer.h"
#include "task_register.h"

namespace engine {

int TaskRegister::register_linear_sm90(LinearShape const &shape, bool with_residual, int defect) {
  int const batch_size = shape.batch_size;
  int const output_size = shape.output_size;
  int const reduction_size = shape.reduction_size;
  int const output_stride = shape.output_stride;
  assert(batch_size <= 16);

  constexpr int SWIZZLE = 3;
  constexpr int TMA_COLS = 64;
  constexpr int TILE_K = 128;
  constexpr int TILE_OUT = 64;
  constexpr int STAGES = 5;
  // wgmma's n is 8 or 16; the boxes hold the real rows only.
  int const columns = batch_size <= 8 ? 8 : 16;
  int const boxes = (TILE_K + TMA_COLS - 1) / TMA_COLS;

  CodeWriter code;
  code.inc_indent();
  code.e("using TMA_WEIGHT = sm90::tile_map<__nv_bfloat16, $, $, $, $, $, $, $, $>;",
         SWIZZLE,
         output_size,        /*GMEM_ROWS*/
         reduction_size,     /*GMEM_COLS*/
         reduction_size,     /*GMEM_STRIDE*/
         TILE_OUT,           /*BOX_ROWS*/
         TMA_COLS,           /*BOX_COLS*/
         boxes,              /*BOXES*/
         TILE_OUT * TMA_COLS /*SMEM_STRIDE*/
  );
  code.e("using TMA_INPUT = sm90::tile_map<__nv_bfloat16, $, $, $, $, $, $, $, $>;",
         SWIZZLE,
         batch_size,
         reduction_size,
         reduction_size,
         batch_size,
         TMA_COLS,
         boxes,
         columns * TMA_COLS);
  code.e("using TMA_OUTPUT = sm90::tile_map<__nv_bfloat16, $, $, $, $, $, $>;",
         0,
         batch_size,
         output_size,
         output_stride,
         batch_size,
         TILE_OUT);
  if (with_residual) {
    code.e("using TMA_RESIDUAL = sm90::tile_map<__nv_bfloat16, $, $, $, $, $, $>;",
           0,
           batch_size,
           output_size,
           output_stride,
           batch_size,
           TILE_OUT);
  }
  code.e("TMA_WEIGHT tma_weight(static_cast<CUtensorMap *>(task_desc->input_tma_desc_ptrs[1][0]));");
  code.e("TMA_INPUT tma_input(static_cast<CUtensorMap *>(task_desc->input_tma_desc_ptrs[0][0]));");
  code.e("TMA_OUTPUT tma_output(static_cast<CUtensorMap *>(task_desc->output_tma_desc_ptrs[0][0]));");
  if (with_residual) {
    code.e("TMA_RESIDUAL tma_residual(static_cast<CUtensorMap *>(task_desc->input_tma_desc_ptrs[2][0]));");
  }
  code.e("sm90::linear_task<__nv_bfloat16, $, $, $, $, TMA_WEIGHT, TMA_INPUT, TMA_OUTPUT, $, $>(",
         batch_size,
         output_size,
         reduction_size,
         STAGES,
         with_residual ? "TMA_RESIDUAL" : "void",
         defect);
  code.e("    tma_weight,");
  code.e("    tma_input,");
  if (with_residual) {
    code.e("    tma_output,");
    code.e("    &tma_residual);");
  } else {
    code.e("    tma_output);");
  }
  return register_task_variant(TASK_LINEAR_SM90, code.to_string());
}

} // namespace engine
