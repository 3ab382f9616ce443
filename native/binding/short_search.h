// Searches that are short enough run on the JavaScript thread: handing one over and back costs two wake-ups of threads,
// which is more than a walk of 100,000 rows takes. Which ones are short is learnt from those that ran.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/cancel_token.h"
#include "store/search.h"

namespace lorekeep::binding {

using SearchClock = CancelToken::Clock;

/// What is a short search.
struct ShortSearch {
  std::chrono::microseconds expected;  // one that is expected to take longer goes to another thread
  std::chrono::microseconds held;      // after so long it gives up here; its loops poll every few to some dozens of µs
};

/// Of an index: two to three times what handing over and back costs.
inline constexpr ShortSearch kShortOfIndex{std::chrono::microseconds(200), std::chrono::microseconds(300)};
/// Of a storage: twice that. A hybrid search would else take longer than its two legs one after the other; one under a
/// filter that lets much through has taken up to half as long again on the thread where its time was learnt, whose
/// caches are cold.
inline constexpr ShortSearch kShortOfStorage{2 * kShortOfIndex.expected, 2 * kShortOfIndex.held};

inline double nanoseconds(SearchClock::duration time) noexcept {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

/// The time that searches of one kind take, per unit of their size. JavaScript thread only.
class SearchTimes {
 public:
  /// False until one has been seen.
  bool expect(ShortSearch bound, double size) const noexcept {
    return seen_ && per_unit_ * size <= nanoseconds(bound.expected);
  }

  bool seen() const noexcept { return seen_; }

  /// The mean of about the last eight: one that lost its processor in the middle changes little.
  void learn(SearchClock::duration taken, double size) noexcept {
    const double latest = nanoseconds(taken) / size;
    per_unit_ = seen_ ? per_unit_ + (latest - per_unit_) / 8 : latest;
    seen_ = true;
  }

 private:
  double per_unit_ = 0;
  bool seen_ = false;
};

/// Those of searches of one kind, by mode.
class ModeTimes {
 public:
  SearchTimes& of(store::Mode mode) noexcept { return times_[static_cast<std::size_t>(mode)]; }

 private:
  std::array<SearchTimes, 3> times_;
};

/// What is learnt of a storage's searches.
struct StorageTimes {
  ModeTimes unfiltered;
  ModeTimes first_uses;  // of whatever filter: finding out what it lets through is part of them
};

/// What a search gave on another thread, and how long it took there.
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

/// Runs a search here if it is expected to be short; nothing when it is not, or when it was not after all. What it took
/// is learnt in `times`, which may be `expected`.
template <class Search>
auto search_here(ShortSearch bound, const SearchTimes& expected, SearchTimes& times, double size, Search&& search)
    -> std::optional<decltype(search(std::declval<const CancelToken&>()))> {
  if (!expected.expect(bound, size)) return std::nullopt;
  const auto begin = SearchClock::now();
  const CancelToken cancel(begin + bound.held);
  try {
    auto result = search(cancel);
    times.learn(SearchClock::now() - begin, size);
    return result;
  } catch (const OutOfTime&) {
    times.learn(SearchClock::now() - begin, size);
    return std::nullopt;
  }
}

/// The size of a graph search: its candidates, and what is the same for all.
inline double graph_search_size(std::size_t ef, std::size_t hits) noexcept {
  constexpr double kConstantPart = 32;
  constexpr double kDefaultEf = 96;
  return kConstantPart + (ef == 0 ? std::max(kDefaultEf, 2.0 * static_cast<double>(hits)) : static_cast<double>(ef));
}

}  // namespace lorekeep::binding
