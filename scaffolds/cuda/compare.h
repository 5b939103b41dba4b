// Observed output against the expected one: metrics, the first failures, and what makes a rung fail.
#pragma once

#include "expected.h"
#include "json.h"

namespace krepro {

// One launch's output: codes of the logical elements in (row, column) order, and which were written.
struct Observed {
  std::vector<std::uint32_t> code;
  std::vector<bool> written;
  std::uint64_t guard_hits = 0;    // bytes before and after any buffer that changed
  std::uint64_t padding_hits = 0;  // bytes between the output's rows that changed
  std::uint64_t input_hits = 0;    // bytes of inputs that changed
};

struct Failure {
  std::uint64_t row, column;
  double observed, expected, tolerance;
  std::uint32_t bits;
};

struct Metrics {
  bool exact = true;
  std::uint64_t elements = 0, wrong = 0, unwritten = 0, non_finite = 0, zeros = 0;
  std::uint64_t guard_hits = 0, padding_hits = 0, input_hits = 0;
  double max_abs = 0, sum_abs = 0, max_rel = 0, max_err_over_tol = 0;
  double error2 = 0, floor2 = 0, value2 = 0, observed2 = 0, cross = 0;
  std::uint64_t compared = 0;       // finite on both sides
  std::uint64_t expected_nonzero = 0;
  std::uint64_t failure_count = 0;
  Failure failures[8] = {};

