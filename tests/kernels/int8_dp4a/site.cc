// Where the engine prints the instantiation of its 8-bit linear layer.
std::string emit_int8_linear(Shape const &shape) {
  int const rows = shape.rows;
  int const columns = shape.columns;
  int const depth = shape.depth;
  CodeWriter code;
  code.e("auto *kernel = &quant::int8_linear<$, $, $>;", rows, columns, depth);
  return code.to_string();
}
