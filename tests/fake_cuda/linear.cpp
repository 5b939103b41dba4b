// The whole runtime with a kernel that runs on the host: out = a * b^T + bias, with planted faults by KREPRO_FAULT.
#include "run.h"

#include <cstdlib>

#ifndef OUT_ELEMENT
#define OUT_ELEMENT bf16
#endif
#ifndef IN_ELEMENT
#define IN_ELEMENT bf16
#endif

// Blocks of 16 along k, as microscaled formats have them.
#ifndef BLOCK_SCALES
#define BLOCK_SCALES 0
#endif

// Four scales of a row in one word, the words of the rows beside each other.
#ifndef PACKED
#define PACKED false
#endif

// A quantiser and a launch that widens the bias, before the kernel.
#ifndef PROLOGUES
#define PROLOGUES 0
#endif

namespace {

constexpr std::uint64_t m = 5, n = 24, k = 80, out_ld = 32, a_ld = 96;
constexpr std::uint64_t scale_ld = PACKED ? 8 : k / 16;
unsigned launches = 0;

std::string fault() {
  const char* text = std::getenv("KREPRO_FAULT");
  return text == nullptr ? "" : text;
}

void linear(const unsigned char*, const unsigned char*, const unsigned char*, unsigned char*, int, const unsigned char*) {}

void widen(const unsigned char*, unsigned char*) {}
void block_quantise(const unsigned char*, unsigned char*, unsigned char*) {}

// f32 to bf16, each by itself.
void do_widen(const unsigned char* from, unsigned char* to) {
  using namespace krepro;
  for (std::uint64_t i = 0; i < n; ++i) {
    if (fault() == "prologue.cut" && i >= n - 3) continue;
    const std::uint64_t at = fault() == "prologue.swap" ? (i ^ 1) : i;
    std::uint64_t code = encode(format_of(Element::bf16), decode(format_of(Element::f32), load_code(from, 32, at)));
    if (fault() == "prologue.truncate") code = load_code(from, 32, at) >> 16;
    store_code(to, 16, i, code);
  }
  if (fault() == "prologue.guard") to[-1] = 0x11;
}

// Blocks of 16 columns: ue8m0 scales, rounded up, and e4m3 elements.
void do_quantise(const unsigned char* from, unsigned char* to, unsigned char* scale) {
  using namespace krepro;
  const Format& narrow = format_of(Element::IN_ELEMENT);
  for (std::uint64_t row = 0; row < m; ++row) {
    for (std::uint64_t block = 0; block < k / 16; ++block) {
      double most = 0;
      for (std::uint64_t i = block * 16; i < block * 16 + 16; ++i) {
        const double value = decode(format_of(Element::f32), load_code(from, 32, row * k + i));
        most = value < 0 ? std::max(most, -value) : std::max(most, value);
      }
      const double quotient = most / decode(narrow, narrow.largest);
      double power = 0x1p-100;
      while (power < quotient) power *= 2;
      if (fault() == "prologue.scale") power *= 2;
      if (fault() == "prologue.below" && power != quotient) power /= 2;
      store_code(scale, 8, row * scale_ld + block, encode(format_of(Element::ue8m0), power));
      for (std::uint64_t i = block * 16; i < block * 16 + 16; ++i) {
        const double value = decode(format_of(Element::f32), load_code(from, 32, row * k + i)) / power;
        std::uint64_t code = encode(narrow, value);
        const double kept = decode(narrow, code);
        if (fault() == "prologue.floor" && (kept < 0 ? -kept > -value : kept > value)) --code;
        store_code(to, narrow.bits, row * a_ld + i, code);
      }
    }
  }
}

void launch_widen(const krepro::Buffers& buffers, const krepro::LaunchShape& shape) {
  krepro::launch_kernel(&widen, shape, buffers.address("widen.source"), buffers.address("bias"));
}
void launch_quantise(const krepro::Buffers& buffers, const krepro::LaunchShape& shape) {
  krepro::launch_kernel(&block_quantise, shape, buffers.address("quantise.source"), buffers.address("a"), buffers.address("scale_a"));
}

const krepro::Prologue prologues[] = {
    {"widen", krepro::Prepares::copy, {krepro::Role::bias, krepro::Element::f32, 1, n, n, krepro::Major::k, false, false, false}, -1,
     krepro::Role::out, -1, false, {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0, 0, 0}, &launch_widen},
    {"quantise", krepro::Prepares::quantise, {krepro::Role::a, krepro::Element::f32, m, k, k, krepro::Major::k, false, false, false}, -1,
     krepro::Role::scale_a, -1, false, {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0, 0, 0}, &launch_quantise},
};

void compute(unsigned char* a, const unsigned char* b, const unsigned char* bias, unsigned char* out, const unsigned char* scale) {
  using namespace krepro;
  const Format& in_format = format_of(Element::IN_ELEMENT);
  const Format& out_format = format_of(Element::OUT_ELEMENT);
  const std::string f = fault();
  for (std::uint64_t row = 0; row < m; ++row) {
    for (std::uint64_t column = 0; column < n; ++column) {
      float sum = 0;
      const std::uint64_t end = f == "tail" ? k - 16 : f == "over" ? k + 8 : k;
      for (std::uint64_t i = 0; i < end; ++i) {
        const std::uint64_t at_b = f == "transposed" ? i * n + column : column * k + i;
        const std::uint64_t block = f == "scale" ? 0 : i / 16;
        const std::uint64_t at_scale = PACKED ? (block / 4 * scale_ld + row) * 4 + block % 4 : row * scale_ld + block;
        const double factor = BLOCK_SCALES ? decode(format_of(Element::ue8m0), scale[at_scale]) : 1.0;
        sum += static_cast<float>(factor * decode(in_format, load_code(a, in_format.bits, row * a_ld + i)) *
                                  decode(in_format, load_code(b, in_format.bits, at_b)));
      }
      sum += static_cast<float>(decode(format_of(Element::bf16), load_code(bias, 16, f == "bias" ? row : column)));
      if (f == "zero") sum = 0;
      if (f == "nan") sum = static_cast<float>(quiet_nan());
      if (f == "race" && row == 2 && column == 3) sum += static_cast<float>(launches % 2 * 64);
      if (f == "nothing" || (f == "unwritten" && column >= n - 2)) continue;
      store_code(out, out_format.bits, row * out_ld + column, encode(out_format, sum));
    }
  }
  if (f == "guard") out[-1] = 0x11;
  if (f == "gap") store_code(out, out_format.bits, n, 0);
  if (f == "input") a[0] = static_cast<unsigned char>(a[0] + 1);
}

const krepro::Operand operands[] = {
    {krepro::Role::a, krepro::Element::IN_ELEMENT, m, k, a_ld, krepro::Major::k, false, false, false},
    {krepro::Role::b, krepro::Element::IN_ELEMENT, n, k, k, krepro::Major::k, false, false, false},
    {krepro::Role::bias, krepro::Element::bf16, 1, n, n, krepro::Major::k, false, false, false},
    {krepro::Role::out, krepro::Element::OUT_ELEMENT, m, n, out_ld, krepro::Major::k, false, false, false},
    {krepro::Role::scale_a, krepro::Element::ue8m0, m, k / 16, scale_ld, PACKED ? krepro::Major::mn : krepro::Major::k, false,
     PACKED, false},
};
const krepro::Step epilogue[] = {
    {krepro::Does::add, krepro::Element::f32, krepro::Role::bias, krepro::Role::out},
    {krepro::Does::round, krepro::Element::OUT_ELEMENT, krepro::Role::out, krepro::Role::out},
};
const krepro::Descriptor descriptors[] = {
    {"tma_a", krepro::Role::a, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, {k, m}, {a_ld * 2}, {16, 5}, {1, 1},
     CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE},
};
const krepro::Problem problem = {
    "fake_linear", "linear", m, n, k, 5, 8, 16, krepro::Accumulator::f32_simt, 0, false, false, operands, 4 + BLOCK_SCALES, epilogue, 2,
    descriptors, 1, {{1, 1, 1}, {128, 1, 1}, {2, 1, 1}, 1024, 64, 0}, prologues, PROLOGUES, {}, nullptr, 0, krepro::GroupIndex::offsets,
};

}  // namespace

