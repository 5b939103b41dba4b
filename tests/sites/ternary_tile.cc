//@ case a width below the first bound
//@ set width=15
//@ line tile<16, 1, 15>
//@ case the first bound
//@ set width=16
//@ line tile<32, 1, 16>
//@ case below the second
//@ set width=31
//@ line tile<32, 1, 31>
//@ case the second bound
//@ set width=32
//@ line tile<64, 1, 32>
//@ case below the third
//@ set width=63
//@ line tile<64, 1, 63>
//@ case the third bound
//@ set width=64
//@ line tile<128, 1, 64>
//@ case rounding up
//@ set width=255
//@ line tile<128, 2, 255>
//@ case an exact multiple
//@ set width=256
//@ line tile<128, 2, 256>
int Planner::emit_tile(Graph const &graph) {
  int const width = graph.width();
  int const tile = width < 16 ? 16 : width < 32 ? 32 : width < 64 ? 64 : 128;
  constexpr int unused_tile = 7; // looks alike, and is dead
  Writer out;
  out.e("tile<$, $, $>",
        tile, /* TILE */
        // unused_tile,
        (width + tile - 1) / tile /* REPEATS */,
        /* (width + 1) / tile, */
        width);
  return add(out.to_string());
}
