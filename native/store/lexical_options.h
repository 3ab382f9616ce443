#pragma once

#include <string>
#include <utility>
#include <vector>

#include "text/query_analysis.h"

namespace lorekeep::store {

/// How the lexical leg reads a query, beyond words and BM25 of the texts.
struct LexicalOptions {
  text::QueryOptions query;
  /// String fields of the metadata whose words count too, with the factor of their BM25 score: finite, > 0.
  std::vector<std::pair<std::string, float>> boosts;
};

}  // namespace lorekeep::store
