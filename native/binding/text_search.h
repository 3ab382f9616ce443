// Searches of a text index: on the calling thread where the postings of the query's words say that they are short.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "binding/short_search.h"
#include "text/text_index.h"

namespace lorekeep::binding {

/// A search, what it had to do (text::TextQuery::work()) and how long it took.
struct TextSearch {
  text::TextSearchResult result;
  double work;
  SearchClock::duration taken;
};

/// Any thread. Throws as text::TextIndex::search().
TextSearch search_text(const text::TextIndex& index, std::string_view query, const text::TextSearchOptions& options);

/// JavaScript thread: the same without a filter, if it is expected to be short; nothing when it is not, or when it was
/// not after all. `times` are those of searches without a filter, per unit of work; they learn from this one.
std::optional<text::TextSearchResult> search_text_here(const text::TextIndex& index, std::string_view query,
                                                       std::size_t k, SearchTimes& times);

}  // namespace lorekeep::binding
