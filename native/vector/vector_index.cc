#include "vector/vector_index.h"

#include <atomic>
#include <string>

#include "core/values/error.h"
#include "vector/scorer.h"

namespace lorekeep::vector {

std::vector<SearchResult> VectorIndex::search_many(std::span<const float> queries, const SearchOptions& options,
                                                   CancelToken::Clock::duration* taken) const {
  using Clock = CancelToken::Clock;
  const std::size_t length = dimension();
  if (length == 0 || queries.size() % length != 0) {
    fail(Code::kDimensionMismatch,
         std::to_string(queries.size()) + " values are not a whole number of queries of " + "dimension " +
             std::to_string(length),
         {{"values", static_cast<std::int64_t>(queries.size())}, {"expected", static_cast<std::int64_t>(length)}});
  }
  std::vector<SearchResult> results(queries.size() / length);
  SearchOptions each = options;
  if (results.size() > 1) each.work = options.work.alone();  // the other threads have their own queries
  std::atomic<Clock::rep> thread_time{0};
  const auto search_some = [&](std::size_t begin, std::size_t end, std::size_t) {
    const auto since = Clock::now();
    for (std::size_t i = begin; i < end; ++i) results[i] = search(queries.subspan(i * length, length), each);
    thread_time += (Clock::now() - since).count();
  };
  if (results.size() == 1) {
    search_some(0, 1, 0);
  } else {
    parallel_for(options.work, results.size(), 1, [&](std::size_t begin, std::size_t end, std::size_t worker) {
      const CheckedPart checked;  // there may be any number of queries; their client waits for all
      each.work.check();
      search_some(begin, end, worker);
    });
  }
  if (taken != nullptr) *taken = Clock::duration(thread_time.load());
  return results;
}

Bitmap VectorIndex::to_cell_order(const Bitmap&, const CancelToken*) const {
  return {};
}

void VectorIndex::score(std::span<const float> query, std::span<const std::uint32_t> ordinals,
                        std::span<float> distances) const {
  const Scorer scorer(matrix(), query);
  for (const std::uint32_t ordinal : ordinals) scorer.prefetch(ordinal);
  scorer.distances(ordinals.data(), ordinals.size(), distances.data());
}

void VectorIndex::leave_out(const SearchOptions& options, std::vector<Scored>& hits) {
  if (options.without == kNoRow) return;
  std::erase_if(hits, [&options](const Scored& hit) { return hit.ordinal == options.without; });
  hits.resize(std::min(hits.size(), options.k));
}

std::size_t VectorIndex::check_options(const SearchOptions& options) const {
  if (options.k == 0) fail(Code::kInvalidArgument, "k is 0, but must be at least 1");
  if (options.ef > kMaxEf) {
    fail(Code::kInvalidArgument,
         "ef is " + std::to_string(options.ef) + ": at most " + std::to_string(kMaxEf) + " is possible",
         {{"ef", static_cast<std::int64_t>(options.ef)}});
  }
  if (options.filter == nullptr) return size();
  check_filter(*options.filter);
  if (options.filter_in_cell_order != nullptr && options.filter_in_cell_order->size() != 0)
    check_filter(*options.filter_in_cell_order);
  return options.filter->count();
}

void VectorIndex::check_filter(const Bitmap& filter) const {
  if (filter.size() == size()) return;
  fail(Code::kInvalidArgument,
       "the filter has " + std::to_string(filter.size()) + " rows, the index " + std::to_string(size()));
}

void VectorIndex::check_ordinal(std::size_t ordinal) const {
  if (ordinal < size()) return;
  fail(Code::kInvalidArgument,
       "row " + std::to_string(ordinal) + " does not exist: the index has " + std::to_string(size()),
       {{"row", static_cast<std::int64_t>(ordinal)}});
}

}  // namespace lorekeep::vector
