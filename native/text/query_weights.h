// How a query of the multilingual tokenizer finds words that are not its own: other diacritics, other endings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lorekeep::text {

/// An index term that stands for other words than the query's.
struct Variant {
  std::string term;
  float share;  // what an occurrence is worth, as a share of bm25_weight()
};

/// The terms by which relatives of a query's word are found: without diacritics, with any, with the same beginning.
/// Shares depend on whether the index holds the word as typed.
std::vector<Variant> variants_of(std::string_view word, bool indexed_as_typed);

}  // namespace lorekeep::text
