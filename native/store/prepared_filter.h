// Filters prepared for searches: bound to the values of their variables, with the matching rows if they are cached.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/bitmap.h"
#include "filter/predicate.h"
#include "store/search_cost.h"

namespace lorekeep::store {

class Storage;
struct SearchResult;

/// The rows of a part that a filter matches, without removed ones.
struct PartRows {
  Bitmap rows;
  Bitmap rows_in_cell_order;  // see vector::VectorIndex::to_cell_order(); empty if not computed
};

/// The rows of a storage that a filter matches: of its first part, and of the others.
struct MatchingRows : PartRows {
  std::vector<PartRows> others;

  const PartRows& of(std::size_t part) const noexcept { return part == 0 ? *this : others[part - 1]; }
  std::size_t parts() const noexcept { return 1 + others.size(); }
  std::size_t count() const noexcept {
    std::size_t total = rows.count();
    for (const PartRows& part : others) total += part.rows.count();
    return total;
  }
};

/// The filter of one search. Plain data; several searches may share it.
struct PreparedFilter {
  std::optional<filter::BoundPredicate> predicate;  // absent only if `known` is set; for the storage's schema
  std::shared_ptr<const MatchingRows> known = {};   // null: the search evaluates the predicate
  bool to_cell_order = false;  // a search that evaluates the predicate also computes rows_in_cell_order
};

/// Returns the known matching rows, or evaluates the predicate. Throws Error(kCancelled); Error(kInvalidArgument) if
/// the known rows are of another storage. Grain of cancellation: as filter::evaluate().
std::shared_ptr<const MatchingRows> matching_rows(const PreparedFilter& filter, const Storage& storage,
                                                  const CancelToken* cancel);

/// A compiled filter with cached matching rows and search times. Not thread-safe; pass prepare()'s result to threads.
class CompiledFilter {
 public:
  explicit CompiledFilter(std::shared_ptr<const filter::Predicate> predicate) : predicate_(std::move(predicate)) {}

  const filter::Predicate& predicate() const noexcept { return *predicate_; }
  /// Prepares the filter for one search of `storage`. Throws as filter::Predicate::bind().
  PreparedFilter prepare(const std::shared_ptr<const Storage>& storage,
                         const std::vector<filter::Variable>& values) const;
  /// Call after a search with `used`. From the second search on, caches the matching rows of a filter without
  /// variables, at two bits per record.
  void learn(const std::shared_ptr<const Storage>& storage, const PreparedFilter& used, const SearchResult& result);
  /// The times of searches, except searches that evaluated the predicate for the first time.
  SearchTimes& times(Mode mode) noexcept { return times_.of(mode); }
  /// Returns whether a search with `prepared` evaluates rows that later searches will find cached.
  bool first_use(const PreparedFilter& prepared) const noexcept {
    return !prepared.known && predicate_->variables().empty();
  }

 private:
  std::shared_ptr<const filter::Predicate> predicate_;
  ModeTimes times_;
  std::weak_ptr<const Storage> storage_;  // a filter does not keep a storage alive
  std::shared_ptr<const MatchingRows> matching_;
  bool used_ = false;
};

}  // namespace lorekeep::store
