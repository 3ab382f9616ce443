// IEEE 754 binary16 in software: the reference for the hardware conversions, and the fallback without them.
#pragma once

#include <bit>
#include <cstdint>

namespace lorekeep {

/// Rounds to nearest even. Values beyond 65519.99.. become infinity. NaN becomes a quiet NaN.
constexpr std::uint16_t half_from_float(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65536 and more, infinity
  if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);  // less than half the least subnormal
  const std::uint32_t exponent = magnitude >> 23;
  std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  std::uint32_t shift = 13;
  std::uint32_t base = 0;
  if (exponent >= 113) {  // a normal half; rounding may carry into the exponent, up to infinity
    mantissa &= 0x7fffffu;
    base = (exponent - 112) << 10;
  } else {
    shift = 126 - exponent;
  }
  const std::uint32_t kept = mantissa >> shift;
  const std::uint32_t rest = mantissa & ((1u << shift) - 1);
  const std::uint32_t middle = 1u << (shift - 1);
  const std::uint32_t up = rest > middle || (rest == middle && (kept & 1u)) ? 1u : 0u;
  return static_cast<std::uint16_t>(sign | (base + kept + up));
}

constexpr float float_from_half(std::uint16_t half) noexcept {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t mantissa = half & 0x3ffu;
  if (exponent == 31) {
    const std::uint32_t quiet = mantissa != 0 ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | (mantissa << 13));
  }
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

}  // namespace lorekeep
