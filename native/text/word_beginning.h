// What the inflections of a word have in common, in any alphabet and without a dictionary: its beginning. Cutting words
// after five letters finds about as much as a stemmer does (McNamee, Nicholas, Mayfield: Addressing Morphological
// Variation in Alphabetic Languages, SIGIR 2009, "trunc5").
#pragma once

#include <cstddef>
#include <string_view>

namespace lorekeep::text {

/// Letters of a beginning. Shorter words have none, but for those in Arabic script: it leaves out vowels, and roots
/// have three letters.
inline constexpr std::size_t kBeginningLetters = 5;
inline constexpr std::size_t kLeastArabicLetters = 3;

/// The beginning of a word without its diacritics (base_form()), of an Arabic word after the article and what is
/// written together with it. Empty: the word is too short, or begins with a digit.
std::string_view word_beginning(std::string_view base) noexcept;

}  // namespace lorekeep::text
