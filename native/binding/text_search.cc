#include "binding/text_search.h"

#include <utility>

namespace lorekeep::binding {
namespace {

/// In bytes: longer queries go to another thread unseen, because cutting one into words takes longer than most
/// searches.
constexpr std::size_t kLongestShortQuery = 4096;

}  // namespace

TextSearch search_text(const text::TextIndex& index, std::string_view query, const text::TextSearchOptions& options) {
  const auto begin = SearchClock::now();
  text::TextQuery words(index, query, options.cancel);
  TextSearch search{{}, words.work(options.k), {}};
  search.result.hits = words.search(options, search.result.plan);
  search.result.terms = std::move(words).terms();
  search.taken = SearchClock::now() - begin;
  return search;
}

std::optional<text::TextSearchResult> search_text_here(const text::TextIndex& index, std::string_view query,
                                                       std::size_t k, SearchTimes& times) {
  if (!times.seen() || query.size() > kLongestShortQuery) return std::nullopt;
  const auto begin = SearchClock::now();
  const CancelToken cancel(begin + kShortOfIndex.held);
  std::optional<double> work;
  try {
    text::TextQuery words(index, query, &cancel);
    work = words.work(k);
    if (!times.expect(kShortOfIndex, *work)) return std::nullopt;
    text::TextSearchResult found;
    found.hits = words.search({k, nullptr, &cancel}, found.plan);
    found.terms = std::move(words).terms();
    times.learn(SearchClock::now() - begin, *work);
    return found;
  } catch (const OutOfTime&) {
    // Before the words were known, it was their first use: proving their postings sound takes longer than a search.
    if (work) times.learn(SearchClock::now() - begin, *work);
    return std::nullopt;
  }
}

}  // namespace lorekeep::binding
