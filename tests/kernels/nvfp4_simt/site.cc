// Where the engine prints the instantiation of its fp4 linear layer.
std::string emit_nvfp4_linear(Shape const &shape) {
  CodeWriter code;
  code.e("auto *kernel = &quant::nvfp4_linear<$, $, $>;", shape.rows, shape.columns, shape.depth);
  return code.to_string();
}
