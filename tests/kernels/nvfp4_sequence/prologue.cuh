// What runs before the fp4 layer: a quantiser of the activations, and remaps of plain scales into tiles of 128 rows by 4 columns.
// Each has forms with a fault.
#pragma once

#include <cstdint>

namespace quant {

enum class Remap {
  right,
  cut,          // stops after as many places as there are scales, though the tiles have more
  cut_padding,  // leaves the places that stand for no scale as they were
  permuted      // takes the rows of a tile in another order
};

enum class Round {
  nearest,
  floor  // cuts the magnitude
};

// Place `at` of the tiles stands for this row and block.
__device__ inline void scale_of(int at, int tiles_across, Remap form, int &row, int &block) {
  int const tile = at / 512;
  int const within = at % 512;
  int const high = within / 16;
  int const wide = within % 16 / 4;
  row = tile / tiles_across * 128 + (form == Remap::permuted ? high * 4 + wide : wide * 32 + high);
  block = tile % tiles_across * 4 + within % 4;
}

template <int ROWS, int BLOCKS, Remap FORM>
__global__ void __launch_bounds__(128) remap_scales(uint8_t const *__restrict__ plain, uint8_t *__restrict__ tiles) {
  constexpr int kAcross = (BLOCKS + 3) / 4;
  constexpr int kPlaces = (ROWS + 127) / 128 * kAcross * 512;
  constexpr int kEnd = FORM == Remap::cut ? ROWS * BLOCKS : kPlaces;
  for (int at = threadIdx.x; at < kEnd; at += 128) {
    int row, block;
    scale_of(at, kAcross, FORM, row, block);
    bool const real = row < ROWS && block < BLOCKS;
    if (real || FORM != Remap::cut_padding) {
      tiles[at] = real ? plain[row * BLOCKS + block] : uint8_t(0);
    }
  }
}

// To ue4m3, nearest even, at most 448.
__device__ inline uint32_t to_ue4m3(float value) {
  if (value < 0.015625f) {
    return __float2uint_rn(value * 512.f);
  }
  uint32_t const bits = __float_as_uint(value);
  uint32_t const code = ((bits + 0x7ffffu + (bits >> 20 & 1u)) >> 20) - (120u << 3);
  return code > 0x7eu ? 0x7eu : code;
}

__device__ inline float from_ue4m3(uint32_t code) {
  uint32_t const exponent = code >> 3 & 15u;
  uint32_t const fraction = code & 7u;
  return exponent == 0 ? fraction * 0.001953125f : __uint_as_float((exponent + 120u) << 23 | fraction << 20);
}

__device__ inline uint32_t to_e2m1(float value, Round form) {
  float const magnitude = fabsf(value);
  uint32_t code;
  if (form == Round::floor) {
    code = magnitude < 0.5f ? 0 : magnitude < 1.f ? 1 : magnitude < 1.5f ? 2 : magnitude < 2.f ? 3 : magnitude < 3.f ? 4 : magnitude < 4.f ? 5 : magnitude < 6.f ? 6 : 7;
  } else {
    code = magnitude <= 0.25f ? 0 : magnitude < 0.75f ? 1 : magnitude <= 1.25f ? 2 : magnitude < 1.75f ? 3 : magnitude <= 2.5f ? 4 : magnitude < 3.5f ? 5 : magnitude <= 5.f ? 6 : 7;
  }
  return code | (value < 0.f ? 8u : 0u);
}

// A thread for each 16 elements: their scale is their largest magnitude over 6.
template <int M, int K, Round FORM>
__global__ void __launch_bounds__(64) quantise(float const *__restrict__ values, uint8_t *__restrict__ codes, uint8_t *__restrict__ scales) {
  int const block = blockIdx.x * 64 + threadIdx.x;
  if (block >= M * (K / 16)) {
    return;
  }
  float const *const from = values + block * 16;
  float largest = 0.f;
  for (int i = 0; i < 16; ++i) {
    largest = fmaxf(largest, fabsf(from[i]));
  }
  uint32_t const scale = to_ue4m3(largest / 6.f);
  float const inverse = 1.f / from_ue4m3(scale);
  for (int i = 0; i < 8; ++i) {
    uint32_t const low = to_e2m1(from[2 * i] * inverse, FORM);
    uint32_t const high = to_e2m1(from[2 * i + 1] * inverse, FORM);
    codes[block * 8 + i] = static_cast<uint8_t>(low | high << 4);
  }
  scales[block] = static_cast<uint8_t>(scale);
}

} // namespace quant
