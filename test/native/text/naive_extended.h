// The slow twin of extended_search.h: walks through every token of every document, for every clause.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/query_analysis.h"
#include "text/tokenizer.h"

namespace lorekeep::text::test {

/// One text of every document, with its boost.
struct NaiveTexts {
  std::vector<std::string> texts;
  double boost = 1;
};

/// Returns the score of every document that the query's clauses allow and match.
std::map<std::size_t, double> naive_extended(std::span<const NaiveTexts> texts, Tokenizer tokenizer,
                                             std::string_view query, const QueryOptions& options);

/// Returns whether one edit makes b of a, by the full table of distances.
bool naive_one_edit(std::u32string_view a, std::u32string_view b);

}  // namespace lorekeep::text::test
