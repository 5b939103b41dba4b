// Where the engine prints the instantiation of its fp8 linear layer.
std::string emit_fp8_linear(Shape const &shape, bool promote) {
  CodeWriter code;
  code.e("auto *kernel = &hopper::fp8_linear<$, $, $, $>;", shape.rows, shape.columns, shape.depth, promote);
  return code.to_string();
}
