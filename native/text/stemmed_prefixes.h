// Prefixes of a query for Tokenizer::kEnhanced that match words whose stem does not begin so: `organiza*` matches
// "organization", which is indexed as "organ". Only the texts tell these words from others with their stem.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/prefix_set.h"
#include "text/query_analysis.h"
#include "text/token_numbers.h"

namespace lorekeep::text {

class StemmedPrefixes {
 public:
  /// Takes the prefixes whose words are counted: those of phrases that are not excluded, and of all other clauses. The
  /// clauses must outlive this.
  explicit StemmedPrefixes(std::span<const QueryClause> clauses);

  /// Distinct prefixes.
  std::size_t size() const noexcept { return prefixes_.size(); }
  /// Distinct stems of all prefixes.
  const TokenNumbers& stems() const noexcept { return all_stems_; }
  /// Returns the position of a prefix. Precondition: it has stems and was taken.
  std::uint32_t position_of(const TermUnion& prefix) const noexcept { return prefixes_.position_of(prefix.beginning); }

  /// Calls visit(position) for each prefix that a word matches by its stem alone. Looks up the stem, and for a stem of
  /// any prefix the word; then it visits no prefix that is shorter than the stem.
  template <class Visit>
  void for_each_match(std::string_view word, std::string_view stem, Visit&& visit) const {
    if (all_stems_.find(stem) == TokenNumbers::kNone) return;
    std::uint32_t at = prefixes_.longest_of(word);
    for (; at != PrefixSet::kNone && prefixes_[at].size() >= stem.size(); at = prefixes_.shorter_than(at)) {
      const std::vector<std::string>& stems = *stems_[at];
      if (std::find(stems.begin(), stems.end(), stem) != stems.end()) visit(at);
    }
  }

 private:
  PrefixSet prefixes_;
  std::vector<const std::vector<std::string>*> stems_;  // by prefix: at most three for each of its letters
  TokenNumbers all_stems_;
};

}  // namespace lorekeep::text
