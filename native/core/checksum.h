#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lorekeep {

/// XXH3-64 of the bytes: detects damage and names content; not a defence against forgery.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

/// 128 bits that name content: equal for equal bytes, and by chance alone for others.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

/// XXH3-128 of the bytes; not a defence against forgery either.
Digest digest(std::span<const std::byte> bytes) noexcept;

}  // namespace lorekeep
