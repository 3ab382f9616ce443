// Case folding of a whole text, by which the tokenizers are tested.
#pragma once

#include <string>
#include <string_view>

#include "text/casefold.h"

namespace lorekeep::text {

inline bool is_letter_or_number(char32_t code_point) noexcept {
  return (kCaseFoldings.record_of(code_point) & 4) != 0;
}

/// Returns the full case folding of a text. Ill-formed UTF-8 becomes U+FFFD (see core/values/utf8.h).
std::string casefold(std::string_view utf8);

}  // namespace lorekeep::text
