#include "text/casefold.h"

#include "harness.h"
#include "naive_casefold.h"

namespace lorekeep::text {
namespace {

TEST("full case folding: German, ligatures, titlecase") {
  CHECK_EQ(casefold("Straße STRASSE GROẞ"), "strasse strasse gross");
  CHECK_EQ(casefold("ﬁn oﬃce ﬅ Ǆ ǅ ǆ"), "fin office st ǆ ǆ ǆ");
  CHECK_EQ(casefold("ŉ"), "ʼn");
}

TEST("full case folding: Greek final sigma, capitals, iota subscript") {
  CHECK_EQ(casefold("ΣΊΣΥΦΟΣ Σίσυφος"), "σίσυφοσ σίσυφοσ");
  CHECK_EQ(casefold("ᾳ ᾼ ᾷ"), "αι αι α\u0342ι");
}

TEST("case folding is not Turkic: I becomes i, dotless i stays, dotted I gets a combining dot") {
  CHECK_EQ(casefold("Iıİi"), "iıi\u0307i");
}

TEST("other scripts with case: Cyrillic, Armenian, Cherokee, Georgian, Deseret, fullwidth") {
  CHECK_EQ(casefold("ПРИВЕТ Ԑ"), "привет ԑ");
  CHECK_EQ(casefold("ԵՒ և"), "եւ եւ");
  CHECK_EQ(casefold("ꭰ ᏸ"), "Ꭰ Ᏸ");  // Cherokee folds to capitals
  CHECK_EQ(casefold("Ა"), "ა");
  CHECK_EQ(casefold("𐐀"), "𐐨");
  CHECK_EQ(casefold("ＡＢ１"), "ａｂ１");
}

TEST("folding twice changes nothing more") {
  for (char32_t code_point = 0; code_point < 0x110000; ++code_point) {
    FoldedCodePoint once[kMaxFolding];
    const std::size_t count = fold(code_point, once);
    for (std::size_t i = 0; i < count; ++i) {
      FoldedCodePoint twice[kMaxFolding];
      REQUIRE(fold(once[i].code_point, twice) == 1 && twice[0].code_point == once[i].code_point);
      REQUIRE(is_letter_or_number(once[i].code_point) == once[i].is_word);
    }
  }
}

TEST("letters and numbers, and nothing else, are words") {
  for (const char32_t word : {U'a', U'Z', U'0', U'ß', U'я', U'ع', U'ह', U'我', U'ー', U'½', U'①', U'Ⅷ', U'ª', U'𝔘'}) {
    CHECK(is_letter_or_number(word));
  }
  for (const char32_t other : {U' ', U'_', U'-', U'\'', U'ि', U'\u0301', U'。', U'😀', U'€', U'\uFFFD', U'\uE000',
                               U'\u200D', char32_t{0}, char32_t{0xD800}, char32_t{0x10FFFF}}) {
    CHECK(!is_letter_or_number(other));
  }
}

TEST("ill-formed UTF-8 folds to U+FFFD") {
  CHECK_EQ(casefold("A\xFF\xC3"
                    "B"),
           "a\uFFFD\uFFFDb");
}

}  // namespace
}  // namespace lorekeep::text
