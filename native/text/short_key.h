// Hash table keys for texts. Most texts have at most 16 bytes, and are compared as two numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/values/seeded_hash.h"

namespace lorekeep::text {

/// The bytes of a short text, padded with zeros. Texts of different sizes may have the same.
struct ShortKey {
  static constexpr std::size_t kMaxBytes = 16;

  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend bool operator==(const ShortKey&, const ShortKey&) = default;
};

/// Two numbers that are other ones in each process.
struct KeySeeds {
  std::uint64_t values[2] = {hash_seed(), seeded_hash(hash_seed())};

  std::uint64_t hash(const ShortKey& key) const noexcept { return seeded_hash(key.low, key.high, values); }
};

template <class Number>
Number load(const char* at) noexcept {
  Number number;
  std::memcpy(&number, at, sizeof(number));
  return number;
}

/// Precondition: `text` has at most ShortKey::kMaxBytes.
inline ShortKey short_key(std::string_view text) noexcept {
  const char* const at = text.data();
  const std::size_t size = text.size();
  if (size > 8) return {load<std::uint64_t>(at), load<std::uint64_t>(at + size - 8) >> 8 * (16 - size)};
  if (size >= 4) {
    return {load<std::uint32_t>(at) | std::uint64_t{load<std::uint32_t>(at + size - 4)} << 8 * (size - 4), 0};
  }
  ShortKey key;
  for (std::size_t i = 0; i < size; ++i) key.low |= std::uint64_t{static_cast<std::uint8_t>(at[i])} << 8 * i;
  return key;
}

/// As short_key(), without a branch. ShortKey::kMaxBytes are readable at `at`.
inline ShortKey short_key_before_more(const char* at, std::size_t size) noexcept {
  const auto first = [](std::size_t bytes) {
    return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
  };
  return {load<std::uint64_t>(at) & first(size), load<std::uint64_t>(at + 8) & first(size > 8 ? size - 8 : 0)};
}

}  // namespace lorekeep::text
