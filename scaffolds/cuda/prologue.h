// The host's model of a launch before the kernel's: which codes it must leave.
#pragma once

#include "compare.h"
#include "storage.h"

namespace krepro {

// Storage codes of the logical elements of a tensor, in (row, column) order.
using Codes = std::vector<std::uint32_t>;

// Whether `seen` is what some value within `unit` of `value`, relative, rounds to. Zero of either sign is one.
inline bool rounds_to(const Format& format, double value, double unit, std::uint32_t seen) {
  for (const double near : {value, value * (1.0 + unit), value * (1.0 - unit)}) {
    const std::uint32_t code = static_cast<std::uint32_t>(encode(format, near));
    if (same_code(format, seen, code)) return true;
  }
  return is_nan(value) && is_nan(decode(format, seen));
}

// A tie has two right roundings: half a unit in the last place of f64, relative, reaches both.
inline double tie_unit() { return std::ldexp(1.0, -50); }

// The same elements in another type.
inline Codes converted(Element from, Element to, const Codes& codes) {
  Codes result(codes.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    result[i] = static_cast<std::uint32_t>(encode(format_of(to), decode(format_of(from), codes[i])));
  }
  return result;
}

// The extents of the blocks of a quantiser, as those of block scales: the least powers of two that cover the operand.
struct Blocks {
  std::uint64_t rows, columns, high, wide;  // of the scales; of a block
  std::uint64_t of(std::uint64_t row, std::uint64_t column) const { return row / high * columns + column / wide; }
};

inline Blocks blocks_of(const Operand& operand, const Operand& scale) {
  return {scale.rows, scale.columns, block_extent(operand.rows, scale.rows), block_extent(operand.columns, scale.columns)};
}

// One division, whatever the flags let a compiler make of several by one divisor.
inline double divided(double value, double by) {
  const volatile double divisor = by;
  return value / divisor;
}

inline double largest_of(const Format& format) { return decode(format, format.largest << format.shift); }

// For each block the largest magnitude over the largest of the type: its scale before rounding.
inline std::vector<double> quotients_of(const Operand& source, const Codes& codes, const Blocks& blocks, const Format& to) {
  std::vector<double> largest(blocks.rows * blocks.columns, 0.0);
  for (std::uint64_t i = 0; i < codes.size(); ++i) {
    double& most = largest[blocks.of(i / source.columns, i % source.columns)];
    most = std::max(most, std::fabs(decode(format_of(source.element), codes[i])));
  }
  for (double& value : largest) value = divided(value, largest_of(to));
  return largest;
}

// The power of two that is not above a positive value.
inline double power_below(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, exponent - 1);
}

// The nearest of the type, or the next power of two where only those are taken.
inline std::uint32_t scale_code(const Operand& scale, double quotient) {
  const Format& format = format_of(scale.element);
  if (quotient == 0) return static_cast<std::uint32_t>(encode(format, 1.0));
  const double below = power_below(quotient);
  const bool powers = scale.powers || format.mantissa == 0;
  return static_cast<std::uint32_t>(encode(format, !powers ? quotient : below == quotient ? below : 2.0 * below));
}

// A scale that its type holds is that; another may be rounded to either side, and in f32 it may be off by what approximate divisions are.
// The scale of zeros may be anything.
inline bool scale_is_right(const Operand& scale, double quotient, std::uint32_t seen) {
  const Format& format = format_of(scale.element);
  const double value = decode(format, seen);
  if (!is_finite(value)) return false;
  if (quotient == 0) return true;
  const double below = power_below(quotient);
  if (scale.powers || format.mantissa == 0) return value == below || (below != quotient && value == 2.0 * below);
  if (format.bits == 32) return std::fabs(value - quotient) <= std::ldexp(quotient, -21);
  if (decode(format, encode(format, quotient)) == quotient) return value == quotient;
  return std::fabs(value - quotient) < ulp(format, quotient);
}

// An element over its scale, within the range of the type; f32 forms the quotient by a division or by a product with the reciprocal.
inline double clamped_quotient(const Format& to, double value, double scale) {
  const double limit = largest_of(to);
  return std::max(-limit, std::min(limit, divided(value, scale)));
}

// Over the scale that was written, or over that before rounding: kernels do either.
inline bool quotient_is_right(const Format& to, double value, double written, double quotient, std::uint32_t seen) {
  const double unit = std::ldexp(1.0, -21);
  if (value == 0) return rounds_to(to, 0.0, 0.0, seen);
  const bool usable = is_finite(written) && written > 0;
  return (usable && rounds_to(to, clamped_quotient(to, value, written), unit, seen)) ||
         rounds_to(to, clamped_quotient(to, value, quotient), unit, seen);
}

// Values of a source from which a quantiser must give the values of `fill` and `scales`: in each block one element is the largest of the
// type. Without `exact` they are as they are drawn.
inline double quantisable(const Fill& fill, const Fill& scales, const Format& to, const Blocks& blocks, const Operand& operand,
                          std::uint64_t row, std::uint64_t column, bool exact) {
  const std::uint64_t block_row = row / blocks.high;
  const std::uint64_t block_column = column / blocks.wide;
  const double scale = fill_value(scales, power(scales.stride, scales.digit), block_row, block_column, blocks.columns);
  double value = fill_value(fill, power(fill.stride, fill.digit), row, column, operand.columns);
  if (exact) {
    value = decode(to, encode(to, value));
    const std::uint64_t drawn = hash(977, block_row, block_column);
    const std::uint64_t high = std::min(blocks.high, operand.rows - block_row * blocks.high);
    const std::uint64_t wide = std::min(blocks.wide, operand.columns - block_column * blocks.wide);
    const bool chosen = row % blocks.high == drawn % high && column % blocks.wide == (drawn >> 20) % wide;
    if (chosen) value = to.sign && (drawn >> 40) % 2 != 0 ? -largest_of(to) : largest_of(to);
  }
  return value * scale;
}

// Writes codes where the operand's layout has them, and `between` everywhere else.
inline void write_codes(Image& image, const Operand& operand, const Codes& codes, std::uint64_t between) {
  const Format& format = format_of(operand.element);
  fill_code_everywhere(image, format, between);
  for (std::uint64_t i = 0; i < codes.size(); ++i) {
    store_code(image.begin(), format.bits, element_index(operand, i / operand.columns, i % operand.columns), codes[i]);
  }
}

inline Codes read_codes_of(const unsigned char* data, const Operand& operand) {
  Codes codes(operand.rows * operand.columns);
  for (std::uint64_t i = 0; i < codes.size(); ++i) {
    const std::uint64_t at = element_index(operand, i / operand.columns, i % operand.columns);
    codes[i] = static_cast<std::uint32_t>(load_code(data, format_of(operand.element).bits, at));
  }
  return codes;
}

}  // namespace krepro
