//@ header clamped.cuh
//@ case the type's box has 16 rows and the kernel awaits 8: the type delivers more, the run-time fill does not
//@ set batch=8
//@ bytes full[k % 2] = 1024 by act
//@ value sizeof(T) * MAP::ROWS * MAP::COLS = 2048
//@ value sizeof(T) * min(TILE, BATCH) * MAP::COLS = 1024
//@ case at 16 rows both agree
//@ set batch=16
//@ bytes full[k % 2] = 2048 by act
//@ value sizeof(T) * MAP::ROWS * MAP::COLS = 2048
//@ value sizeof(T) * min(TILE, BATCH) * MAP::COLS = 2048
int Planner::emit_clamped(Graph const &graph) {
  int const batch = graph.batch();
  Writer code;
  code.e("using ACT = tile_map<__half, $, 64>;", 16);
  code.e("ACT act(t->maps[0]);");
  code.e("clamped<__half, $, ACT>(act);", batch);
  return add(code.to_string());
}
