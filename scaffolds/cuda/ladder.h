// The built-in ladder: which probes a rung launches, and whether its results must be exact.
#pragma once

#include "expected.h"

namespace krepro {

struct Rung {
  std::string name;
  std::string skip;  // why it is not run
  bool exact = true;
  unsigned launches = 0;  // of each probe; 0: as the command line says
  bool kernel_only = false;  // nothing that a launch before the kernel would leave
  std::vector<Probe> probes;
};

class Ladder {
 public:
  explicit Ladder(const Problem& problem) : problem_(problem) {
    out_ = &format_of(find_operand(problem, Role::out)->element);
    repeats();
    ones();
    integers("integers", 11, false);
    padding();
    one_hot(Role::a);
    one_hot(Role::b);
    epilogue();
    codes();
    gaussian_values();
  }

  const std::vector<Rung>& rungs() const { return rungs_; }

 private:
  Probe probe(const std::string& name) const {
    Probe made;
    made.name = name;
    // A kernel that adds starts from a known value; elsewhere an unwritten element must show.
    made.sentinel = !problem_.accumulates && !reduces_into_output(problem_);
    made.start = problem_.accumulates ? 1.0 : 0.0;
    return made;
  }

  const Format& format(Role role) const { return format_of(find_operand(problem_, role)->element); }

  Rung& add(const std::string& name) {
    rungs_.emplace_back();
    rungs_.back().name = name;
    return rungs_.back();
  }

  // The largest V with which every sum of products of -V..V is exact, at most 3; 0 when even all ones may be inexact.
  std::int64_t alphabet() const {
    for (std::int64_t largest = 3; largest >= 1; --largest) {
      const double square = static_cast<double>(largest * largest);
      if (sums_are_exact(problem_, static_cast<double>(problem_.k) * square, square)) return largest;
    }
    return 0;
  }

  std::string too_long() const {
    return "k = " + std::to_string(problem_.k) + " is too long for exact sums in this accumulator";
  }

  Fill small_integers(Role role, std::uint64_t seed) const {
    const std::int64_t largest = std::max<std::int64_t>(alphabet(), 1);
    return integers_fill(format(role).sign ? -largest : 0, largest, seed);
  }

  // Epilogue operands that keep exact sums exact: powers of two, and integers.
  void exact_epilogue(Probe& made, std::uint64_t seed) const {
    for (std::size_t i = 0; i < problem_.operand_count; ++i) {
      const Role role = problem_.operands[i].role;
      if (role == Role::residual || role == Role::bias) {
        set_fill(made, role, integers_fill(-8, 8, seed + i));
      } else if (role == Role::zero_point) {
        set_fill(made, role, integers_fill(format(role).sign ? -3 : 0, 3, seed + i));
      } else if (is_factor(role)) {
        Fill powers = integers_fill(-1, 1, seed + i);
        powers.kind = FillKind::powers;
        set_fill(made, role, powers);
      }
    }
  }

  void integers(const std::string& name, std::uint64_t seed, bool poison) {
    Rung& rung = add(name);
    if (alphabet() == 0) rung.skip = too_long();
    Probe made = probe(name);
    set_fill(made, Role::a, small_integers(Role::a, seed));
    set_fill(made, Role::b, small_integers(Role::b, seed + 1));
    exact_epilogue(made, seed + 2);
    made.poison = poison;
    rung.probes.push_back(made);
  }

  // First thing in the process: what an earlier launch leaves behind shows in the next.
  void repeats() {
    integers("integers.repeat", 31, false);
    rungs_.back().launches = 4;
  }

  void ones() {
    Rung& rung = add("ones");
    if (alphabet() == 0) rung.skip = too_long();
    Probe made = probe("ones");
    set_fill(made, Role::a, constant_fill(1));
    set_fill(made, Role::b, constant_fill(1));
    rung.probes.push_back(made);
  }

  void padding() {
    integers("padding", 51, true);
    if (problem_.padding_zero) rungs_.back().skip = "the caller promises zero padding";
  }

  std::int64_t code_base() const {
    const std::int64_t limit = std::min({out_->exact, format(Role::a).exact, format(Role::b).exact});
    const std::int64_t bases[] = {251, 113, 61, 31, 13, 7, 3};
    for (const std::int64_t base : bases) {
      if (base < limit) return base;
    }
    return 2;
  }

  // One operand selects a single k in every row, the other is coded by its own address, so the result is a copy of it.
  void one_hot(Role role) {
    const Role other = role == Role::a ? Role::b : Role::a;
    Rung& rung = add(std::string("one_hot.") + role_name(role));
    const std::uint64_t rows = find_operand(problem_, role)->rows;
    const std::uint64_t width = std::min<std::uint64_t>(problem_.tile_k == 0 ? 64 : problem_.tile_k, problem_.k);
    const std::uint64_t blocks = (problem_.k + width - 1) / width;
    const std::uint64_t stride = width + 1;
    std::vector<bool> touched(blocks, false);
    std::uint64_t left = blocks;
    for (std::uint64_t launch = 0; launch < 2 || (left != 0 && launch < 4096); ++launch) {
      Probe made = probe(rung.name);
      Fill select;
      select.kind = FillKind::one_hot;
      select.stride = stride % problem_.k;
      select.offset = launch * rows % problem_.k * select.stride % problem_.k + launch % width;
      select.value = 1;
      Fill code;
      code.kind = FillKind::address;
      code.stride = static_cast<std::uint64_t>(code_base());
      code.offset = problem_.k;
      code.first = 1;
      set_fill(made, role, select);
      set_fill(made, other, code);
      for (std::uint64_t row = 0; row < std::min(rows, problem_.k); ++row) {
        const std::uint64_t block = (row * select.stride + select.offset) % problem_.k / width;
        if (!touched[block]) --left;
        touched[block] = true;
      }
      rung.probes.push_back(made);
    }
  }

