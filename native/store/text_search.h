// Searches of a text index with their cost, which the posting lists of the query's terms tell.
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

/// Any thread. Throws as text::TextIndex::search().
TextSearch search_text(const text::TextIndex& index, std::string_view query, const text::TextSearchOptions& options);

/// The same without a filter if it is expected to be short; nothing when it is not expected to be, or turns out not to
/// be. `times` are those of searches without a filter; they learn from this one.
std::optional<text::TextSearchResult> search_text_if_short(const text::TextIndex& index, std::string_view query,
                                                           std::size_t k, SearchTimes& times);

}  // namespace lorekeep::store
