// Predicts the time of a search from earlier searches. Short searches run on the JavaScript thread, because a search on
// another thread costs two wake-ups, more than a graph search over 100,000 rows.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "core/threads/cancel_token.h"
#include "store/search.h"
#include "text/text_index.h"

namespace lorekeep::store {

using SearchClock = CancelToken::Clock;

/// Bounds of a search on the JavaScript thread.
struct ShortSearch {
  std::chrono::microseconds expected;  // a search expected to take longer runs on another thread
  std::chrono::microseconds held;      // a search that takes longer is aborted; its loops poll every few dozen µs
};

/// Bounds for an index: two to three times the cost of the wake-ups.
inline constexpr ShortSearch kShortOfIndex{std::chrono::microseconds(200), std::chrono::microseconds(300)};
/// Bounds for a storage: a hybrid search has two legs, and a filtered one may take 1.5 times as long on the JavaScript
/// thread as measured on another thread, because its caches are cold.
inline constexpr ShortSearch kShortOfStorage{2 * kShortOfIndex.expected, 2 * kShortOfIndex.held};

/// The time per unit of size of one kind of search. Not thread-safe.
class SearchTimes {
 public:
  /// Returns whether a search of this size is expected to be short; false before the first learn().
  bool expect(ShortSearch bound, double size) const noexcept;
  bool seen() const noexcept { return seen_; }
  /// Updates the mean of about the last eight searches, so that a search that lost its processor has little effect.
  void learn(SearchClock::duration taken, double size) noexcept;

 private:
  double nanoseconds_per_unit_ = 0;
  bool seen_ = false;
};

class ModeTimes {
 public:
  SearchTimes& of(Mode mode) noexcept { return times_[static_cast<std::size_t>(mode)]; }

 private:
  std::array<SearchTimes, 3> times_;
};

/// The times of a storage's searches.
struct StorageTimes {
  ModeTimes unfiltered;
  ModeTimes first_uses;  // the first search with any filter, including the evaluation of the filter
};

/// The times that predict the cost of one search and that learn from it.
struct SearchCost {
  const SearchTimes* expected;
  SearchTimes* learnt;  // may be `expected`; null: the time of this search predicts no other
  double size;          // in the unit of both

  void learn(SearchClock::duration taken) const noexcept {
    if (learnt != nullptr) learnt->learn(taken, size);
  }
};

class CompiledFilter;

/// Returns the cost of a storage search. `filter` is the source of request.filter; null if that is null. A filter's own
/// times predict better than the storage's, because the number of matching rows decides.
SearchCost cost_of(const SearchRequest& request, StorageTimes& storage, CompiledFilter* filter) noexcept;

/// Returns the size of a graph search of width `ef` (0: the index's own): its candidates plus a constant.
double walk_size(std::size_t ef, std::size_t hits) noexcept;

/// A result and its time.
template <class Result>
struct Timed {
  Result result;
  SearchClock::duration taken;
};

template <class Search>
auto timed(Search&& search) {
  const auto begin = SearchClock::now();
  auto result = search();
  return Timed<decltype(result)>{std::move(result), SearchClock::now() - begin};
}

/// Runs search(cancel) if it is expected to be short, and learns its time. Returns nullopt if it is not expected to be
/// short, or was aborted because it was not.
template <class Search>
auto search_if_short(ShortSearch bound, const SearchCost& cost, Search&& search)
    -> std::optional<decltype(search(std::declval<const CancelToken&>()))> {
  if (!cost.expected->expect(bound, cost.size)) return std::nullopt;
  const auto begin = SearchClock::now();
  const CancelToken cancel(begin + bound.held);
  try {
    auto result = search(cancel);
    cost.learn(SearchClock::now() - begin);
    return result;
  } catch (const OutOfTime&) {
    cost.learn(SearchClock::now() - begin);
    return std::nullopt;
  }
}

/// A search of a text index with its cost, computed from the posting lists of the query's terms.
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
