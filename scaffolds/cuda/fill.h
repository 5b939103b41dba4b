// Fills: the value at (r, c) as a formula of the index, bit-equal to krepro's own evaluation (docs/harness.md).
#pragma once

#include <string>

#include "element.h"

namespace krepro {

enum class FillKind {
  constant, integers, gaussian, uniform, outlier, one_hot, window, blocks, address, row_digits, column_digits, powers, codes,
  file
};

struct Fill {
  FillKind kind = FillKind::constant;
  double value = 0;  // value, scale, or low of uniform
  double high = 0;   // high of uniform
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t first = 0;
  std::uint64_t seed = 0;
  std::uint64_t stride = 0;  // stride, start, width, base or step
  std::uint64_t offset = 0;  // offset or pitch
  std::uint64_t digit = 0;
  std::string path;

  bool operator==(const Fill& other) const {
    return kind == other.kind && bits_of<std::uint64_t>(value) == bits_of<std::uint64_t>(other.value) &&
           bits_of<std::uint64_t>(high) == bits_of<std::uint64_t>(other.high) && least == other.least &&
           most == other.most && first == other.first && seed == other.seed && stride == other.stride &&
           offset == other.offset && digit == other.digit && path == other.path;
  }
};

inline Fill constant_fill(double value) {
  Fill fill;
  fill.value = value;
  return fill;
}

inline Fill integers_fill(std::int64_t least, std::int64_t most, std::uint64_t seed) {
  Fill fill;
  fill.kind = FillKind::integers;
  fill.least = least;
  fill.most = most;
  fill.seed = seed;
  return fill;
}

inline Fill gaussian_fill(std::uint64_t seed, double scale) {
  Fill fill;
  fill.kind = FillKind::gaussian;
  fill.seed = seed;
  fill.value = scale;
  return fill;
}

KREPRO_HOT inline std::uint64_t hash(std::uint64_t seed, std::uint64_t row, std::uint64_t column) {
  std::uint64_t x = seed + 0x9e3779b97f4a7c15ull * ((row << 32) + column + 1);
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

KREPRO_HOT inline std::uint64_t pieces(std::uint64_t x) {
  return (x & 0xffff) + ((x >> 16) & 0xffff) + ((x >> 32) & 0xffff) + (x >> 48);
}

KREPRO_HOT inline double gaussian(std::uint64_t seed, double scale, std::uint64_t row, std::uint64_t column) {
  const std::uint64_t sum = pieces(hash(seed, row, column)) + pieces(hash(seed + 1, row, column)) +
                            pieces(hash(seed + 2, row, column));
  return scale * (static_cast<double>(sum) - 393210.0) / 65536.0;
}

inline std::uint64_t power(std::uint64_t base, std::uint64_t digit) {
  std::uint64_t result = 1;
  for (std::uint64_t i = 0; i < digit; ++i) {
    if (base != 0 && result > ~std::uint64_t{0} / base) return 0;
    result *= base;
  }
  return result;
}

// The digit of a number in a base, given base^digit (0: beyond every number).
KREPRO_HOT inline double digit_of(std::uint64_t number, std::uint64_t divisor, std::uint64_t base, std::int64_t first) {
  const std::uint64_t digit = divisor == 0 ? 0 : number / divisor % base;
  return static_cast<double>(first + static_cast<std::int64_t>(digit));
}

// The value before rounding; `divisor` is power(fill.stride, fill.digit). Not for codes and file.
KREPRO_HOT inline double fill_value(const Fill& fill, std::uint64_t divisor, std::uint64_t row, std::uint64_t column,
                                    std::uint64_t columns) {
  switch (fill.kind) {
    case FillKind::constant: return fill.value;
    case FillKind::integers:
    case FillKind::powers: {
      const std::uint64_t span = static_cast<std::uint64_t>(fill.most - fill.least + 1);
      const std::int64_t drawn = fill.least + static_cast<std::int64_t>((hash(fill.seed, row, column) >> 32) % span);
      if (fill.kind == FillKind::integers) return static_cast<double>(drawn);
      return bits_of<double>(static_cast<std::uint64_t>(drawn + 1023) << 52);
    }
    case FillKind::gaussian: return gaussian(fill.seed, fill.value, row, column);
    case FillKind::uniform: {
      const volatile double part =
          (fill.high - fill.value) * (static_cast<double>(hash(fill.seed, row, column) >> 40) / 16777216.0);
      return fill.value + part;
    }
    case FillKind::outlier: {
      const double value = gaussian(fill.seed, fill.value, row, column);
      return hash(fill.seed + 3, row, column) % 200 == 0 ? value * 64.0 : value;
    }
    case FillKind::one_hot: return column == (row * fill.stride + fill.offset) % columns ? fill.value : 0.0;
    case FillKind::window: return column == fill.stride + row ? fill.value : 0.0;
    case FillKind::blocks:
      return column / fill.stride == row % ((columns + fill.stride - 1) / fill.stride) ? 1.0 : 0.0;
    case FillKind::address: return digit_of(row * fill.offset + column, divisor, fill.stride, fill.first);
    case FillKind::row_digits: return digit_of(row, divisor, fill.stride, fill.first);
    case FillKind::column_digits: return digit_of(column, divisor, fill.stride, fill.first);
    case FillKind::codes:
    case FillKind::file: break;
  }
  return 0.0;
}

// Storage code at (r, c); `raw` are the codes of a file in (r, c) order.
KREPRO_HOT inline std::uint64_t fill_code(const Fill& fill, const Format& format, std::uint64_t divisor,
                                          std::uint64_t row, std::uint64_t column, std::uint64_t columns,
                                          const unsigned char* raw) {
  if (fill.kind == FillKind::file) return load_code(raw, format.bits, row * columns + column);
  if (fill.kind == FillKind::codes) {
    const std::uint64_t code = (fill.stride * row + column + fill.offset) & ((std::uint64_t{1} << format.bits) - 1);
    // The top bit of ue4m3 stands for nothing, and a kernel that decodes it as the sign of e4m3 is right.
    const bool number = is_finite(decode(format, code)) && (format.sign || code <= format.largest);
    return number ? code : 0;
  }
  return encode(format, fill_value(fill, divisor, row, column, columns));
}

}  // namespace krepro
