//@ case neither flag
//@ set residual=false
//@ set params.size()=0
//@ set rows=8
//@ line gemm<8, void>(
//@ line   a);
//@ case both flags
//@ set residual=true
//@ set params.size()=1
//@ set params[0]=1
//@ set rows=8
//@ line using R = box<8>;
//@ line gemm<8, R>(
//@ line   a,
//@ line   &r);
//@ case only the first
//@ set residual=true
//@ set params.size()=1
//@ set params[0]=0
//@ set rows=16
//@ line gemm<16, void>(
//@ line   a);
//@ case an assertion of the site that is false is quoted
//@ set residual=false
//@ set params.size()=0
//@ set rows=20
//@ error assert(rows <= 16)
//@ error `rows` is 20
//@ case everything that is missing is told at once
//@ error --set rows=VALUE
//@ error --set residual=VALUE
int Planner::emit_gemm(Graph const &graph, std::vector<int> const &params, bool residual) {
  bool mine = residual;
  if (residual) {
    assert(params.size() == 1);
    mine = (params[0] == 1);
  } else {
    assert(params.size() == 0);
  }
  int rows = 0;
  rows = graph.outputs[0]->extent[0];
  assert(graph.outputs[0]->rank == 2);
  assert(rows <= 16);
  Writer code;
  if (residual && mine) {
    code.e("using R = box<$>;", rows);
  }
  code.e("gemm<$, $>(", rows, (residual && mine) ? "R" : "void");
  code.inc_indent();
  // code.e("a, b);");
  if (residual && mine) {
    code.e("a,");
    code.e("&r);");
  } else {
    code.e("a);");
  }
  return add(code.to_string());
}
