//@ case a leaf that starts at zero takes the given value
//@ set rows=24
//@ line launch_rows<24>(p);
//@ case without it the leaf and its source are named, and zero is never printed
//@ error the value of `rows` is not known
//@ error graph_input->shape(0)
//@ error --set rows=VALUE
int Planner::emit_rows(Graph const &graph) {
  int rows = 0;
  Node *graph_input = graph.front();
  rows = graph_input->shape(0);
  Writer w;
  w.e("launch_rows<$>(p);", rows);
  return add(w.to_string());
}
