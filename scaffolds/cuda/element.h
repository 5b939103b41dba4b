// Element types: storage codes to values and back, rounded once to nearest even, in integer arithmetic.
#pragma once

#include "contract.h"
#include "hot.h"

namespace krepro {

struct Format {
  const char* name;
  unsigned bits;             // of storage
  int mantissa;              // stored bits after the point; -1 for integers
  int least_exponent;        // of the smallest normal number
  std::uint64_t largest;     // code of the largest finite magnitude
  std::uint64_t infinity;    // code, or 0: too large clamps
  std::uint64_t nan;         // code of a NaN, or 0
  std::uint64_t sentinel;    // code of a NaN that no conversion gives, or 0
  bool sign;
  unsigned shift;            // low bits of storage that hold nothing (tf32)
  std::int64_t exact;        // integers up to this magnitude are exact
};

inline const Format& format_of(Element element) {
  static const Format formats[] = {
      {"bf16", 16, 7, -126, 0x7f7f, 0x7f80, 0x7fc0, 0x7fa5, true, 0, 256},
      {"f16", 16, 10, -14, 0x7bff, 0x7c00, 0x7e00, 0x7da5, true, 0, 2048},
      {"f32", 32, 23, -126, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7fa5a5a5, true, 0, 16777216},
      {"tf32", 32, 10, -126, 0x3fbff, 0x3fc00, 0x3fe00, 0x3fd2d, true, 13, 2048},
      {"e4m3", 8, 3, -6, 0x7e, 0, 0x7f, 0, true, 0, 16},
      {"e5m2", 8, 2, -14, 0x7b, 0, 0x7f, 0x7d, true, 0, 8},
      {"e2m1", 4, 1, 0, 0x7, 0, 0, 0, true, 0, 4},
      {"ue4m3", 8, 3, -6, 0x7e, 0, 0x7f, 0, false, 0, 16},
      {"ue8m0", 8, 0, -127, 0xfe, 0, 0xff, 0, false, 0, 2},
      {"s8", 8, -1, 0, 127, 0, 0, 0, true, 0, 127},
      {"u8", 8, -1, 0, 255, 0, 0, 0, false, 0, 255},
      {"s32", 32, -1, 0, 2147483647, 0, 0, 0, true, 0, 2147483647},
  };
  return formats[static_cast<std::size_t>(element)];
}

inline std::uint64_t bytes_of(Element element, std::uint64_t elements) {
  return (elements * format_of(element).bits + 7) / 8;
}

KREPRO_HOT inline std::uint64_t encode_integer(const Format& format, double value) {
  const std::uint64_t bits = bits_of<std::uint64_t>(value);
  const std::uint64_t magnitude_bits = bits & 0x7fffffffffffffffull;
  const bool negative = (bits >> 63) != 0;
  const std::uint64_t limit = format.largest + (negative ? 1 : 0);
  std::uint64_t magnitude = 0;
  if (magnitude_bits > 0x7ff0000000000000ull) return 0;
  const int exponent = static_cast<int>(magnitude_bits >> 52) - 1023;
  if (exponent >= 33) {
    magnitude = limit;
  } else if (exponent >= -1) {
    const std::uint64_t significand = (magnitude_bits & 0xfffffffffffffull) | 0x10000000000000ull;
    const int drop = 52 - exponent;
    magnitude = significand >> drop;
    const std::uint64_t rest = significand & ((std::uint64_t{1} << drop) - 1);
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    if (rest > half || (rest == half && (magnitude & 1) != 0)) ++magnitude;
    if (magnitude > limit) magnitude = limit;
  }
  if (!negative) return magnitude;
  if (!format.sign) return 0;
  return (~magnitude + 1) & ((std::uint64_t{1} << format.bits) - 1);
}

// The code of `value`, rounded once to nearest even. Too large gives infinity where the type has one, else the largest.
KREPRO_HOT inline std::uint64_t encode(const Format& format, double value) {
  if (format.mantissa < 0) return encode_integer(format, value);
  const std::uint64_t bits = bits_of<std::uint64_t>(value);
  const std::uint64_t magnitude_bits = bits & 0x7fffffffffffffffull;
  const bool negative = (bits >> 63) != 0;
  const unsigned width = format.bits - format.shift;
  std::uint64_t code = 0;
  if (magnitude_bits > 0x7ff0000000000000ull) {
    code = format.nan;
  } else {
    int exponent = static_cast<int>(magnitude_bits >> 52) - 1023;
    const std::uint64_t hidden = exponent == -1023 ? 0 : 0x10000000000000ull;
    const std::uint64_t significand = (magnitude_bits & 0xfffffffffffffull) | hidden;
    int drop = 52 - format.mantissa;
    std::uint64_t base = 0;
    if (exponent < format.least_exponent) {
      drop += format.least_exponent - exponent;
    } else {
      base = static_cast<std::uint64_t>(exponent - format.least_exponent) << format.mantissa;
    }
    if (drop < 54) {
      const std::uint64_t rest = significand & ((std::uint64_t{1} << drop) - 1);
      const std::uint64_t half = std::uint64_t{1} << (drop - 1);
      code = significand >> drop;
      if (rest > half || (rest == half && (code & 1) != 0)) ++code;
    }
    code += base;
    if (format.mantissa == 0) code = code == 0 ? 0 : code - 1;
    if (code > format.largest) code = format.infinity != 0 ? format.infinity : format.largest;
  }
  if (negative) {
    if (!format.sign) return magnitude_bits > 0x7ff0000000000000ull ? code : 0;
    code |= std::uint64_t{1} << (width - 1);
  }
  return code << format.shift;
}

KREPRO_HOT inline double decode(const Format& format, std::uint64_t code) {
  if (format.mantissa < 0) {
    const std::uint64_t top = std::uint64_t{1} << (format.bits - 1);
    const std::int64_t value = static_cast<std::int64_t>(code);
    return static_cast<double>(format.sign && (code & top) != 0 ? value - static_cast<std::int64_t>(top << 1) : value);
  }
  code >>= format.shift;
  const std::uint64_t sign_bit = format.sign ? std::uint64_t{1} << (format.bits - format.shift - 1) : 0;
  const std::uint64_t sign = (code & sign_bit) != 0 ? 0x8000000000000000ull : 0;
  std::uint64_t magnitude = code & ~sign_bit;
  if (!format.sign && format.mantissa > 0) magnitude &= 0x7f;
  if (magnitude > format.largest) {
    const std::uint64_t infinity = 0x7ff0000000000000ull;
    return bits_of<double>(sign | (magnitude == format.infinity ? infinity : infinity | 0x8000000000000ull));
  }
  if (format.mantissa == 0) return bits_of<double>((magnitude + 896) << 52);
  const std::uint64_t field = magnitude >> format.mantissa;
  std::uint64_t significand = magnitude & ((std::uint64_t{1} << format.mantissa) - 1);
  std::uint64_t exponent = 0;
  if (field == 0) {
    if (significand == 0) return bits_of<double>(sign);
    int normal = format.least_exponent;
    while ((significand >> format.mantissa) == 0) {
      significand <<= 1;
      --normal;
    }
    exponent = static_cast<std::uint64_t>(normal + 1023);
    significand &= (std::uint64_t{1} << format.mantissa) - 1;
  } else {
    exponent = field + static_cast<std::uint64_t>(format.least_exponent - 1 + 1023);
  }
  return bits_of<double>(sign | (exponent << 52) | (significand << (52 - format.mantissa)));
}

// Distance from |value| to the next larger number of the type (0 for integers, whose spacing is 1 and exact).
inline double ulp(const Format& format, double value) {
  if (format.mantissa < 0) return 1.0;
  int exponent = static_cast<int>((bits_of<std::uint64_t>(value) >> 52) & 0x7ff) - 1023;
  if (exponent < format.least_exponent) exponent = format.least_exponent;
  if (exponent > 900) exponent = 900;
  return bits_of<double>(static_cast<std::uint64_t>(exponent - format.mantissa + 1023) << 52);
}

KREPRO_HOT inline std::uint64_t load_code(const unsigned char* bytes, unsigned bits, std::uint64_t index) {
  switch (bits) {
    case 4: return (bytes[index / 2] >> (index % 2 * 4)) & 0xfu;
    case 8: return bytes[index];
    case 16: return static_cast<std::uint64_t>(bytes[2 * index]) | static_cast<std::uint64_t>(bytes[2 * index + 1]) << 8;
    default: {
      std::uint32_t word = 0;
      std::memcpy(&word, bytes + 4 * index, sizeof word);
      return word;
    }
  }
}

KREPRO_HOT inline void store_code(unsigned char* bytes, unsigned bits, std::uint64_t index, std::uint64_t code) {
  switch (bits) {
    case 4: {
      const unsigned shift = static_cast<unsigned>(index % 2 * 4);
      bytes[index / 2] = static_cast<unsigned char>((bytes[index / 2] & (0xf0u >> shift)) | (code << shift));
      break;
    }
    case 8: bytes[index] = static_cast<unsigned char>(code); break;
    case 16: {
      const std::uint16_t word = static_cast<std::uint16_t>(code);
      std::memcpy(bytes + 2 * index, &word, sizeof word);
      break;
    }
    default: {
      const std::uint32_t word = static_cast<std::uint32_t>(code);
      std::memcpy(bytes + 4 * index, &word, sizeof word);
    }
  }
}

}  // namespace krepro
