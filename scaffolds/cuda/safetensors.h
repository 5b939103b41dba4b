// Tensors in .safetensors files: eight bytes of length, a JSON header, data. FILE#NAME names a tensor of several.
#pragma once

#include <cmath>
#include <cstdio>

#include "storage.h"

namespace krepro {

// Production's own values are numbers of the operand's type: one that does not fit is another tensor's, or another unit's.
class Narrowing {
 public:
  Narrowing(const Operand& operand, const std::string& file, bool strict) : operand_(operand), file_(file), strict_(strict) {}

  std::uint64_t code(double value, std::uint64_t index) {
    const Format& format = format_of(operand_.element);
    const std::uint64_t code = encode(format, value);
    const double back = decode(format, code);
    if (is_nan(value) || back == value) return code;
    const bool far = !is_finite(back) || std::fabs(value) > std::fabs(decode(format, format.largest << format.shift));
    if (is_finite(value) && (far || strict_)) {
      throw BadInput(file_ + ": " + std::to_string(value) + " at (" + std::to_string(index / operand_.columns) + ", " +
                     std::to_string(index % operand_.columns) + ") is no " + format.name + (far ? ": it is out of range" : "") +
                     "; save the tensor that the kernel gets, in its own type");
    }
    ++rounded_;
    return code;
  }

  // Said on standard error, since the report is about other values then.
  ~Narrowing() {
    if (rounded_ == 0) return;
    std::fprintf(stderr, "note: %s: %llu of %llu values were rounded to %s; production's own dump would not need it\n", file_.c_str(),
                 static_cast<unsigned long long>(rounded_), static_cast<unsigned long long>(operand_.rows * operand_.columns),
                 format_of(operand_.element).name);
  }

 private:
  const Operand& operand_;
  const std::string& file_;
  bool strict_;
  std::uint64_t rounded_ = 0;
};

struct StoredTensor {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  // in the data
  std::uint64_t end = 0;
};

// The header's JSON, and no other: names to {dtype, shape, data_offsets}.
class SafetensorsHeader {
 public:
  SafetensorsHeader(const std::string& text, std::string path) : text_(text), path_(std::move(path)) {}

  std::vector<StoredTensor> read() {
    std::vector<StoredTensor> tensors;
    take('{');
    while (!next_is('}')) {
      if (!tensors.empty() || seen_) take(',');
      seen_ = true;
      const std::string name = string();
      take(':');
      if (name == "__metadata__") {
        skip_object();
      } else {
        tensors.push_back(tensor(name));
      }
    }
    return tensors;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw BadInput(path_ + ": the .safetensors header is damaged at byte " + std::to_string(at_) + ": " + what);
  }

  bool next_is(char wanted) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
    return at_ < text_.size() && text_[at_] == wanted;
  }

  void take(char wanted) {
    if (!next_is(wanted)) fail((std::string("`") + wanted + "` is missing").c_str());
    ++at_;
  }

  std::string string() {
    take('"');
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_++];
    }
    take('"');
    return value;
  }

  std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> list;
    take('[');
    while (!next_is(']')) {
      if (!list.empty()) take(',');
      next_is('0');
      std::uint64_t value = 0;
      const std::size_t first = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
        if (value > (std::uint64_t{1} << 58)) fail("a number is too large");
        value = value * 10 + static_cast<std::uint64_t>(text_[at_++] - '0');
      }
      if (at_ == first) fail("a number is missing");
      list.push_back(value);
    }
    ++at_;
    return list;
  }

  void skip_object() {
    take('{');
    for (bool first = true; !next_is('}'); first = false) {
      if (!first) take(',');
      string();
      take(':');
      string();
    }
    ++at_;
  }

  StoredTensor tensor(const std::string& name) {
    StoredTensor tensor;
    tensor.name = name;
    take('{');
    for (bool first = true; !next_is('}'); first = false) {
      if (!first) take(',');
      const std::string key = string();
      take(':');
      if (key == "dtype") {
        tensor.type = string();
      } else if (key == "shape") {
        tensor.shape = numbers();
      } else if (key == "data_offsets") {
        const std::vector<std::uint64_t> offsets = numbers();
        if (offsets.size() != 2 || offsets[0] > offsets[1]) fail("data_offsets are not two numbers in order");
        tensor.begin = offsets[0];
        tensor.end = offsets[1];
      } else {
        fail("an unknown member");
      }
    }
    ++at_;
    return tensor;
  }

  const std::string& text_;
  std::string path_;
  std::size_t at_ = 0;
  bool seen_ = false;
};

