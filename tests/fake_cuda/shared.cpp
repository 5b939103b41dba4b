// The runtime with kernels that run on the host: grouped rows, and a reduction whose splits meet in one of five ways, in an order that
// KREPRO_ORDER draws. KREPRO_CASE, KREPRO_K and KREPRO_FAULT choose.
#include "run.h"

#include <cstdlib>

namespace {

using namespace krepro;

std::string word(const char* name, const char* otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : text;
}

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  return std::strtoull(word(name, std::to_string(otherwise).c_str()).c_str(), nullptr, 10);
}

const std::string fault = word("KREPRO_FAULT", "");
const std::string which = word("KREPRO_CASE", "offsets");
const bool grouped = which == "offsets" || which == "of_row" || which == "counts";
const bool wide = which == "reduce_wide";
const std::uint64_t m = 12, n = 20, k = number("KREPRO_K", 96), experts = grouped ? 3 : 1, splits = grouped ? 0 : number("KREPRO_SPLITS", 5);
const Element out_element = wide ? Element::f32 : Element::bf16;

const Group groups[] = {{0, 5}, {5, 1}, {8, 3}};

const Operand operands[] = {
    {Role::a, Element::bf16, m, k, k, Major::k, false, false, false},
    {Role::b, Element::bf16, experts * n, k, k, Major::k, false, false, false},
    {Role::out, out_element, m, n, n, Major::k, false, false, false},
    {Role::alpha, Element::f32, experts, 1, 1, Major::k, false, false, false},
    {Role::groups, Element::s32, 1, which == "of_row" ? m : which == "offsets" ? 4 : 3, 12, Major::k, false, false, false},
};
const Step epilogue[] = {
    {Does::multiply, Element::f32, Role::alpha, Role::out},
    {Does::round, out_element, Role::out, Role::out},
};
const bool narrow = which == "narrow" || which == "reduce";
const Problem problem = {
    "fake_shared", "shared", m, n, k, 4, 8, 16, Accumulator::f32_simt, 0, false, false, operands, grouped ? 5u : 4u, epilogue, 2,
    nullptr, 0, {{1, 1, 1}, {128, 1, 1}, {1, 1, 1}, 0, 0, 0}, nullptr, 0,
    {splits, k / std::max<std::uint64_t>(splits, 1),
     which == "atomics" ? SplitThrough::atomics : narrow || wide ? (which == "narrow" ? SplitThrough::workspace : SplitThrough::reduce_add)
                                                                  : SplitThrough::workspace,
     narrow ? Element::bf16 : Element::f32, which == "reduce" ? Element::bf16 : Element::f32, which == "workspace" || which == "narrow"},
    grouped ? groups : nullptr, grouped ? 3u : 0u,
    which == "of_row" ? GroupIndex::of_row : which == "counts" ? GroupIndex::counts : GroupIndex::offsets,
};

void shared(const unsigned char*, const unsigned char*, const unsigned char*, const unsigned char*, unsigned char*) {}

// The expert of a row, as the kernel is told.
std::uint64_t expert_of(const std::int32_t* table, std::uint64_t row) {
  if (!grouped) return 0;
  if (which == "of_row") return table[row] < 0 ? experts : static_cast<std::uint64_t>(table[row]);
  for (std::uint64_t expert = 0; expert < experts; ++expert) {
    const std::uint64_t first = which == "offsets" ? static_cast<std::uint64_t>(table[expert]) : groups[expert].first;
    // Offsets have no gaps: rows after the second group's end belong to it.
    const std::uint64_t end = which == "offsets" ? static_cast<std::uint64_t>(table[expert + 1]) : first + static_cast<std::uint64_t>(table[expert]);
    if (row >= first && row < end) return expert;
  }
  return experts;
}

float times(const unsigned char* a, const unsigned char* b, std::uint64_t row, std::uint64_t column, std::uint64_t from, std::uint64_t to) {
  const Format& format = format_of(Element::bf16);
  float sum = 0;
  for (std::uint64_t i = from; i < to; ++i) {
    sum += static_cast<float>(decode(format, load_code(a, 16, row * k + i)) * decode(format, load_code(b, 16, column * k + i)));
  }
  return sum;
}

float narrowed(float value) { return static_cast<float>(rounded(Element::bf16, value)); }

void compute(const unsigned char* a, const unsigned char* b, const unsigned char* alpha, const unsigned char* table, unsigned char* out) {
  const Format& format = format_of(out_element);
  std::vector<std::int32_t> told(problem.groups == nullptr ? 0 : operands[4].columns);
  if (grouped) std::memcpy(told.data(), table, told.size() * 4);
  static std::uint64_t order = number("KREPRO_ORDER", 0);
  for (std::uint64_t row = 0; row < m; ++row) {
    const std::uint64_t expert = expert_of(told.data(), fault == "row" ? row - row % 4 : row);
    if (expert == experts || (fault == "cut" && row == 10)) continue;
    for (std::uint64_t column = 0; column < n; ++column) {
      const std::uint64_t of_b = expert * (fault == "offset" ? n - 1 : n) + column;
      const std::uint64_t of_alpha = fault == "alpha" ? (expert + 1) % experts : expert;
      const float factor = static_cast<float>(decode(format_of(Element::f32), load_code(alpha, 32, of_alpha)));
      const std::uint64_t at = row * n + column;
      if (splits == 0) {
        store_code(out, format.bits, at, encode(format, times(a, b, row, of_b, 0, k) * factor));
        continue;
      }
      std::vector<std::uint64_t> turn;
      for (std::uint64_t split = 0; split < splits; ++split) {
        if (fault == "missing" && split + 1 == splits) continue;
        turn.push_back(split);
        if (fault == "twice" && split == 1) turn.push_back(split);
      }
      const bool any = which != "workspace" && which != "narrow";
      for (std::size_t i = turn.size(); any && i > 1; --i) std::swap(turn[i - 1], turn[hash(++order, row, column) % i]);
      float total = fault == "dirty" ? 3.0f : 0.0f;
      for (const std::uint64_t split : turn) {
        const float part = times(a, b, row, of_b, split_begin(problem, split), split_end(problem, split));
        if (which == "reduce") total = narrowed(total + narrowed(part * factor));
        else if (which == "reduce_wide") total += part * factor;
        else total += which == "narrow" ? narrowed(part) : part;
      }
      if (reduces_into_output(problem)) store_code(out, format.bits, at, encode(format, total));
      else store_code(out, format.bits, at, encode(format, total * factor));
    }
  }
}

}  // namespace

void krepro::launch(const Buffers& buffers, const LaunchShape& shape) {
  launch_kernel(&shared, shape, buffers.address("a"), buffers.address("b"), buffers.address("alpha"),
                grouped ? buffers.address("groups") : nullptr, buffers.address("out"));
}

cudaError_t fake_kernel(const void*, void** arguments) {
  compute(*static_cast<unsigned char**>(arguments[0]), *static_cast<unsigned char**>(arguments[1]), *static_cast<unsigned char**>(arguments[2]),
          *static_cast<unsigned char**>(arguments[3]), *static_cast<unsigned char**>(arguments[4]));
  return cudaSuccess;
}

cudaError_t fake_poll() { return cudaSuccess; }

int fake_devices() { return 1; }

int main(int count, char** words) { return krepro::run(problem, count, words); }
