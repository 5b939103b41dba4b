// What the contract promises for given inputs: the exact value, the rounded code, and how far a kernel may be off.
#pragma once

#include <cmath>

#include "reference.h"

namespace krepro {

// Logical values of the operands of one launch, by role; empty where there is no such operand.
struct Values {
  std::vector<float> of[role_count];

  const std::vector<float>& operator[](Role role) const { return of[static_cast<std::size_t>(role)]; }
  std::vector<float>& operator[](Role role) { return of[static_cast<std::size_t>(role)]; }
};

struct Expected {
  bool exact = false;              // every element must have the code
  std::vector<double> value;       // without the contract's roundings
  std::vector<std::uint32_t> code; // with them
  std::vector<double> tolerance;   // largest |observed - value|; empty when exact
};

inline double accumulator_limit(Accumulator accumulator) {
  switch (accumulator) {
    case Accumulator::fp8_hopper: return 16384.0;
    case Accumulator::s32: return 2147483648.0;
    default: return 16777216.0;
  }
}

// Exponent of the lowest set bit of a finite number that is not zero.
inline int lowest_bit(float value) {
  const std::uint32_t bits = bits_of<std::uint32_t>(value);
  const std::uint32_t field = (bits >> 23) & 0xffu;
  std::uint32_t significand = (bits & 0x7fffffu) | (field != 0 ? 0x800000u : 0u);
  int exponent = (field != 0 ? static_cast<int>(field) : 1) - 150;
  while ((significand & 1u) == 0) {
    significand >>= 1;
    ++exponent;
  }
  return exponent;
}

struct Extent {
  double row_sum = 0;  // largest sum of magnitudes of a row
  double largest = 0;
  int unit = 200;      // every value is a multiple of 2^unit
};

KREPRO_DENSE inline Extent extent_of(const std::vector<float>& values, std::uint64_t columns) {
  Extent extent;
  const float* value = values.data();
  for (std::size_t begin = 0; begin < values.size(); begin += columns) {
    double sum = 0;
    for (std::size_t i = begin; i < begin + columns; ++i) {
      if ((bits_of<std::uint32_t>(value[i]) << 1) == 0) continue;
      const double magnitude = std::fabs(static_cast<double>(value[i]));
      if (!is_finite(magnitude)) {
        extent.unit = -1000;
        return extent;
      }
      sum += magnitude;
      extent.largest = std::max(extent.largest, magnitude);
      extent.unit = std::min(extent.unit, lowest_bit(value[i]));
    }
    extent.row_sum = std::max(extent.row_sum, sum);
  }
  return extent;
}

// Bound on every partial sum of |a b| in any order, in units of which every product is a multiple: below the accumulator's
// limit, no addition rounds.
inline double partial_sum_bound(const Problem& problem, const Values& values) {
  const Extent a = extent_of(values[Role::a], problem.k);
  const Extent b = extent_of(values[Role::b], problem.k);
  if (a.unit < -500 || b.unit < -500) return positive_infinity();
  const double bound = std::min(a.row_sum * b.largest, b.row_sum * a.largest);
  return bound == 0 ? 0.0 : std::ldexp(bound, -(a.unit + b.unit));
}

// A scale with more than one column (or fewer rows than its operand) belongs to blocks of its operand and acts within the sum.
inline bool is_block_scale(const Problem& problem, Role role) {
  const Operand* scale = find_operand(problem, role);
  if (scale == nullptr || (role != Role::scale_a && role != Role::scale_b)) return false;
  return scale->columns > 1 || scale->rows < (role == Role::scale_a ? problem.m : problem.n);
}

// Extent of a block when `count` elements are cut into `blocks`: the power of two that the field uses (16, 32, 128 ...).
inline std::uint64_t block_extent(std::uint64_t count, std::uint64_t blocks) {
  std::uint64_t extent = 1;
  while (extent * blocks < count) extent *= 2;
  return extent;
}

// The operands with their block scales multiplied in. f32 holds the product of a narrow type and a power of two exactly.
inline Values dequantised(const Problem& problem, const Values& values) {
  Values result;
  for (std::size_t i = 0; i < role_count; ++i) result.of[i] = values.of[i];
  const Role scaled[2] = {Role::a, Role::b};
  const Role scales[2] = {Role::scale_a, Role::scale_b};
  for (int side = 0; side < 2; ++side) {
    if (!is_block_scale(problem, scales[side])) continue;
    const Operand& scale = *find_operand(problem, scales[side]);
    const std::uint64_t rows = side == 0 ? problem.m : problem.n;
    const std::uint64_t high = block_extent(rows, scale.rows);
    const std::uint64_t wide = block_extent(problem.k, scale.columns);
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::uint64_t column = 0; column < problem.k; ++column) {
        result[scaled[side]][row * problem.k + column] *= values[scales[side]][row / high * scale.columns + column / wide];
      }
    }
  }
  return result;
}

// numerics: error of the sum itself. s1 = sum |ab|, s2 = sqrt(sum (ab)^2).
inline double accumulation_error(const Problem& problem, double sum, double s1, double s2) {
  const double k = static_cast<double>(problem.k);
  const double typical = std::min(s1, std::fabs(sum) + 6.0 * s2);
  if (problem.accumulator == Accumulator::s32) return 0.0;
  if (problem.accumulator == Accumulator::f32_simt) return 6.0 * std::sqrt(k) * std::ldexp(typical, -24);
  const Operand* a = find_operand(problem, Role::a);
  const unsigned bits = a == nullptr ? 16 : format_of(a->element).bits;
  const bool narrow = problem.accumulator == Accumulator::fp8_hopper;
  const double step = bits >= 32 ? 8.0 : bits == 16 ? 16.0 : 32.0;
  const double steps = std::ceil(k / step);
  const double cut = std::ldexp(1.0, narrow ? -13 : -25);
  const double result = std::ldexp(1.0, narrow ? -13 : -23);
  const double share = s1 > 0 ? std::fabs(sum) / s1 : 0.0;
  return typical * (6.0 * std::sqrt(steps * (step / 3.0 * cut * cut + result * result / 3.0)) + steps * result / 2.0 +
                    share * steps * step * cut / 2.0);
}

