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

// Bound on every partial sum of |a b| in any order, for integer operands; infinite when an operand is no integer.
inline double partial_sum_bound(const Problem& problem, const Values& values) {
  double bound = positive_infinity();
  const Role roles[2] = {Role::a, Role::b};
  double largest[2] = {0, 0};
  double row_sum[2] = {0, 0};
  for (int side = 0; side < 2; ++side) {
    const std::vector<float>& value = values[roles[side]];
    for (std::size_t begin = 0; begin < value.size(); begin += problem.k) {
      double sum = 0;
      for (std::size_t i = begin; i < begin + problem.k; ++i) {
        const double magnitude = std::fabs(static_cast<double>(value[i]));
        if (!is_finite(magnitude) || magnitude != std::floor(magnitude)) return bound;
        sum += magnitude;
        largest[side] = std::max(largest[side], magnitude);
      }
      row_sum[side] = std::max(row_sum[side], sum);
    }
  }
  return std::min(row_sum[0] * largest[1], row_sum[1] * largest[0]);
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
inline Expected expect(const Problem& problem, const Values& values, bool want_exact, double start) {
  Expected expected;
  const std::uint64_t m = problem.m;
  const std::uint64_t n = problem.n;
  const Element out = find_operand(problem, Role::out)->element;
  std::vector<double> sum;
  std::vector<double> s1;
  std::vector<double> s2;
  host_gemm(values[Role::a], values[Role::b], m, n, problem.k, Sum::products, sum);
  expected.exact = want_exact && partial_sum_bound(problem, values) < accumulator_limit(problem.accumulator);
  if (expected.exact && problem.accumulates) {
    expected.exact = partial_sum_bound(problem, values) + std::fabs(start) <= static_cast<double>(format_of(out).exact);
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
