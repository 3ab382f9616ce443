// Strict UTF-8, one code point at a time.
#pragma once

#include <cstddef>

namespace lorekeep::text {

inline constexpr char32_t kReplacement = 0xFFFD;
inline constexpr std::size_t kMaxUtf8Bytes = 4;

/// Decodes the code point at `at` and moves `at` past it. Precondition: at < end. What is ill-formed (a stray or
/// missing continuation byte, an overlong form, a surrogate, a value beyond U+10FFFF) gives U+FFFD once per maximal
/// subpart, as Unicode (chapter 3, "U+FFFD substitution of maximal subparts") and the browsers do.
char32_t decode_utf8(const char*& at, const char* end) noexcept;

/// Writes 1 to kMaxUtf8Bytes bytes and returns how many. Precondition: `code_point` is a Unicode scalar value.
std::size_t encode_utf8(char32_t code_point, char* out) noexcept;

}  // namespace lorekeep::text
