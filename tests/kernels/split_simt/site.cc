// Where the engine prints the instantiation of its split-K linear layer.
std::string emit_split_linear(Shape const &shape, std::string const &out, int through, int defect) {
  CodeWriter code;
  code.e("auto *kernel = &split::split_linear<$, $, $, $, $, $>;", out, shape.rows, shape.columns, shape.depth, through, defect);
  return code.to_string();
}