void krepro::launch(const Buffers& buffers, const LaunchShape& shape) {
  const CUtensorMap& by_value = buffers.map("tma_a");
  if (reinterpret_cast<void*>(by_value.opaque[0]) != buffers.address("a")) throw std::invalid_argument("descriptor");
  if (std::memcmp(buffers.map_on_device("tma_a"), &by_value, sizeof by_value) != 0) throw std::invalid_argument("copy");
  launch_kernel(&linear, shape, buffers.address("a"), buffers.address("b"), buffers.address("bias"), buffers.address("out"), 3,
                BLOCK_SCALES ? buffers.address("scale_a") : nullptr);
}

cudaError_t fake_kernel(const void* function, void** arguments) {
  ++launches;
  const auto pointer = [&](int at) { return *static_cast<unsigned char**>(arguments[at]); };
  if (function == reinterpret_cast<const void*>(&widen)) return do_widen(pointer(0), pointer(1)), cudaSuccess;
  if (function == reinterpret_cast<const void*>(&block_quantise)) return do_quantise(pointer(0), pointer(1), pointer(2)), cudaSuccess;
  if (function != reinterpret_cast<const void*>(&linear)) return cudaErrorInvalidDeviceFunction;
  if (*static_cast<int*>(arguments[4]) != 3) return cudaErrorInvalidValue;
  if (fault() == "image") return cudaErrorNoKernelImageForDevice;
  compute(*static_cast<unsigned char**>(arguments[0]), *static_cast<unsigned char**>(arguments[1]),
          *static_cast<unsigned char**>(arguments[2]), *static_cast<unsigned char**>(arguments[3]),
          *static_cast<unsigned char**>(arguments[5]));
  return cudaSuccess;
}

cudaError_t fake_poll() {
  if (fault() == "hang" && launches == 3) return cudaErrorNotReady;
  return fault() == "crash" && launches >= 3 ? cudaErrorIllegalAddress : cudaSuccess;
}

int fake_devices() { return fault() == "device" ? 0 : 1; }

int main(int count, char** words) { return krepro::run(problem, count, words); }
