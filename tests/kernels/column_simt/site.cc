// Where the engine prints the instantiation of its linear layer with an output by columns.
std::string emit_column_linear(Shape const &shape, int defect) {
  CodeWriter code;
  code.e("auto *kernel = &column::column_linear<$, $, $, $, $>;", shape.rows, shape.columns, shape.depth, shape.stride, defect);
  return code.to_string();
}
