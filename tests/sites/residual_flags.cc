//@ case neither flag
//@ set fused=false
//@ set wide=false
//@ set rows=16
//@ line gemm<16, void>(
//@ line   a, b);
//@ case only the first
//@ set fused=true
//@ set wide=false
//@ set rows=16
//@ line gemm<16, void>(
//@ line   a, b);
//@ case only the second
//@ set fused=false
//@ set wide=true
//@ set rows=16
//@ line gemm<16, void>(
//@ line   a, b);
//@ case both
//@ set fused=true
//@ set wide=true
//@ set rows=1
//@ line using R = box<1>;
//@ line R r(t->maps[3]);
//@ line gemm<1, R>(
//@ line   a, b,
//@ line   &r);
//@ case more rows than the site takes
//@ set fused=true
//@ set wide=true
//@ set rows=20
//@ error K-SITE-ASSERT
//@ error residual_flags.cc:4:10
//@ error assert(rows <= 16)
//@ error `rows` is 20
int Planner::emit_residual(Graph const &graph, bool fused, bool wide) {
  int rows = 0;
  rows = graph.outputs[0]->extent[0];
  assert(rows <= 16);
  Writer code;
  if (fused && wide) {
    code.e("using R = box<$>;", rows);
    code.e("R r(t->maps[3]);");
  }
  code.e("gemm<$, $>(", rows, fused && wide ? "R" : "void");
  code.inc_indent();
  code.e("a, b$", fused && wide ? "," : ");");
  if (fused && wide) {
    code.e("&r);");
  }
  return add(code.to_string());
}
