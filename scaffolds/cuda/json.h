// JSON lines without a library: one object a line.
#pragma once

#include <cstdio>
#include <string>

#include "hot.h"

namespace krepro {

inline std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char raw : text) {
    const unsigned char c = static_cast<unsigned char>(raw);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += raw;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c >= 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += raw;
    }
  }
  return out + "\"";
}

inline std::string json_number(double value) {
  if (is_nan(value)) return "\"nan\"";
  if (!is_finite(value)) return (bits_of<std::uint64_t>(value) >> 63) != 0 ? "\"-inf\"" : "\"inf\"";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

class Object {
 public:
  Object& raw(const char* name, const std::string& json) {
    text_ += text_.empty() ? "{" : ",";
    text_ += json_string(name) + ":" + json;
    return *this;
  }
  Object& text(const char* name, const std::string& value) { return raw(name, json_string(value)); }
  Object& number(const char* name, double value) { return raw(name, json_number(value)); }
  Object& count(const char* name, std::uint64_t value) { return raw(name, std::to_string(value)); }
  Object& flag(const char* name, bool value) { return raw(name, value ? "true" : "false"); }
  std::string str() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

inline Object event(const char* name) {
  Object object;
  object.count("krepro", 1).text("event", name);
  return object;
}

}  // namespace krepro
