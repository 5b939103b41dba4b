// A tensor in host memory as it lies on the device: guard, data with its gaps, guard.
#pragma once

#include <sys/stat.h>

#include <algorithm>

#include "plan.h"

namespace krepro {

inline std::vector<unsigned char> read_bytes(const std::string& path) {
  struct stat about;
  if (stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode)) throw BadInput(path + ": it is no regular file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw BadInput(path + ": cannot be opened");
  std::vector<unsigned char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) throw BadInput(path + ": cannot be read");
  return bytes;
}

// Elements from the first to the last logical one.
inline std::uint64_t storage_elements(const Operand& operand) {
  if (operand.swizzled) return (operand.rows + 127) / 128 * ((operand.columns + 3) / 4) * 512;
  if (operand.packed) return ((operand.columns + 3) / 4 * operand.leading_dimension - operand.leading_dimension + operand.rows) * 4;
  const bool k = operand.major == Major::k;
  const std::uint64_t slow = k ? operand.rows : operand.columns;
  const std::uint64_t fast = k ? operand.columns : operand.rows;
  return slow == 0 ? 0 : (slow - 1) * operand.leading_dimension + fast;
}

KREPRO_HOT inline std::uint64_t element_index(const Operand& operand, std::uint64_t row, std::uint64_t column) {
  if (operand.swizzled) {
    const std::uint64_t tile = row / 128 * ((operand.columns + 3) / 4) + column / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
  }
  if (operand.packed) return (column / 4 * operand.leading_dimension + row) * 4 + column % 4;
  return operand.major == Major::k ? row * operand.leading_dimension + column
                                   : column * operand.leading_dimension + row;
}

// Sixteen rows on either side (the rows beyond the real ones of a tile), 4 KiB to 1 MiB, whole KiB.
inline std::uint64_t guard_bytes(const Operand& operand) {
  std::uint64_t bytes = bytes_of(operand.element, 16 * operand.leading_dimension);
  bytes = std::min<std::uint64_t>(std::max<std::uint64_t>(bytes, 4096), std::uint64_t{1} << 20);
  return (bytes + 1023) / 1024 * 1024;
}

struct Image {
  std::uint64_t guard = 0;
  std::uint64_t data = 0;  // bytes
  std::vector<unsigned char> bytes;

  unsigned char* begin() { return bytes.data() + guard; }
  const unsigned char* begin() const { return bytes.data() + guard; }
};

inline Image make_image(const Operand& operand) {
  Image image;
  image.guard = guard_bytes(operand);
  image.data = bytes_of(operand.element, storage_elements(operand));
  image.bytes.resize(2 * image.guard + image.data);
  return image;
}

// NaN, or the largest magnitude of a type without one.
inline std::uint64_t poison_code(const Format& format) {
  return (format.nan != 0 ? format.nan : format.largest) << format.shift;
}

KREPRO_HOT inline void fill_code_everywhere(Image& image, const Format& format, std::uint64_t code) {
  const std::uint64_t elements = image.bytes.size() * 8 / format.bits;
  for (std::uint64_t i = 0; i < elements; ++i) store_code(image.bytes.data(), format.bits, i, code);
}

KREPRO_HOT inline void fill_rows(Image& image, std::vector<float>& values, const Operand& operand, const Fill& fill,
                                 const unsigned char* raw, std::uint64_t first, std::uint64_t last) {
  const Format& format = format_of(operand.element);
  const std::uint64_t divisor = power(fill.stride, fill.digit);
  unsigned char* data = image.begin();
  float* value = values.data() + first * operand.columns;
  for (std::uint64_t row = first; row < last; ++row) {
    for (std::uint64_t column = 0; column < operand.columns; ++column) {
      const std::uint64_t code = fill_code(fill, format, divisor, row, column, operand.columns, raw);
      store_code(data, format.bits, element_index(operand, row, column), code);
      *value++ = static_cast<float>(decode(format, code));
    }
  }
}

// Raw storage codes for a `file` fill.
inline std::vector<unsigned char> read_codes(const Operand& operand, const std::string& path) {
  std::vector<unsigned char> raw = read_bytes(path);
  const std::uint64_t wanted = bytes_of(operand.element, operand.rows * operand.columns);
  if (raw.size() == wanted) return raw;
  throw BadInput(path + ": " + std::to_string(raw.size()) + " bytes, but `" + role_name(operand.role) + "` (" +
                 std::to_string(operand.rows) + " x " + std::to_string(operand.columns) + " " +
                 format_of(operand.element).name + ") takes " + std::to_string(wanted));
}

// Writes the image of an input and its logical values in (row, column) order; `raw` belongs to a `file` fill.
inline void fill_input(Image& image, std::vector<float>& values, const Operand& operand, const Fill& fill,
                       const std::vector<unsigned char>& raw, bool poison) {
  const Format& format = format_of(operand.element);
  values.resize(operand.rows * operand.columns);
  fill_code_everywhere(image, format, poison ? poison_code(format) : 0);
  // Rows of a packed type share bytes: then one thread writes all.
  const std::uint64_t least = format.bits < 8 ? operand.rows : 1 + 65536 / std::max<std::uint64_t>(operand.columns, 1);
  parallel(operand.rows, least, [&](std::uint64_t first, std::uint64_t last) {
    fill_rows(image, values, operand, fill, raw.data(), first, last);
  });
}

}  // namespace krepro
