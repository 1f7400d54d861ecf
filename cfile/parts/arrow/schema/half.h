// Numbers of 16 bits, which Arrow calls float16 (binary16 of IEEE 754).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace cfile::internal {

// A half has 1 bit for the sign, 5 for the exponent and 10 for the fraction.
inline float FloatOfHalf(uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const int fraction = half & 0x3ff;
  float number = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  // Infinity and NaN have the fraction of the half, so that a NaN comes back as the same NaN.
  if (exponent == 0x1f)
    number = std::bit_cast<float>(0x7f800000u | static_cast<uint32_t>(fraction) << 13);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(number) | static_cast<uint32_t>(half & 0x8000)
                                                                    << 16);
}

// Numbers that are no result of FloatOfHalf lose digits.
inline uint16_t HalfOfFloat(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const float size = std::fabs(number);
  const auto with_sign = [&](long bits_of_half) {
    return static_cast<uint16_t>(sign | std::min(bits_of_half, 0x7c00L));
  };
  if (std::isnan(number)) {
    const uint32_t fraction = bits >> 13 & 0x3ff;
    return static_cast<uint16_t>(sign | 0x7c00 | (fraction == 0 ? 0x200 : fraction));
  }
  if (size >= 65520) return with_sign(0x7c00);
  if (size < 0x1p-14F) return with_sign(std::lrint(std::ldexp(size, 24)));
  const int exponent = std::ilogb(size);
  return with_sign(std::lrint(std::ldexp(size, 10 - exponent)) + ((exponent + 14L) << 10));
}

}  // namespace cfile::internal
