#include "store/search_cost.h"

#include <algorithm>
#include <cmath>

#include "store/prepared_filter.h"

namespace lorekeep::store {
namespace {

double nanoseconds(SearchClock::duration time) noexcept {
  return std::chrono::duration<double, std::nano>(time).count();
}

double unfiltered_size(const SearchRequest& request) noexcept {
  constexpr double kTokenizing = 32;     // fixed cost of tokenizing, in bytes of query text
  constexpr double kBytesPerWidth = 32;  // dense: the words are only looked up, for relevance
  const auto bytes = static_cast<double>(request.text.size());
  const double text = kTokenizing + bytes;
  switch (request.mode) {
    case Mode::kDense: return walk_size(request.ef, request.top_k) + bytes / kBytesPerWidth;
    case Mode::kLexical: return text * (1 + std::sqrt(static_cast<double>(request.top_k)));  // as TextQuery::work()
    case Mode::kHybrid: break;
  }
  return walk_size(request.ef, leg_depth(request)) + text;
}

}  // namespace

bool SearchTimes::expect(ShortSearch bound, double size) const noexcept {
  return seen_ && nanoseconds_per_unit_ * size <= nanoseconds(bound.expected);
}

void SearchTimes::learn(SearchClock::duration taken, double size) noexcept {
  const double latest = nanoseconds(taken) / size;
  nanoseconds_per_unit_ += (latest - nanoseconds_per_unit_) / (seen_ ? 8 : 1);
  seen_ = true;
}

SearchCost cost_of(const SearchRequest& request, StorageTimes& storage, CompiledFilter* filter) noexcept {
  const bool extended = request.lexical != nullptr;
  if (filter == nullptr) {
    SearchTimes& times = storage.unfiltered.of(request.mode);
    return {&times, extended ? nullptr : &times, unfiltered_size(request)};
  }
  SearchTimes& first = storage.first_uses.of(request.mode);
  SearchTimes& own = filter->times(request.mode);
  const bool evaluates = filter->first_use(*request.filter);
  return {evaluates || !own.seen() ? &first : &own, extended ? nullptr : evaluates ? &first : &own, 1};
}

double walk_size(std::size_t ef, std::size_t hits) noexcept {
  constexpr double kConstantPart = 32;
  return kConstantPart + static_cast<double>(ef == 0 ? vector::default_ef(hits) : ef);
}

}  // namespace lorekeep::store