inline bool is_safetensors(const std::vector<unsigned char>& bytes, std::uint64_t& header) {
  if (bytes.size() < 10 || bytes[8] != '{') return false;
  std::memcpy(&header, bytes.data(), 8);
  return header >= 2 && header <= bytes.size() - 8;
}

inline bool find_element(const std::string& type, Element& element) {
  static const struct {
    const char* name;
    Element element;
  } types[] = {{"BF16", Element::bf16},    {"F16", Element::f16},        {"F32", Element::f32},  {"I8", Element::s8},
               {"U8", Element::u8},        {"I32", Element::s32},        {"BOOL", Element::u8},  {"F8_E4M3", Element::e4m3},
               {"F8_E5M2", Element::e5m2}, {"F8_E8M0", Element::ue8m0}};
  for (const auto& known : types) {
    if (type != known.name) continue;
    element = known.element;
    return true;
  }
  return false;
}

// Storage codes of the operand in (row, column) order. Bytes (U8) of the operand's storage size are its bit patterns.
inline std::vector<unsigned char> read_safetensors(const Operand& operand, const std::vector<unsigned char>& bytes,
                                                   std::uint64_t header, const std::string& path, const std::string& name) {
  const std::string text(bytes.begin() + 8, bytes.begin() + 8 + static_cast<std::ptrdiff_t>(header));
  const std::vector<StoredTensor> tensors = SafetensorsHeader(text, path).read();
  const StoredTensor* found = nullptr;
  std::string names;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.name == name || (name.empty() && tensors.size() == 1)) found = &tensor;
    if (names.size() < 200) names += (names.empty() ? "" : ", ") + tensor.name;
  }
  if (found == nullptr) {
    if (name.empty()) throw BadInput(path + ": it holds several tensors; write " + path + "#NAME with one of " + names);
    throw BadInput(path + ": it has no tensor `" + name + "`; it has " + names);
  }
  const Format& format = format_of(operand.element);
  const std::uint64_t count = operand.rows * operand.columns;
  const std::string what = path + ": `" + found->name + "` is " + found->type;
  if (found->end > bytes.size() - 8 - header) throw BadInput(what + ", and the file ends before its last byte (cut off?)");
  const unsigned char* data = bytes.data() + 8 + header + found->begin;
  const std::uint64_t size = found->end - found->begin;
  if (found->type == "U8" && operand.element != Element::u8 && size == bytes_of(operand.element, count)) {
    return std::vector<unsigned char>(data, data + size);
  }
  std::vector<std::uint64_t> shape;
  std::string has;
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : found->shape) {
    has += (has.empty() ? "" : " x ") + std::to_string(extent);
    if (extent != 1) shape.push_back(extent);
    if (extent != 0 && elements > (std::uint64_t{1} << 48) / extent) throw BadInput(what + ", and its shape is too large");
    elements *= extent;
  }
  std::vector<std::uint64_t> wanted;
  if (operand.rows != 1) wanted.push_back(operand.rows);
  if (operand.columns != 1) wanted.push_back(operand.columns);
  if (elements != count || (shape != wanted && found->shape.size() != 1)) {
    throw BadInput(what + " " + has + ", but `" + role_name(operand.role) + "` is " + std::to_string(operand.rows) + " x " +
                   std::to_string(operand.columns));
  }
  Element element = Element::f32;
  if (!find_element(found->type, element)) throw BadInput(what + ", which is not read; save it as " + format.name);
  const Format& stored = format_of(element);
  if (size != bytes_of(element, count)) {
    throw BadInput(what + " " + has + ", but its data_offsets span " + std::to_string(size) + " bytes");
  }
  std::vector<unsigned char> codes(bytes_of(operand.element, count));
  Narrowing narrowing(operand, path, operand.role == Role::out);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t code = load_code(data, stored.bits, i);
    const bool same = stored.bits == format.bits && stored.mantissa == format.mantissa && stored.sign == format.sign;
    store_code(codes.data(), format.bits, i, same ? code : narrowing.code(decode(stored, code), i));
  }
  return codes;
}

}  // namespace krepro
