// The sums that the contract promises: over all of k, of each split, with the weights of a row's group.
#pragma once

#include "reference.h"

namespace krepro {

// Logical values of the operands of one launch, by role; empty where there is no such operand.
struct Values {
  std::vector<float> of[role_count];

  const std::vector<float>& operator[](Role role) const { return of[static_cast<std::size_t>(role)]; }
  std::vector<float>& operator[](Role role) { return of[static_cast<std::size_t>(role)]; }
};

// The sums of one launch: [m][width], width = columns of the accumulator.
struct Sums {
  std::uint64_t width = 0;
  bool exact = false;
  std::vector<double> sum;
  std::vector<double> magnitudes;           // empty when exact, like the next one
  std::vector<double> squares;
  std::vector<std::vector<double>> splits;  // the sum of each split; empty without split-K
};

inline std::uint64_t group_total(const Problem& problem) { return std::max<std::uint64_t>(problem.group_count, 1); }

// The group of a row of the output, or group_count where it is in none. Without groups every row is in the one there is.
inline std::uint64_t group_of(const Problem& problem, std::uint64_t row) {
  std::uint64_t group = 0;
  while (group < problem.group_count && row - problem.groups[group].first >= problem.groups[group].rows) ++group;
  return group;
}

inline bool in_group(const Problem& problem, std::uint64_t row) {
  return problem.group_count == 0 || group_of(problem, row) < problem.group_count;
}

// What the operand `groups` holds (docs/harness.md).
inline std::vector<std::int32_t> group_table(const Problem& problem) {
  std::vector<std::int32_t> table;
  if (problem.group_index == GroupIndex::of_row) {
    for (std::uint64_t row = 0; row < problem.m; ++row) {
      table.push_back(in_group(problem, row) ? static_cast<std::int32_t>(group_of(problem, row)) : -1);
    }
    return table;
  }
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < problem.group_count; ++i) {
    const Group& group = problem.groups[i];
    table.push_back(static_cast<std::int32_t>(problem.group_index == GroupIndex::counts ? group.rows : group.first));
    end = std::max(end, group.first + group.rows);
  }
  if (problem.group_index == GroupIndex::offsets) table.push_back(static_cast<std::int32_t>(end));
  return table;
}

// First k of a split.
inline std::uint64_t split_begin(const Problem& problem, std::uint64_t split) {
  return std::min(problem.k, split * problem.split.length);
}

inline std::uint64_t split_end(const Problem& problem, std::uint64_t split) {
  return split + 1 == problem.split.count ? problem.k : split_begin(problem, split + 1);
}

// Rows first.. of a [rows, k] matrix and columns from..to of it.
inline std::vector<float> part_of(const std::vector<float>& matrix, std::uint64_t k, std::uint64_t first, std::uint64_t rows,
                                  std::uint64_t from, std::uint64_t to) {
  std::vector<float> part;
  part.reserve(rows * (to - from));
  for (std::uint64_t row = first; row < first + rows; ++row) {
    const float* begin = matrix.data() + row * k;
    part.insert(part.end(), begin + from, begin + to);
  }
  return part;
}

// Sums over the k from..to: each row of a with the rows of b of its group, zero for a row in no group.
inline void sum_products(const Problem& problem, const Values& values, std::uint64_t from, std::uint64_t to, Sum kind,
                         std::vector<double>& out) {
  const std::uint64_t width = find_operand(problem, Role::b)->rows / group_total(problem);
  if (problem.group_count == 0 && from == 0 && to == problem.k) {
    host_gemm(values[Role::a], values[Role::b], problem.m, width, problem.k, kind, out);
    return;
  }
  out.assign(problem.m * width, 0.0);
  for (std::uint64_t group = 0; group < group_total(problem); ++group) {
    const Group rows = problem.group_count == 0 ? Group{0, problem.m} : problem.groups[group];
    if (rows.rows == 0 || from == to) continue;
    const std::vector<float> a = part_of(values[Role::a], problem.k, rows.first, rows.rows, from, to);
    const std::vector<float> b = part_of(values[Role::b], problem.k, group * width, width, from, to);
    std::vector<double> sums;
    host_gemm(a, b, rows.rows, width, to - from, kind, sums);
    std::copy(sums.begin(), sums.end(), out.begin() + static_cast<std::ptrdiff_t>(rows.first * width));
  }
}

inline void sum_splits(const Problem& problem, const Values& values, Sums& sums) {
  if (problem.split.count < 2) return;
  sums.splits.resize(problem.split.count);
  for (std::uint64_t split = 0; split < problem.split.count; ++split) {
    sum_products(problem, values, split_begin(problem, split), split_end(problem, split), Sum::products, sums.splits[split]);
  }
}

}  // namespace krepro
