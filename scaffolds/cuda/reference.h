// Host GEMM in double on the rounded inputs: blocked, threaded, and a short cut for sparse operands.
#pragma once

#include "storage.h"

namespace krepro {

// What is summed: the products, their magnitudes, or their squares.
enum class Sum { products, magnitudes, squares };

constexpr std::uint64_t tile_rows = 4;
constexpr std::uint64_t tile_columns = 12;
constexpr std::uint64_t depth = 256;

// Four doubles; Loose is the same at any address.
typedef double Lanes __attribute__((vector_size(32)));
typedef double Loose __attribute__((vector_size(32), aligned(8), may_alias));

// One register tile: packed a is [depth][4], packed b is [depth][12].
KREPRO_DENSE inline __attribute__((always_inline)) void tile_body(const double* a, const double* b, std::uint64_t length,
                                                                  double* out) {
  Lanes sum[tile_rows][3] = {};
  for (std::uint64_t k = 0; k < length; ++k, a += tile_rows, b += tile_columns) {
    const Loose* right = reinterpret_cast<const Loose*>(b);
    const Lanes b0 = right[0];
    const Lanes b1 = right[1];
    const Lanes b2 = right[2];
    for (std::uint64_t i = 0; i < tile_rows; ++i) {
      const Lanes left = {a[i], a[i], a[i], a[i]};
      sum[i][0] += left * b0;
      sum[i][1] += left * b1;
      sum[i][2] += left * b2;
    }
  }
  Loose* result = reinterpret_cast<Loose*>(out);
  for (std::uint64_t i = 0; i < tile_rows; ++i) {
    for (std::uint64_t j = 0; j < 3; ++j) result[i * 3 + j] = sum[i][j];
  }
}

KREPRO_DENSE inline void tile_plain(const double* a, const double* b, std::uint64_t length, double* out) {
  tile_body(a, b, length, out);
}

#if defined(KREPRO_X86)
KREPRO_DENSE KREPRO_AVX2 inline void tile_avx2(const double* a, const double* b, std::uint64_t length, double* out) {
  tile_body(a, b, length, out);
}
#endif

typedef void (*TileFunction)(const double*, const double*, std::uint64_t, double*);

inline TileFunction choose_tile() {
#if defined(KREPRO_X86)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return tile_avx2;
#endif
  return tile_plain;
}

KREPRO_DENSE inline double summand(float value, Sum sum) {
  const double wide = value;
  if (sum == Sum::squares) return wide * wide;
  return sum == Sum::magnitudes && wide < 0 ? -wide : wide;
}

// Rows first.. of a [rows, k] matrix, columns k0.. of it, as [length][width] with zeros beyond the last row.
KREPRO_DENSE inline void pack(const float* matrix, std::uint64_t rows, std::uint64_t k, std::uint64_t first,
                              std::uint64_t width, std::uint64_t k0, std::uint64_t length, Sum sum, double* packed) {
  for (std::uint64_t i = 0; i < width; ++i) {
    if (first + i >= rows) {
      for (std::uint64_t j = 0; j < length; ++j) packed[j * width + i] = 0.0;
      continue;
    }
    const float* row = matrix + (first + i) * k + k0;
    for (std::uint64_t j = 0; j < length; ++j) packed[j * width + i] = summand(row[j], sum);
  }
}

KREPRO_DENSE inline void add_tile(const double* tile, double* out, std::uint64_t m, std::uint64_t n, std::uint64_t row,
                                  std::uint64_t column) {
  for (std::uint64_t i = 0; i < tile_rows && row + i < m; ++i) {
    for (std::uint64_t j = 0; j < tile_columns && column + j < n; ++j) {
      out[(row + i) * n + column + j] += tile[i * tile_columns + j];
    }
  }
}

inline void dense_gemm(const float* a, const float* b, std::uint64_t m, std::uint64_t n, std::uint64_t k, Sum sum,
                       std::vector<double>& out) {
  const TileFunction tile = choose_tile();
  const std::uint64_t row_tiles = (m + tile_rows - 1) / tile_rows;
  const std::uint64_t column_tiles = (n + tile_columns - 1) / tile_columns;
  out.assign(m * n, 0.0);
  std::vector<double> left(row_tiles * tile_rows * depth);
  for (std::uint64_t k0 = 0; k0 < k; k0 += depth) {
    const std::uint64_t length = std::min(depth, k - k0);
    parallel(row_tiles, 64, [&](std::uint64_t from, std::uint64_t to) {
      for (std::uint64_t t = from; t < to; ++t) {
        pack(a, m, k, t * tile_rows, tile_rows, k0, length, sum, left.data() + t * tile_rows * depth);
      }
    });
    parallel(column_tiles, 1 + 4096 / (row_tiles * tile_rows), [&](std::uint64_t from, std::uint64_t to) {
      std::vector<double> right(tile_columns * depth);
      double result[tile_rows * tile_columns];
      for (std::uint64_t t = from; t < to; ++t) {
        pack(b, n, k, t * tile_columns, tile_columns, k0, length, sum, right.data());
        for (std::uint64_t r = 0; r < row_tiles; ++r) {
          tile(left.data() + r * tile_rows * depth, right.data(), length, result);
          add_tile(result, out.data(), m, n, r * tile_rows, t * tile_columns);
        }
      }
    });
  }
}

KREPRO_DENSE inline std::uint64_t count_nonzero(const float* values, std::uint64_t count) {
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < count; ++i) found += (bits_of<std::uint32_t>(values[i]) << 1) != 0 ? 1u : 0u;
  return found;
}

