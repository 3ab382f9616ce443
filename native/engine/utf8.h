#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lorekeep::engine {

/// Whether the bytes are well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_valid_utf8(std::string_view text) noexcept;

/// The text with U+FFFD in place of each maximal ill-formed part (Unicode 15, section 3.9, "substitution of maximal
/// subparts"); well-formed text comes back as it is.
std::string repair_utf8(std::string_view text);

/// The longest beginning of at most `bytes` bytes that cuts no well-formed sequence apart.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes) noexcept;

}  // namespace lorekeep::engine
