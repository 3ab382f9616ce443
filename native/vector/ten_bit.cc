#include "vector/ten_bit.h"

#include <algorithm>
#include <cmath>

namespace lorekeep::vector {

float encode_ten_bit(std::span<const float> from, std::int8_t* codes, std::uint8_t* low) noexcept {
  constexpr float kLargest = 4 * 127;
  float largest = 0;
  for (float value : from) largest = std::max(largest, std::abs(value));
  const float inverse = largest > 0 ? kLargest / largest : 0.0f;
  double squares = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const int n = static_cast<int>(std::clamp(std::nearbyint(from[i] * inverse), -kLargest, kLargest));
    const int code = (n + 2) >> 2;  // rounds towards -infinity: the remainder is in [-2, 1]
    const std::size_t place = i % kTenBitGroup;
    codes[i] = static_cast<std::int8_t>(code);
    low[i / kTenBitGroup * 16 + place % 16] |= static_cast<std::uint8_t>((n - 4 * code + 2) << (place / 16 * 2));
    squares += static_cast<double>(n) * n;
  }
  return squares > 0 ? static_cast<float>(4 / std::sqrt(squares)) : 0.0f;
}

}  // namespace lorekeep::vector
