// How a query of the multilingual tokenizer finds words that differ from its own by diacritics alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lorekeep::text {

/// The index terms that stand for the other spellings of a query's word: without diacritics, and with any.
std::vector<std::string> variants_of(std::string_view word);

/// What an occurrence of another spelling is worth, as a share of bm25_weight(): next to nothing while the index holds
/// the word as typed, so that diacritics that are typed decide (they carry meaning in Vietnamese or Turkish); a fifth
/// when it does not. Larger shares made XQuAD's nDCG@10 fall below that of exact matching.
constexpr float variant_share(bool indexed_as_typed) noexcept {
  return indexed_as_typed ? 0.002f : 0.2f;
}

}  // namespace lorekeep::text
