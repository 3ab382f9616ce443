// Unsigned LEB128 numbers: seven bits per byte, low bits first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lorekeep::text {

inline void write_varint(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

/// Reads without checks, so only bytes that this program wrote or checked. Moves `at` past the number.
inline std::uint64_t read_varint(const std::byte*& at) noexcept {
  std::uint64_t value = 0;
  int shift = 0;
  for (;; shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(*at++);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

/// Reads untrusted bytes. Returns false if the number runs past `end` or has more than 63 bits.
inline bool read_varint_checked(const std::byte*& at, const std::byte* end, std::uint64_t& value) noexcept {
  value = 0;
  for (int shift = 0; shift < 63; shift += 7) {
    if (at == end) return false;
    const auto byte = std::to_integer<std::uint64_t>(*at++);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace lorekeep::text
