// Prints, for each probe of a plan, the storage codes of the fill of `a`: fills PLAN ELEMENT ROWS COLUMNS
#include "storage.h"

#include <cstdio>

int main(int count, char** words) {
  if (count != 5) return 2;
  krepro::reset_float_environment();
  krepro::Operand operand = {krepro::Role::a, krepro::Element::bf16, std::strtoull(words[3], nullptr, 10),
                             std::strtoull(words[4], nullptr, 10), 0, krepro::Major::k, false, false, false};
  operand.leading_dimension = operand.columns + 3;
  for (std::uint32_t i = 0; i < 12; ++i) {
    if (std::string(krepro::format_of(static_cast<krepro::Element>(i)).name) == words[2]) {
      operand.element = static_cast<krepro::Element>(i);
    }
  }
  const krepro::Format& format = krepro::format_of(operand.element);
  for (const krepro::Probe& probe : krepro::read_plan(words[1])) {
    krepro::Image image = krepro::make_image(operand);
    std::vector<float> values;
    krepro::fill_input(image, values, operand, probe.fills[0], {}, probe.poison);
    for (std::uint64_t row = 0; row < operand.rows; ++row) {
      for (std::uint64_t column = 0; column < operand.columns; ++column) {
        const std::uint64_t at = krepro::element_index(operand, row, column);
        std::printf("%llx ", static_cast<unsigned long long>(krepro::load_code(image.begin(), format.bits, at)));
      }
    }
    const std::uint64_t gap = krepro::load_code(image.begin(), format.bits, operand.columns);
    std::printf("gap %llx\n", static_cast<unsigned long long>(gap));
  }
}
