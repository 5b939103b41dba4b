// What the contract promises for given inputs: the exact value, the rounded code, and how far a kernel may be off.
#pragma once

#include <cmath>

#include "sums.h"

namespace krepro {

struct Expected {
  bool exact = false;              // every element must have the code
  bool sums_exact = false;         // only an approximate function of the epilogue keeps it from being exact
  std::vector<double> value;       // without the contract's roundings
  std::vector<std::uint32_t> code; // with them
  std::vector<double> tolerance;   // largest |observed - value|; empty when exact
  std::vector<bool> compared;      // of each row; empty where all are
};

inline double accumulator_limit(Accumulator accumulator) {
  switch (accumulator) {
    case Accumulator::f16_tensor_core: return 2048.0;
    case Accumulator::fp8_hopper: return 16384.0;
    case Accumulator::s32: return 2147483648.0;
    default: return 16777216.0;
  }
}

// Whether no addition rounds, when every partial sum is at most `bound` and every product at most `largest`, in units of which all
// products are multiples. A promoted accumulator holds `promotion` products at a time, and an f32 one their sums.
inline bool sums_are_exact(const Problem& problem, double bound, double largest) {
  if (problem.promotion == 0) return bound < accumulator_limit(problem.accumulator);
  const double window = static_cast<double>(std::min(problem.promotion, problem.k)) * largest;
  return std::min(bound, window) < accumulator_limit(problem.accumulator) &&
         bound < accumulator_limit(Accumulator::f32_simt);
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
  bool single = true;  // no row has more than one value, and that is a power of two
};

KREPRO_DENSE inline Extent extent_of(const std::vector<float>& values, std::uint64_t columns) {
  Extent extent;
  const float* value = values.data();
  for (std::size_t begin = 0; begin < values.size(); begin += columns) {
    double sum = 0;
    bool any = false;
    for (std::size_t i = begin; i < begin + columns; ++i) {
      if ((bits_of<std::uint32_t>(value[i]) << 1) == 0) continue;
      const double magnitude = std::fabs(static_cast<double>(value[i]));
      if (!is_finite(magnitude)) {
        extent.unit = -1000;
        extent.single = false;
        return extent;
      }
      if (any || (bits_of<std::uint32_t>(value[i]) & 0x7fffffu) != 0) extent.single = false;
      any = true;
      sum += magnitude;
      extent.largest = std::max(extent.largest, magnitude);
      extent.unit = std::min(extent.unit, lowest_bit(value[i]));
    }
    extent.row_sum = std::max(extent.row_sum, sum);
  }
  return extent;
}

// A scale with more than one column, or fewer rows than its operand, or that no step of the epilogue multiplies by, belongs to
// blocks of its operand and acts within the sum.
inline bool is_block_scale(const Problem& problem, Role role) {
  const Operand* scale = find_operand(problem, role);
  if (scale == nullptr || (role != Role::scale_a && role != Role::scale_b)) return false;
  const Operand* scaled = find_operand(problem, role == Role::scale_a ? Role::a : Role::b);
  if (scale->columns > 1 || scale->rows < scaled->rows) return true;
  for (std::size_t i = 0; i < problem.step_count; ++i) {
    if (problem.epilogue[i].does == Does::multiply && problem.epilogue[i].operand == role) return false;
  }
  return true;
}

// Extent of a block when `count` elements are cut into `blocks`: the power of two that the field uses (16, 32, 128 ...).
inline std::uint64_t block_extent(std::uint64_t count, std::uint64_t blocks) {
  std::uint64_t extent = 1;
  while (extent * blocks < count) extent *= 2;
  return extent;
}

// Bounds on every partial sum of |a b| in any order, and on every |a b|, in units of at most 1 of which every product is a multiple.
struct Bounds {
  double sum = 0;
  double product = 0;
  bool copies = false;  // every sum is one element times a power of two, which an f32 or s32 accumulator and Hopper's for fp8 hold
};

inline Bounds product_bounds(const Problem& problem, const Values& values) {
  const Extent a = extent_of(values[Role::a], problem.k);
  const Extent b = extent_of(values[Role::b], problem.k);
  if (a.unit < -500 || b.unit < -500) return {positive_infinity(), positive_infinity(), false};
  const double bound = std::min(a.row_sum * b.largest, b.row_sum * a.largest);
  if (bound == 0) return {};
  const int unit = std::max(0, -(a.unit + b.unit));
  const bool copies = (a.single || b.single) && problem.accumulator != Accumulator::f16_tensor_core;
  return {std::ldexp(bound, unit), std::ldexp(a.largest * b.largest, unit), copies};
}

inline bool products_are_exact(const Problem& problem, const Values& values) {
  const Bounds bounds = product_bounds(problem, values);
  return bounds.copies || sums_are_exact(problem, bounds.sum, bounds.product);
}

// Whether block scales are applied where a narrow accumulator is added to the f32 one: none lies within a promoted window.
inline bool scales_follow_windows(const Problem& problem) {
  if (problem.promotion == 0) return false;
  for (const Role role : {Role::scale_a, Role::scale_b}) {
    if (!is_block_scale(problem, role)) continue;
    if (block_extent(problem.k, find_operand(problem, role)->columns) < problem.promotion) return false;
  }
  return true;
}

// The same for operands that are stored as `stored` and stand for `values`.
inline bool all_sums_are_exact(const Problem& problem, const Values& stored, const Values& values) {
  if (!scales_follow_windows(problem)) return products_are_exact(problem, stored) && products_are_exact(problem, values);
  const Bounds narrow = product_bounds(problem, stored);
  const double window = static_cast<double>(std::min(problem.promotion, problem.k)) * narrow.product;
  const Bounds wide = product_bounds(problem, values);
  if (narrow.copies && wide.copies) return true;
  return std::min(narrow.sum, window) < accumulator_limit(problem.accumulator) && wide.sum < accumulator_limit(Accumulator::f32_simt);
}

// The sum that a zero point takes from the products may be formed on its own, zero_point times the sum of b.
inline bool zero_point_is_exact(const Problem& problem, const Values& values) {
  if (values[Role::zero_point].empty()) return true;
  const double zero_point = std::fabs(static_cast<double>(values[Role::zero_point][0]));
  const Extent b = extent_of(values[Role::b], problem.k);
  return b.unit >= 0 && zero_point * b.row_sum < accumulator_limit(problem.accumulator);
}

// The operands less their zero point and with their block scales multiplied in. f32 holds the product of a narrow type and a power
// of two exactly.
inline Values dequantised(const Problem& problem, const Values& values) {
  Values result;
  for (std::size_t i = 0; i < role_count; ++i) result.of[i] = values.of[i];
  if (!values[Role::zero_point].empty()) {
    for (float& value : result[Role::a]) value -= values[Role::zero_point][0];
  }
  const Role scaled[2] = {Role::a, Role::b};
  const Role scales[2] = {Role::scale_a, Role::scale_b};
  for (int side = 0; side < 2; ++side) {
    if (!is_block_scale(problem, scales[side])) continue;
    const Operand& scale = *find_operand(problem, scales[side]);
    const std::uint64_t rows = find_operand(problem, scaled[side])->rows;
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
  if (problem.accumulator == Accumulator::f16_tensor_core) {
    return 6.0 * std::sqrt(std::ceil(k / step)) * std::ldexp(typical, -11);
  }
  const double window = problem.promotion == 0 ? k : std::min(k, static_cast<double>(problem.promotion));
  const double windows = std::ceil(k / window);  // each of them sums a share of everything
  const double steps = std::ceil(window / step);
  const double cut = std::ldexp(1.0, narrow ? -13 : -25);
  const double result = std::ldexp(1.0, narrow ? -13 : -23);
  const double share = s1 > 0 ? std::fabs(sum) / s1 : 0.0;
  const double typical_of_window = std::min(s1 / windows, std::fabs(sum) / windows + 6.0 * s2 / std::sqrt(windows));
  const double spread = 6.0 * std::sqrt(windows * steps * (step / 3.0 * cut * cut + result * result / 3.0));
  const double drift = windows * (steps * result / 2.0 + share * steps * step * cut / 2.0);
  const double promoted = windows > 1.0 ? 6.0 * std::sqrt(windows) * std::ldexp(typical, -24) : 0.0;
  return typical_of_window * (spread + drift) + promoted;
}

inline double operand_value(const Values& values, const Problem& problem, Role role, std::uint64_t row,
                            std::uint64_t column) {
  const std::vector<float>& value = values[role];
  if (value.empty()) return role == Role::residual || role == Role::bias ? 0.0 : 1.0;
  const std::uint64_t group = problem.group_count == 0 ? 0 : group_of(problem, row) % problem.group_count;
  const std::uint64_t width = find_operand(problem, Role::b)->rows / group_total(problem);
  switch (role) {
    case Role::residual: return value[row * problem.n + column];
    case Role::bias:
    case Role::scale_b: return value[std::min<std::size_t>(group * width + column, value.size() - 1)];
    case Role::scale_a: return value[std::min<std::size_t>(row, value.size() - 1)];
    default: return value[std::min<std::size_t>(group, value.size() - 1)];
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

inline double silu(double value) { return value / (1.0 + std::exp(-value)); }

inline double activation(Does does, double value) {
  if (does == Does::gelu) return value * std::erfc(-value * 0.70710678118654752440) / 2.0;
  if (does == Does::silu) return silu(value);
  return value / 2.0 * (1.0 + std::tanh(0.79788456080286535588 * (value + 0.044715 * value * value * value)));
}

// Error of the functions themselves as kernels compute them, relative to their argument: __expf and erff, or tanh.approx.
inline double activation_unit(Does does) { return std::ldexp(1.0, does == Does::gelu_tanh ? -11 : -20); }

// gate and up become one value. |d silu / d x| is below 1.1.
inline Walked gated(const Walked& gate, const Walked& up) {
  Walked result;
  const double opened = silu(gate.value);
  const double opened_error = 1.1 * gate.error + activation_unit(Does::silu) * std::fabs(gate.value);
  result.value = opened * up.value;
  result.error = opened_error * (std::fabs(up.value) + up.error) + std::fabs(opened) * up.error +
                 std::ldexp(std::fabs(result.value), -24);
  result.followed = rounded(Element::f32, rounded(Element::f32, silu(gate.followed)) * up.followed);
  return result;
}

// `operand` and `factor` are the values at the element that the step's roles have there.
inline void take_step(const Step& step, double operand, double factor, Walked& walked) {
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
    case Does::add_product:
      walked.value += factor * operand;
      walked.error += unit * (std::fabs(walked.value) + std::fabs(factor * operand) + walked.error);
      walked.followed = rounded(Element::f32, walked.followed + factor * operand);
      break;
    case Does::relu:
      walked.value = relu(walked.value);
      walked.followed = relu(walked.followed);
      break;
    case Does::gelu:
    case Does::gelu_tanh:
    case Does::silu:
      walked.error = 1.13 * walked.error + activation_unit(step.does) * std::fabs(walked.value);
      walked.value = activation(step.does, walked.value);
      walked.followed = rounded(Element::f32, activation(step.does, walked.followed));
      break;
    case Does::silu_gate_halves:
    case Does::silu_gate_interleaved:
      break;  // joins two columns, see walk_element
  }
}

// The splits' sums as they are added up, each rounded, and each addition: the error of it all, and the sum in the order of k.
inline Walked add_up(const Problem& problem, const Sums& sums, std::uint64_t i) {
  Walked walked = {sums.sum[i], 0.0, 0.0};
  double reach = 0;
  for (const std::vector<double>& split : sums.splits) {
    reach += std::fabs(split[i]);
    walked.error += ulp(format_of(problem.split.partial), std::fabs(split[i])) / 2.0;
    walked.followed = rounded(problem.split.sum, walked.followed + rounded(problem.split.partial, split[i]));
  }
  walked.error += static_cast<double>(problem.split.count) * ulp(format_of(problem.split.sum), reach + walked.error) / 2.0;
  return walked;
}

// Largest magnitude on the way to a sum.
inline double reached(const Sums& sums, std::uint64_t i) {
  double largest = std::fabs(sums.sum[i]);
  for (const std::vector<double>& split : sums.splits) largest = std::max(largest, std::fabs(split[i]));
  return largest;
}

// The accumulator at one element, before the epilogue.
inline Walked accumulated(const Problem& problem, const Sums& sums, std::uint64_t i) {
  const double sum = sums.sum[i];
  Walked walked = {sum, 0.0, problem.accumulator == Accumulator::s32 ? sum : rounded(Element::f32, sum)};
  if (!sums.splits.empty()) walked = add_up(problem, sums, i);
  if (sums.exact) {
    walked.error = 0;
  } else {
    walked.error += accumulation_error(problem, reached(sums, i), sums.magnitudes[i], std::sqrt(sums.squares[i]));
  }
  return walked;
}

// One column of the accumulator, through the steps up to the gate or to the end.
inline Walked walk_column(const Problem& problem, const Values& values, const Sums& sums, std::uint64_t row,
                          std::uint64_t column, std::size_t& step) {
  Walked walked = accumulated(problem, sums, row * sums.width + column);
  for (step = 0; step < problem.step_count && !is_gate(problem.epilogue[step].does); ++step) {
    const Step& next = problem.epilogue[step];
    take_step(next, operand_value(values, problem, next.operand, row, column),
              operand_value(values, problem, next.factor, row, column), walked);
  }
  return walked;
}

// Splits that add into the output, which held `start`: each goes through the epilogue by itself, whose additions the first alone makes,
// and is rounded before it is added.
inline Walked add_into_output(const Problem& problem, const Values& values, const Sums& sums, std::uint64_t row, std::uint64_t column,
                              double start) {
  const std::uint64_t i = row * sums.width + column;
  const Step to_partial = {Does::round, problem.split.partial, Role::out, Role::out};
  Walked total = {start, 0.0, start};
  double reach = std::fabs(start);
  for (std::size_t split = 0; split < sums.splits.size(); ++split) {
    const double sum = sums.splits[split][i];
    Walked part = {sum, 0.0, rounded(Element::f32, sum)};
    // Squares of all of k: more than those of a split.
    if (!sums.exact) part.error = accumulation_error(problem, sum, sums.magnitudes[i], std::sqrt(sums.squares[i]));
    for (std::size_t step = 0; step < problem.step_count; ++step) {
      const Step& next = problem.epilogue[step];
      if (split != 0 && (next.does == Does::add || next.does == Does::add_product)) continue;
      take_step(next, operand_value(values, problem, next.operand, row, column),
                operand_value(values, problem, next.factor, row, column), part);
    }
    take_step(to_partial, 0.0, 0.0, part);
    reach += std::fabs(part.value) + part.error;
    total.value += part.value;
    total.error += part.error;
    total.followed = rounded(problem.split.sum, total.followed + part.followed);
  }
  total.error += static_cast<double>(problem.split.count) * ulp(format_of(problem.split.sum), reach) / 2.0;
  return total;
}

inline Walked walk_element(const Problem& problem, const Values& values, const Sums& sums, std::uint64_t row,
                           std::uint64_t column) {
  std::size_t step = 0;
  std::size_t gate = 0;
  while (gate < problem.step_count && !is_gate(problem.epilogue[gate].does)) ++gate;
  if (gate == problem.step_count) return walk_column(problem, values, sums, row, column, step);
  const bool halves = problem.epilogue[gate].does == Does::silu_gate_halves;
  const std::uint64_t first = halves ? column : 2 * column;
  const std::uint64_t second = halves ? column + problem.n : 2 * column + 1;
  const Walked opened = walk_column(problem, values, sums, row, first, step);
  Walked walked = gated(opened, walk_column(problem, values, sums, row, second, step));
  for (++step; step < problem.step_count; ++step) {
    const Step& next = problem.epilogue[step];
    take_step(next, operand_value(values, problem, next.operand, row, column),
              operand_value(values, problem, next.factor, row, column), walked);
  }
  return walked;
}

// Whether the sums of the parts, and what the output held, are representable where they are rounded on the way. In the order of k the
// roundings are those of the contract; in any order none may be needed. A factor or an addition of the epilogue takes up to two bits.
inline bool parts_are_exact(const Problem& problem, const Values& values, double start) {
  const double bound = product_bounds(problem, values).sum;
  const Element out = find_operand(problem, Role::out)->element;
  if (problem.split.count < 2) return bound + std::fabs(start) <= static_cast<double>(format_of(out).exact);
  if (problem.split.ascending) return true;
  const std::int64_t limit = std::min(format_of(problem.split.partial).exact, format_of(problem.split.sum).exact);
  const double reach = reduces_into_output(problem) ? 4.0 * (bound + std::fabs(start) + 8.0) : bound;
  return reach <= static_cast<double>(limit);
}

// One element of the output, which held `start` before a kernel that adds to it.
inline Walked expected_at(const Problem& problem, const Values& values, const Sums& sums, std::uint64_t row, std::uint64_t column,
                          double start) {
  if (reduces_into_output(problem)) return add_into_output(problem, values, sums, row, column, start);
  Walked walked = walk_element(problem, values, sums, row, column);
  if (!problem.accumulates) return walked;
  const Element out = find_operand(problem, Role::out)->element;
  // Partial results are added one by one and rounded each time; how many is not known.
  double spread = 0;
  if (!sums.exact) {
    const std::uint64_t at = row * sums.width + column;
    spread = std::min(sums.magnitudes[at], std::fabs(sums.sum[at]) + 6.0 * std::sqrt(sums.squares[at]));
  }
  walked.value += start;
  walked.error += 4.0 * ulp(format_of(out), std::fabs(walked.value) + spread + std::fabs(start));
  walked.followed = rounded(out, walked.followed + start);
  return walked;
}

// `start` is what the output held, for kernels that add to it.
inline Expected expect(const Problem& problem, const Values& stored, bool want_exact, double start) {
  Expected expected;
  const bool changed = is_block_scale(problem, Role::scale_a) || is_block_scale(problem, Role::scale_b) ||
                       !stored[Role::zero_point].empty();
  const Values multiplied = changed ? dequantised(problem, stored) : Values();
  const Values& values = changed ? multiplied : stored;
  const std::uint64_t m = problem.m;
  const std::uint64_t n = problem.n;
  const Element out = find_operand(problem, Role::out)->element;
  Sums sums;
  sums.width = find_operand(problem, Role::b)->rows / group_total(problem);
  sum_products(problem, values, 0, problem.k, Sum::products, sums.sum);
  sum_splits(problem, values, sums);
  sums.exact = want_exact && (changed ? all_sums_are_exact(problem, stored, values) && zero_point_is_exact(problem, stored)
                                      : products_are_exact(problem, values));
  if (sums.exact && adds_parts(problem)) sums.exact = parts_are_exact(problem, values, start);
  expected.sums_exact = expected.exact = sums.exact;
  for (std::size_t i = 0; i < problem.step_count; ++i) {
    if (is_approximate(problem.epilogue[i].does)) expected.exact = false;
  }
  if (!sums.exact) {
    sum_products(problem, values, 0, problem.k, Sum::magnitudes, sums.magnitudes);
    sum_products(problem, values, 0, problem.k, Sum::squares, sums.squares);
  }
  if (!expected.exact) expected.tolerance.resize(m * n);
  expected.value.resize(m * n);
  expected.code.resize(m * n);
  for (std::uint64_t row = 0; problem.group_count != 0 && row < m; ++row) expected.compared.push_back(in_group(problem, row));
  parallel(m, 1 + 4096 / n, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t row = first; row < last; ++row) {
      for (std::uint64_t column = 0; column < n; ++column) {
        const std::uint64_t i = row * n + column;
        const Walked walked = expected_at(problem, values, sums, row, column, start);
        expected.value[i] = walked.value;
        expected.code[i] = static_cast<std::uint32_t>(encode(format_of(out), walked.followed));
        if (!expected.exact) expected.tolerance[i] = walked.error;
      }
    }
  });
  return expected;
}

}  // namespace krepro