inline double operand_value(const Values& values, const Problem& problem, Role role, std::uint64_t row,
                            std::uint64_t column) {
  const std::vector<float>& value = values[role];
  if (value.empty()) return role == Role::residual || role == Role::bias ? 0.0 : 1.0;
  switch (role) {
    case Role::residual: return value[row * problem.n + column];
    case Role::bias:
    case Role::scale_b: return value[column];
    case Role::scale_a: return value[row];
    default: return value[0];
  }
}

struct Walked {
  double value;      // unrounded
  double error;      // bound on |observed - value|
  double followed;   // with every rounding of the contract
};

inline double rounded(Element element, double value) {
  const Format& format = format_of(element);
  return decode(format, encode(format, value));
}

// Relu without a comparison that -ffast-math may turn round for NaN.
inline double relu(double value) { return is_nan(value) ? value : (bits_of<std::uint64_t>(value) >> 63) != 0 ? 0.0 : value; }

inline void take_step(const Step& step, double operand, Walked& walked) {
  const double unit = std::ldexp(1.0, -24);
  switch (step.does) {
    case Does::round: {
      const Format& format = format_of(step.to);
      walked.error += ulp(format, std::fabs(walked.value) + walked.error) / 2.0;
      walked.followed = rounded(step.to, walked.followed);
      if (format.infinity == 0) {
        const double largest = decode(format, format.largest << format.shift);
        const double least = !format.sign ? 0.0 : format.mantissa < 0 ? -largest - 1.0 : -largest;
        walked.value = std::max(least, std::min(largest, walked.value));
      }
      break;
    }
    case Does::add:
      walked.value += operand;
      walked.error += unit * (std::fabs(walked.value) + walked.error);
      walked.followed = rounded(Element::f32, walked.followed + operand);
      break;
    case Does::multiply:
      walked.value *= operand;
      walked.error = walked.error * std::fabs(operand) + unit * std::fabs(walked.value);
      walked.followed = rounded(Element::f32, walked.followed * operand);
      break;
    case Does::relu:
      walked.value = relu(walked.value);
      walked.followed = relu(walked.followed);
      break;
  }
}

// `start` is what the output held, for kernels that add to it.
inline Expected expect(const Problem& problem, const Values& stored, bool want_exact, double start) {
  Expected expected;
  const bool blocks = is_block_scale(problem, Role::scale_a) || is_block_scale(problem, Role::scale_b);
  const Values multiplied = blocks ? dequantised(problem, stored) : Values();
  const Values& values = blocks ? multiplied : stored;
  const std::uint64_t m = problem.m;
  const std::uint64_t n = problem.n;
  const Element out = find_operand(problem, Role::out)->element;
  std::vector<double> sum;
  std::vector<double> s1;
  std::vector<double> s2;
  host_gemm(values[Role::a], values[Role::b], m, n, problem.k, Sum::products, sum);
  const double bound = want_exact ? partial_sum_bound(problem, values) : positive_infinity();
  expected.exact = bound < accumulator_limit(problem.accumulator);
  if (expected.exact && problem.accumulates) {
    expected.exact = bound + std::fabs(start) <= static_cast<double>(format_of(out).exact);
  }
  if (!expected.exact) {
    host_gemm(values[Role::a], values[Role::b], m, n, problem.k, Sum::magnitudes, s1);
    host_gemm(values[Role::a], values[Role::b], m, n, problem.k, Sum::squares, s2);
    expected.tolerance.resize(m * n);
  }
  expected.value.resize(m * n);
  expected.code.resize(m * n);
  parallel(m, 1 + 4096 / n, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t row = first; row < last; ++row) {
      for (std::uint64_t column = 0; column < n; ++column) {
        const std::uint64_t i = row * n + column;
        Walked walked = {sum[i], 0.0, problem.accumulator == Accumulator::s32 ? sum[i] : rounded(Element::f32, sum[i])};
        double spread = 0;
        if (!expected.exact) {
          spread = std::min(s1[i], std::fabs(sum[i]) + 6.0 * std::sqrt(s2[i]));
          walked.error = accumulation_error(problem, sum[i], s1[i], std::sqrt(s2[i]));
        }
        for (std::size_t s = 0; s < problem.step_count; ++s) {
          const Step& step = problem.epilogue[s];
          take_step(step, operand_value(values, problem, step.operand, row, column), walked);
        }
        if (problem.accumulates) {
          // Partial results are added one by one and rounded each time; how many is not known.
          walked.value += start;
          walked.error += 4.0 * ulp(format_of(out), std::fabs(walked.value) + spread + std::fabs(start));
          walked.followed = rounded(out, walked.followed + start);
        }
        expected.value[i] = walked.value;
        expected.code[i] = static_cast<std::uint32_t>(encode(format_of(out), walked.followed));
        if (!expected.exact) expected.tolerance[i] = walked.error;
      }
    }
  });
  return expected;
}

}  // namespace krepro
