// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lorekeep {

inline constexpr char32_t kReplacement = 0xFFFD;
inline constexpr std::size_t kMaxUtf8Bytes = 4;

/// Decodes the code point at `at` and moves `at` past it. Precondition: at < end. Ill-formed bytes (a stray or missing
/// continuation byte, an overlong form, a surrogate, a value beyond U+10FFFF) become U+FFFD once per maximal subpart,
/// as in Unicode (chapter 3, "U+FFFD substitution of maximal subparts") and browsers.
char32_t decode_utf8(const char*& at, const char* end) noexcept;

/// Writes 1 to kMaxUtf8Bytes bytes and returns their number. Precondition: `code_point` is a Unicode scalar value.
std::size_t encode_utf8(char32_t code_point, char* out) noexcept;

/// Returns whether the text is well-formed.
bool is_valid_utf8(std::string_view text) noexcept;

/// Returns the text with ill-formed parts replaced by U+FFFD as in decode_utf8().
std::string repair_utf8(std::string_view text);

/// Returns the longest prefix of at most `bytes` bytes that does not split a well-formed sequence.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes) noexcept;

}  // namespace lorekeep
