// The beginning of a word, which its inflections share in any alphabet, without a dictionary. Cutting words after five
// letters retrieves about as well as a stemmer (McNamee, Nicholas, Mayfield: Addressing Morphological Variation in
// Alphabetic Languages, SIGIR 2009, "trunc5").
#pragma once

#include <cstddef>
#include <string_view>

namespace lorekeep::text {

/// Letters of a beginning. Shorter words have none, except in Arabic script, which omits vowels and has roots of three
/// letters.
inline constexpr std::size_t kBeginningLetters = 5;
inline constexpr std::size_t kMinArabicLetters = 3;

/// Returns the beginning of a word without diacritics (base_form()), after the article and joined particles of an
/// Arabic word. Empty if the word is too short or begins with a digit.
std::string_view word_beginning(std::string_view base) noexcept;

}  // namespace lorekeep::text
