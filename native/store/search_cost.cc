#include "store/search_cost.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
