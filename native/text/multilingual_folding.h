// What the multilingual tokenizer makes of single code points, from generated tables: compatibility decomposition and
// full case folding, composed again; optional marks (Arabic and Hebrew vowel signs, tatweel, nukta) and invisible
// characters are gone, digits of all scripts are ASCII digits, spellings of one Arabic letter are one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/multilingual_tables.gen.h"

namespace lorekeep::text {

/// A code point's part in a word. The numbers are those of the generated tables.
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
  bool composes;  // may make one code point with the one before it
  bool has_base;  // a letter with a diacritic: see base_form
};

/// What `code_point` becomes, up to multilingual::kMaxExpansion parts; 0 of them where it is ignored.
std::size_t fold_multilingual(char32_t code_point, FoldedPart (&out)[multilingual::kMaxExpansion]) noexcept;

/// The code point that the two compose to, 0 when there is none. Hangul syllables included.
char32_t compose(char32_t first, char32_t second) noexcept;

/// A token without its diacritics ("café": "cafe"), for Latin, Greek and Cyrillic letters.
std::string base_form(std::string_view token);

}  // namespace lorekeep::text
