//@ case a box of 16 rows whatever the batch
//@ set batch=8
//@ line   using TMA_WEIGHT = sm90::tile_map<__nv_bfloat16, 3, 1024, 512, 512, 64, 64, 2, 4096>;
//@ line   using TMA_INPUT = sm90::tile_map<__nv_bfloat16, 3, 8, 512, 512, 16, 64, 2, 1024>;
//@ line   using TMA_OUTPUT = sm90::tile_map<__nv_bfloat16, 0, 8, 1024, 1024, 8, 64>;
//@ line   TMA_WEIGHT tma_weight(static_cast<CUtensorMap *>(task_desc->input_tma_desc_ptrs[1][0]));
//@ line   TMA_INPUT tma_input(static_cast<CUtensorMap *>(task_desc->input_tma_desc_ptrs[0][0]));
//@ line   TMA_OUTPUT tma_output(static_cast<CUtensorMap *>(task_desc->output_tma_desc_ptrs[0][0]));
//@ line   sm90::linear_task<__nv_bfloat16, 8, 1024, 512, 5, TMA_WEIGHT, TMA_INPUT, TMA_OUTPUT>(tma_weight, tma_input, tma_output);
int Planner::emit_wide(Graph const &graph) {
  int const batch = graph.batch();
  Writer code;
  code.inc_indent();
  code.e("using TMA_WEIGHT = sm90::tile_map<__nv_bfloat16, 3, 1024, 512, 512, 64, 64, 2, 4096>;");
  code.e("using TMA_INPUT = sm90::tile_map<__nv_bfloat16, 3, $, 512, 512, $, 64, 2, 1024>;", batch, 16);
  code.e("using TMA_OUTPUT = sm90::tile_map<__nv_bfloat16, 0, $, 1024, 1024, $, 64>;", batch, batch);
  code.e("TMA_WEIGHT tma_weight(static_cast<CUtensorMap *>(task_desc->input_tma_desc_ptrs[1][0]));");
  code.e("TMA_INPUT tma_input(static_cast<CUtensorMap *>(task_desc->input_tma_desc_ptrs[0][0]));");
  code.e("TMA_OUTPUT tma_output(static_cast<CUtensorMap *>(task_desc->output_tma_desc_ptrs[0][0]));");
  code.e("sm90::linear_task<__nv_bfloat16, $, 1024, 512, 5, TMA_WEIGHT, TMA_INPUT, TMA_OUTPUT>(tma_weight, tma_input, tma_output);",
         batch);
  return add(code.to_string());
}
