// Made by scripts/generate-unicode.mjs; do not edit. Source: PyPI tokenizers 0.23.3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lorekeep::engine::bert {

inline constexpr std::size_t kMostStripped = 3;
inline constexpr std::size_t kMostLowered = 2;

/// Triples, ascending: first code point, last, kind (BertCharacter). Other code points are letters.
extern const std::array<std::uint32_t, 1392> kKinds;
/// Rows of 4, ascending: code point, then its decomposition without accents and zeros. Hangul is computed.
extern const std::array<std::uint32_t, 8160> kStripped;
/// Rows of 3, ascending: code point, then its lower case and zeros.
extern const std::array<std::uint32_t, 4464> kLowered;

}  // namespace lorekeep::engine::bert
