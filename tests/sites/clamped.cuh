#pragma once
template <typename T, int ROWS_, int COLS_>
struct tile_map {
  static constexpr int ROWS = ROWS_;
  static constexpr int COLS = COLS_;
  void *map;
  __device__ void fetch(Barrier &bar, T *to, int row) const;
};

constexpr int TILE = 16;

template <typename T, int BATCH, class MAP>
__device__ void clamped(MAP const &act) {
  constexpr int ROWS = BATCH < TILE ? BATCH : TILE;
  constexpr int BYTES = sizeof(T) * ROWS * MAP::COLS;
  __shared__ Barrier full[2];
  for (int k = 0; k < 4; ++k) {
    expect_tx(full[k % 2], BYTES);
    act.fetch(full[k % 2], tile, k);
  }
}
