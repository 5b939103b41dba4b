// Hot loops keep their speed and their IEEE arithmetic whatever the production flags say (no -O, -ffast-math).
#pragma once

#if defined(__clang__)
#define KREPRO_HOT
#define KREPRO_DENSE
#elif defined(__GNUC__)
#define KREPRO_HOT __attribute__((optimize("O3", "no-fast-math", "fp-contract=off")))
#define KREPRO_DENSE __attribute__((optimize("O3", "no-fast-math")))
#else
#define KREPRO_HOT
#define KREPRO_DENSE
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDA_ARCH__)
#define KREPRO_X86 1
#define KREPRO_AVX2 __attribute__((target("avx2,fma")))
#endif

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace krepro {

// Denormals count, and rounding is to nearest, also where -ffast-math linked start-up code that says otherwise.
inline void reset_float_environment() {
#if defined(KREPRO_X86)
  unsigned control = 0x1f80u;
  __asm__ volatile("ldmxcsr %0" : : "m"(control));
#elif defined(__aarch64__) && !defined(__CUDA_ARCH__)
  std::uint64_t control = 0;
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
}

// Calls work(begin, end) for pieces of 0..count on all cores; `least` is the smallest piece worth a thread.
template <class Work>
void parallel(std::uint64_t count, std::uint64_t least, const Work& work) {
  std::uint64_t pieces = std::thread::hardware_concurrency();
  if (least == 0) least = 1;
  if (pieces == 0) pieces = 1;
  if (pieces > (count + least - 1) / least) pieces = (count + least - 1) / least;
  if (pieces <= 1) {
    if (count != 0) work(std::uint64_t{0}, count);
    return;
  }
  std::vector<std::thread> threads;
  for (std::uint64_t piece = 1; piece < pieces; ++piece) {
    threads.emplace_back([&work, piece, pieces, count] { work(count * piece / pieces, count * (piece + 1) / pieces); });
  }
  work(std::uint64_t{0}, count / pieces);
  for (std::thread& thread : threads) thread.join();
}

template <class To, class From>
inline To bits_of(From from) {
  static_assert(sizeof(To) == sizeof(From), "bits_of keeps the size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Decided on bits: -ffast-math lets a compiler assume that there is no NaN.
inline bool is_nan(double value) { return (bits_of<std::uint64_t>(value) & 0x7fffffffffffffffull) > 0x7ff0000000000000ull; }

inline bool is_finite(double value) {
  return (bits_of<std::uint64_t>(value) & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
}

inline double positive_infinity() { return bits_of<double>(std::uint64_t{0x7ff0000000000000ull}); }

inline double quiet_nan() { return bits_of<double>(std::uint64_t{0x7ff8000000000000ull}); }

}  // namespace krepro
