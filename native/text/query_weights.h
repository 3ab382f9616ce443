// Query expansion for the multilingual tokenizer: words with other diacritics or other endings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lorekeep::text {

/// Weight of a compound of the query, as a share of bm25_weight(): its words count, too.
inline constexpr float kCompoundShare = 0.5f;

/// An index term that matches variants of a query's word.
struct Variant {
  std::string term;
  float share;  // weight of an occurrence, as a share of bm25_weight()
};

/// Returns the index terms that match variants of a word: without diacritics, with any diacritics, with the same
/// beginning. Shares depend on whether the index contains the word as typed.
std::vector<Variant> variants_of(std::string_view word, bool indexed_as_typed);

}  // namespace lorekeep::text
