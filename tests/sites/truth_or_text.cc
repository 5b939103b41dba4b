//@ case truth values print as words, text as itself
//@ set fused=true
//@ set params[1]=2
//@ line f<true, false, table[2], true>
//@ case and the other way round
//@ set fused=false
//@ set params[1]=0
//@ line f<false, false, nullptr, false>
int Planner::emit_flags(std::vector<int> const &params, bool fused) {
  bool const wide = params[1] > 0;
  Writer code;
  code.e("f<$, $, $, $>", fused, /*SPLIT=*/"false", fused ? "table[2]" : "nullptr", wide);
  return add(code.to_string());
}
