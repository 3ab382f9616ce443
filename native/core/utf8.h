// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lorekeep {

inline constexpr char32_t kReplacement = 0xFFFD;
inline constexpr std::size_t kMaxUtf8Bytes = 4;

/// Decodes the code point at `at` and moves `at` past it. Precondition: at < end. What is ill-formed (a stray or
/// missing continuation byte, an overlong form, a surrogate, a value beyond U+10FFFF) gives U+FFFD once per maximal
/// subpart, as Unicode (chapter 3, "U+FFFD substitution of maximal subparts") and the browsers do.
char32_t decode_utf8(const char*& at, const char* end) noexcept;

/// Writes 1 to kMaxUtf8Bytes bytes and returns how many. Precondition: `code_point` is a Unicode scalar value.
std::size_t encode_utf8(char32_t code_point, char* out) noexcept;

/// Whether all of the text is well-formed.
bool is_valid_utf8(std::string_view text) noexcept;

/// The text with U+FFFD wherever decode_utf8() gives it; well-formed text comes back as it is.
std::string repair_utf8(std::string_view text);

/// The longest beginning of at most `bytes` bytes that cuts no well-formed sequence apart.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes) noexcept;

}  // namespace lorekeep