// Adds column k of the dense operand, times one value of the sparse one, to a row of the product.
KREPRO_DENSE inline void add_column(const float* dense, std::uint64_t rows, std::uint64_t k, std::uint64_t column,
                                    double value, Sum sum, double* out, std::uint64_t pitch) {
  for (std::uint64_t i = 0; i < rows; ++i) out[i * pitch] += value * summand(dense[i * k + column], sum);
}

// Every row of the sparse operand [rows, k] against the dense one [others, k]; out[row * row_pitch + other * pitch].
inline void sparse_gemm(const float* sparse, std::uint64_t rows, const float* dense, std::uint64_t others,
                        std::uint64_t k, Sum sum, double* out, std::uint64_t row_pitch, std::uint64_t pitch) {
  parallel(rows, 1, [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t row = from; row < to; ++row) {
      for (std::uint64_t column = 0; column < k; ++column) {
        const float value = sparse[row * k + column];
        if ((bits_of<std::uint32_t>(value) << 1) == 0) continue;
        add_column(dense, others, k, column, summand(value, sum), sum, out + row * row_pitch, pitch);
      }
    }
  });
}

// out[m, n] = sum over k of a[m, k] * b[n, k], both row-major without gaps.
inline void host_gemm(const std::vector<float>& a, const std::vector<float>& b, std::uint64_t m, std::uint64_t n,
                      std::uint64_t k, Sum sum, std::vector<double>& out) {
  if (count_nonzero(a.data(), m * k) < m * k / 16) {
    out.assign(m * n, 0.0);
    sparse_gemm(a.data(), m, b.data(), n, k, sum, out.data(), n, 1);
  } else if (count_nonzero(b.data(), n * k) < n * k / 16) {
    out.assign(m * n, 0.0);
    sparse_gemm(b.data(), n, a.data(), m, k, sum, out.data(), 1, n);
  } else {
    dense_gemm(a.data(), b.data(), m, n, k, sum, out);
  }
}

// What host_gemm is measured against: the loop that everyone writes first.
KREPRO_DENSE inline void naive_gemm(const float* a, const float* b, std::uint64_t m, std::uint64_t n, std::uint64_t k,
                                    double* out) {
  for (std::uint64_t row = 0; row < m; ++row) {
    for (std::uint64_t column = 0; column < n; ++column) {
      double sum = 0;
      for (std::uint64_t i = 0; i < k; ++i) {
        sum += static_cast<double>(a[row * k + i]) * static_cast<double>(b[column * k + i]);
      }
      out[row * n + column] = sum;
    }
  }
}

}  // namespace krepro
