// Folding of single code points for the multilingual tokenizer, from generated tables: compatibility decomposition and
// full case folding, then composition. Removes optional marks (Arabic and Hebrew vowel signs, tatweel, nukta) and
// invisible characters, maps digits of all scripts to ASCII, and unifies the spellings of an Arabic letter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/multilingual_tables.gen.h"

namespace lorekeep::text {

/// Marks the border of two words in scripts that put no spaces between them.
inline constexpr char32_t kZeroWidthSpace = 0x200B;
/// Part of a word in the Arabic script.
inline constexpr char32_t kZeroWidthNonJoiner = 0x200C;

constexpr bool is_arabic(char32_t code_point) noexcept {
  return code_point >= 0x0600 && code_point <= 0x06FF;
}

/// A code point's part in a word. The generated tables use these numbers.
enum class CodePointClass : std::uint8_t {
  kSeparator = 0,
  kWord = 1,         // a letter, number or mark of a script that puts spaces between words
  kIdeograph = 2,    // Han, Kana, Bopomofo
  kHangul = 3,       // syllables and jamo
  kComplexBase = 4,  // a letter of the scripts without spaces of South East Asia: Thai, Lao, Khmer, Myanmar ...
  kComplexMark = 5,  // ... and their marks
  kDiacritic = 6,    // combining accents, Kana voice marks
  kIgnored = 7,
};

struct FoldedPart {
  char32_t code_point;
  CodePointClass kind;
  bool composes;  // may compose with the code point before it
  bool has_base;  // a letter with a diacritic: see base_form
};

/// Writes the folded parts of `code_point` and returns their number, up to multilingual::kMaxExpansion; 0 if ignored.
std::size_t fold_multilingual(char32_t code_point, FoldedPart (&out)[multilingual::kMaxExpansion]) noexcept;

/// Returns the composition of two code points, Hangul syllables included; 0 if there is none.
char32_t compose(char32_t first, char32_t second) noexcept;

/// Returns the canonical combining class; 0 for characters that no mark may change places with.
std::uint8_t combining_class(char32_t code_point) noexcept;

struct Decomposition {
  char32_t first;
  char32_t second;
};

/// Returns the two code points that compose() makes this one of, except of Hangul syllables; zeros if there are none.
Decomposition decompose(char32_t code_point) noexcept;

/// Returns a token without the diacritics of Latin, Greek and Cyrillic letters ("café": "cafe").
std::string base_form(std::string_view token);

}  // namespace lorekeep::text
