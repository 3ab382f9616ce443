// How long a search will take, learnt from those that ran. Searches that are short enough run on the JavaScript thread:
// handing one over and back costs two wake-ups of threads, more than a walk over 100,000 rows.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/cancel_token.h"
#include "store/search.h"

namespace lorekeep::store {

using SearchClock = CancelToken::Clock;

/// Bounds of a search on the JavaScript thread.
struct ShortSearch {
  std::chrono::microseconds expected;  // a search that is expected to take longer goes to another thread
  std::chrono::microseconds held;      // a search that takes longer gives up; its loops poll every few dozen µs
};

/// Of an index: two to three times the cost of handing over and back.
inline constexpr ShortSearch kShortOfIndex{std::chrono::microseconds(200), std::chrono::microseconds(300)};
/// Of a storage: a hybrid search has two legs, and a filtered one may take half as long again on the JavaScript thread
/// as on the thread where its time was learnt, because its caches are cold.
inline constexpr ShortSearch kShortOfStorage{2 * kShortOfIndex.expected, 2 * kShortOfIndex.held};

/// The time that searches of one kind take, per unit of their size. One thread.
class SearchTimes {
 public:
  /// Whether a search of this size is expected to be short. False before the first one was seen.
  bool expect(ShortSearch bound, double size) const noexcept;
  bool seen() const noexcept { return seen_; }
  /// Keeps the mean of about the last eight: one that lost its processor halfway changes little.
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
  ModeTimes first_uses;  // of any filter; evaluating it is part of them
};

/// What the cost of one search is expected from and learnt in.
struct SearchCost {
  const SearchTimes* expected;
  SearchTimes* learnt;  // may be `expected`
  double size;          // in the unit of both
};

class CompiledFilter;

/// The cost of a storage search. `filter` compiled request.filter: both or neither are there. A filter's own times tell
/// more than the storage's, because the number of matching rows decides.
SearchCost cost_of(const SearchRequest& request, StorageTimes& storage, CompiledFilter* filter) noexcept;

/// The size of a walk of this width (0: the index's own), in candidates and a constant part.
double walk_size(std::size_t ef, std::size_t hits) noexcept;

/// A result and the time that it took.
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

/// Runs search(cancel) if it is expected to be short, and learns its time. Nothing when it is not expected to be, or
/// turns out not to be.
template <class Search>
auto search_if_short(ShortSearch bound, const SearchCost& cost, Search&& search)
    -> std::optional<decltype(search(std::declval<const CancelToken&>()))> {
  if (!cost.expected->expect(bound, cost.size)) return std::nullopt;
  const auto begin = SearchClock::now();
  const CancelToken cancel(begin + bound.held);
  try {
    auto result = search(cancel);
    cost.learnt->learn(SearchClock::now() - begin, cost.size);
    return result;
  } catch (const OutOfTime&) {
    cost.learnt->learn(SearchClock::now() - begin, cost.size);
    return std::nullopt;
  }
}

}  // namespace lorekeep::store
