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

namespace {

constexpr std::uint64_t m = 5, n = 24, k = 80, out_ld = 32, a_ld = 96;
constexpr std::uint64_t scale_ld = PACKED ? 8 : k / 16;
unsigned launches = 0;

std::string fault() {
  const char* text = std::getenv("KREPRO_FAULT");
  return text == nullptr ? "" : text;
}

void linear(const unsigned char*, const unsigned char*, const unsigned char*, unsigned char*, int, const unsigned char*) {}

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
    descriptors, 1, {{1, 1, 1}, {128, 1, 1}, {2, 1, 1}, 1024, 64, 0},
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
