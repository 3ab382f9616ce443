#pragma once

#include <bit>
#include <cstdint>

namespace lorekeep {

/// The upper half of an f32, rounded to nearest, ties to even. Not for NaN.
constexpr std::uint16_t to_bf16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

constexpr float from_bf16(std::uint16_t value) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

}  // namespace lorekeep
