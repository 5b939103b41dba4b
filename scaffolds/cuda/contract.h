// What a reproducer is told about its kernel: element types, operands, epilogue, descriptors, launch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace krepro {

// In the order of ElementType::ALL; observation files hold these numbers.
enum class Element : std::uint32_t { bf16, f16, f32, tf32, e4m3, e5m2, e2m1, ue4m3, ue8m0, s8, u8, s32 };

enum class Role : std::uint32_t { a, b, out, residual, bias, scale_a, scale_b, alpha, zero_point, beta, groups };

constexpr std::size_t role_count = 11;

inline const char* role_name(Role role) {
  static const char* const names[role_count] = {"a",       "b",     "out",        "residual", "bias",  "scale_a",
                                                  "scale_b", "alpha", "zero_point", "beta",     "groups"};
  return names[static_cast<std::size_t>(role)];
}

// Element (r, c) lies at r * leading_dimension + c (Major::k) or at c * leading_dimension + r (Major::mn); swizzled scales lie in
// tiles of 128 rows by 4 columns.
enum class Major : std::uint32_t { k, mn };

struct Operand {
  Role role;
  Element element;
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t leading_dimension;
  Major major;
  bool swizzled;
  bool packed;  // four columns of a row beside each other: (r, c) lies at (c / 4 * leading_dimension + r) * 4 + c % 4
  bool powers;  // the kernel takes powers of two only
};

enum class Accumulator : std::uint32_t { f32_simt, f32_tensor_core, f16_tensor_core, fp8_hopper, s32 };

enum class Does : std::uint32_t {
  round,
  add,
  multiply,
  add_product,
  relu,
  gelu,
  gelu_tanh,
  silu,
  silu_gate_halves,
  silu_gate_interleaved
};

// One step of the epilogue on the running value; `to` belongs to round, `operand` to add, multiply and add_product, `factor` to
// add_product. A gate takes two columns of the accumulator: then b has 2 n rows.
struct Step {
  Does does;
  Element to;
  Role operand;
  Role factor;
};

// The arguments of cuTensorMapEncodeTiled. Dimension 0 is the contiguous one; strides count bytes, of dimensions 1 and up.
struct Descriptor {
  const char* name;
  Role operand;
  int data_type;
  std::uint32_t rank;
  std::uint64_t global_dim[5];
  std::uint64_t global_strides[5];
  std::uint32_t box_dim[5];
  std::uint32_t element_strides[5];
  int swizzle;
  int l2_promotion;
  int out_of_bounds;
};

struct LaunchShape {
  unsigned grid[3];
  unsigned block[3];
  unsigned cluster[3];
  std::uint64_t shared_memory;
  std::uint64_t workspace;
  unsigned char workspace_fill;
  unsigned threads() const { return block[0] * block[1] * block[2]; }
};

class Buffers;

// What a launch before the kernel's makes out of its source.
enum class Prepares : std::uint32_t {
  copy,     // the same elements, in the type and the layout of what it writes
  quantise  // elements divided by the scale of their block, which is its largest magnitude over the largest of the type; and the scales
};

// A launch before the kernel's. What it writes is an operand of the kernel (number -1), or the source of the prologue of that number.
struct Prologue {
  const char* name;
  Prepares does;
  Operand source;   // what it reads; its role is that of what it is made into
  int into;
  Role scales;      // of quantise, like the next one
  int scales_into;
  bool zeroed;      // the caller zeroes what it writes before
  LaunchShape shape;
  void (*launch)(const Buffers& buffers, const LaunchShape& shape);
};

// Where the sums of the splits of k meet: each in a place of its own that one reader adds up; in one zeroed place that each adds to; in
// the output that each adds to.
enum class SplitThrough : std::uint32_t { workspace, atomics, reduce_add };

// Split-K. A sum is rounded to `partial` before it is added, and each addition to `sum`.
struct Split {
  std::uint64_t count;   // below 2: none
  std::uint64_t length;  // k of each but the last
  SplitThrough through;
  Element partial;
  Element sum;
  bool ascending;  // the order of the additions is that of k; else any
};

// What the operand `groups` tells the kernel: count + 1 first rows; the group of each row, or -1; the rows of each group.
enum class GroupIndex : std::uint32_t { offsets, of_row, counts };

// Rows of a and of the output that multiply with the rows g * n .. of b, g being the place in the list. b, bias and scale_b have the
// rows of all groups; alpha has one element, or one for each.
struct Group {
  std::uint64_t first;
  std::uint64_t rows;
};

// out[m, n] = epilogue(sum over k of a[m, k] * b[n, k])
struct Problem {
  const char* name;
  const char* kernel;
  std::uint64_t m;
  std::uint64_t n;
  std::uint64_t k;
  std::uint64_t tile_m;  // 0 where unknown, like the next two
  std::uint64_t tile_n;
  std::uint64_t tile_k;
  Accumulator accumulator;
  std::uint64_t promotion;  // k after which a narrow accumulator is added to an f32 one; 0: never
  bool accumulates;   // adds to what the output holds
  bool padding_zero;  // the caller promises zeros between and beyond the logical elements
  const Operand* operands;
  std::size_t operand_count;
  const Step* epilogue;
  std::size_t step_count;
  const Descriptor* descriptors;
  std::size_t descriptor_count;
  LaunchShape launch;
  const Prologue* prologues;  // in the order of their launches
  std::size_t prologue_count;
  Split split;
  const Group* groups;
  std::size_t group_count;  // 0: every row with every row of b
  GroupIndex group_index;
};

inline bool is_gate(Does does) { return does == Does::silu_gate_halves || does == Does::silu_gate_interleaved; }

// Functions that no kernel computes exactly.
inline bool is_approximate(Does does) {
  return does == Does::gelu || does == Does::gelu_tanh || does == Does::silu || is_gate(does);
}

inline const Operand* find_operand(const Problem& problem, Role role) {
  for (std::size_t i = 0; i < problem.operand_count; ++i) {
    if (problem.operands[i].role == role) return &problem.operands[i];
  }
  return nullptr;
}

// Whether results are rounded between the sum and the epilogue or the output, in an order that may be any.
inline bool adds_parts(const Problem& problem) { return problem.accumulates || problem.split.count > 1; }
inline bool order_may_vary(const Problem& problem) {
  return problem.split.count > 1 ? !problem.split.ascending : problem.accumulates;
}
inline bool reduces_into_output(const Problem& problem) {
  return problem.split.count > 1 && problem.split.through == SplitThrough::reduce_add;
}

}  // namespace krepro
