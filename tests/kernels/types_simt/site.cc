// Where the engine prints the instantiations of its linear layers.
std::string emit_typed_linear(Shape const &shape, std::string const &in, std::string const &out, int scales, int defect) {
  CodeWriter code;
  code.e("auto *kernel = &types::typed_linear<$, $, $, $, $, $, $>;", in, out, scales, shape.rows, shape.columns, shape.depth, defect);
  return code.to_string();
}

std::string emit_integer_linear(Shape const &shape, std::string const &out, int defect) {
  CodeWriter code;
  code.e("auto *kernel = &types::integer_linear<$, $, $, $, $>;", out, shape.rows, shape.columns, shape.depth, defect);
  return code.to_string();
}