  // Every finite code of the types of at most 8 bits: one operand selects one k for each row, so that the output is a copy of the element, or
  // of the factor of its block, that is coded.
  void codes() {
    if (out_->bits < 16) return;
    for (std::size_t i = 0; i < problem_.step_count; ++i) {
      // The product of two large codes leaves the range of f16.
      if (is_gate(problem_.epilogue[i].does) && out_->largest == 0x7bff) return;
    }
    for (const Role role : {Role::a, Role::b}) coded(role, role);
    for (const Role role : {Role::a, Role::b}) {
      const Role scale = role == Role::a ? Role::scale_a : Role::scale_b;
      if (is_block_scale(problem_, scale)) coded(role, scale);
    }
  }

  void coded(Role role, Role which) {
    const Operand& operand = *find_operand(problem_, which);
    const Operand& selector = *find_operand(problem_, role == Role::a ? Role::b : Role::a);
    const Format& kind = format_of(operand.element);
    if (kind.bits > 8) return;
    Rung& rung = add(std::string("codes.") + role_name(which));
    rung.kernel_only = true;
    // Factors of eight bits of exponent reach farther than outputs do.
    const bool exponents = kind.mantissa == 0;
    const std::uint64_t block = which == role ? 1 : block_extent(problem_.k, operand.columns);
    const std::uint64_t below = which == role ? 1 : block_extent(find_operand(problem_, role)->rows, operand.rows);
    std::vector<bool> seen(std::size_t{1} << kind.bits, false);
    for (std::uint64_t launch = 0; launch < (exponents ? 1u : 8u); ++launch) {
      Probe made = probe(rung.name);
      Fill select;
      select.kind = FillKind::one_hot;
      select.stride = (block + 1) % problem_.k;
      select.offset = launch * 3 % problem_.k;
      select.value = 1;
      Fill code;
      code.kind = FillKind::codes;
      code.stride = 37;
      code.offset = launch * 61;
      if (exponents) {
        code = integers_fill(-12, 12, 91);
        code.kind = FillKind::powers;
      }
      set_fill(made, role, constant_fill(1));
      set_fill(made, selector.role, select);
      set_fill(made, which, code);
      bool any = exponents;
      for (std::uint64_t row = 0; row < operand.rows * below && row < find_operand(problem_, role)->rows && !exponents; ++row) {
        for (std::uint64_t r = 0; r < selector.rows; ++r) {
          const std::uint64_t column = (r * select.stride + select.offset) % problem_.k / block;
          const std::size_t at = (code.stride * (row / below) + column + code.offset) % seen.size();
          any = any || !seen[at];
          seen[at] = true;
        }
      }
      if (any) rung.probes.push_back(made);
    }
  }

  // Every sum is 1, so that scales, bias and residual show their own index.
  void epilogue() {
    bool any = false;
    Probe made = probe("epilogue");
    Fill first;
    first.kind = FillKind::one_hot;
    first.value = 1;
    set_fill(made, Role::a, first);
    set_fill(made, Role::b, first);
    for (std::size_t i = 0; i < problem_.operand_count; ++i) {
      const Operand& operand = problem_.operands[i];
      if (operand.role == Role::a || operand.role == Role::b || operand.role == Role::out || operand.role == Role::groups) continue;
      any = true;
      const std::int64_t limit = std::min({out_->exact, format_of(operand.element).exact, std::int64_t{256}});
      Fill code;
      code.kind = FillKind::address;
      code.stride = static_cast<std::uint64_t>(std::max<std::int64_t>(limit / 2 - 3, 2));
      code.offset = operand.columns;
      if (operand.role == Role::zero_point) {
        code = integers_fill(2, 2, 0);
      } else if (is_factor(operand.role)) {
        code = integers_fill(-2, 2, 71 + i);
        code.kind = FillKind::powers;
      }
      set_fill(made, operand.role, code);
    }
    if (any) add("epilogue").probes.push_back(made);
  }

  void gaussian_values() {
    Rung& rung = add("gaussian");
    rung.exact = false;
    Probe made = probe("gaussian");
    set_random(made, Role::a, 101);
    set_random(made, Role::b, 201);
    for (std::size_t i = 0; i < problem_.operand_count; ++i) {
      const Role role = problem_.operands[i].role;
      if (role == Role::residual || role == Role::bias) {
        set_fill(made, role, gaussian_fill(301 + 10 * i, std::sqrt(static_cast<double>(problem_.k))));
      } else if (role == Role::zero_point) {
        set_fill(made, role, integers_fill(format(role).sign ? -50 : 0, 50, 301 + 10 * i));
      } else if (is_factor(role)) {
        Fill scales;
        if (problem_.operands[i].powers) {
          scales = integers_fill(-1, 1, 301 + 10 * i);
          scales.kind = FillKind::powers;
          set_fill(made, role, scales);
          continue;
        }
        scales.kind = FillKind::uniform;
        scales.value = 0.5;
        scales.high = 1.5;
        scales.seed = 301 + 10 * i;
        set_fill(made, role, scales);
      }
    }
    rung.probes.push_back(made);
  }

  void set_random(Probe& made, Role role, std::uint64_t seed) const {
    const Format& type = format(role);
    if (type.mantissa >= 0) {
      set_fill(made, role, gaussian_fill(seed, 1.0));
    } else {
      set_fill(made, role, integers_fill(type.sign ? -100 : 0, 100, seed));
    }
  }

  const Problem& problem_;
  const Format* out_ = nullptr;
  std::vector<Rung> rungs_;
};

}  // namespace krepro
