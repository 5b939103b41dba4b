// Real tensors: .npy and .safetensors files, or raw bytes of exactly the operand's logical size.
#pragma once

#include "safetensors.h"

namespace krepro {

struct Npy {
  char kind = 'V';  // f, i, u, b or V (raw bits)
  unsigned width = 0;
  bool fortran = false;
  std::vector<std::uint64_t> shape;
  std::size_t data = 0;
};

inline std::string npy_value(const std::string& header, const std::string& key, const std::string& path) {
  const std::size_t at = header.find("'" + key + "'");
  const std::size_t colon = at == std::string::npos ? at : header.find(':', at);
  if (colon == std::string::npos) throw BadInput(path + ": the .npy header has no '" + key + "'");
  return header.substr(colon + 1);
}

inline Npy parse_npy(const std::vector<unsigned char>& bytes, const std::string& path) {
  Npy npy;
  if (bytes.size() < 12) throw BadInput(path + ": the .npy header is cut off");
  const bool wide = bytes[6] >= 2;
  std::size_t length = bytes[8] | static_cast<std::size_t>(bytes[9]) << 8;
  if (wide) length |= static_cast<std::size_t>(bytes[10]) << 16 | static_cast<std::size_t>(bytes[11]) << 24;
  npy.data = (wide ? 12u : 10u) + length;
  if (npy.data > bytes.size()) throw BadInput(path + ": the .npy header is cut off");
  const std::string header(bytes.begin() + (wide ? 12 : 10), bytes.begin() + static_cast<std::ptrdiff_t>(npy.data));
  const std::string type = npy_value(header, "descr", path);
  const std::size_t quote = type.find('\'');
  if (quote == std::string::npos || type.size() < quote + 4 || type.find_first_not_of(' ') != quote) {
    throw BadInput(path + ": structured .npy types are not read");
  }
  if (type[quote + 1] == '>') throw BadInput(path + ": big-endian .npy files are not read");
  npy.kind = type[quote + 2];
  npy.width = static_cast<unsigned>(std::strtoul(type.c_str() + quote + 3, nullptr, 10));
  npy.fortran = npy_value(header, "fortran_order", path).find("True") < npy_value(header, "fortran_order", path).find(',');
  const std::string shape = npy_value(header, "shape", path);
  for (std::size_t i = shape.find('('); i < shape.size() && shape[i] != ')'; ++i) {
    if (shape[i] < '0' || shape[i] > '9') continue;
    char* end = nullptr;
    npy.shape.push_back(std::strtoull(shape.c_str() + i, &end, 10));
    i = static_cast<std::size_t>(end - shape.c_str()) - 1;
  }
  return npy;
}

inline double npy_number(const unsigned char* at, const Npy& npy) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, npy.width);
  if (npy.kind == 'f') {
    if (npy.width == 2) return decode(format_of(Element::f16), bits);
    if (npy.width == 4) return decode(format_of(Element::f32), bits);
    return bits_of<double>(bits);
  }
  if (npy.kind == 'i' && npy.width < 8 && (bits >> (8 * npy.width - 1)) != 0) bits |= ~std::uint64_t{0} << (8 * npy.width);
  return npy.kind == 'i' ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
}

// Raw storage codes in (row, column) order, as a `file` fill takes them. Floats are rounded once to the operand's type, integers only
// to integer types; unsigned, boolean and void entries of the storage width are bit patterns (numpy has no bf16 and no fp8). What
// the kernel wrote is never rounded.
inline std::vector<unsigned char> read_input(const Operand& operand, const std::string& path) {
  const Format& format = format_of(operand.element);
  const std::uint64_t count = operand.rows * operand.columns;
  const std::string what = std::string("`") + role_name(operand.role) + "` (" + std::to_string(operand.rows) + " x " +
                           std::to_string(operand.columns) + " " + format.name + ")";
  // FILE#NAME, where there is no file of that whole name.
  std::string file = path;
  std::string name;
  const std::size_t mark = path.rfind('#');
  if (mark != std::string::npos && !std::ifstream(path, std::ios::binary)) {
    file = path.substr(0, mark);
    name = path.substr(mark + 1);
  }
  std::vector<unsigned char> bytes = read_bytes(file);
  std::uint64_t header = 0;
  if (is_safetensors(bytes, header) && (!name.empty() || bytes.size() != bytes_of(operand.element, count))) {
    return read_safetensors(operand, bytes, header, file, name);
  }
  static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  if (bytes.size() < 6 || std::memcmp(bytes.data(), magic, 6) != 0) {
    if (bytes.size() == bytes_of(operand.element, count)) return bytes;
    throw BadInput(path + ": " + std::to_string(bytes.size()) + " raw bytes, but " + what + " takes " +
                   std::to_string(bytes_of(operand.element, count)));
  }
  const Npy npy = parse_npy(bytes, path);
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : npy.shape) {
    if (extent != 0 && elements > (std::uint64_t{1} << 48) / extent) throw BadInput(path + ": the shape is too large");
    elements *= extent;
  }
  std::vector<std::uint64_t> shape;
  for (const std::uint64_t extent : npy.shape) {
    if (extent != 1) shape.push_back(extent);
  }
  std::vector<std::uint64_t> wanted;
  if (operand.rows != 1) wanted.push_back(operand.rows);
  if (operand.columns != 1) wanted.push_back(operand.columns);
  if (elements != count || (shape != wanted && npy.shape.size() != 1)) {
    std::string has;
    for (const std::uint64_t extent : npy.shape) has += (has.empty() ? "" : " x ") + std::to_string(extent);
    throw BadInput(path + ": the shape is " + has + ", but " + what + " is wanted");
  }
  const bool number = npy.kind == 'f' || (format.mantissa < 0 && (npy.kind == 'i' || npy.kind == 'u'));
  const bool raw = !number && (npy.kind == 'u' || npy.kind == 'V' || npy.kind == 'b') && npy.width * 8 == format.bits;
  if (!raw && (!number || npy.width == 0 || npy.width > 8 || (npy.kind == 'f' && npy.width == 1))) {
    throw BadInput(path + ": entries of type " + npy.kind + std::to_string(npy.width) + " cannot be " + format.name +
                   "; save floats, or the bit patterns as unsigned integers of " + std::to_string(format.bits) + " bits");
  }
  if (bytes.size() - npy.data != elements * npy.width) throw BadInput(path + ": the data do not fit the shape (cut off?)");
  std::vector<unsigned char> codes(bytes_of(operand.element, count));
  Narrowing narrowing(operand, file, operand.role == Role::out);
  for (std::uint64_t row = 0; row < operand.rows; ++row) {
    for (std::uint64_t column = 0; column < operand.columns; ++column) {
      const std::uint64_t index = row * operand.columns + column;
      const std::uint64_t at = npy.fortran ? column * operand.rows + row : index;
      const unsigned char* entry = bytes.data() + npy.data + at * npy.width;
      const std::uint64_t code = raw ? load_code(entry, format.bits, 0) : narrowing.code(npy_number(entry, npy), index);
      store_code(codes.data(), format.bits, index, code);
    }
  }
  return codes;
}

}  // namespace krepro
