#include "text/query_weights.h"

#include "text/multilingual.h"
#include "text/word_beginning.h"

namespace lorekeep::text {
namespace {

struct Shares {
  float spelling;   // of words that differ by diacritics alone
  float beginning;  // of words with the same beginning
};

// If the index contains the word as typed, other spellings count almost nothing: diacritics carry meaning in Vietnamese
// or Turkish, and larger shares lowered XQuAD's nDCG@10. Beginnings raised nDCG@10 in each of its languages and in
// three English collections at any share from 0.1 to 0.7. These shares are cautious, because beginnings are less
// distinctive in larger collections.
constexpr Shares kTypedIsIndexed{0.002f, 0.3f};
constexpr Shares kTypedIsUnknown{0.2f, 0.6f};

}  // namespace

std::vector<Variant> variants_of(std::string_view word, bool indexed_as_typed) {
  const Shares shares = indexed_as_typed ? kTypedIsIndexed : kTypedIsUnknown;
  std::string base = base_form(word);
  std::vector<Variant> variants{{kBaseFormMark + base, shares.spelling}};
  if (const auto beginning = word_beginning(base); !beginning.empty()) {
    variants.push_back({kBeginningMark + std::string(beginning), shares.beginning});
  }
  if (base != word) variants.push_back({std::move(base), shares.spelling});
  return variants;
}

}  // namespace lorekeep::text
