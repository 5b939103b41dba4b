// Where the engine prints the instantiation of its linear layer with gelu.
std::string emit_mma_linear(Shape const &shape) {
  int const stages = shape.depth < 128 ? 2 : 3;
  CodeWriter code;
  code.e("auto *kernel = &ampere::mma_linear<$, $, $, $>;", shape.rows, shape.columns, shape.depth, stages);
  return code.to_string();
}