  double rel_l2() const { return std::sqrt(error2 / value2); }
  double rel_l2_floor() const { return std::sqrt(floor2 / value2); }
  double cosine() const { return cross / std::sqrt(value2 * observed2); }
  double snr_db() const { return error2 == 0 ? positive_infinity() : 10.0 * std::log10(value2 / error2); }
  double ratio() const { return cross / value2; }
  double mean_abs() const { return sum_abs / static_cast<double>(compared); }
  double zero_share() const { return static_cast<double>(zeros) / static_cast<double>(elements); }
};

inline bool same_code(const Format& format, std::uint32_t left, std::uint32_t right) {
  if (left == right) return true;
  if (format.mantissa < 0 || !format.sign) return false;
  const std::uint32_t magnitude = static_cast<std::uint32_t>((std::uint64_t{1} << (format.bits - 1)) - 1);
  return (left & magnitude) == 0 && (right & magnitude) == 0;
}

// Adds one launch to the metrics of its rung.
inline void compare(const Problem& problem, const Expected& expected, const Observed& observed, Metrics& metrics) {
  const Format& format = format_of(find_operand(problem, Role::out)->element);
  metrics.exact = metrics.exact && expected.exact;
  metrics.guard_hits += observed.guard_hits;
  metrics.padding_hits += observed.padding_hits;
  metrics.input_hits += observed.input_hits;
  bool relu = false;
  for (std::size_t s = 0; s < problem.step_count; ++s) relu = relu || problem.epilogue[s].does == Does::relu;
  for (std::uint64_t i = 0; i < problem.m * problem.n; ++i) {
    const double value = expected.value[i];
    const double followed = decode(format, expected.code[i]);
    const double seen = decode(format, observed.code[i]);
    const double tolerance = expected.exact ? 0.0 : expected.tolerance[i];
    bool wrong = false;
    if (!expected.compared.empty() && !expected.compared[i / problem.n]) continue;
    ++metrics.elements;
    if (is_finite(followed) && followed != 0) ++metrics.expected_nonzero;
    if (!observed.written[i]) {
      ++metrics.unwritten;
      wrong = true;
    } else {
      if (!is_finite(seen)) ++metrics.non_finite;
      if (seen == 0) ++metrics.zeros;
      if (expected.exact || !is_finite(value) || !is_finite(followed)) {
        // The maximum instruction that kernels use for relu takes the number, not the NaN.
        wrong = !same_code(format, observed.code[i], expected.code[i]) && !(is_nan(followed) && (is_nan(seen) || (relu && seen == 0)));
      } else {
        wrong = !is_finite(seen) || std::fabs(seen - value) > tolerance;
      }
      if (is_finite(seen) && is_finite(value)) {
        const double error = std::fabs(seen - value);
        ++metrics.compared;
        metrics.max_abs = std::max(metrics.max_abs, error);
        metrics.sum_abs += error;
        if (value != 0) metrics.max_rel = std::max(metrics.max_rel, error / std::fabs(value));
        if (tolerance > 0) metrics.max_err_over_tol = std::max(metrics.max_err_over_tol, error / tolerance);
        metrics.error2 += error * error;
        if (is_finite(followed)) metrics.floor2 += (followed - value) * (followed - value);
        metrics.value2 += value * value;
        metrics.observed2 += seen * seen;
        metrics.cross += seen * value;
      }
    }
    if (!wrong) continue;
    ++metrics.wrong;
    if (metrics.failure_count < 8) {
      metrics.failures[metrics.failure_count++] = {i / problem.n, i % problem.n, seen, followed, tolerance, observed.code[i]};
    }
  }
}

// Why the rung fails; empty when it passes. Nothing written, nothing finite and all zero never pass.
inline std::string failure_reason(const Metrics& metrics, bool deterministic, bool follows_shared, bool order_may_vary) {
  const std::string of = " of " + std::to_string(metrics.elements);
  if (metrics.elements == 0) return "nothing was launched";
  if (metrics.unwritten == metrics.elements) return "the kernel wrote nothing";
  if (metrics.unwritten != 0) return std::to_string(metrics.unwritten) + of + " elements unwritten";
  if (metrics.wrong != 0) {
    return std::to_string(metrics.wrong) + of + (metrics.exact ? " elements differ" : " elements outside tolerance");
  }
  if (metrics.compared == 0) return "no finite element to compare";
  if (metrics.zeros == metrics.elements || metrics.expected_nonzero == 0) return "every output is zero";
  if (metrics.guard_hits != 0) return std::to_string(metrics.guard_hits) + " guard bytes overwritten";
  if (metrics.padding_hits != 0) return std::to_string(metrics.padding_hits) + " bytes between the output's rows overwritten";
  if (metrics.input_hits != 0) return std::to_string(metrics.input_hits) + " bytes of inputs overwritten";
  if (!deterministic && !order_may_vary) return "launches on the same inputs differ";
  if (follows_shared && !order_may_vary) return "the output depends on what shared memory held before the launch";
  return "";
}

inline std::string metrics_json(const Metrics& metrics) {
  Object object;
  object.flag("exact", metrics.exact).count("elements", metrics.elements).count("wrong", metrics.wrong);
  object.count("unwritten", metrics.unwritten).count("non_finite", metrics.non_finite);
  object.count("guard_hits", metrics.guard_hits).count("padding_hits", metrics.padding_hits);
  object.count("input_hits", metrics.input_hits).number("max_abs", metrics.max_abs);
  object.number("mean_abs", metrics.mean_abs()).number("max_rel", metrics.max_rel).number("rel_l2", metrics.rel_l2());
  object.number("rel_l2_floor", metrics.rel_l2_floor()).number("cosine", metrics.cosine());
  object.number("snr_db", metrics.snr_db()).number("ratio", metrics.ratio());
  object.number("max_err_over_tol", metrics.max_err_over_tol).number("zeros", metrics.zero_share());
  return object.str();
}

inline std::string failures_json(const Metrics& metrics) {
  std::string list = "[";
  for (std::uint64_t i = 0; i < metrics.failure_count; ++i) {
    const Failure& failure = metrics.failures[i];
    char bits[16];
    std::snprintf(bits, sizeof bits, "0x%x", static_cast<unsigned>(failure.bits));
    Object object;
    object.count("row", failure.row).count("column", failure.column).number("observed", failure.observed);
    object.number("expected", failure.expected).number("tolerance", failure.tolerance).text("bits", bits);
    list += (i == 0 ? "" : ",") + object.str();
  }
  return list + "]";
}

}  // namespace krepro
