// Storage types of vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lorekeep::vector {

enum class VectorType : std::uint32_t {
  kF32 = 0,
  kF16 = 1,  // IEEE 754 binary16, round to nearest even
  kI8 = 2,   // codes in [-127, 127] times one f32 scale per row; for rows only in index files before version 3
  kI10 = 3,  // ten-bit integers times one f32 scale per row (ten_bit.h); called i8 in the API
};

/// Returns the bytes per value, without the low bits of kI10, which are stored separately.
constexpr std::size_t bytes_per_value(VectorType type) noexcept {
  return type == VectorType::kF32 ? 4 : type == VectorType::kF16 ? 2 : 1;
}

constexpr std::string_view type_name(VectorType type) noexcept {
  return type == VectorType::kF32 ? "f32" : type == VectorType::kF16 ? "f16" : "i8";
}

/// Largest dimension of any index. An i8 dot product of this length still fits 32 bits (127 * 127 * 65536 < 2^31).
inline constexpr std::size_t kMaxDimension = 65536;
/// Maximum number of rows of one index: the search reserves one bit and one value of 32-bit ordinals.
inline constexpr std::size_t kMaxRows = 0x7fffffff;

}  // namespace lorekeep::vector
