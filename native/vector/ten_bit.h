// Ten-bit rows: integers n in [-508, 508] times one f32 scale per row, n = 4 code + low - 2. The i8 codes are stored
// separately: searches read only them, and read the two low bits when they score the found rows again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lorekeep::vector {

/// Values whose low bits share 16 bytes: byte j has the low bits of the values j, 16 + j, 32 + j and 48 + j, lowest
/// bits first, so that vector registers unpack them with shifts only.
inline constexpr std::size_t kTenBitGroup = 64;

constexpr std::size_t whole_groups(std::size_t dimension) noexcept {
  return (dimension + kTenBitGroup - 1) / kTenBitGroup * kTenBitGroup;
}
/// Returns the bytes of a row's low bits.
constexpr std::size_t low_stride(std::size_t dimension) noexcept {
  return whole_groups(dimension) / 4;
}

/// Returns the integer at position `i` of a row.
inline int ten_bit_value(const std::int8_t* codes, const std::uint8_t* low, std::size_t i) noexcept {
  const std::size_t place = i % kTenBitGroup;
  const int bits = (low[i / kTenBitGroup * 16 + place % 16] >> (place / 16 * 2)) & 3;
  return 4 * codes[i] + bits - 2;
}

/// Writes a vector's codes and low bits (`low` must be zeroed) and returns the scale of the codes: a value is
/// n * scale / 4. Keeps only the direction: the result has length 1, or is all zero. Zeros stay zeros, so sparse
/// vectors lose nothing there.
float encode_ten_bit(std::span<const float> from, std::int8_t* codes, std::uint8_t* low) noexcept;

}  // namespace lorekeep::vector
