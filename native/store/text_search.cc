#include "store/text_search.h"

#include <utility>

namespace lorekeep::store {
namespace {

/// In bytes. Longer queries always run on another thread, because tokenizing takes longer than most searches.
constexpr std::size_t kLongestShortQuery = 4096;

}  // namespace

TextSearch search_text(const text::TextIndex& index, std::string_view query, const text::TextSearchOptions& options) {
  const auto begin = SearchClock::now();
  text::TextQuery prepared(index, query, options.cancel);
  TextSearch search{{}, prepared.work(options.k), {}};
  search.result.hits = prepared.search(options, search.result.plan);
  search.result.terms = std::move(prepared).terms();
  search.taken = SearchClock::now() - begin;
  return search;
}

std::optional<text::TextSearchResult> search_text_if_short(const text::TextIndex& index, std::string_view query,
                                                           std::size_t k, SearchTimes& times) {
  if (!times.seen() || query.size() > kLongestShortQuery) return std::nullopt;
  const auto begin = SearchClock::now();
  const CancelToken cancel(begin + kShortOfIndex.held);
  std::optional<double> size;
  try {
    text::TextQuery prepared(index, query, &cancel);
    size = prepared.work(k);
    if (!times.expect(kShortOfIndex, *size)) return std::nullopt;
    text::TextSearchResult found;
    found.hits = prepared.search({k, nullptr, &cancel}, found.plan);
    found.terms = std::move(prepared).terms();
    times.learn(SearchClock::now() - begin, *size);
    return found;
  } catch (const OutOfTime&) {
    // Aborted before the size was known: checking postings on first use takes longer than a search.
    if (size) times.learn(SearchClock::now() - begin, *size);
    return std::nullopt;
  }
}

}  // namespace lorekeep::store
