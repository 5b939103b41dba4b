// Where the engine prints the instantiation of its fp8 linear layer.
std::string emit_mxfp8_linear(Shape const &shape) {
  CodeWriter code;
  code.e("auto *kernel = &quant::mxfp8_linear<$, $, $>;", shape.rows, shape.columns, shape.depth);
  return code.to_string();
}
