// Where the engine prints the instantiation of its grouped linear layer.
std::string emit_grouped_linear(Shape const &shape, int told, bool fp4, int defect) {
  CodeWriter code;
  code.e("auto *kernel = &moe::grouped_linear<$, $, $, $, $, $, $>;", shape.rows, shape.columns, shape.depth, shape.experts, told,
         fp4 ? "true" : "false", defect);
  return code.to_string();
}
