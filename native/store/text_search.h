// Searches of a text index with their cost, computed from the posting lists of the query's terms.
#pragma once

#include <optional>
#include <string_view>

#include "store/search_cost.h"
#include "text/text_index.h"

namespace lorekeep::store {

struct TextSearch {
  text::TextSearchResult result;
  double size;  // text::TextQuery::work()
  SearchClock::duration taken;
};

/// Thread-safe. Throws as text::TextIndex::search().
TextSearch search_text(const text::TextIndex& index, std::string_view query, const text::TextSearchOptions& options);

/// The same without a filter, as search_if_short(). `times`: of searches without a filter.
std::optional<text::TextSearchResult> search_text_if_short(const text::TextIndex& index, std::string_view query,
                                                           std::size_t k, SearchTimes& times);

}  // namespace lorekeep::store
