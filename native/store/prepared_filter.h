// Filters as searches use them: bound to the values of their variables, with the matching rows where they are known.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/bitmap.h"
#include "core/cancel_token.h"
#include "filter/predicate.h"
#include "store/search_cost.h"

namespace lorekeep::store {

class Storage;
struct SearchResult;

/// The rows of a storage that a filter matches.
struct MatchingRows {
  Bitmap rows;
  Bitmap rows_in_cell_order;  // vector::VectorIndex::to_cell_order(); empty where it is not known or there is none
};

/// The filter of one search. Plain data: any number of searches may use it at once.
struct PreparedFilter {
  std::optional<filter::BoundPredicate> predicate;  // absent only where `known` is there; of the storage's fields
  std::shared_ptr<const MatchingRows> known = {};   // null: the search evaluates the predicate
  bool to_cell_order = false;                       // an evaluating search brings the rows to cell order too
};

/// The rows that match: the known ones, or else the predicate evaluated. Throws Error(kCancelled);
/// Error(kInvalidArgument) where the known ones are not rows of `storage`. Grain of cancellation: that of
/// filter::evaluate().
std::shared_ptr<const MatchingRows> matching_rows(const PreparedFilter& filter, const Storage& storage,
                                                  const CancelToken* cancel);

/// A compiled filter, and what its searches have shown. Every member belongs to one thread; searches on other threads
/// use what prepare() returns.
class CompiledFilter {
 public:
  explicit CompiledFilter(std::shared_ptr<const filter::Predicate> predicate) : predicate_(std::move(predicate)) {}

  const filter::Predicate& predicate() const noexcept { return *predicate_; }
  /// For one search of `storage`. Throws as filter::Predicate::bind().
  PreparedFilter prepare(const std::shared_ptr<const Storage>& storage,
                         const std::vector<filter::Variable>& values) const;
  /// After a search with `used`: from the second one on, the matching rows of a filter without variables are kept. A
  /// filter that is used once is not worth two bits per record.
  void learn(const std::shared_ptr<const Storage>& storage, const PreparedFilter& used, const SearchResult& result);
  /// Of searches that did not evaluate the predicate for the first time.
  SearchTimes& times(Mode mode) noexcept { return times_.of(mode); }
  /// Whether a search with `prepared` evaluates what later ones will know.
  bool first_use(const PreparedFilter& prepared) const noexcept {
    return !prepared.known && predicate_->variables().empty();
  }

 private:
  std::shared_ptr<const filter::Predicate> predicate_;
  ModeTimes times_;
  std::weak_ptr<const Storage> storage_;  // a filter keeps no storage alive
  std::shared_ptr<const MatchingRows> matching_;
  bool used_ = false;
};

}  // namespace lorekeep::store
